/**
 * Measures of the tasks of a file: their shape, how far its held-out tasks are from its training
 * tasks, and how diverse its texts are.
 */
import type { Goal, Task } from "../../../trajectory/task.ts";
import { listGoalEdges } from "../../../trajectory/seenTasks.ts";

/** Means and shares over tasks, or over user turns. */
export interface TaskShape {
  /** User turns of a task, and the most of any. */
  readonly turns: number;
  readonly mostTurns: number;
  /** Goal calls of a task with goals, and the most of any. */
  readonly calls: number;
  readonly mostCalls: number;
  /** Goal calls of a turn. */
  readonly callsPerTurn: number;
  /** Shares of the turns with no call, one, two, and three or more. */
  readonly turnsByCalls: [number, number, number, number];
  /** Shares of the turns and of the tasks with two or more writes. */
  readonly turnsWithWrites: number;
  readonly tasksWithWrites: number;
  /** Tools on a menu. */
  readonly offeredTools: number;
  /** Servers that a task's goals call, in tasks with goals. */
  readonly servers: number;
  /** Share of the tasks in which a call fails and the assistant goes on. */
  readonly withFailedCall: number;
  /** Share of the tasks in which the assistant refuses or asks something. */
  readonly withUnmet: number;
  /** Share of the tasks without goals. */
  readonly withoutGoals: number;
  /** Share of the tasks in which a later turn adds tools. */
  readonly withAddedTools: number;
  /** Share of the tasks in which a user asks for something only if a look-up shows something. */
  readonly withCondition: number;
  /** Share of the tasks in which a user names a limit, such as the most to pay. */
  readonly withLimit: number;
  /** Share of the tasks in which a user changes their mind. */
  readonly withChangeOfMind: number;
  /** Share of the tasks with an obstacle that the assistant must get around. */
  readonly withRecovery: number;
  /** Share of the tasks with a policy in the system message. */
  readonly withPolicy: number;
}

/** Shares of the tasks that have a property. */
const features: readonly (readonly [Feature, (task: Task) => boolean])[] = [
  ["withFailedCall", it => Number(it.knobs["failedCalls"] ?? 0) > 0],
  ["withUnmet", it => it.turns.some(turn => turn.unmet)],
  ["withoutGoals", it => it.goals.length === 0],
  ["withAddedTools", it => it.turns.some(turn => turn.adds)],
  ["withCondition", it => it.knobs["conditions"] !== undefined],
  ["withLimit", it => it.knobs["limits"] !== undefined],
  ["withChangeOfMind", it => it.knobs["changesOfMind"] !== undefined],
  ["withRecovery", it => it.knobs["recovery"] !== undefined],
  ["withPolicy", it => Object.hasOwn(it, "policy")],
  ["tasksWithWrites", it => countWrites(it.goals) > 1],
];

type Feature = Extract<keyof TaskShape, `with${string}`> | "tasksWithWrites";

/** Counts the goal calls that are no look-ups: those say what they were for. */
const countWrites = (goals: readonly Goal[]): number =>
  goals.flatMap(it => it.calls).filter(it => it.for === undefined).length;

export class TaskShapes {
  #tasks = 0;
  #turns = 0;
  #tasksWithGoals = 0;
  #calls = 0;
  #mostCalls = 0;
  readonly #turnsByCalls: [number, number, number, number] = [0, 0, 0, 0];
  #turnsWithWrites = 0;
  #offered = 0;
  #servers = 0;
  #mostTurns = 0;
  readonly #featureCounts = new Map<Feature, number>();

