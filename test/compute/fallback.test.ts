/** The choice of a backend when the wasm files are missing. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as tf from "@tensorflow/tfjs-core";
import { expect, test, vi } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";

const empty = mkdtempSync(join(tmpdir(), "prove-"));

/** Runs without the output of emscripten, which prints when its file is missing. */
const runSilently = async <T>(start: () => Promise<T>): Promise<T> => {
  const spies = (["warn", "error"] as const).map(it =>
    vi.spyOn(console, it).mockImplementation(() => {}),
  );
  try {
    return await start();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
};

test("without wasm files, auto uses plain JavaScript and notes the reason", async () => {
  const backend = await runSilently(() => startBackend("auto", { programs: empty }));
  expect(backend.name).toBe("cpu");
  expect(backend.notes).toEqual([
    expect.stringMatching(/^backend wasm was passed over: /),
    expect.stringContaining("plain JavaScript"),
  ]);
  expect(tf.getBackend()).toBe("cpu");
});
