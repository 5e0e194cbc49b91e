/** Right solvers that make sure before they write, and one that sends calls together. */
import type { Call } from "../../environment/outcome.ts";
import type { PlannedCall } from "./plan.ts";
import { createRightSolver } from "./rightSolver.ts";
import type { SolverRun, Steps } from "./solverRun.ts";
import { findEntityValues } from "../../trajectory/entities.ts";
import { listArguments } from "./toolSchemas.ts";

export const verifier = createRightSolver("verifier", "reads an entity again before each write", {
  beforeWrite: readAgain,
});

export const asker = createRightSolver("asker", "asks for permission before each write", {
  *beforeWrite(_run, { name }) {
    const words = name.slice(name.indexOf("_") + 1).replaceAll("_", " ");
    yield { text: `Shall I go ahead with this: ${words}?`, calls: [] };
  },
});

export const parallel = createRightSolver(
  "parallel",
  "makes calls that do not depend on each other in one message",
  { selectBatch: selectIndependent },
);

/** Reads the entities that a write takes, in one message. */
function* readAgain(run: SolverRun, call: PlannedCall): Steps {
  const tool = run.tools.get(call.name);
  if (!tool) return;
  const { ids } = findEntityValues(tool.inputSchema, run.toCall(call).arguments);
  const calls = new Map<string, Call>();
  for (const { entity, value } of ids) {
    const it = findReader(run, entity, value) ?? findEarlierRead(run, value);
    if (it) calls.set(JSON.stringify(it), it);
  }
  yield* run.call(...calls.values());
}

/** A read that needs nothing but the entity's id. */
function findReader({ tools }: SolverRun, entity: string, id: string): Call | undefined {
  for (const tool of tools.values()) {
    if (tool.effect !== "read") continue;
    const required = listArguments(tool).filter(it => it.isRequired);
    const [first] = required;
    if (required.length === 1 && first!.entity === entity && !first!.isList)
      return { name: tool.name, arguments: { [first!.key]: id } };
  }
  return undefined;
}

function findEarlierRead({ knowledge, tools }: SolverRun, id: string): Call | undefined {
  const call = knowledge.findResultWith(id);
  return call && tools.get(call.name)?.effect === "read"
    ? { name: call.name, arguments: call.arguments }
    : undefined;
}

/**
 * The next calls that follow none of each other and whose values have been shown. Later look-ups
 * come along as long as only reads are before them.
 */
function selectIndependent(run: SolverRun, remaining: readonly PlannedCall[]): PlannedCall[] {
  const batch: PlannedCall[] = [remaining[0]!];
  const waiting = new Set<number>();
  let hasLeftOut = false;
  for (const it of remaining.slice(1)) {
    const isFree =
      [...it.after].every(goal => !waiting.has(goal) && !batch.some(of => of.goal === goal)) &&
      run.listUnseen(it).length === 0;
    if (isFree && (!hasLeftOut || it.isLookUp)) batch.push(it);
    else {
      hasLeftOut = true;
      waiting.add(it.goal);
      if (!it.isRead) break;
    }
  }
  return batch;
}