  add(task: Task): void {
    const { goals, turns, menu, servers } = task;
    this.#tasks++;
    this.#turns += turns.length;
    this.#mostTurns = Math.max(this.#mostTurns, turns.length);
    this.#offered += menu.length;
    const calls = goals.flatMap(it => it.calls);
    this.#calls += calls.length;
    this.#mostCalls = Math.max(this.#mostCalls, calls.length);
    if (calls.length > 0) this.#tasksWithGoals++;
    this.#servers += servers.filter(({ name }) =>
      calls.some(it => it.name.startsWith(`${name}_`)),
    ).length;
    for (const i of turns.keys()) this.#addTurn(goals.filter(it => it.turn === i));
    for (const [feature, has] of features)
      this.#featureCounts.set(
        feature,
        (this.#featureCounts.get(feature) ?? 0) + (has(task) ? 1 : 0),
      );
  }

  #addTurn(goals: readonly Goal[]): void {
    const calls = goals.flatMap(it => it.calls);
    const i = Math.min(calls.length, 3) as 0 | 1 | 2 | 3;
    this.#turnsByCalls[i]++;
    if (countWrites(goals) > 1) this.#turnsWithWrites++;
  }

  measure(): TaskShape {
    const perTurn = (count: number) => divide(count, this.#turns);
    const perTask = (count: number) => divide(count, this.#tasks);
    const [none, one, two, more] = this.#turnsByCalls;
    return {
      turns: perTask(this.#turns),
      mostTurns: this.#mostTurns,
      calls: divide(this.#calls, this.#tasksWithGoals),
      mostCalls: this.#mostCalls,
      callsPerTurn: perTurn(this.#calls),
      turnsByCalls: [perTurn(none), perTurn(one), perTurn(two), perTurn(more)],
      turnsWithWrites: perTurn(this.#turnsWithWrites),
      offeredTools: perTask(this.#offered),
      servers: divide(this.#servers, this.#tasksWithGoals),
      ...(Object.fromEntries(
        features.map(([it]) => [it, perTask(this.#featureCounts.get(it) ?? 0)]),
      ) as Record<Feature, number>),
    };
  }
}

const divide = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;

// Measures how far the held-out tasks of a file are from its training tasks: which of their tools,
// sequences of calls, dependencies and names training tasks have, too.

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

// Measures the diversity of texts with the usual metrics: distinct-n, the share of repeated texts,
// and self-BLEU. It compares words only, not their meaning.

interface Diversity {
  /** The number of texts. */
  readonly turns: number;
  /**
   * The number of texts used for distinct-n and self-BLEU. Both depend on it, so values are
   * comparable only between equal numbers.
   */
  readonly measured: number;
  /** Different n-grams over all n-grams, n = 1, 2, 3 (Li et al. 2016), 0 to 1. */
  readonly distinct: readonly [number, number, number];
  /** Share of all texts that have the same words in the same order as another text. */
  readonly repeated: number;
  /**
   * Mean BLEU-4 of each text against all others (Zhu et al. 2018), 0 to 1: the lower, the more
   * varied.
   */
  readonly selfBleu: number;
}

/** The most texts used for distinct-n and self-BLEU, spread evenly over all texts. */
const maxMeasured = 1000;

/** BLEU uses n-grams of 1 to this many words. */
const maxOrder = 4;

/**
 * The count used in place of zero, so that one missing n-gram does not make a text's BLEU zero
 * (Chen and Cherry 2014, method 1).
 */
const smoothing = 0.1;

export function measureDiversity(texts: readonly string[]): Diversity {
  const tokenized = texts.map(splitIntoWords);
  const keys = tokenized.map(it => it.join(" "));
  const keyCounts = countEach(keys);
  const step = Math.max(1, tokenized.length / maxMeasured);
  const measured = Array.from(
    { length: Math.min(maxMeasured, tokenized.length) },
    (_, i) => tokenized[Math.floor(i * step)]!,
  );
  const repeatedCount = keys.filter(it => keyCounts.get(it)! > 1).length;
  return {
    turns: tokenized.length,
    measured: measured.length,
    distinct: [
      computeDistinct(measured, 1),
      computeDistinct(measured, 2),
      computeDistinct(measured, 3),
    ],
    repeated: computeShare(repeatedCount, tokenized.length),
    selfBleu: roundToFourDigits(computeSelfBleu(measured)),
  };
}

/**
 * Splits a text into its words in lower case, without punctuation: `It's 45.50, please!` becomes
 * `it's`, `45.50`, `please`.
 */
const splitIntoWords = (text: string): string[] =>
  text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’.,:/@_-][\p{L}\p{N}]+)*/gu) ?? [];

function computeDistinct(texts: readonly (readonly string[])[], n: number): number {
  const ngrams = texts.flatMap(it => listNgrams(it, n));
  return computeShare(new Set(ngrams).size, ngrams.length);
}

const listNgrams = (words: readonly string[], n: number): string[] =>
  Array.from({ length: Math.max(0, words.length - n + 1) }, (_, i) =>
    words.slice(i, i + n).join(" "),
  );

/** The text with the highest count of an n-gram, and the highest count in any other text. */
interface Peak {
  text: number;
  count: number;
  countElsewhere: number;
}

/** Computes the mean BLEU of each text with all others as its references. */
function computeSelfBleu(texts: readonly (readonly string[])[]): number {
  if (texts.length < 2) return 0;
  const countsByText = texts.map(words =>
    Array.from({ length: maxOrder }, (_, n) => countEach(listNgrams(words, n + 1))),
  );
  const peaks = findPeaks(countsByText);
  const lengths = texts.map(it => it.length).sort((a, b) => a - b);
  let sum = 0;
  for (const [text, countsByOrder] of countsByText.entries()) {
    const { length } = texts[text]!;
    if (length === 0) continue;
    const orders = countsByOrder.slice(0, Math.min(maxOrder, length));
    const logPrecisions = orders.map(it =>
      Math.log(Math.max(computeClippedCount(it, text, peaks), smoothing) / sumCounts(it)),
    );
    const brevityPenalty = Math.min(1, Math.exp(1 - findClosestLength(lengths, length) / length));
    sum += brevityPenalty * Math.exp(logPrecisions.reduce((a, b) => a + b, 0) / orders.length);
  }
  return sum / texts.length;
}

function countEach(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const it of keys) counts.set(it, (counts.get(it) ?? 0) + 1);
  return counts;
}

function findPeaks(
  countsByText: readonly (readonly ReadonlyMap<string, number>[])[],
): ReadonlyMap<string, Peak> {
  const peaks = new Map<string, Peak>();
  for (const [text, countsByOrder] of countsByText.entries())
    for (const counts of countsByOrder)
      for (const [ngram, count] of counts) {
        const peak = peaks.get(ngram);
        if (!peak) peaks.set(ngram, { text, count, countElsewhere: 0 });
        else if (count > peak.count) peaks.set(ngram, { text, count, countElsewhere: peak.count });
        else peak.countElsewhere = Math.max(peak.countElsewhere, count);
      }
  return peaks;
}

/** Counts the n-grams of a text, each at most as often as the other text that has most of it. */
function computeClippedCount(
  counts: ReadonlyMap<string, number>,
  text: number,
  peaks: ReadonlyMap<string, Peak>,
): number {
  let sum = 0;
  for (const [ngram, count] of counts) {
    const peak = peaks.get(ngram)!;
    sum += Math.min(count, peak.text === text ? peak.countElsewhere : peak.count);
  }
  return sum;
}

const sumCounts = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((a, b) => a + b, 0);

/**
 * Finds BLEU's effective reference length: the length of another text that is closest to a text's
 * own; of two that are equally close, the shorter.
 */
function findClosestLength(lengths: readonly number[], own: number): number {
  let hasSkippedOwn = false;
  let closest = Infinity;
  for (const it of lengths) {
    if (it === own && !hasSkippedOwn) hasSkippedOwn = true;
    else if (Math.abs(it - own) < Math.abs(closest - own)) closest = it;
  }
  return closest;
}

const computeShare = (part: number, whole: number): number =>
  whole === 0 ? 0 : roundToFourDigits(part / whole);

const roundToFourDigits = (value: number): number => Math.round(value * 10_000) / 10_000;
