/**
 * The counts of a report, gathered attempt by attempt. Knows tasks and rejections, not how they
 * come about or where they go.
 */
import type { Task } from "../../trajectory/task.ts";
import { measureDiversity } from "./diversity.ts";
import { parseStateLog } from "./stateLog.ts";
import { reportFormat, type RejectedAttempt, type Report } from "./report.ts";

/** Knobs whose values are words for one task alone. */
const unsorted = new Set(["bridges"]);

/** More goals, calls and tools than this are counted together. */
const most = 12;

export class ReportCounts {
  #accepted = 0;
  #rejected = 0;
  readonly #by: Record<string, Record<string, number>> = {};
  readonly #reasons: Record<string, number> = {};
  readonly #transitions = new Map<string, number>();
  readonly #said: string[] = [];

  get accepted(): number {
    return this.#accepted;
  }

  /** Counts a task that was kept. */
  countAccepted(task: Task): void {
    this.#accepted++;
    const calls = task.goals.flatMap(it => it.calls.map(call => call.name));
    const sorts: Record<string, string | number | boolean> = {
      server: task.servers[0]!.name,
      kind: task.kind,
      split: task.split,
      info: task.info,
      persona: task.persona,
      turns: task.turns.length,
      goals: atMost(task.goals.length),
      calls: atMost(calls.length),
      tools: atMost(new Set(calls).size),
    };
    for (const [sort, name] of Object.entries(sorts)) add((this.#by[sort] ??= {}), String(name));
    for (const [knob, value] of Object.entries(task.knobs))
      if (!unsorted.has(knob))
        add((this.#by[knob] ??= {}), typeof value === "string" ? value : JSON.stringify(value));
    this.#said.push(...task.turns.map(it => it.user));
    this.#walk(task.provenance.log);
  }

  /** Counts a rejected attempt. */
  countRejected({ reason, log }: RejectedAttempt): void {
    this.#rejected++;
    add(this.#reasons, reason);
    this.#walk(log);
  }

  createReport(options: Report["options"]): Report {
    const by = Object.fromEntries(
      Object.entries(this.#by).map(([sort, counts]) => [sort, sorted(counts)]),
    );
    const transitions = [...this.#transitions]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, n]) => {
        const [from, event, to] = JSON.parse(key) as [string, string, string];
        return { from, event, to, n };
      });
    const diversity = { ...measureDiversity(this.#said) } as unknown as Report["diversity"];
    return {
      format: reportFormat,
      options,
      attempts: this.#accepted + this.#rejected,
      accepted: this.#accepted,
      by,
      rejected: sorted(this.#reasons),
      transitions,
      diversity,
    };
  }

  #walk(log: readonly string[]): void {
    for (const { from, event, to } of parseStateLog(log)) {
      const key = JSON.stringify([from, event, to]);
      this.#transitions.set(key, (this.#transitions.get(key) ?? 0) + 1);
    }
  }
}

const add = (counts: Record<string, number>, key: string): void =>
  void (counts[key] = (counts[key] ?? 0) + 1);

const atMost = (n: number): number | string => (n > most ? `over ${most}` : n);

/** The most frequent first. */
const sorted = (counts: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)));
