/** Lists tasks for agents: the files of tasks, and the tasks of a file by a filter. */
import { isTooDeep } from "../storage/jsonDepth.ts";
import { readLines } from "../storage/jsonLines.ts";
import type { JsonSource } from "../storage/parseJson.ts";
import { DemandCounts, type Difficulty } from "../synthesis/pipeline/report/demands.ts";
import { parseTask } from "../trajectory/file.ts";
import { isEarlierTaskLine, taskFormat, type Task } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";
import { clip, formatCount, takePage } from "./text.ts";
import type { WorkspaceFiles } from "./workspaceFiles.ts";

/** Tasks that are listed at once. */
const pageSize = 16;
const maxFiles = 40;

/** What an agent asks for. All that is given must hold. */
interface TasksQuestion {
  readonly file?: string | undefined;
  readonly server?: string | undefined;
  readonly kind?: Task["kind"] | undefined;
  readonly split?: Task["split"] | undefined;
  readonly difficulty?: Difficulty | undefined;
  /** Whether the task has rules. */
  readonly policy?: boolean | undefined;
  /** Words in the id, the user's messages or the names of the goals' tools. */
  readonly text?: string | undefined;
  readonly offset: number;
}

export async function listTasks(
  question: TasksQuestion,
  files: WorkspaceFiles,
): Promise<readonly string[]> {
  if (question.file === undefined) return listFiles(files);
  const file = files.findFile(question.file);
  const shown = files.format(file);
  const found: FoundTask[] = [];
  let all = 0;
  let skipped = 0;
  for await (const { text, number } of readLines(file)) {
    const json = parseJson(text);
    if (!hasTaskFormat(json)) {
      skipped++;
      continue;
    }
    all++;
    const task = parseMatching(json, question, { file, line: number });
    if (task === "invalid") skipped++;
    if (typeof task !== "object") continue;
    const difficulty = DemandCounts.measureDifficulty(task);
    if (question.difficulty === undefined || question.difficulty === difficulty)
      found.push(summarize(task, difficulty));
  }
  if (all === 0)
    throw new UserError(
      `${shown} contains no task`,
      "name a *.tasks.jsonl file; prove_tasks without a file lists them",
    );
  const { page, more } = takePage(found, question.offset, pageSize);
  const filter = Object.entries(question)
    .filter(([key, it]) => key !== "file" && key !== "offset" && it !== undefined)
    .map(([key, it]) => `${key} ${String(it)}`);
  return [
    `${shown}: ${formatCount(all, "task")}${filter.length > 0 ? `, of which ${found.length} match ${clip(filter.join(", "), 300)}` : ""}${skipped > 0 ? `; ${formatCount(skipped, "line")} without a valid task` : ""}`,
    ...countTasks(found),
    ...page.flatMap(it => it.lines),
    ...more,
  ];
}

function listFiles(files: WorkspaceFiles): readonly string[] {
  const { tasks, trajectories } = files.listTaskFiles();
  const list = (title: string, paths: readonly string[]) => [
    `${title}: ${paths.length}`,
    ...paths.slice(0, maxFiles).map(it => `- ${clip(files.format(it), 200)}`),
    ...(paths.length > maxFiles ? [`… ${paths.length - maxFiles} more`] : []),
  ];
  return [
    ...list("tasks files; name one as file to list its tasks", tasks),
    ...list("trajectory files; name one as file of prove_attempt", trajectories),
  ];
}

function parseJson(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text);
    return isTooDeep(json, "document") ? undefined : json;
  } catch {
    // it is counted as a line without a task
    return undefined;
  }
}

const hasTaskFormat = (json: unknown): json is Partial<Task> =>
  typeof json === "object" &&
  json !== null &&
  ((json as { readonly format?: unknown }).format === taskFormat || isEarlierTaskLine(json));

/** The task of a line, unless it does not match the question or is not valid. */
function parseMatching(
  json: Partial<Task>,
  question: TasksQuestion,
  source: JsonSource,
): Task | "other" | "invalid" {
  try {
    // the whole check takes longer than all that a filter reads
    return matchesFields(json, question) ? parseTask(json, source) : "other";
  } catch {
    // a field has another type
    return "invalid";
  }
}

function matchesFields(
  { id, servers, kind, split, policy, turns, goals }: Partial<Task>,
  question: TasksQuestion,
): boolean {
  const words = question.text?.toLowerCase().split(/\s+/) ?? [];
  const text = JSON.stringify([id, turns?.map(it => it.user), goals?.map(it => it.calls)]);
  return (
    (question.server === undefined || servers?.some(it => it.name === question.server) === true) &&
    (question.kind === undefined || kind === question.kind) &&
    (question.split === undefined || split === question.split) &&
    (question.policy === undefined || (policy !== undefined) === question.policy) &&
    words.every(it => text.toLowerCase().includes(it))
  );
}

/** What an answer says of a task. */
interface FoundTask extends Pick<Task, "kind" | "split"> {
  readonly servers: readonly string[];
  readonly difficulty: Difficulty;
  readonly hasRules: boolean;
  readonly lines: readonly string[];
}

function countTasks(found: readonly FoundTask[]): readonly string[] {
  if (found.length === 0) return [];
  const count = (values: readonly string[]) => {
    const counts = new Map<string, number>();
    for (const it of values) counts.set(it, (counts.get(it) ?? 0) + 1);
    return [...counts]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, 20)
      .map(([name, n]) => `${clip(name, 40)} ${n}`)
      .join(", ");
  };
  return [
    `servers: ${count(found.flatMap(it => it.servers))}`,
    `kinds: ${count(found.map(it => it.kind))}; splits: ${count(found.map(it => it.split))}; difficulty: ${count(found.map(it => it.difficulty))}; with rules: ${found.filter(it => it.hasRules).length}`,
  ];
}

function summarize(task: Task, difficulty: Difficulty): FoundTask {
  const { id, kind, split, turns, goals, policy } = task;
  const servers = task.servers.map(it => it.name);
  const tools = goals.flatMap(it => it.calls.map(({ name }) => name));
  const rules = policy ? `, rules ${clip(policy.rules.map(it => it.id).join(", "), 80)}` : "";
  const lines = [
    `- ${clip(id, 100)}: ${kind}, ${difficulty}, ${split}, on ${clip(servers.join(", "), 80)}, ${formatCount(turns.length, "turn")}${rules}`,
    `    asks: ${clip(turns[0]!.user, 160)}`,
    `    goals: ${clip(tools.join(", "), 160)}`,
  ];
  return { kind, split, servers, difficulty, hasRules: policy !== undefined, lines };
}
