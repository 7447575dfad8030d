// How fast a live page runs in a headless browser that draws in software, and whether its memory grows.
//
// usage: node bench/live/measure.mjs PAGE.html [SECONDS]      (from the root of the sources, after make build)
//
// The page plays from its first keyframe (or initial pose) and is reset every 8 s of simulated time. Printed as JSON:
// how much of real time was reached, pictures per second, milliseconds of simulation and of everything per picture,
// and memory after collecting garbage, ten times. These are by the clock, so on a busy machine they say
// little; `cpu_ms_per_step` is processor time of 1000 steps, `cpu_of_real_time` what part of real time it is, and
// `cpu_ms_per_picture` the processor time of the page and of what draws for it, while it plays.
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

process.env.ABUT_NODE_MODULES ??= resolve("build/release/share/abut/npm/node_modules");
const { openPage } = await import("../../test/web/browser.mjs");

const [file, time = "20"] = process.argv.slice(2);
if (!file || !(Number(time) > 0)) {
  console.error("usage: node bench/live/measure.mjs PAGE.html [SECONDS]");
  process.exit(2);
}

const { page, trouble, close } = await openPage(resolve(file));
const client = await page.context().newCDPSession(page);
await page.waitForFunction(() => window.abut, null, { timeout: 60000 });

// Counts what the page's own loop does.
await page.evaluate(() => {
  const { live } = window.abut, { run, draw } = live, first = live.sim.keys.length ? 0 : -1;
  const sum = window.sum = { frames: 0, run: 0, draw: 0, longest: 0, simulated: 0, wall: 0 };
  live.run = function (passed) {
    const start = performance.now(), t = this.sim.t;
    run.call(this, passed);
    const took = performance.now() - start;
    sum.frames++, sum.run += took, sum.longest = Math.max(sum.longest, took), sum.simulated += this.sim.t - t, sum.wall += (start - (sum.last ?? start)) / 1000, sum.last = start;
    if (this.sim.t > 8) this.reset(first);
  };
  live.draw = function (...words) {
    const start = performance.now();
    draw.apply(this, words);
    sum.draw += performance.now() - start;
  };
  live.reset(first);
  live.play();
});

const memory = async () => {
  await client.send("HeapProfiler.collectGarbage");
  const { usedSize } = await client.send("Runtime.getHeapUsage");
  const wasm = await page.evaluate(() => window.abut.live.sim.wasm.memory.buffer.byteLength);
  return { heap_kB: Math.round(usedSize / 1024), simulator_kB: Math.round(wasm / 1024) };
};

// s of processor time of one kind of the browser's processes, which are descendants of this one, as Linux counts it (100 ticks a second)
const stat = (pid) => readFileSync(`/proc/${pid}/stat`, "utf8").replace(/.*\) /s, "").split(" ");
const isOurs = (pid) => pid > 1 && (pid === process.pid || isOurs(Number(stat(pid)[1])));
const used = (kind) => readdirSync("/proc").filter((pid) => /^[0-9]+$/.test(pid)).reduce((sum, pid) => {
  try {
    const counts = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`--type=${kind}`) && isOurs(Number(pid));
    return counts ? sum + (Number(stat(pid)[11]) + Number(stat(pid)[12])) / 100 : sum;
  } catch {
    return sum;  // gone meanwhile
  }
}, 0);

const samples = [], playing = { page: used("renderer"), drawing: used("gpu-process") };
const framesBefore = await page.evaluate(() => window.sum.frames);
for (let i = 0; i < 10; i++) {
  await page.waitForTimeout(100 * Number(time));
  samples.push(await memory());
}
const sum = await page.evaluate(() => window.sum);
playing.page = used("renderer") - playing.page, playing.drawing = used("gpu-process") - playing.drawing;

const STEPS = 1000;
const h = await page.evaluate(() => {
  const { live } = window.abut;
  live.pause(), live.reset(live.sim.keys.length ? 0 : -1);
  return live.sim.h;
});
const start = used("renderer");
await page.evaluate((n) => window.abut.live.sim.advance(n), STEPS);
const cpu = used("renderer") - start;
await close();

const per = (x, n) => Number((x / Math.max(n, 1)).toFixed(3));
console.log(JSON.stringify({
  page: file, seconds: Number(time), pictures_per_second: per(sum.frames, sum.wall), of_real_time: per(sum.simulated, sum.wall),
  picture_ms: per(1000 * sum.wall, sum.frames), simulation_ms: per(sum.run, sum.frames), simulation_ms_longest: per(sum.longest, 1),
  drawing_ms: per(sum.draw, sum.frames), simulation_share: per(sum.run, 1000 * sum.wall),
  cpu_ms_per_picture: { page: per(1000 * playing.page, sum.frames - framesBefore), drawing: per(1000 * playing.drawing, sum.frames - framesBefore) },
  cpu_ms_per_step: per(1000 * cpu, STEPS), cpu_of_real_time: per(cpu, STEPS * h), memory: samples, trouble,
}, null, 1));
process.exit(trouble.length ? 1 : 0);
