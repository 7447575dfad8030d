// A real browser for the tests: Debian's chromium driven by playwright-core, WebGL in software.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const require = createRequire(resolve(process.env.ABUT_NODE_MODULES ?? ".", "x.js"));

// card: let the page believe that there is a graphics card, so that it draws in full quality.
export async function openPage(file, { width = 1440, height = 860, card = false } = {}) {
  const { chromium } = require("playwright-core");
  const profile = mkdtempSync(join(tmpdir(), "abut-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.ABUT_CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    viewport: { width, height },
    args: ["--headless", "--no-sandbox", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
  });
  const page = await context.newPage();
  if (card) await page.addInitScript(() => {
    const ask = WebGL2RenderingContext.prototype.getExtension;
    WebGL2RenderingContext.prototype.getExtension = function (name) {
      return name === "WEBGL_debug_renderer_info" ? null : ask.call(this, name);
    };
  });
  const trouble = [];
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && trouble.push(m.text()));
  page.on("pageerror", (e) => trouble.push(String(e)));
  page.on("request", (r) => !/^(file|data|blob):/.test(r.url()) && trouble.push(`request to ${r.url()}`));
  await page.goto(`file://${file}`, { waitUntil: "load" });
  const close = async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { page, trouble, close };
}

// Runs all tests, or the one named, and returns how many failed.
export async function runTests(tests, only) {
  let failed = 0;
  for (const [name, run] of Object.entries(tests)) {
    if (only && name !== only) continue;
    try {
      await run();
      console.log(`ok   ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAIL ${name}\n     ${error.stack}`);
    }
  }
  return failed;
}

// Ends the test as skipped where something it needs is missing.
export function need(...pages) {
  const skip = (why) => (console.log(`skipped: ${why}`), process.exit(77));
  const modules = process.env.ABUT_NODE_MODULES ?? "";
  if (!existsSync(join(modules, "playwright-core"))) skip("playwright-core is not installed");
  if (!existsSync(process.env.ABUT_CHROMIUM ?? "/usr/bin/chromium")) skip("chromium is not installed");
  for (const page of pages) if (!existsSync(join(modules, "../..", page))) skip(`${page} is not built`);
}

export { require as requireModule };
