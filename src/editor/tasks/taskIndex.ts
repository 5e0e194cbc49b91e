/**
 * Where each task of a file begins, and the few words by which a tree shows and a filter finds it.
 * A task's text is read only when it is opened. Knows no editor.
 */
import { parseTask } from "../../trajectory/file.ts";
import { taskFormat, type Task } from "../../trajectory/task.ts";
import { previousTaskFormat } from "../../trajectory/taskLine.ts";
import { readJsonAt, type LineRange } from "../../storage/lineRange.ts";
import { LineIndexes, type IndexedLines } from "../../storage/lineIndex.ts";

/** A task as its file's index knows it. */
export interface TaskEntry extends LineRange {
  readonly id: string;
  /** What the user says first. */
  readonly request: string;
  readonly kind: Task["kind"];
  readonly split: Task["split"];
  readonly info: Task["info"];
  readonly persona: string;
  /** User turns. */
  readonly turns: number;
  readonly servers: readonly string[];
  /** The calls that must happen, by name. */
  readonly goals: readonly string[];
  /** What was done to the task, `name=value`; knobs that were off are left out. */
  readonly knobs: readonly string[];
}

export type TaskIndex = IndexedLines<TaskEntry>;

/**
 * A tasks file's index as the file is now; a file that grew is read on. A line that is not a task
 * is skipped and told.
 */
export const indexTasks = (file: string): Promise<TaskIndex> => indexes.read(file);

/** One task, read and checked whole. */
export const readTask = async (file: string, place: LineRange): Promise<Task> =>
  parseTask(await readJsonAt(file, place), { file, line: place.number });

/**
 * The entry of a line, or why it is none. Checks only what the entry needs: the whole task is
 * checked when it is opened.
 */
function createEntry(
  text: string,
  { number, offset, bytes }: LineRange,
  whole: boolean,
): TaskEntry | string {
  let task: Partial<Task> | null;
  try {
    task = whole ? headOfTask(text) : (JSON.parse(text) as Partial<Task> | null);
  } catch (error) {
    return `the line is not JSON (${(error as Error).message})`;
  }
  if (![taskFormat, previousTaskFormat].includes(String(task?.format)))
    return `its format is ${String(task?.format)}, and this version reads ${taskFormat}`;
  const {
    id,
    turns,
    kind,
    split,
    servers,
    goals,
    knobs = {},
    info = "complete",
    persona = "",
  } = task!;
  if (!id || !turns?.[0] || !kind || !split || !servers || !goals)
    return "it lacks what every task has";
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
    knobs: internList(
      Object.entries(knobs).flatMap(([name, value]) =>
        value === false || value === 0 || value === null
          ? []
          : [`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`],
      ),
    ),
  };
}

/**
 * All of a task but its trajectory, which is most of the line and comes last; the whole of a line
 * that is laid out otherwise. Inside a text the quotes would be escaped, so what is found is a key.
 * Throws where the line is no JSON.
 */
export function headOfTask(text: string): Partial<Task> | null {
  const at = text.indexOf(trajectory);
  if (at >= 0 && text.endsWith("]}}"))
    try {
      return JSON.parse(`${text.slice(0, at)}}`) as Partial<Task>;
    } catch {
      // the key of an inner object: the whole line is parsed
    }
  return JSON.parse(text) as Partial<Task> | null;
}

const trajectory = ',"trajectory":{';

/** Words that thousands of tasks share are kept once. */
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
