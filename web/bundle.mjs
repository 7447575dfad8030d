// Puts style, script and page into one file: node bundle.mjs replay OUT, node bundle.mjs view OUT, or
// node bundle.mjs live OUT LIVE.wasm. The view is the live page without what simulates and steers.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";

const [page, out, wasm] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const modules = process.env.ABUT_NODE_MODULES ?? join(here, "node_modules");
const esbuild = createRequire(join(modules, "x.js"))("esbuild");

const result = await esbuild.build({
  entryPoints: [join(here, "src", page === "replay" ? "main.js" : `${page}.js`)],
  bundle: true, minify: true, write: false, format: "iife", target: "es2022", legalComments: "inline",
  charset: "utf8", nodePaths: [modules],
});
// Nothing in the script may end the element it stands in.
const script = result.outputFiles[0].text.replaceAll("</script", "<\\/script");
const style = readFileSync(join(here, "style.css"), "utf8");
// Only this very script may run, whatever stands in the data below it, and nothing is fetched. The live page compiles its
// simulator, which is part of the file; the view talks to the loop it was made by, on this machine.
const hash = createHash("sha256").update(script).digest("base64");
const scripts = { replay: "", live: " 'wasm-unsafe-eval'", view: "" }[page];
const connect = page === "view" ? "connect-src ws://127.0.0.1:*; " : "";
const policy = `default-src 'none'; script-src 'sha256-${hash}'${scripts}; style-src 'unsafe-inline'; img-src data: blob:; `
  + connect + "base-uri 'none'; form-action 'none'";
let text = readFileSync(join(here, page === "replay" ? "replay.html" : "live.html"), "utf8")
  .replace("/*POLICY*/", () => policy)
  .replace("<!--CONTACTS-->\n", () => readFileSync(join(here, "contacts.html"), "utf8"))
  .replace("/*STYLE*/", () => style)
  .replace("/*SCRIPT*/", () => script);
if (page === "view") text = text.replace('class="live"', 'class="live view"').replace(/<script[^>]*>\/\*WASM\*\/<\/script>\n/, "");
if (wasm) {
  const packed = deflateSync(readFileSync(wasm), { level: 9 });
  text = text.replace("/*WASM*/", () => packed.toString("base64"));
  console.log(`live: the simulator takes ${(packed.length / 1024).toFixed(0)} KiB`);
}
writeFileSync(out, text);
console.log(`${out}: ${(text.length / 1024).toFixed(0)} KiB`);
