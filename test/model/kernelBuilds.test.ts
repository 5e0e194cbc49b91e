/**
 * The builds of the WebAssembly kernels compute the same, also after V8 has optimized them; which
 * one is used, and whether V8 merges vectors in it.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import { mulberry32 } from "../../src/environment/random.ts";
import { openDecoder } from "../../src/model/transformer/decoder.ts";
import { packGroups } from "../../src/model/transformer/packedBatch.ts";
import {
  computeGradients,
  disposeGradients,
  initializeModel,
  meanLoss,
  type Model,
} from "../../src/model/transformer/transformer.ts";
import { checkClose, programs } from "../compute/numbers.ts";
import { groups } from "./tiny.ts";

/** Sizes that fill no tile, large enough that the kernels are optimized after a few passes. */
const architecture = {
  vocabulary: 300,
  width: 60,
  layers: 2,
  heads: 5,
  kvHeads: 1,
  headWidth: 24,
  hidden: 140,
  context: 96,
  ropeBase: 10_000,
};
const passes = 40;

afterEach(() => vi.unstubAllEnvs());

describe("the builds of the kernels", () => {
  const results = new Map<string, Awaited<ReturnType<typeof compute>>>();
  beforeAll(async () => {
    // the fastest one comes last, because then V8 merges vectors, for the rest of the process
    for (const named of ["simd", "relaxed", ""]) {
      vi.stubEnv("PROVE_KERNELS", named);
      const { memory } = await startBackend("wasm", { programs });
      if (named !== "") expect(memory!.build).toBe(named);
      results.set(named, await compute());
    }
  });

  test("with fused multiply-add, results differ by rounding", () => {
    const [simd, relaxed] = [results.get("simd")!, results.get("relaxed")!];
    checkClose(relaxed.logprobs, simd.logprobs, 1e-5, "log-probabilities");
    for (const [name, gradient] of simd.gradients)
      checkClose(relaxed.gradients.get(name)!, gradient, 1e-4, name);
    checkClose(relaxed.sampled, simd.sampled, 1e-4, "sampled log-probabilities");
  });

  test("of the fastest one, they are the same to the bit", () => {
    expect(results.get("")).toEqual(results.get("relaxed"));
  });
});

test.each(["wasm", "auto"] as const)(
  "with %s, a build that cannot be named is refused",
  async name => {
    vi.stubEnv("PROVE_KERNELS", "wide");
    await expect(startBackend(name, { programs })).rejects.toThrow(
      'the variable PROVE_KERNELS is "wide"',
    );
  },
);

test("V8 merges the vectors of the wide build, which is used with AVX2, and no others", () => {
  const check = (named: string) => {
    const args = [
      "--no-liftoff",
      "--trace-wasm-revectorize",
      join(programs, "cli.js"),
      "backend",
      "check",
      "wasm",
    ];
    const { status, stdout } = spawnSync(process.execPath, [...args, "--in-process", "--json"], {
      encoding: "utf8",
      env: { ...process.env, PROVE_KERNELS: named },
    });
    const [, device] = /"device":"([^"]*)"/.exec(stdout) ?? [];
    return { status, device, merges: stdout.includes("Decide to vectorize") };
  };
  const narrow = { status: 0, device: "the processor", merges: false };
  const wide = { status: 0, device: "the processor, with vectors of 256 bits", merges: true };
  expect(check("")).toEqual(hasAvx2() ? wide : narrow);
  expect(check("relaxed")).toEqual(narrow);
});

function hasAvx2(): boolean {
  const file = "/proc/cpuinfo";
  return existsSync(file) && / avx2 /.test(readFileSync(file, "utf8"));
}

/** Many passes and sampled tokens of a model; the results of the last ones. */
async function compute() {
  const model = initializeModel(architecture, 7);
  const packed = packGroups(groups);
  const computeOnce = async () => {
    const { logprobs, gradients } = await computeGradients(model, packed, meanLoss);
    const values = new Map([...gradients].map(([name, it]) => [name, [...it.dataSync()]]));
    disposeGradients(gradients);
    return { logprobs: [...logprobs], gradients: values };
  };
  let last = await computeOnce();
  for (let pass = 1; pass < passes; pass++) last = await computeOnce();
  const sampled = await sample(model);
  model.dispose();
  return { ...last, sampled };
}

/** The tokens that five conversations continue with, and their log-probabilities. */
async function sample(model: Model): Promise<number[]> {
  const decoder = openDecoder(model, { slots: 5 });
  const uniform = mulberry32(3);
  const slots = Array.from({ length: 5 }, () => decoder.open());
  let next = slots.map((slot, n) => ({ slot, ids: [1, 2, 3].slice(0, 1 + (n % 3)) }));
  const results: number[] = [];
  for (let token = 0; token < passes; token++) {
    const chosen = await decoder.feed(
      next.map(it => ({ ...it, choose: { temperature: 1, uniform: uniform() } })),
    );
    results.push(...chosen.flatMap(it => [it.id, it.logprob]));
    next = chosen.map(({ slot, id }) => ({ slot, ids: [id] }));
  }
  decoder.dispose();
  return results;
}
