/** Times work, and the same work in other software after each run. */
import { setImmediate } from "node:timers/promises";
import {
  timeWork,
  type AsyncWork,
  type BenchmarkRow,
  type WorkTime,
} from "../../src/app/bench/benchmark.ts";

/** Work in other software, done that many times. */
export type OtherWork = (repeat: number) => Promise<WorkTime>;

interface ComparedWork extends AsyncWork {
  /** The same work in other software, by the end of its rows' names. */
  readonly others?: Readonly<Record<string, OtherWork>> | undefined;
}

export interface MeasureOptions {
  readonly runs: number;
  /**
   * Whether a row is per second of the processor, so that other programs on the machine matter
   * little, or of the clock, as where a graphics card computes.
   */
  readonly time: keyof WorkTime;
  /** Whether rows per second of the processor are followed by rows per second of the clock. */
  readonly hasClockRows?: boolean;
  /** Whether the kernels are compiled already: then the work is not done once before the runs. */
  readonly isWarm?: boolean;
  readonly signal: AbortSignal;
}

/** Rows of our runs and, for other software, of its runs and the ratios of each two runs. */
export async function* measureWork(
  { name, unit, amount, repeat, work, others = {} }: ComparedWork,
  { runs, time, hasClockRows = false, isWarm = false, signal }: MeasureOptions,
): AsyncGenerator<BenchmarkRow> {
  const own: WorkTime[] = [];
  const compared = Object.entries(others).map(([other, measure]) => ({
    name: `${name}.${other}`,
    ratio: `${name}.of-${other}`,
    measure,
    times: [] as WorkTime[],
  }));
  // compiles
  if (!isWarm) await work();
  while (own.length < runs) {
    // lets an interruption be noticed
    await setImmediate();
    signal.throwIfAborted();
    own.push(await timeWork(work, repeat));
    for (const it of compared) it.times.push(await it.measure(repeat));
  }
  const listRates = (times: readonly WorkTime[], by = time) =>
    times.map(it => (amount * repeat) / it[by]);
  const needsClock = hasClockRows && time !== "clock";
  const listRows = (row: string, times: readonly WorkTime[]): BenchmarkRow[] => [
    { name: row, unit, runs: listRates(times) },
    ...(needsClock ? [{ name: `${row}.clock`, unit, runs: listRates(times, "clock") }] : []),
  ];
  yield* listRows(name, own);
  for (const other of compared) {
    yield* listRows(other.name, other.times);
    const ratios = own.map((it, i) => other.times[i]![time] / it[time]);
    yield { name: other.ratio, unit: "ratio", runs: ratios };
  }
}
