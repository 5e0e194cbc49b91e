/**
 * Searches the texts of tasks: every message, every call and its result. Yields hits as they are
 * found, and reads the file in chunks.
 */
import { readTextsAt } from "../../storage/lineIndex.ts";
import { matchesFields, type TaskFilter } from "./taskFilter.ts";
import type { TaskEntry, TaskIndex } from "../attempts/taskIndex.ts";

/** A task that contains all words. */
export interface SearchHit {
  readonly entry: TaskEntry;
  /** The role of the message, or the name of the tool. */
  readonly where: string;
  /** The text around the first word, on one line. */
  readonly excerpt: string;
}

/**
 * Yields the tasks of a file that match a filter's fields and contain all its words. Throws the
 * signal's reason when it is aborted.
 */
export async function* searchTasks(
  { file, entries }: TaskIndex,
  filter: TaskFilter,
  signal?: AbortSignal,
): AsyncGenerator<SearchHit> {
  const { words } = filter;
  const candidates = entries.filter(it => matchesFields(it, filter));
  // the line is JSON, in which quotes and backslashes are escaped
  const escaped = words.map(it => JSON.stringify(it).slice(1, -1));
  for await (const { range: entry, text } of readTextsAt(file, candidates, signal)) {
    const lowerCase = text.toLowerCase();
    if (!escaped.every(it => lowerCase.includes(it))) continue;
    const hit = findHit(text, entry, words);
    if (hit) yield hit;
  }
}

interface TaskText {
  readonly where: string;
  readonly text: string;
}

/** The best hit in the texts of a task. A match outside its texts, such as in a key, is no hit. */
function findHit(line: string, entry: TaskEntry, words: readonly string[]): SearchHit | undefined {
  const texts = listTexts(line).map(it => ({ ...it, lowerCase: it.text.toLowerCase() }));
  if (!words.every(word => texts.some(it => it.lowerCase.includes(word)))) return undefined;
  const counts = texts.map(({ lowerCase }) => words.filter(it => lowerCase.includes(it)).length);
  const best = texts[counts.indexOf(Math.max(...counts))];
  if (!best) return undefined;
  const positions = words.map(it => best.lowerCase.indexOf(it)).filter(it => it >= 0);
  return {
    entry,
    where: best.where,
    excerpt: cutExcerpt(best.text, positions.length ? Math.min(...positions) : 0),
  };
}

function listTexts(line: string): readonly TaskText[] {
  let events: readonly Record<string, unknown>[];
  try {
    events = (JSON.parse(line) as { trajectory: { events: Record<string, unknown>[] } }).trajectory
      .events;
  } catch {
    // the file has changed since it was indexed
    return [];
  }
  return events.flatMap((it): TaskText[] => {
    if (it["kind"] === "call") return listCallTexts(it);
    return typeof it["text"] === "string" && it["text"]
      ? [{ where: String(it["kind"]), text: it["text"] }]
      : [];
  });
}

function listCallTexts(call: Record<string, unknown>): TaskText[] {
  const name = String(call["name"]);
  const result = call["value"] ?? call["error"];
  const texts = [{ where: name, text: `${name} ${JSON.stringify(call["arguments"])}` }];
  if (result !== undefined)
    texts.push({ where: name, text: typeof result === "string" ? result : JSON.stringify(result) });
  return texts;
}

function cutExcerpt(text: string, position: number): string {
  const from = Math.max(0, position - 30);
  const to = from + 110;
  const excerpt = text.slice(from, to).replaceAll(/\s+/g, " ").trim();
  return `${from > 0 ? "…" : ""}${excerpt}${to < text.length ? "…" : ""}`;
}
