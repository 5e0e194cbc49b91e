/** `bench environment --against bfcl` with BFCL's own classes, on a small data set. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { expect, test } from "vitest";
import { root } from "../contracts/transports.ts";
import { emptyFolder } from "../cli/program.ts";
import { programs } from "./environment.ts";

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly runs: readonly number[];
}

test("bench prints the rates of the same run and their ratio", async () => {
  const child = spawn(
    process.execPath,
    [join(root, "dist/cli.js"), "bench", "environment", "--against", "bfcl", "--tasks", "60"],
    {
      cwd: emptyFolder(),
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, PATH: `${programs}${delimiter}${process.env["PATH"]}` },
    },
  );
  let stderr = "";
  child.stderr.on("data", (it: Buffer) => (stderr += it.toString()));
  const closed = once(child, "close") as Promise<[number | null]>;
  const figures = new Map<string, Figure>();
  for await (const line of createInterface({ input: child.stdout })) {
    const figure = JSON.parse(line) as Figure;
    figures.set(figure.name, figure);
    // the other rows take a minute
    if (figure.name === "environment.calls.dataset.of-bfcl") child.kill("SIGTERM");
  }
  const [code] = await closed;
  expect(stderr.replaceAll(/^recording calls: .*\n/gm, "")).toBe(
    "prove-rl: stopped by SIGTERM; run it again to continue\n",
  );
  expect(code).toBe(2);

  const dataset = figures.get("environment.calls.dataset")!;
  const bfcl = figures.get("environment.calls.bfcl")!;
  const ratio = figures.get("environment.calls.dataset.of-bfcl")!;
  expect([dataset.unit, bfcl.unit, ratio.unit]).toEqual(["1/s", "1/s", "ratio"]);
  // no machine that runs the tests is as slow, or as fast
  expect(bfcl.value).toBeGreaterThan(1_000);
  expect(bfcl.value).toBeLessThan(10_000_000);
  expect(ratio.runs).toHaveLength(5);
  for (const [i, it] of ratio.runs.entries())
    expect(it / (dataset.runs[i]! / bfcl.runs[i]!)).toBeCloseTo(1, 2);
});
