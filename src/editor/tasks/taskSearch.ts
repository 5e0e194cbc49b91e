/**
 * Looks for words in all that tasks say: every turn, every call and what it gave. Results come as
 * they are found; the file is read in pieces and never held. Knows no editor.
 */
import { readTextsAt } from "../../storage/lineRange.ts";
import { matchesFields, type TaskFilter } from "./taskFilter.ts";
import type { TaskEntry, TaskIndex } from "./taskIndex.ts";

/** A task in which every word occurs, and the place that shows it best. */
export interface SearchHit {
  readonly entry: TaskEntry;
  /** Who said it, or the tool that was called or that gave it. */
  readonly where: string;
  /** The words around the first one, on one line. */
  readonly excerpt: string;
}

/**
 * The tasks of a file that a filter's fields let through and that contain all its words. Throws the
 * signal's reason where it is aborted.
 */
export async function* searchTasks(
  { file, entries }: TaskIndex,
  filter: TaskFilter,
  signal?: AbortSignal,
): AsyncGenerator<SearchHit> {
  const { words } = filter;
  const candidates = entries.filter(it => matchesFields(it, filter));
  // as they stand in the line, where quotes and backslashes are escaped
  const written = words.map(it => JSON.stringify(it).slice(1, -1));
  for await (const { range: entry, text } of readTextsAt(file, candidates, signal)) {
    const small = text.toLowerCase();
    if (!written.every(it => small.includes(it))) continue;
    const hit = findHit(text, entry, words);
    if (hit) yield hit;
  }
}

interface TaskText {
  readonly where: string;
  readonly text: string;
}

/** What stands in a task beside its texts, such as names of fields, is no hit. */
function findHit(line: string, entry: TaskEntry, words: readonly string[]): SearchHit | undefined {
  const all = listTexts(line).map(it => ({ ...it, small: it.text.toLowerCase() }));
  if (!words.every(word => all.some(it => it.small.includes(word)))) return undefined;
  const counts = all.map(({ small }) => words.filter(word => small.includes(word)).length);
  const best = all[counts.indexOf(Math.max(...counts))];
  if (!best) return undefined;
  const first = Math.min(
    ...words.flatMap(word => (best.small.includes(word) ? [best.small.indexOf(word)] : [])),
  );
  return {
    entry,
    where: best.where,
    excerpt: cutExcerpt(best.text, Number.isFinite(first) ? first : 0),
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
    if (it["kind"] === "call") {
      const name = String(it["name"]);
      const given = it["value"] ?? it["error"];
      return [
        { where: name, text: `${name} ${JSON.stringify(it["arguments"])}` },
        ...(given === undefined
          ? []
          : [{ where: name, text: typeof given === "string" ? given : JSON.stringify(given) }]),
      ];
    }
    return typeof it["text"] === "string" && it["text"]
      ? [{ where: String(it["kind"]), text: it["text"] }]
      : [];
  });
}

function cutExcerpt(text: string, at: number): string {
  const from = Math.max(0, at - 30);
  const cut = text
    .slice(from, from + 110)
    .replaceAll(/\s+/g, " ")
    .trim();
  return `${from > 0 ? "…" : ""}${cut}${from + 110 < text.length ? "…" : ""}`;
}
