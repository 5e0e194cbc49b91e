/** What is said of a trainer that has died. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createDeathError, getLogFile } from "../../src/run/start.ts";

test.each([
  [undefined, "the trainer died"],
  ["Segmentation fault\n", "the trainer died"],
  [
    "# Fatal process out of memory: Failed to reserve virtual memory for CodeRange\n",
    "the trainer died, because no memory was left",
  ],
  [
    "2026-03-02T09:00:00.000Z the trainer, process 7, ended by SIGKILL\n",
    "the trainer was killed (SIGKILL), which the system does when no memory is left",
  ],
  [
    "2026-03-02T09:00:00.000Z the trainer, process 7, ended by SIGSEGV\n",
    "the trainer died (SIGSEGV)",
  ],
  // of the training before
  [
    "Allocation failed\n2026-03-02T09:00:00.000Z the trainer, process 7, started\n",
    "the trainer died",
  ],
])("with the log %j", (log, what) => {
  const folder = mkdtempSync(join(tmpdir(), "prove-"));
  if (log !== undefined) writeFileSync(getLogFile(folder), log);
  const error = createDeathError(folder, 7);
  expect(error.what).toBe(what);
  expect(error.remedy).toContain("continue with --resume");
});

test("before its first step and without a message, native backends are suspected", () => {
  const [folder, backends] = [1, 2].map(() => mkdtempSync(join(tmpdir(), "prove-"))) as [
    string,
    string,
  ];
  vi.stubEnv("PROVE_BACKENDS", backends);
  expect(createDeathError(folder, 7).what).toBe("the trainer died");
  mkdirSync(join(backends, "webgpu"));
  const { what, remedy } = createDeathError(folder, 7);
  expect(what).toBe("the trainer died before its first step, without a message");
  expect(remedy).toContain("prove-rl backend check whether the native backend webgpu ends it");
  writeFileSync(join(folder, "metrics.jsonl"), "{}\n");
  expect(createDeathError(folder, 7).what).toBe("the trainer died");
  vi.unstubAllEnvs();
});
