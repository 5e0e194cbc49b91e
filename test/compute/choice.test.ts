/** The choice of a backend when TensorFlow is not installed. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import { UserError } from "../../src/userError.ts";
import { programs } from "./numbers.ts";

const empty = mkdtempSync(join(tmpdir(), "prove-"));

test("auto does not use a folder without TensorFlow", async () => {
  const backend = await startBackend("auto", { programs, tensorflow: empty });
  expect(backend.name).toBe("wasm");
  expect(backend.notes).toEqual([
    expect.stringMatching(
      /^backend tensorflow was passed over: @tensorflow\/tfjs-node-gpu cannot be loaded from /,
    ),
  ]);
});

test("a missing TensorFlow that was chosen by name is a UserError with a remedy", async () => {
  await expect(startBackend("tensorflow", { programs, tensorflow: empty })).rejects.toThrow(
    UserError,
  );
  await expect(startBackend("tensorflow", { programs })).rejects.toThrow(
    /no folder with @tensorflow\/tfjs-node-gpu is configured: install/,
  );
});
