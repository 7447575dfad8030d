// A run recorded as a page and as glTF: the page in a real browser shows what the CSV says, the glTF
// file passes the Khronos validator.
//
// usage: node test_replay.mjs ABUT_PROGRAM OUT_FOLDER (needs ABUT_NODE_MODULES); exit code 77: skipped
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { need, openPage, requireModule, runTests } from "./browser.mjs";

const [program, folder] = process.argv.slice(2).map((p) => resolve(p));
need("replay.html");
mkdirSync(folder, { recursive: true });

const abut = (...words) => execFileSync(program, words, { encoding: "utf8" });
const file = (name) => join(folder, name);

function readCsv(path) {
  const [head, ...lines] = readFileSync(path, "utf8").trim().split("\n").map((l) => l.split(","));
  return lines.map((l) => Object.fromEntries(head.map((key, i) => [key, l[i]])));
}

// A recording of falling dominoes in every format, the same samples in all.
const EVERY = 10, STEP = 0.001;
abut("run", "scenes/dominoes.xml", "--time", "0.6", "--every", String(EVERY), "--csv", file("csv"),
  "--record", file("run.html"), "--record", file("run.glb"), "--record", file("run.h5"), "--quiet");
const bodies = readCsv(file("csv/bodies.csv")), contacts = readCsv(file("csv/contacts.csv"));
const times = [...new Set(bodies.map((r) => Number(r.time)))];

const tests = {
  async the_page_shows_the_poses_of_the_csv() {
    await withPage("run.html", async (page) => {
      const shown = await page.evaluate(async () => Array.from((await window.abut).recording.time));
      assert.deepEqual(shown, times);
      for (const frame of [0, 7, 30, times.length - 1]) {
        await scrub(page, frame);
        for (const row of bodies.filter((r) => Number(r.time) === times[frame])) await checkPose(page, row);
      }
    });
  },

  async the_page_holds_the_contacts_of_the_csv() {
    await withPage("run.html", async (page) => {
      const frame = times.length - 1;
      const shown = await page.evaluate(async (f) => {
        const r = (await window.abut).recording;
        const list = [];
        for (let c = r.start[f]; c < r.start[f + 1]; c++) list.push({ ...r.contact(c), nvert: r.nvert[c] });
        return list;
      }, frame);
      const rows = contacts.filter((r) => Number(r.time) === times[frame]);
      assert.ok(rows.length > 10, "dominoes touch");
      assert.equal(shown.length, rows.length);
      rows.forEach((row, i) => {
        assert.equal(shown[i].name, `${row.body1} · ${row.body2}`);
        assert.deepEqual([shown[i].mode, shown[i].kind], [row.mode, row.kind]);
        const n = ["x", "y", "z"].reduce((sum, k) => sum + Number(row[`f${k}`]) * Number(row[`n${k}`]), 0);
        const size = Math.hypot(row.fx, row.fy, row.fz);
        // sixteen bits of each component
        assert.ok(Math.abs(shown[i].normal - n) <= 1e-4 * size + 1e-30, `${shown[i].normal} is not ${n}`);
        assert.ok(Math.abs(shown[i].area - row.area) <= 1e-4 * row.area + 1e-30);
      });
    });
  },

  async it_plays_and_pauses_and_can_be_steered() {
    await withPage("run.html", async (page) => {
      await page.locator("#speed").selectOption({ label: "0.1 ×" });
      await page.keyboard.press("Home");
      await page.locator("#play").click();
      await page.waitForFunction(async () => (await window.abut).t > 0.01);
      await page.locator("#play").click();
      const t = await now(page);
      await page.waitForTimeout(200);
      assert.equal(await now(page), t, "pause holds");
      await page.keyboard.press("End");
      assert.equal(await now(page), times.at(-1));
      await page.locator("body").press("ArrowLeft");
      assert.equal(await now(page), times.at(-2));
      const before = await camera(page);
      await page.mouse.move(500, 300);
      await page.mouse.down();
      await page.mouse.move(650, 330, { steps: 4 });
      await page.mouse.up();
      // a busy machine draws late
      for (let i = 0; i < 100 && isDeepStrictEqual(await camera(page), before); i++) await page.waitForTimeout(100);
      assert.notDeepEqual(await camera(page), before, "dragging turns the camera");
    });
  },

  async contacts_tell_about_themselves() {
    await withPage("run.html", async (page) => {
      await scrub(page, times.length - 1);
      // on a busy machine the picture, and with it the place to point at, comes late
      let spot, tip = "";
      for (let i = 0; i < 100 && !tip.includes("area"); i++) {
        spot = await page.evaluate(async () => {
          const p = await window.abut, o = p.overlay;
          const s = o.point(o.from).project(p.stage.camera);
          return { x: ((s.x + 1) / 2) * innerWidth, y: ((1 - s.y) / 2) * innerHeight };
        });
        await page.mouse.move(spot.x + 40, spot.y);
        await page.mouse.move(spot.x, spot.y);
        await page.waitForTimeout(i > 0 ? 100 : 0);
        tip = await page.locator("#tip").innerText();
      }
      for (const word of ["normal force", "friction", "area", "depth", "largest pressure"]) assert.ok(tip.includes(word), tip);
      await page.mouse.click(spot.x, spot.y);
      assert.match(await page.locator("#plot-title").innerText(), /domino/);
      assert.ok((await page.locator("#table tbody tr").count()) > 5);
      const ink = await page.evaluate(() => {
        const c = document.getElementById("plot"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        let blue = 0;
        for (let i = 0; i < d.length; i += 4) blue += d[i + 3] > 128 && d[i + 2] > d[i] + 80;
        return blue;
      });
      assert.ok(ink > 20, `the normal force is drawn in blue: ${ink} pixels`);
    });
  },

  async the_picture_is_not_empty() {
    await withPage("run.html", async (page) => {
      await scrub(page, 40);
      await page.waitForTimeout(300);
      await page.screenshot({ path: file("replay.png") });
      const colors = await page.evaluate(async () => {
        const p = await window.abut;
        p.stage.render();
        const gl = p.stage.renderer.getContext(), w = gl.drawingBufferWidth, h = gl.drawingBufferHeight;
        const d = new Uint8Array(4 * w * h);
        gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, d);
        const seen = new Set();
        for (let i = 0; i < d.length; i += 4) seen.add((d[i] << 16) | (d[i + 1] << 8) | d[i + 2]);
        return seen.size;
      });
      // bodies, shading, grid, shadows, patches: a blank or flat picture has a handful
      assert.ok(colors > 300, `${colors} colours`);
    });
  },

  async it_draws_in_full_quality_where_there_is_a_graphics_card() {
    const { page, trouble, close } = await openPage(file("run.html"), { card: true, width: 800, height: 500 });
    try {
      assert.equal(await page.evaluate(async () => (await window.abut).stage.software), false);
      await scrub(page, 40);
      await page.waitForFunction(async () => (await window.abut).drawn > 1);
      assert.deepEqual(trouble, []);
    } finally {
      await close();
    }
  },

  async a_torn_page_shows_what_is_there() {
    writeFileSync(file("torn.html"), readFileSync(file("run.html")));
    truncateSync(file("torn.html"), statSync(file("torn.html")).size - 2000);
    const { page, close } = await openPage(file("torn.html"));
    try {
      const result = await page.evaluate(() => window.abut.then((p) => p.recording.frames, (e) => e.message));
      // one chunk only: nothing is left, and the page says so
      assert.ok(result > 0 || /no samples/.test(result), String(result));
    } finally {
      await close();
    }
  },

  async a_converted_recording_is_the_same_page() {
    abut("convert", file("run.h5"), file("converted.html"), "--quiet");
    await withPage("converted.html", async (page) => {
      await scrub(page, 20);
      for (const row of bodies.filter((r) => Number(r.time) === times[20]).slice(0, 5)) await checkPose(page, row);
    });
  },

  async gltf_passes_the_validator() {
    const validator = requireModule("gltf-validator");
    for (const scene of ["dominoes", "pendulum", "coin"]) {
      abut("run", `scenes/${scene}.xml`, "--time", "0.1", "--record", file(`${scene}.glb`), "--quiet");
      const report = await validator.validateBytes(new Uint8Array(readFileSync(file(`${scene}.glb`))));
      const { numErrors, numWarnings, messages } = report.issues;
      assert.equal(numErrors + numWarnings, 0, JSON.stringify(messages.slice(0, 5)));
      assert.equal(report.info.animationCount, 1);
      assert.ok(report.info.totalTriangleCount > 0);
    }
  },

  async gltf_moves_as_the_csv_says() {
    const bytes = readFileSync(file("run.glb")), size = bytes.readUInt32LE(12);
    const gltf = JSON.parse(bytes.subarray(20, 20 + size).toString());
    const bin = bytes.subarray(28 + size);
    const numbers = (i, width) => {
      const view = gltf.bufferViews[gltf.accessors[i].bufferView];
      return Array.from({ length: gltf.accessors[i].count * width }, (_, k) => bin.readFloatLE((view.byteOffset ?? 0) + 4 * k));
    };
    const { channels, samplers } = gltf.animations[0];
    const node = gltf.nodes.findIndex((n) => n.name === "domino5" && n.children);
    const channel = channels.find((c) => c.target.node === node && c.target.path === "translation");
    const t = numbers(samplers[channel.sampler].input, 1), p = numbers(samplers[channel.sampler].output, 3);
    const rows = bodies.filter((r) => r.body === "domino5");
    assert.equal(t.length, rows.length);
    rows.forEach((row, i) => {
      close(t[i], row.time, 1e-6);
      ["x", "y", "z"].forEach((k, c) => close(p[3 * i + c], row[k], 1e-6));
    });
  },
};

