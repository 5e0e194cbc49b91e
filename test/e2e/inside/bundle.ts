/** Bundles the suites that run inside the extension host. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { repository } from "../packaged.ts";

/** Inside the repository, so that imports resolve, but in no package. */
export const insideFolder = join(repository, "dist/inside");
/** An empty extension that starts the test run; the extension under test is installed. */
export const carrierFolder = join(insideFolder, "carrier");

export async function bundleInside(): Promise<void> {
  rmSync(insideFolder, { recursive: true, force: true });
  mkdirSync(carrierFolder, { recursive: true });
  const manifest = {
    name: "carrier",
    publisher: "prove-rl",
    version: "0.0.1",
    engines: { vscode: "*" },
    main: "./carrier.cjs",
  };
  writeFileSync(join(carrierFolder, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(carrierFolder, "carrier.cjs"), "exports.activate = () => {};\n");
  const files = readdirSync(import.meta.dirname).filter(
    it => it.endsWith(".test.ts") || it === "run.ts",
  );
  await build({
    entryPoints: files.map(it => join(import.meta.dirname, it)),
    outdir: insideFolder,
    outExtension: { ".js": ".cjs" },
    bundle: true,
    platform: "node",
    format: "cjs",
    external: ["vscode", "mocha"],
    logLevel: "warning",
  });
}
