/**
 * The suites that run inside the extension host, for desktop VS Code (macOS, Windows); on Linux
 * test/e2e/inside.test.ts runs them.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleInside } from "./test/e2e/inside/bundle.ts";

await bundleInside();

export default {
  files: "dist/inside/*.test.cjs",
  workspaceFolder: mkdtempSync(join(tmpdir(), "prove-inside-")),
  mocha: { timeout: 60_000 },
};
