/** Compares processes of a third-party server in equal sandboxes. */
import { setTimeout } from "node:timers/promises";
import { computeDigest, deepFreeze } from "../../environment/digest.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import { listRequired } from "../../environment/schemaKeywords.ts";
import type { LoggedCall } from "../../environment/server.ts";
import { readRecord } from "./textResult.ts";
import type { Trials } from "./trials.ts";
import { listDifferences } from "./volatile.ts";

const maxProbes = 8;

/** A read that takes longer, in milliseconds, would make each observation slow. */
const maxDuration = 3000;

/**
 * Where no files show the state, reads without arguments do: those that answer the same in another
 * process, and change nothing that the others show. For all others, a remark says why not.
 */
export async function chooseProbes(trials: Trials): Promise<void> {
  await trials.observeStart();
  const answers = await answerReads(trials);
  const leaveOut = (name: string, reason: string) => {
    if (answers.delete(name)) trials.remarks.push(`${name} is no part of the state: it ${reason}`);
  };
  // what contains the time differs a second later
  await setTimeout(1100);
  const names = [...answers.keys()];
  const again = await ask([...names, ...names], trials);
  for (const [i, name] of names.entries()) {
    if (again[i] !== answers.get(name)) leaveOut(name, "answers differently in another process");
    else if (again[i] !== again[i + names.length]) {
      const [first, second] = await ask([name, name], trials);
      if (first !== second) leaveOut(name, "answers differently each time");
      else
        // also of those that say that they only read
        for (const other of names.filter(it => it !== name)) {
          const [before, , after] = await ask([name, other, name], trials);
          if (before !== after) leaveOut(other, `changes what ${name} shows`);
        }
    }
  }
  for (const tool of answers.keys()) trials.probes.push({ tool, arguments: {} });
  if (trials.probes.length === 0)
    trials.remarks.push("no read without arguments shows its state: add probes to the file");
  await trials.useProbes();
}

/** What reads without arguments answer, of those that are fast enough. */
async function answerReads(trials: Trials): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  for (const [name, tool] of trials.tools) {
    const mayRead = tool.effect === "read" || !tool.saysEffect;
    if (!mayRead || listRequired(tool.inputSchema).length > 0) continue;
    if (answers.size >= maxProbes) break;
    if (!trials.allows(name)) continue;
    const start = performance.now();
    const { outcome } = await trials.call({ name, arguments: {} });
    if (performance.now() - start > maxDuration)
      trials.remarks.push(`${name} is no part of the state: it takes long`);
    else if (outcome.kind === "ok") answers.set(name, JSON.stringify(outcome));
  }
  return answers;
}

/** What tools answer one after the other in a new process. */
async function ask(names: readonly string[], trials: Trials): Promise<string[]> {
  const pool = trials.createPool();
  try {
    const answers: string[] = [];
    for (const name of names) {
      const { outcome } = await pool.call(trials.start, { name, arguments: {} });
      answers.push(JSON.stringify(outcome));
    }
    return answers;
  } finally {
    await pool.close();
  }
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
      if (!trials.allows(call.name)) continue;
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
  trials.startChecks();
  const run = async () => {
    const pool = trials.createPool();
    try {
      const seen: Record<string, Json> = { "": await pool.observe(trials.start.seed) };
      const start = { ...trials.start, digest: computeDigest(deepFreeze(seen[""] as JsonObject)) };
      for (const [name, { call }] of trials.samples) {
        if (!trials.allows(name)) continue;
        const { outcome, world } = await pool.call(start, call);
        const result =
          outcome.kind === "ok" ? readRecord(outcome.value, trials.getForm(name)) : null;
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
    ...Object.keys(second).flatMap(key => listDifferences(first[key]!, second[key]!)),
  ];
  return [...new Set(pointers)].sort();
}
