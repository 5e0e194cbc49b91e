/** The choice of a backend when no native one is installed. */
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import { UserError } from "../../src/userError.ts";
import { programs } from "./numbers.ts";

const backends = mkdtempSync(join(tmpdir(), "prove-"));
for (const name of ["tensorflow", "webgpu"]) mkdirSync(join(backends, name));

test("auto passes over backends whose folders are empty", async () => {
  const backend = await startBackend("auto", { programs, backends });
  expect(backend.name).toBe("wasm");
  expect(backend.notes).toEqual([
    expect.stringMatching(
      /^backend tensorflow was passed over: .* has neither @tensorflow\/tfjs-node-gpu nor /,
    ),
    expect.stringMatching(
      /^backend webgpu was passed over: the package webgpu cannot be loaded from /,
    ),
  ]);
});

test.each(["tensorflow", "webgpu"] as const)(
  "%s that was chosen by name and is not there is a UserError with a remedy",
  async name => {
    await expect(startBackend(name, { programs, backends })).rejects.toThrow(UserError);
    await expect(startBackend(name, { programs })).rejects.toThrow(
      `the backend ${name} is not installed: run prove-rl backend install ${name}`,
    );
  },
);
