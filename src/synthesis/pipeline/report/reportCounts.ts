/** Counts accepted tasks and rejected attempts for the report of a synthesis. */
import type { Task } from "../../../trajectory/task.ts";
import { DemandCounts } from "./demands.ts";
import { measureDiversity, TaskShapes, TrainingDistances } from "./measures.ts";
import { parseStateLog } from "../conversation/stateLog.ts";
import { reportFormat, type RejectedAttempt, type Report } from "./report.ts";

/** Knobs that are not counted, because almost every task has a value of its own. */
const uncountedKnobs = new Set(["bridges", "pair", "heldOut"]);

/** Tasks with more goals, calls or tools than this are counted together. */
const maxSeparateCount = 12;

interface TaskSummary {
  readonly accepted: number;
  readonly by: Report["by"];
  readonly shape: NonNullable<Report["shape"]>;
  readonly demands: NonNullable<Report["demands"]>;
  readonly distances: NonNullable<Report["distances"]>;
}

export class ReportCounts {
  #accepted = 0;
  #rejected = 0;
  readonly #countsByProperty: Record<string, Record<string, number>> = {};
  readonly #reasonCounts: Record<string, number> = {};
  readonly #solverCounts: Record<string, number> = {};
  readonly #transitionCounts = new Map<string, number>();
  readonly #userTexts: string[] = [];
  readonly #shapes = new TaskShapes();
  readonly #demands = new DemandCounts();
  readonly #distances = new TrainingDistances();

  get accepted(): number {
    return this.#accepted;
  }

  countAccepted(task: Task): void {
    this.#accepted++;
    const calls = task.goals.flatMap(it => it.calls.map(call => call.name));
    const properties: Record<string, string | number | boolean> = {
      server: task.servers[0]!.name,
      kind: task.kind,
      split: task.split,
      info: task.info,
      persona: task.persona,
      turns: task.turns.length,
      goals: formatLimitedCount(task.goals.length),
      calls: formatLimitedCount(calls.length),
      tools: formatLimitedCount(new Set(calls).size),
    };
    for (const [property, value] of Object.entries(properties))
      this.#countValue(property, String(value));
    for (const [knob, value] of Object.entries(task.knobs))
      if (!uncountedKnobs.has(knob))
        this.#countValue(knob, typeof value === "string" ? value : JSON.stringify(value));
    this.#userTexts.push(...task.turns.map(it => it.user));
    this.#shapes.add(task);
    this.#demands.add(task);
    this.#distances.add(task);
    this.#countTransitions(task.provenance.log);
  }

  countRejected({ reason, solver, log }: RejectedAttempt): void {
    this.#rejected++;
    increment(this.#reasonCounts, reason);
    if (solver !== undefined) increment(this.#solverCounts, solver);
    this.#countTransitions(log);
  }

  /** What the report says about the accepted tasks alone. */
  summarizeTasks(): TaskSummary {
    const by = Object.entries(this.#countsByProperty).map(
      ([property, counts]) => [property, sortByCount(counts)] as const,
    );
    return {
      accepted: this.#accepted,
      by: Object.fromEntries(by),
      shape: this.#shapes.measure(),
      demands: this.#demands.measure(),
      distances: this.#distances.measure(),
    };
  }

  createReport(options: Report["options"]): Report {
    const { by, shape, demands, distances } = this.summarizeTasks();
    const transitions = [...this.#transitionCounts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, n]) => {
        const [from, event, to] = JSON.parse(key) as [string, string, string];
        return { from, event, to, n };
      });
    const diversity = { ...measureDiversity(this.#userTexts) } as unknown as Report["diversity"];
    return {
      format: reportFormat,
      options,
      attempts: this.#accepted + this.#rejected,
      accepted: this.#accepted,
      by,
      rejected: sortByCount(this.#reasonCounts),
      solvers: sortByCount(this.#solverCounts),
      transitions,
      diversity,
      shape,
      demands,
      distances,
    };
  }

  #countValue(property: string, value: string): void {
    increment((this.#countsByProperty[property] ??= {}), value);
  }

  #countTransitions(log: readonly string[]): void {
    for (const { from, event, to } of parseStateLog(log)) {
      const key = JSON.stringify([from, event, to]);
      this.#transitionCounts.set(key, (this.#transitionCounts.get(key) ?? 0) + 1);
    }
  }
}

function increment(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

const formatLimitedCount = (count: number): number | string =>
  count > maxSeparateCount ? `over ${maxSeparateCount}` : count;

/** Sorts counts by frequency, the highest first. */
const sortByCount = (counts: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)));
