/** Backends that a run cannot use, and models that are too large for them, are refused. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { StoredModel } from "../../src/model/modelFolder.ts";
import { checkBackend } from "../../src/train/plan.ts";

const stored = (vocabulary: number, layers: number) => {
  const sizes = { heads: 32, kvHeads: 8, headWidth: 128, hidden: 14_336, ropeBase: 1e4 };
  const architecture = { vocabulary, width: 4096, layers, context: 8192, ...sizes };
  return { folder: "models/large", config: { architecture } } as StoredModel;
};

test("a backend must be installed, and the model must fit it if it is wasm", () => {
  const backends = mkdtempSync(join(tmpdir(), "prove-backends-"));
  const check = (model: StoredModel, backend: "auto" | "wasm" | "tensorflow" | "cpu") => () =>
    checkBackend(model, backend, backends);
  const message = /the weights of models\/large take 26.\d\d GiB in 32 bits; the backend wasm has/;
  expect(check(stored(32_000, 32), "wasm")).toThrow(message);
  expect(check(stored(32_000, 32), "auto")).toThrow(message);
  expect(check(stored(152_064, 1), "auto")).toThrow(
    /takes 2.32 GiB in 32 bits; a tensor of the backend wasm has at most 2.00 GiB here/,
  );
  expect(check(stored(32_000, 2), "auto")).not.toThrow();
  expect(check(stored(32_000, 2), "tensorflow")).toThrow("the backend tensorflow is not installed");
  mkdirSync(join(backends, "tensorflow"));
  expect(check(stored(32_000, 32), "tensorflow")).not.toThrow();
  expect(check(stored(32_000, 32), "auto")).not.toThrow();
  rmSync(backends, { recursive: true });
});
