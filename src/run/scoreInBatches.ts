/** Scores the attempts of several sources and passes the rows on in batches. */
import type { AttemptRow, PartWeights } from "./attemptRow.ts";
import { scoreAttempts, type AttemptSource, type ScoringOptions } from "./scoreAttempts.ts";

/** Scored attempts, in the order of their sources. */
export interface ScoredRows {
  readonly rows: readonly AttemptRow[];
  /** The weights of the parts that occurred so far. */
  readonly weights: PartWeights;
}

export interface ScoringResult {
  /** The number of lines that hold no attempt. */
  readonly skipped: number;
}

export interface BatchOptions extends Omit<ScoringOptions, "onSkipped"> {
  readonly send: (rows: ScoredRows) => void;
  /** Lets other work run after an attempt, where this is not a process of its own. */
  readonly pause?: () => Promise<void>;
}

/** Rows that are sent together: a few milliseconds of work for the receiver. */
const batchRows = 200;
/** Milliseconds after which fewer rows are sent. */
const batchInterval = 150;

/** Throws a `UserError` if a source cannot be read, and the signal's reason when it is aborted. */
export async function scoreInBatches(
  sources: readonly AttemptSource[],
  { send, pause, ...options }: BatchOptions,
): Promise<ScoringResult> {
  let skipped = 0;
  let rows: AttemptRow[] = [];
  let weights: PartWeights = {};
  let lastSent = performance.now();
  const flush = () => {
    if (rows.length > 0) send({ rows, weights });
    rows = [];
    lastSent = performance.now();
  };
  for (const source of sources)
    for await (const it of scoreAttempts(source, { ...options, onSkipped: () => skipped++ })) {
      rows.push(it.row);
      weights = { ...weights, ...it.weights };
      if (rows.length >= batchRows || performance.now() - lastSent > batchInterval) flush();
      await pause?.();
    }
  flush();
  return { skipped };
}
