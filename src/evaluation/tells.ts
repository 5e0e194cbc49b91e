/**
 * Measures what gives away whether a task's first turn calls for a tool: a logistic regression on
 * the words of the turn, without the menu, and one on the shape of the menu, without the words.
 * Both are evaluated by cross-validation; an area under the curve (AUC) of 0.5 means no tell.
 */
import { createRandom, type Random } from "../environment/random.ts";
import type { Task } from "../trajectory/task.ts";
import { startsTurn } from "../trajectory/trajectory.ts";
import { fitLogistic, type SparseVector } from "./logisticRegression.ts";
import { createShapeVectors, describeShape, type ToolLookUp } from "./menuShape.ts";

/** What predicts a call or no call, and how well. */
export interface TellsReport {
  readonly tasks: number;
  /** How many of them call nothing in the first turn. */
  readonly withoutCall: number;
  readonly words: {
    readonly auc: number;
    /** The words with the largest weights, strongest first. */
    readonly forCall: readonly string[];
    readonly forNoCall: readonly string[];
    /** Of the tasks without a call of each kind, against all tasks with one. */
    readonly byKind: readonly KindTell[];
  };
  /** Tasks with a `pair` knob; absent where there are none. */
  readonly pairs?: {
    readonly count: number;
    /** Pairs whose two first turns are the same text, which no text can tell apart. */
    readonly sameText: number;
    /** Over the tasks of all pairs, by the words. */
    readonly auc: number;
    /** Over the tasks of pairs whose first turns differ; absent where there are none. */
    readonly reworded?: number;
    /** How often the task without a call gets the higher score of its pair; ties count half. */
    readonly within: number;
  };
  readonly menu: { readonly auc: number };
}

/** How well the words tell the tasks without a call of one kind. */
export interface KindTell {
  readonly kind: string;
  readonly tasks: number;
  readonly auc: number;
}

interface Example {
  readonly group: string;
  /** The kind of task, and of abstention. */
  readonly kind: string;
  readonly text: string;
  readonly callsNothing: boolean;
  /** The words of the first turn, with their counts. */
  readonly words: ReadonlyMap<string, number>;
  readonly shape: readonly number[];
}

const foldCount = 5;

/** Words in fewer first turns than this are not features. */
const minTurnsOfWord = 3;

const topWordCount = 25;

/** Measures the tells of tasks. The same tasks give the same report. */
export class TellsAudit {
  readonly #findTool: ToolLookUp;
  readonly #examples: Example[] = [];

  constructor(findTool: ToolLookUp) {
    this.#findTool = findTool;
  }

  add(task: Task): void {
    const text = task.turns[0]!.user;
    const abstention = task.knobs["abstention"];
    this.#examples.push({
      group: typeof task.knobs["pair"] === "string" ? `pair ${task.knobs["pair"]}` : task.id,
      kind: typeof abstention === "string" ? `${task.kind}, ${abstention}` : task.kind,
      text,
      callsNothing: !callsInFirstTurn(task),
      words: countWords(text),
      shape: describeShape(task, this.#findTool),
    });
  }

  /** The report, or undefined where all tasks call something, or none does. */
  report(): TellsReport | undefined {
    const examples = this.#examples;
    const labels = examples.map(it => it.callsNothing);
    const withoutCall = labels.filter(Boolean).length;
    if (withoutCall === 0 || withoutCall === examples.length) return undefined;
    const folds = assignFolds(examples, createRandom(1, "tells"));
    const vocabulary = listVocabulary(examples);
    const index = new Map(vocabulary.map((it, i) => [it, i]));
    const byWords = examples.map(({ words }): SparseVector => {
      const entries = [...words].filter(([it]) => index.has(it));
      return { indices: entries.map(([it]) => index.get(it)!), values: entries.map(it => it[1]) };
    });
    const size = vocabulary.length;
    const scores = crossValidate({ vectors: byWords, labels, size }, folds);
    const { weights } = fitLogistic({ vectors: byWords, labels, size });
    const ranked = vocabulary.map((_, i) => i).sort((a, b) => weights[b]! - weights[a]!);
    const pairs = reportPairs(examples, scores);
    const shapes = createShapeVectors(examples.map(it => it.shape));
    return {
      tasks: examples.length,
      withoutCall,
      words: {
        auc: computeAuc(scores, labels),
        forCall: ranked
          .toReversed()
          .slice(0, topWordCount)
          .map(it => vocabulary[it]!),
        forNoCall: ranked.slice(0, topWordCount).map(it => vocabulary[it]!),
        byKind: reportKinds(examples, scores),
      },
      ...(pairs ? { pairs } : {}),
      menu: { auc: computeAuc(crossValidate({ ...shapes, labels }, folds), labels) },
    };
  }
}

