/** What benchmarks have in common: rows, timing of work, and programs in child processes. */
import { spawn, type ChildProcess, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { setImmediate } from "node:timers/promises";
import type { Readable, Writable } from "node:stream";

/** The runs of one figure. */
export interface BenchmarkRow {
  readonly name: string;
  readonly unit: string;
  readonly runs: readonly number[];
}

/** A row as it is printed: the median of the runs, the runs, and the machine. */
export function createFigure({ name, unit, runs: exactRuns }: BenchmarkRow) {
  const runs = exactRuns.map(it => Number(it.toPrecision(4)));
  return {
    name,
    value: runs.toSorted((a, b) => a - b)[runs.length >> 1],
    unit,
    runs,
    machine: `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, Node ${process.version}, ${process.platform}`,
  };
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
type Work = (n: number) => number;

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

/** Work in which promises are awaited. */
export interface AsyncWork {
  readonly name: string;
  readonly unit: string;
  /** How much of the unit the work is. */
  readonly amount: number;
  /** How many times it is done in a run. */
  readonly repeat: number;
  readonly work: () => Promise<void>;
}

/** Seconds of some work. */
export interface WorkTime {
  /** Of the processor: several at a time if several threads work. */
  readonly processor: number;
  readonly clock: number;
}

/** Does work several times. */
export async function timeWork(work: () => Promise<void>, repeat = 1): Promise<WorkTime> {
  const [processor, clock] = [readProcessorSeconds(), performance.now()];
  for (let i = 0; i < repeat; i++) await work();
  return {
    processor: readProcessorSeconds() - processor,
    clock: (performance.now() - clock) / 1000,
  };
}

/** Seconds of the processor that this process has had, in all of its threads. */
export function readProcessorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Starts a program of Node's as a child process, which is killed when the signal aborts. */
export function startProgram(
  [program, ...args]: readonly [string, ...string[]],
  signal: AbortSignal,
  nodeOptions: readonly string[] = [],
): ChildProcessByStdio<Writable, Readable, Readable> {
  const child = spawn(process.execPath, [...nodeOptions, program, ...args], {
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

/** Rejects when a server ends, which is an error while it is measured. */
export async function rejectOnExit(child: ChildProcess): Promise<never> {
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  throw new Error(`the measured server ended by itself (${code ?? signal})`);
}

/** The URL on the first line that the server prints. */
export async function readUrl(child: ChildProcess): Promise<URL> {
  let text = "";
  while (!text.includes("\n")) text += String((await once(child.stdout!, "data"))[0]);
  return new URL((JSON.parse(text.split("\n")[0]!) as { url: string }).url);
}
