// Puts style, script and page into one file: node bundle.mjs OUT
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";

const here = dirname(fileURLToPath(import.meta.url));
const modules = process.env.ABUT_NODE_MODULES ?? join(here, "node_modules");
const esbuild = createRequire(join(modules, "x.js"))("esbuild");

const result = await esbuild.build({
  entryPoints: [join(here, "src/main.js")],
  bundle: true, minify: true, write: false, format: "iife", target: "es2022", legalComments: "inline",
  charset: "utf8", nodePaths: [modules],
});
// Nothing in the script may end the element it stands in.
const script = result.outputFiles[0].text.replaceAll("</script", "<\\/script");
const style = readFileSync(join(here, "style.css"), "utf8");
// Only this very script may run, whatever stands in the data below it, and nothing is fetched.
const hash = createHash("sha256").update(script).digest("base64");
const policy = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data: blob:; `
  + "base-uri 'none'; form-action 'none'";
const page = readFileSync(join(here, "replay.html"), "utf8")
  .replace("/*POLICY*/", () => policy)
  .replace("/*STYLE*/", () => style)
  .replace("/*SCRIPT*/", () => script);
writeFileSync(process.argv[2], page);
console.log(`${process.argv[2]}: ${(page.length / 1024).toFixed(0)} KiB`);
