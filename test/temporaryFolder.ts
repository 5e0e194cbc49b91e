/**
 * Global setup of all suites: temporary folders of tests, and of the programs that they start, are
 * made in one folder, which is deleted after the last test. So is the code that Node.js has
 * compiled: the programs, which tests start hundreds of times, then start faster.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "prove-tests-"));
  // POSIX, then Windows
  for (const name of ["TMPDIR", "TEMP", "TMP"]) process.env[name] = folder;
  process.env["NODE_COMPILE_CACHE"] = join(folder, "compiled");
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
