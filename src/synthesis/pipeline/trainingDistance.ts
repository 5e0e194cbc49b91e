/**
 * Measures how far the held-out tasks of a file are from its training tasks: which of their tools,
 * sequences of calls, dependencies and names training tasks have, too.
 */
import { listGoalEdges } from "../../trajectory/goalEdges.ts";
import type { Task } from "../../trajectory/task.ts";

/** The distance of a split to the training tasks. Shares are of its tasks with goals. */
export interface TrainingDistance {
  /** The number of its tasks with goals. */
  readonly tasks: number;
  /** Share whose tools one training task calls, too, among others. */
  readonly contained: number;
  /** Share whose tools are those of a training task, except for at most one of them. */
  readonly oneTool: number;
  /** Mean Jaccard distance to the most similar set of tools of a training task, 0 to 1. */
  readonly distance: number;
  /** Share with a turn whose sequence of calls no turn of a training task has. */
  readonly newSequence: number;
  /** Share with a dependency between two tools that no training task has. */
  readonly newEdge: number;
  /** Share of the names in its users' words that no user of a training task says. */
  readonly newName: number;
  /** Share of far tasks: a new sequence, and no training task calls all of their tools. */
  readonly far: number;
}

/** What is compared of a task; numbers stand for strings. */
interface Entry {
  readonly tools: readonly number[];
  readonly sequences: readonly number[];
  readonly edges: readonly number[];
}

/** The entries and names of one split. */
class SplitEntries {
  readonly entries: Entry[] = [];
  readonly names = new Set<number>();
}

/** A name: a capitalized word that does not begin a sentence. */
const namePattern = /(?<=[\p{Ll}\p{N},;:] )\p{Lu}[\p{L}\p{N}'’-]+/gu;

export class TrainingDistances {
  readonly #numbers = new Map<string, number>();
  readonly #entriesBySplit = new Map<Task["split"], SplitEntries>();

  add({ split, goals, turns }: Task): void {
    let entries = this.#entriesBySplit.get(split);
    if (!entries) this.#entriesBySplit.set(split, (entries = new SplitEntries()));
    for (const { user } of turns)
      for (const [name] of user.matchAll(namePattern)) entries.names.add(this.#intern(name));
    if (goals.length === 0) return;
    const sequences = new Map<number, string>();
    for (const { calls, turn } of goals)
      for (const { name } of calls) sequences.set(turn, `${sequences.get(turn) ?? ""} ${name}`);
    const internAll = (texts: Iterable<string>) => [...new Set(texts)].map(it => this.#intern(it));
    entries.entries.push({
      tools: internAll(goals.flatMap(it => it.calls.map(call => call.name))),
      sequences: internAll(sequences.values()),
      edges: internAll(listGoalEdges(goals)),
    });
  }

  /** The distances by split, or nothing if there are no training tasks to compare with. */
  measure(): Record<string, TrainingDistance> {
    const training = this.#entriesBySplit.get("train");
    if (!training || training.entries.length === 0) return {};
    const index = new TrainingIndex(training);
    return Object.fromEntries(
      [...this.#entriesBySplit]
        .filter(([split, { entries }]) => split !== "train" && entries.length > 0)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([split, it]) => [split, index.measure(it)]),
    );
  }

  #intern(text: string): number {
    let number = this.#numbers.get(text);
    if (number === undefined) this.#numbers.set(text, (number = this.#numbers.size));
    return number;
  }
}

class TrainingIndex {
  readonly #names: ReadonlySet<number>;
  readonly #sequences = new Set<number>();
  readonly #edges = new Set<number>();
  /** The different sets of tools, by their sizes and by each tool. */
  readonly #sizes: number[] = [];
  readonly #setsByTool = new Map<number, number[]>();

  constructor({ entries, names }: SplitEntries) {
    this.#names = names;
    const keys = new Set<string>();
    for (const { tools, sequences, edges } of entries) {
      for (const it of sequences) this.#sequences.add(it);
      for (const it of edges) this.#edges.add(it);
      const key = tools.toSorted((a, b) => a - b).join();
      if (keys.has(key)) continue;
      keys.add(key);
      const set = this.#sizes.push(tools.length) - 1;
      for (const it of tools) {
        const sets = this.#setsByTool.get(it);
        if (sets) sets.push(set);
        else this.#setsByTool.set(it, [set]);
      }
    }
  }

  measure({ entries, names }: SplitEntries): TrainingDistance {
    const rows = entries.map(it => {
      const sets = this.#compareSets(it.tools);
      const newSequence = it.sequences.some(sequence => !this.#sequences.has(sequence));
      const newEdge = it.edges.some(edge => !this.#edges.has(edge));
      return { ...sets, newSequence, newEdge, far: newSequence && !sets.contained };
    });
    const getShare = (key: "contained" | "oneTool" | "newSequence" | "newEdge" | "far") =>
      divide(rows.filter(it => it[key]).length, rows.length);
    return {
      tasks: rows.length,
      contained: getShare("contained"),
      oneTool: getShare("oneTool"),
      distance: divide(
        rows.reduce((sum, it) => sum + it.distance, 0),
        rows.length,
      ),
      newSequence: getShare("newSequence"),
      newEdge: getShare("newEdge"),
      newName: divide([...names].filter(it => !this.#names.has(it)).length, names.size),
      far: getShare("far"),
    };
  }

  #compareSets(tools: readonly number[]) {
    const sharedBySet = new Map<number, number>();
    for (const tool of tools)
      for (const set of this.#setsByTool.get(tool) ?? [])
        sharedBySet.set(set, (sharedBySet.get(set) ?? 0) + 1);
    let contained = false;
    let oneTool = false;
    let distance = 1;
    for (const [set, shared] of sharedBySet) {
      const size = this.#sizes[set]!;
      distance = Math.min(distance, 1 - shared / (tools.length + size - shared));
      contained ||= shared === tools.length;
      // one tool more, one less, or another one in its place
      oneTool ||= tools.length - shared <= 1 && size - shared <= 1;
    }
    return { contained, oneTool, distance };
  }
}

const divide = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;