/** Whether the recorded attempt calls a tool before the user speaks again. */
function callsInFirstTurn({ trajectory: { events } }: Task): boolean {
  const first = events.findIndex(startsTurn);
  const second = events.findIndex((it, i) => i > first && startsTurn(it));
  return events.slice(first + 1, second < 0 ? undefined : second).some(it => it.kind === "call");
}

/** The words in lower case; all numbers count as one word. */
function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}'’]+|\d+|[?!]/gu)) {
    const key = /^\d/.test(word) ? "0" : word;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function listVocabulary(examples: readonly Example[]): string[] {
  const turnCounts = new Map<string, number>();
  for (const { words } of examples)
    for (const it of words.keys()) turnCounts.set(it, (turnCounts.get(it) ?? 0) + 1);
  return [...turnCounts].filter(([, count]) => count >= minTurnsOfWord).map(([it]) => it);
}

/** The fold of each example: those of a group are in the same one. */
function assignFolds(examples: readonly Example[], random: Random): number[] {
  const groups = random.shuffle([...new Set(examples.map(it => it.group))]);
  const folds = new Map(groups.map((it, i) => [it, i % foldCount]));
  return examples.map(it => folds.get(it.group)!);
}

interface LabelledVectors {
  readonly vectors: readonly SparseVector[];
  readonly labels: readonly boolean[];
  readonly size: number;
}

/** The score of each example by the model that was fitted without its fold. */
function crossValidate(
  { vectors, labels, size }: LabelledVectors,
  folds: readonly number[],
): number[] {
  const scores = Array.from(labels, () => 0);
  for (let fold = 0; fold < foldCount; fold++) {
    const isTraining = (_: unknown, i: number) => folds[i] !== fold;
    const model = fitLogistic({
      vectors: vectors.filter(isTraining),
      labels: labels.filter(isTraining),
      size,
    });
    for (const [i, it] of vectors.entries()) if (folds[i] === fold) scores[i] = model.score(it);
  }
  return scores;
}

function reportKinds(examples: readonly Example[], scores: readonly number[]): KindTell[] {
  const kinds = new Set(examples.filter(it => it.callsNothing).map(it => it.kind));
  return [...kinds].sort().map(kind => {
    const chosen = [...examples.keys()].filter(
      it => !examples[it]!.callsNothing || examples[it]!.kind === kind,
    );
    const labels = chosen.map(it => examples[it]!.callsNothing);
    return {
      kind,
      tasks: labels.filter(Boolean).length,
      auc: computeAuc(
        chosen.map(it => scores[it]!),
        labels,
      ),
    };
  });
}

function reportPairs(
  examples: readonly Example[],
  scores: readonly number[],
): TellsReport["pairs"] {
  const byGroup = new Map<string, number[]>();
  for (const [i, { group }] of examples.entries())
    if (group.startsWith("pair ")) byGroup.set(group, [...(byGroup.get(group) ?? []), i]);
  const pairs = [...byGroup.values()].filter(
    ([a, b, c]) =>
      b !== undefined &&
      c === undefined &&
      examples[a!]!.callsNothing !== examples[b]!.callsNothing,
  );
  if (pairs.length === 0) return undefined;
  const getAuc = (chosen: readonly number[][]) =>
    computeAuc(
      chosen.flat().map(it => scores[it]!),
      chosen.flat().map(it => examples[it]!.callsNothing),
    );
  const reworded = pairs.filter(([a, b]) => examples[a!]!.text !== examples[b!]!.text);
  const wins = pairs.map(([a, b]) => {
    const difference = (scores[a!]! - scores[b!]!) * (examples[a!]!.callsNothing ? 1 : -1);
    return Math.abs(difference) < 1e-9 ? 0.5 : difference > 0 ? 1 : 0;
  });
  return {
    count: pairs.length,
    sameText: pairs.length - reworded.length,
    auc: getAuc(pairs),
    ...(reworded.length > 0 ? { reworded: getAuc(reworded) } : {}),
    within: wins.reduce<number>((a, b) => a + b, 0) / pairs.length,
  };
}

/** The area under the ROC curve: how often a positive scores above a negative; ties count half. */
export function computeAuc(scores: readonly number[], labels: readonly boolean[]): number {
  const order = scores.map((_, i) => i).sort((a, b) => scores[a]! - scores[b]!);
  let rankSum = 0;
  for (let i = 0; i < order.length;) {
    let end = i + 1;
    while (end < order.length && scores[order[end]!] === scores[order[i]!]) end++;
    // the average of the ranks i + 1 to end
    const rank = (i + 1 + end) / 2;
    for (; i < end; i++) if (labels[order[i]!]) rankSum += rank;
  }
  const positives = labels.filter(Boolean).length;
  const negatives = labels.length - positives;
  return (rankSum - (positives * (positives + 1)) / 2) / (positives * negatives);
}
