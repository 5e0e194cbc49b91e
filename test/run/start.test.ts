/** What is said of a trainer that has died. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createDeathError, getLogFile } from "../../src/run/start.ts";

test.each([
  [undefined, "the trainer died"],
  ["Segmentation fault\n", "the trainer died"],
  [
    "# Fatal process out of memory: Failed to reserve virtual memory for CodeRange\n",
    "the trainer died, because no memory was left",
  ],
])("with the log %j", (log, what) => {
  const folder = mkdtempSync(join(tmpdir(), "prove-"));
  if (log !== undefined) writeFileSync(getLogFile(folder), log);
  const error = createDeathError(folder);
  expect(error.what).toBe(what);
  expect(error.remedy).toContain("continue with --resume");
});
