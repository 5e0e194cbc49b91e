/** Measures the figures of the bench command. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { setImmediate } from "node:timers/promises";
import type { Readable, Writable } from "node:stream";

/** The runs of one figure. */
export interface BenchmarkRow {
  readonly name: string;
  readonly unit: string;
  readonly runs: readonly number[];
}

/** A measurement of work that can be repeated any number of times. */
export interface Benchmark {
  readonly name: string;
  readonly unit: string;
  readonly work: Work;
  /** Converts the seconds for one unit of work to the figure. */
  readonly toFigure: (secondsEach: number) => number;
}

/** Does `n` units of work and returns the seconds they took. */
export type Work = (n: number) => number;

/**
 * Measures five runs of about a fifth of a second each, after one that warms up and finds how much
 * work that is.
 */
export async function measureBenchmark(
  { name, unit, work, toFigure }: Benchmark,
  signal: AbortSignal,
): Promise<BenchmarkRow> {
  let n = 1;
  let seconds = work(n);
  while (seconds < 0.05) seconds = work((n *= 4));
  const units = Math.max(1, Math.round((0.2 * n) / seconds));
  const runs: number[] = [];
  while (runs.length < 5) {
    // lets an interruption be noticed
    await setImmediate();
    signal.throwIfAborted();
    runs.push(toFigure(work(units) / units));
  }
  return { name, unit, runs };
}

/** Starts this program as a child process, which is killed when the signal aborts. */
export function startProgram(
  args: readonly string[],
  signal: AbortSignal,
  nodeOptions: readonly string[] = [],
): ChildProcessByStdio<Writable, Readable, Readable> {
  const child = spawn(process.execPath, [...nodeOptions, process.argv[1]!, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  const kill = () => void child.kill("SIGKILL");
  if (signal.aborted) kill();
  signal.addEventListener("abort", kill, { once: true });
  child.once("exit", () => signal.removeEventListener("abort", kill));
  // writing to a child that has ended fails; callers wait for its exit instead
  child.stdin.on("error", () => {});
  return child;
}
