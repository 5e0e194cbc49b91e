/** How far steps are: those of a large model take minutes. */

/** How far a step of one replica is. */
export interface StepProgress {
  readonly doing: keyof typeof formats;
  /** How many conversations or attempts of the replica's share are done. */
  readonly done: number;
  readonly total: number;
  /** Tokens that were sampled. */
  readonly tokens?: number;
}

const formats = {
  conversations: (part: string) => `${part} conversations`,
  attempts: (part: string) => `${part} attempts`,
  learning: (part: string) => `learned from ${part} attempts`,
  validation: (part: string) => `validated on ${part} conversations`,
} as const;

/** How far a step of all replicas is: `7 of 32 attempts, 1240 tokens`. */
export function formatStepProgress(replicas: readonly StepProgress[]): string {
  const [{ doing }] = replicas as [StepProgress];
  const sum = (get: (it: StepProgress) => number) => replicas.reduce((all, it) => all + get(it), 0);
  const tokens = sum(it => it.tokens ?? 0);
  const part = formats[doing](`${sum(it => it.done)} of ${sum(it => it.total)}`);
  return tokens > 0 ? `${part}, ${tokens} tokens` : part;
}

/** Milliseconds between the reports of a step, and until its first one. */
const period = 1_000;
const quietTime = 2_000;

/** Passes on how far steps are, not too often. */
export class StepReporter {
  readonly #send: (progress: StepProgress) => void;
  /** The first step reports at once: nobody knows yet how long steps take. */
  #next = 0;

  constructor(send: (progress: StepProgress) => void) {
    this.#send = send;
  }

  readonly report = (progress: StepProgress): void => {
    const now = performance.now();
    if (now < this.#next) return;
    this.#next = now + period;
    this.#send(progress);
  };

  endStep(): void {
    this.#next = performance.now() + quietTime;
  }
}
