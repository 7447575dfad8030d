// The view of `abut haptic` in a real browser: it shows the run while it goes on, to those who have the address.
//
// usage: node test_view.mjs ABUT_PROGRAM OUT_FOLDER (needs ABUT_NODE_MODULES); exit code 77: skipped
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import { join, resolve } from "node:path";
import { need, openPage } from "./browser.mjs";

const [program, folder] = process.argv.slice(2).map((p) => resolve(p));
const skip = (why) => (console.log(`skipped: ${why}`), process.exit(77));
need("view.html");
mkdirSync(folder, { recursive: true });

const run = spawn(program, ["haptic", "scenes/six_blocks.xml", "--pointer", "left=virtual:scenes/hands/left.csv",
  "--pointer", "right=virtual:scenes/hands/right.csv", "--time", "600", "--view", "--json"]);
let said = "", printed = "";
run.stdout.on("data", (text) => (printed += text));
const ended = new Promise((r) => run.on("exit", (code) => r(code)));
const address = await new Promise((found, failed) => {
  run.stderr.on("data", (text) => {
    said += text;
    const hit = /http:\/\/127\.0\.0\.1:(\d+)\/([0-9a-f]{32})/.exec(said);
    if (hit) found({ url: hit[0], port: hit[1] });
    if (/libwebsockets/.test(said)) skip("built without libwebsockets");
  });
  setTimeout(() => failed(new Error(`no address within 120 s: ${said}`)), 120000).unref();
});

const status = (path, more = {}) => new Promise((r) =>
  http.get({ host: "127.0.0.1", port: address.port, path, ...more }, (answer) => (answer.resume(), r(answer.statusCode))).on("error", () => r(0)));

let failed = 0;
const { page, trouble, close } = await openPage("/dev/null");
try {
  await page.goto(address.url);
  await page.waitForFunction(() => window.abut?.frames > 5, null, { timeout: 200000 });
  const [a, z] = await page.evaluate(() => [window.abut.sim.t, window.abut.sim.poseOf("left")[2]]);
  assert.ok(z > 0.02 && z < 0.5, `the plate is where the hand has it: ${z}`);
  await page.waitForFunction((t) => window.abut.sim.t > t + 0.5, a, { timeout: 200000 });
  const shown = await page.evaluate(() => ({ hands: window.abut.sim.handList.length, contacts: window.abut.sim.contacts }));
  assert.equal(shown.hands, 2);
  assert.ok(shown.contacts >= 6, "six blocks lie on the floor");
  await page.screenshot({ path: join(folder, "view.png") });
  console.log("ok   the_run_is_shown_while_it_goes_on");

  const upgrade = { headers: { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==", "Sec-WebSocket-Protocol": "abut-view" } };
  for (const path of ["/", "/" + "0".repeat(32), "/etc/passwd", "/../etc/passwd"]) {
    assert.notEqual(await status(path), 200, path);
    assert.notEqual(await status(path, upgrade), 101, path);
  }
  console.log("ok   without_the_token_nothing_is_given");

  const reached = (host) => new Promise((r) => {
    const socket = net.connect({ host, port: Number(address.port) }, () => (socket.destroy(), r(true)));
    socket.on("error", () => r(false)).setTimeout(5000, () => (socket.destroy(), r(false)));
  });
  const own = Object.values(os.networkInterfaces()).flat().filter((a) => a.address !== "127.0.0.1" && !a.address.startsWith("fe80"));
  for (const host of ["127.0.0.5", ...own.map((a) => a.address)]) assert.equal(await reached(host), false, `reached by ${host}`);
  assert.ok(await reached("127.0.0.1"));
  console.log("ok   it_listens_to_this_machine_alone");

  run.kill("SIGINT");
  assert.equal(await ended, 0);
  assert.ok(JSON.parse(printed).stopped);
  await page.waitForFunction(() => /over/.test(document.getElementById("message").textContent), null, { timeout: 120000 });
  console.log("ok   the_page_says_when_the_run_is_over");
  assert.deepEqual(trouble.filter((t) => !t.includes("127.0.0.1") && !/favicon/.test(t)), []);
} catch (error) {
  failed = 1;
  console.log(`FAIL ${error.stack}\n${said}`);
} finally {
  await close();
  if (run.exitCode === null) run.kill("SIGKILL");
}
process.exit(failed);
