/**
 * Indexes a tasks file: where each task begins, and the few fields that the tree shows and filters
 * use. A task is read and checked as a whole only when it is opened.
 *
 * Each line is parsed as a whole, although the entry does not need the trajectory, nearly half of
 * the line. Skipping it is hardly faster: for 13,517 tasks (58 MB), parsing whole lines takes
 * 0.50 s, skipping the trajectory's value with a scanner and parsing the rest 0.44 s, and `visit`
 * of jsonc-parser 0.92 s. The longest time without a pause is 13 ms.
 */
import { describeTooDeep, isTooDeep } from "../../storage/jsonDepth.ts";
import {
  LineIndexes,
  type IndexedLines,
  readJsonAt,
  type LineRange,
} from "../../storage/lineIndex.ts";
import { parseTask } from "../../trajectory/file.ts";
import { taskFormat, type Task, isEarlierTaskLine } from "../../trajectory/task.ts";

/** A task as the index of its file describes it. */
export interface TaskEntry extends LineRange {
  readonly id: string;
  /** The first message of the user. */
  readonly request: string;
  readonly kind: Task["kind"];
  readonly split: Task["split"];
  readonly info: Task["info"];
  readonly persona: string;
  /** Number of user turns. */
  readonly turns: number;
  readonly servers: readonly string[];
  /** The tools of the goals. */
  readonly goals: readonly string[];
  /** The knobs that are on, as `name=value`. */
  readonly knobs: readonly string[];
}

export type TaskIndex = IndexedLines<TaskEntry>;

/** The index of a tasks file. Only new lines are read; lines without a task are listed. */
export const indexTasks = (file: string): Promise<TaskIndex> => indexes.read(file);

/** Reads one task and checks it. */
export const readTask = async (file: string, range: LineRange): Promise<Task> =>
  parseTask(await readJsonAt(file, range), { file, line: range.number });

/** The entry of a line, or why it has none. Checks only the fields of the entry. */
function createEntry(text: string, { number, offset, bytes }: LineRange): TaskEntry | string {
  let task: Partial<Task> | null;
  try {
    task = JSON.parse(text) as Partial<Task> | null;
  } catch (error) {
    return `the line is not JSON (${(error as Error).message})`;
  }
  if (isTooDeep(task, "document")) return `it is ${describeTooDeep("document")}`;
  if (task?.format !== taskFormat && !isEarlierTaskLine(task))
    return `its format is ${String(task?.format)}, and this version reads ${taskFormat}`;
  const { id, turns, kind, split, servers, goals } = task;
  const { knobs = {}, info = "complete", persona = "" } = task;
  if (!id || !turns?.[0] || !kind || !split || !servers || !goals)
    return "it lacks a field that every task has";
  return {
    id,
    number,
    offset,
    bytes,
    request: turns[0].user,
    kind: intern(kind),
    split: intern(split),
    info: intern(info),
    persona: intern(persona),
    turns: turns.length,
    servers: internList(servers.map(it => it.name)),
    goals: internList(goals.flatMap(it => it.calls.map(({ name }) => name))),
    knobs: internList(listActiveKnobs(knobs)),
  };
}

const listActiveKnobs = (knobs: Task["knobs"]): readonly string[] =>
  Object.entries(knobs)
    .filter(([, value]) => value !== false && value !== 0 && value !== null)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);

/** Words and lists that thousands of tasks share are stored once. */
const internedWords = new Map<string, string>();
const internedLists = new Map<string, readonly string[]>();

function intern<T extends string>(word: T): T {
  if (!internedWords.has(word)) internedWords.set(word, word);
  return internedWords.get(word) as T;
}

function internList(list: readonly string[]): readonly string[] {
  const key = list.join(" ");
  if (!internedLists.has(key)) internedLists.set(key, list.map(intern));
  return internedLists.get(key)!;
}

const indexes = new LineIndexes(createEntry);
