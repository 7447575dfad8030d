// Takes the pictures of the gallery: doc/live/SCENE.jpg, after the scene has run for a moment.
//
// usage: node tools/gallery-pictures.mjs GALLERY_FOLDER [SCENE ...]     (from the root of the sources, after make live)
//        node tools/gallery-pictures.mjs GALLERY_FOLDER --front         the README's picture, doc/live.jpg
import { mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

process.env.ABUT_NODE_MODULES ??= resolve("build/release/share/abut/npm/node_modules");
const { openPage } = await import("../test/web/browser.mjs");

const [folder, ...some] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node tools/gallery-pictures.mjs GALLERY_FOLDER [SCENE ...]");
  process.exit(2);
}
// A plank of the tower is drawn out by the mouse, on the level: the page as it is, seen from near.
async function front() {
  const { page, close } = await openPage(resolve(join(folder, "demo.html")), { width: 1280, height: 720, card: true });
  await page.waitForFunction(() => window.abut, null, { timeout: 120000 });
  const [from, to] = await page.evaluate(() => {
    const { live } = window.abut, { stage } = live, [x, y, z] = window.abut.pose("plank5"), end = y - 0.155;
    const hand = document.getElementById("limit");
    hand.value = hand.max, hand.dispatchEvent(new Event("input"));
    stage.controls.target.set(x + 0.16, y, z + 0.06);
    stage.camera.position.set(x - 0.55, y - 1.6, z + 0.75);
    stage.controls.update(), stage.camera.updateMatrixWorld();
    return [end, end - 0.22].map((way) => {
      const p = stage.center.clone().set(x, way, z).project(stage.camera);
      return [((p.x + 1) / 2) * innerWidth, ((1 - p.y) / 2) * innerHeight];
    });
  });
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.keyboard.down("Shift");
  await page.evaluate(() => window.abut.pause());
  for (let k = 1; k <= 40; k++) {
    await page.mouse.move(from[0] + (k / 40) * (to[0] - from[0]), from[1] + (k / 40) * (to[1] - from[1]));
    await page.evaluate(() => window.abut.step(4));
  }
  await page.waitForFunction(() => !window.abut.live.dirty);
  await page.screenshot({ path: "doc/live.jpg", type: "jpeg", quality: 80 });
  await close();
  console.log("doc/live.jpg");
}
if (some[0] === "--front") await front(), process.exit(0);

// How long each runs before its picture is taken [s]; 0.2 unless told.
const MOMENT = { pile: 0.5, pile200: 0.6, dominoes: 0.9, coin: 0.1, pendulum: 0.02, slide: 0.02 };
const scenes = readdirSync(folder).filter((f) => f.endsWith(".html") && f !== "index.html").map((f) => f.replace(".html", ""));
mkdirSync("doc/live", { recursive: true });
for (const scene of scenes.filter((s) => some.length === 0 || some.includes(s))) {
  const { page, close } = await openPage(resolve(join(folder, `${scene}.html`)), { width: 640, height: 400, card: true });
  await page.waitForFunction(() => window.abut, null, { timeout: 120000 });
  await page.addStyleTag({ content: "#head, #hint, #side, #bar { visibility: hidden; }" });
  await page.evaluate((time) => {
    const { live } = window.abut;
    document.getElementById("side").hidden = true;
    live.layout(), live.stage.home(1.3);
    window.abut.step(Math.round(time / live.sim.h));
  }, MOMENT[scene] ?? 0.2);
  await page.waitForFunction(() => !window.abut.live.dirty);
  await page.screenshot({ path: `doc/live/${scene}.jpg`, type: "jpeg", quality: 62 });
  await close();
  console.log(`doc/live/${scene}.jpg`);
}
process.exit(0);
