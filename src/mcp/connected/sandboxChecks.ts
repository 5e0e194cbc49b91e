/** Compares processes of a third-party server in equal sandboxes. */
import { setTimeout } from "node:timers/promises";
import { computeDigest, deepFreeze } from "../../environment/digest.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import { listRequired } from "../../environment/schemaKeywords.ts";
import type { LoggedCall } from "../../environment/server.ts";
import type { Trials } from "./trials.ts";
import { listDifferences } from "./volatile.ts";

const maxProbes = 8;

/** Where no files show the state, reads do: those that answer the same twice. */
export async function chooseProbes(trials: Trials): Promise<void> {
  await trials.observeStart();
  for (const [name, tool] of trials.tools) {
    const mayRead = tool.effect === "read" || !tool.saysEffect;
    if (!mayRead || listRequired(tool.inputSchema).length > 0) continue;
    if (trials.probes.length >= maxProbes) break;
    const call = { name, arguments: {} };
    const [first, second] = [(await trials.call(call)).outcome, (await trials.call(call)).outcome];
    if (first.kind === "ok" && second.kind === "ok")
      if (JSON.stringify(first) === JSON.stringify(second))
        trials.probes.push({ tool: name, arguments: {} });
  }
  if (trials.probes.length === 0)
    trials.remarks.push("no read without arguments shows its state: add probes to the file");
  await trials.useProbes();
}

/**
 * Finds out whether a process notices that its files were replaced, so that a read after a write
 * shows the start again. Undefined until a write and a read are known that show it; reads in
 * `checked` are not tried again.
 */
export async function findWhetherFilesAreNoticed(
  trials: Trials,
  checked: Set<LoggedCall>,
): Promise<boolean | undefined> {
  const samples = [...trials.samples.values()];
  const write = samples.find(it => it.writes)?.call;
  const reads = samples.filter(it => !it.writes && !checked.has(it.call));
  if (!write || reads.length === 0) return undefined;
  const { world } = await trials.call(write);
  const after = { ...trials.start, calls: [write], digest: computeDigest(deepFreeze(world!)) };
  const fresh = trials.createPool("restart");
  try {
    for (const { call } of reads) {
      checked.add(call);
      const [changed, restored, original] = [
        await trials.call(call, after),
        await trials.call(call),
        await fresh.call(trials.start, call),
      ].map(it => JSON.stringify(it.outcome));
      if (changed !== original) return restored === original;
    }
    return undefined;
  } finally {
    await fresh.close();
  }
}

/** Finds what differs when the same calls are made in two sandboxes, a second apart. */
export async function findVolatile(trials: Trials): Promise<string[]> {
  const run = async () => {
    const pool = trials.createPool();
    try {
      const seen: Record<string, Json> = { "": await pool.observe(trials.start.seed) };
      const start = { ...trials.start, digest: computeDigest(deepFreeze(seen[""] as JsonObject)) };
      for (const [name, { call }] of trials.samples) {
        const { outcome, world } = await pool.call(start, call);
        const result = outcome.kind === "ok" ? trials.readValue(name, outcome.value) : null;
        seen[name] = { results: { [name]: result }, ...world };
      }
      return seen;
    } finally {
      await pool.close();
    }
  };
  const first = await run();
  await setTimeout(1100);
  const second = await run();
  const pointers = [
    ...trials.volatile,
    ...Object.keys(first).flatMap(key => listDifferences(first[key]!, second[key]!)),
  ];
  return [...new Set(pointers)].sort();
}
