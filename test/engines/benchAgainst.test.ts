/** Comparisons with the other software itself. */
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

/** Runs a measurement, or up to a figure if one is given: the others take a minute. */
async function measure(
  last: string | undefined,
  args: readonly string[],
): Promise<ReadonlyMap<string, Figure>> {
  const child = spawn(process.execPath, [join(root, "dist/lab/main.js"), ...args], {
    cwd: emptyFolder(),
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: `${programs}${delimiter}${process.env["PATH"]}` },
  });
  let stderr = "";
  child.stderr.on("data", (it: Buffer) => (stderr += it.toString()));
  const closed = once(child, "close") as Promise<[number | null]>;
  const figures = new Map<string, Figure>();
  for await (const line of createInterface({ input: child.stdout })) {
    const figure = JSON.parse(line) as Figure;
    figures.set(figure.name, figure);
    if (figure.name === last) child.kill("SIGTERM");
  }
  const [code] = await closed;
  const said = last === undefined ? "" : "prove-rl: stopped by SIGTERM; run it again\n";
  expect(stderr.replaceAll(/^(recording calls|training): .*\n/gm, "")).toBe(said);
  expect(code).toBe(last === undefined ? 0 : 2);
  return figures;
}

test.each([
  {
    args: ["bfcl", "--tasks", "60"],
    hasMore: false,
    own: "environment.calls.dataset",
    other: "environment.calls.bfcl",
    ratio: "environment.calls.dataset.of-bfcl",
    unit: "1/s",
    // another unit would be a thousand times as much, or as little; busy machines are slow, too
    range: [50, 10_000_000],
  },
  {
    args: ["torch"],
    hasMore: true,
    own: "training.dense",
    other: "training.dense.torch",
    ratio: "training.dense.of-torch",
    unit: "tokens/s",
    range: [5, 1_000_000],
  },
])("$args.0 prints rates of the same run and their ratio", async row => {
  const figures = await measure(row.hasMore ? row.ratio : undefined, row.args);
  const [own, other, ratio] = [row.own, row.other, row.ratio].map(it => figures.get(it)!);
  expect([own!.unit, other!.unit, ratio!.unit]).toEqual([row.unit, row.unit, "ratio"]);
  expect(other!.value).toBeGreaterThan(row.range[0]!);
  expect(other!.value).toBeLessThan(row.range[1]!);
  expect(ratio!.runs).toHaveLength(5);
  for (const [i, it] of ratio!.runs.entries())
    expect(it / (own!.runs[i]! / other!.runs[i]!)).toBeCloseTo(1, 2);
});
