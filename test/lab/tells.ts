/**
 * `tells`: measures what gives away whether a task's first turn calls for a tool: a logistic
 * regression on the words of the turn, without the menu, and one on the shape of the menu, without
 * the words. Both are evaluated by cross-validation; an area under the curve (AUC) of 0.5 means no
 * tell.
 */
import { createRandom, type Random } from "../../src/environment/random.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { startsTurn } from "../../src/trajectory/trajectory.ts";
import type { Tool } from "../../src/environment/server.ts";
import { readTasks } from "../../src/trajectory/file.ts";
import { defineCommand, repeatedArgument } from "../../src/cli/command.ts";
import { resolve } from "node:path";

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

/** The server and the effect of a tool, or undefined for a tool that no server has. */
type ToolLookUp = (name: string) => Pick<Tool, "server" | "effect"> | undefined;

/** Size, servers, the largest server's share, reads, writes, the share of stripped enums. */
function describeShape({ menu, tools = [] }: Task, findTool: ToolLookUp): number[] {
  const found = menu.map(it => findTool(it.name));
  const counts = new Map<string, number>();
  for (const it of found) counts.set(it?.server ?? "", (counts.get(it?.server ?? "") ?? 0) + 1);
  const size = menu.length + tools.length;
  const writes = found.filter(it => it?.effect === "write").length;
  return [
    size,
    counts.size,
    size === 0 ? 0 : Math.max(0, ...counts.values()) / size,
    found.length - writes,
    writes,
    size === 0 ? 0 : writes / size,
    size === 0 ? 0 : menu.filter(it => it.enumsStripped).length / size,
  ];
}

/** The shapes with zero mean and unit variance, with their squares and products. */
function createShapeVectors(shapes: readonly (readonly number[])[]): {
  vectors: SparseVector[];
  size: number;
} {
  const standard = standardize(shapes);
  const products = standard.map(it => it.flatMap((a, i) => it.slice(i).map(b => a * b)));
  const expanded = standardize(standard.map((it, i) => [...it, ...products[i]!]));
  const size = expanded[0]?.length ?? 0;
  const indices = Array.from({ length: size }, (_, i) => i);
  return { vectors: expanded.map(values => ({ indices, values })), size };
}

function standardize(rows: readonly (readonly number[])[]): number[][] {
  const columns = rows[0]?.map((_, i) => {
    const values = rows.map(it => it[i]!);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length;
    return { mean, deviation: Math.sqrt(variance) };
  });
  return rows.map(row =>
    row.map((it, i) => {
      const { mean, deviation } = columns![i]!;
      return deviation < 1e-9 ? 0 : (it - mean) / deviation;
    }),
  );
}

/** A vector with most features zero: the indices of the others, and their values. */
interface SparseVector {
  readonly indices: readonly number[];
  readonly values: readonly number[];
}

interface TrainingVectors {
  readonly vectors: readonly SparseVector[];
  /** Whether each vector is of the positive class. */
  readonly labels: readonly boolean[];
  /** The number of features. */
  readonly size: number;
}

interface LogisticModel {
  readonly weights: Float64Array;
  /** The logarithm of the odds of the positive class. */
  score(vector: SparseVector): number;
}

const iterations = 300;
const momentum = 0.9;

/** The penalty on the mean loss. */
const l2 = 1e-3;

/** Fits a model. Both classes weigh the same, whatever their sizes. */
function fitLogistic({ vectors, labels, size }: TrainingVectors): LogisticModel {
  const weights = new Float64Array(size);
  const velocity = new Float64Array(size);
  const positives = labels.filter(Boolean).length;
  const shares = {
    positive: 0.5 / Math.max(1, positives),
    negative: 0.5 / Math.max(1, labels.length - positives),
  };
  // a step that cannot diverge: the loss bends by at most a quarter of the mean squared length
  const squares = vectors.map(({ values }, n) => {
    const length = values.reduce((sum, it) => sum + it * it, 1);
    return length * (labels[n] ? shares.positive : shares.negative);
  });
  const rate = 4 / (squares.reduce((a, b) => a + b, 0) + 4 * l2);
  let bias = 0;
  let biasVelocity = 0;
  const score = ({ indices, values }: SparseVector): number => {
    let sum = bias;
    for (let i = 0; i < indices.length; i++) sum += weights[indices[i]!]! * values[i]!;
    return sum;
  };
  for (let step = 0; step < iterations; step++) {
    const gradient = weights.map(it => l2 * it);
    let biasGradient = 0;
    for (const [n, vector] of vectors.entries()) {
      const probability = 1 / (1 + Math.exp(-score(vector)));
      const error = labels[n] ? shares.positive * (probability - 1) : shares.negative * probability;
      biasGradient += error;
      const { indices, values } = vector;
      for (let i = 0; i < indices.length; i++) gradient[indices[i]!]! += error * values[i]!;
    }
    biasVelocity = momentum * biasVelocity - rate * biasGradient;
    bias += biasVelocity;
    for (let i = 0; i < size; i++) {
      velocity[i] = momentum * velocity[i]! - rate * gradient[i]!;
      weights[i]! += velocity[i]!;
    }
  }
  return { weights, score };
}

export const tells = defineCommand({
  name: "tells",
  description:
    "Print how well the words of the first turn alone, and the shape of the menu alone, predict whether a task's first turn calls a tool.",
  arguments: [repeatedArgument("<files...>", "tasks files", { required: "a tasks file" })],
  options: {},
  examples: ["tells small.tasks.jsonl"],
  async run({ catalog, cwd, print }, [files]) {
    const tools = new Map([...catalog.servers.values()].flatMap(it => [...it.tools]));
    const audit = new TellsAudit(it => tools.get(it));
    for (const file of files)
      for await (const task of readTasks(resolve(cwd, file))) audit.add(task);
    const report = audit.report();
    if (!report) print("all first turns call a tool, or none does");
    else {
      const { tasks, withoutCall, words, pairs, menu } = report;
      print(`${tasks} tasks, ${withoutCall} without a call in the first turn`);
      print(`words: AUC ${words.auc.toFixed(3)}`);
      print(`  for a call: ${words.forCall.join(" ")}`);
      print(`  for no call: ${words.forNoCall.join(" ")}`);
      for (const it of words.byKind) print(`  ${it.kind} (${it.tasks}): AUC ${it.auc.toFixed(3)}`);
      if (pairs) {
        const reworded =
          pairs.reworded === undefined
            ? ""
            : `, of those with other words ${pairs.reworded.toFixed(3)}`;
        print(
          `${pairs.count} pairs (${pairs.sameText} with the same words): AUC ${pairs.auc.toFixed(3)}${reworded}; the right order in ${(100 * pairs.within).toFixed(1)}%`,
        );
      }
      print(`menu shape: AUC ${menu.auc.toFixed(3)}`);
    }
    return 0;
  },
});
