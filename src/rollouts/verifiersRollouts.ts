/**
 * The traces of Prime Intellect's verifiers, `traces.jsonl`: an episode a line, with the traces of
 * its agents, or a trace a line. The messages of a trace are a tree; of its branches, the last one
 * is the conversation.
 */
import { z } from "zod";
import { chatRowsSchema, isRecord, parseChatRows } from "./chatRows.ts";
import {
  numberSchema,
  type Rollout,
  type RolloutFormat,
  type Row,
  taskColumns,
} from "./rollout.ts";

const nodeSchema = z.looseObject({
  id: z.string().nullish(),
  /** The index of the message before, or its id. */
  parent: z.union([z.int(), z.string()]).nullish(),
  message: z.looseObject({}),
  sampled: z.boolean().nullish(),
});
type Node = z.infer<typeof nodeSchema>;

const errorSchema = z.looseObject({ type: z.string().nullish(), message: z.string().nullish() });

const traceSchema = z.looseObject({
  id: z.string().nullish(),
  nodes: z.array(nodeSchema),
  tools: z.array(z.looseObject({ name: z.string().nullish() })).nullish(),
  calls: z.array(z.looseObject({ model: z.string().nullish() })).nullish(),
  task: z.looseObject({ data: z.looseObject(taskColumns).nullish() }).nullish(),
  reward: numberSchema,
  rewards: z
    .record(z.string(), z.looseObject({ score: numberSchema, weight: numberSchema }).nullish())
    .nullish(),
  stop_condition: z.string().nullish(),
  errors: z.array(errorSchema).nullish(),
});
type Trace = z.infer<typeof traceSchema>;

export const verifiers: RolloutFormat = {
  name: "verifiers",
  noun: "a trace of verifiers",
  writer: "verifiers",
  regroup: listTraces,
  parseRow(json, { check, omit }) {
    const trace = check(traceSchema, json);
    const { path, leaves } = walkBranch(trace.nodes);
    omit("branch", Math.max(0, leaves - 1));
    const rows = check(
      chatRowsSchema,
      path.map(it => it.message),
    );
    const sampled = path.findIndex(it => it.sampled);
    const start = Math.max(0, sampled);
    const data = trace.task?.data;
    return {
      id: trace.id ?? undefined,
      task: data?.task_id ?? undefined,
      turn: data?.turn ?? undefined,
      policy: trace.calls?.findLast(it => it.model != null)?.model ?? undefined,
      menu: trace.tools?.flatMap(it => it.name ?? []),
      prompt: parseChatRows(rows.slice(0, start), omit),
      completion: parseChatRows(rows.slice(start), omit),
      ...findEnd(trace),
      ...sumRewards(trace),
    };
  },
};

function findEnd({ errors, stop_condition }: Trace): Pick<Rollout, "end"> {
  const error = errors?.at(-1);
  if (error)
    return { end: { kind: "ended", by: "fault", fault: error.message ?? error.type ?? "error" } };
  return /max|limit|length|timeout|budget/.test(stop_condition ?? "")
    ? { end: { kind: "ended", by: "limit" } }
    : {};
}

/** The sum of the weighted rewards, and their scores if there are several. */
function sumRewards({ reward, rewards }: Trace): Pick<Rollout, "score" | "why"> {
  const parts = Object.entries(rewards ?? {}).flatMap(([name, it]) =>
    it?.score == null ? [] : [{ name, score: it.score, weight: it.weight ?? 1 }],
  );
  if (parts.length === 0) return { score: reward ?? undefined };
  return {
    score: reward ?? parts.reduce((sum, it) => sum + it.score * it.weight, 0),
    ...(parts.length === 1 ? {} : { why: parts.map(it => `${it.name} ${it.score}`).join(", ") }),
  };
}

/** The traces of episodes, each as a row. */
async function* listTraces(rows: AsyncIterable<Row>): AsyncGenerator<Row> {
  for await (const row of rows)
    if (isRecord(row.json) && Array.isArray(row.json["traces"]))
      for (const json of row.json["traces"] as readonly unknown[]) yield { ...row, json };
    else yield row;
}

/** The messages from the root to the last leaf. A parent that is missing, or a cycle, ends it. */
function walkBranch(nodes: readonly Node[]): { path: readonly Node[]; leaves: number } {
  const byId = new Map(nodes.flatMap(it => (it.id == null ? [] : [[it.id, it] as const])));
  const getParent = ({ parent }: Node): Node | undefined =>
    typeof parent === "number" ? nodes[parent] : parent == null ? undefined : byId.get(parent);
  const parents = new Set(nodes.map(getParent));
  const path: Node[] = [];
  const seen = new Set<Node>();
  const last = nodes.findLast(it => !parents.has(it)) ?? nodes.at(-1);
  for (let it = last; it && !seen.has(it); it = getParent(it)) {
    seen.add(it);
    path.push(it);
  }
  return { path: path.toReversed(), leaves: nodes.filter(it => !parents.has(it)).length };
}