function close(a, b, tolerance) {
  assert.ok(Math.abs(a - Number(b)) <= tolerance, `${a} is not ${b} (tolerance ${tolerance})`);
}

// One browser serves all tests of a page.
let opened = null;
async function withPage(name, work) {
  if (opened?.name !== name) {
    await opened?.close();
    opened = { name, ...(await openPage(file(name))) };
    await opened.page.evaluate(async () => void (await window.abut));
  }
  await work(opened.page);
  assert.deepEqual(opened.trouble, [], "the browser complains about nothing and asks the network for nothing");
}

const now = (page) => page.evaluate(async () => (await window.abut).t);
const camera = (page) => page.evaluate(async () => (await window.abut).stage.camera.position.toArray());

const scrub = (page, frame) => page.locator("#scrub").evaluate((slider, f) => {
  slider.value = String(f);
  slider.dispatchEvent(new Event("input"));
}, frame);

// Dominoes are boxes: their centre of mass is the origin of their frame. Poses are kept on a grid of
// the scene's size / 2^22 (about 3e-7 m here).
async function checkPose(page, row) {
  const { p, q } = await page.evaluate(async (name) => (await window.abut).poseOf(name), row.body);
  ["x", "y", "z"].forEach((k, i) => close(p[i], row[k], 1e-6));
  const sign = Math.sign(q[0] * row.qw + q[1] * row.qx + q[2] * row.qy + q[3] * row.qz);
  ["qw", "qx", "qy", "qz"].forEach((k, i) => close(sign * q[i], row[k], 1e-6));
}

const failed = await runTests(tests, process.argv[4]);
await opened?.close();
process.exit(failed ? 1 : 0);
