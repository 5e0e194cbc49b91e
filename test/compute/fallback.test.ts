import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as tf from "@tensorflow/tfjs-core";
import { expect, test, vi } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";

const empty = mkdtempSync(join(tmpdir(), "prove-"));

// what emscripten prints when its file is missing is not ours to word
const silently = async <T>(work: () => Promise<T>): Promise<T> => {
  const spies = (["warn", "error"] as const).map(it =>
    vi.spyOn(console, it).mockImplementation(() => {}),
  );
  try {
    return await work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
};

test("without wasm files auto runs in plain JavaScript and says why", async () => {
  const backend = await silently(() => startBackend("auto", { programs: empty }));
  expect(backend.name).toBe("cpu");
  expect(backend.notes).toEqual([
    expect.stringMatching(/^backend wasm was passed over: /),
    expect.stringContaining("plain JavaScript"),
  ]);
  expect(tf.getBackend()).toBe("cpu");
});
