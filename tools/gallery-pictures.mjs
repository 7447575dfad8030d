// Takes the pictures of the gallery: doc/live/SCENE.jpg, after the scene has run for a moment.
//
// usage: node tools/gallery-pictures.mjs GALLERY_FOLDER [SCENE ...]     (from the root of the sources, after make live)
import { mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

process.env.ABUT_NODE_MODULES ??= resolve("build/release/share/abut/npm/node_modules");
const { openPage } = await import("../test/web/browser.mjs");

const [folder, ...some] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node tools/gallery-pictures.mjs GALLERY_FOLDER [SCENE ...]");
  process.exit(2);
}
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
