import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import { UserError } from "../../src/userError.ts";
import { programs } from "./numbers.ts";

const empty = mkdtempSync(join(tmpdir(), "prove-"));

test("a folder without TensorFlow is passed over by auto", async () => {
  const backend = await startBackend("auto", { programs, tensorflow: empty });
  expect(backend.name).toBe("wasm");
  expect(backend.notes).toEqual([
    expect.stringMatching(
      /^backend tensorflow was passed over: @tensorflow\/tfjs-node-gpu cannot be loaded from /,
    ),
  ]);
});

test("asked for by name, TensorFlow that is not there is a mistake with a remedy", async () => {
  await expect(startBackend("tensorflow", { programs, tensorflow: empty })).rejects.toThrow(
    UserError,
  );
  await expect(startBackend("tensorflow", { programs })).rejects.toThrow(
    /no folder with @tensorflow\/tfjs-node-gpu is configured: install/,
  );
});
