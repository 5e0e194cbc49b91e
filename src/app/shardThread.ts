/** Runs shards of a synthesis in worker threads, to use two cores. */
import { once } from "node:events";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { setFlagsFromString } from "node:v8";
import type { Catalog } from "../environment/catalog.ts";
import type { AttemptResult } from "../synthesis/pipeline/task/attemptTask.ts";
import {
  createSynthesisOptions,
  type SynthesisRequest,
} from "../synthesis/pipeline/run/runSynthesis.ts";
import { createConversationCounter } from "./taskTokens.ts";
import { synthesizeShard, type StartShard } from "../synthesis/pipeline/run/synthesize.ts";

/** With fewer tasks than this, a thread takes longer to start than it saves. */
const minCount = 200;

/** With so many unread tasks, a thread waits. */
const maxUnreadTasks = 100;

/** V8's default takes 150 MB more, and the thread is no faster with them. */
const resourceLimits = { maxYoungGenerationSizeMb: 16 };

/** What a thread needs to make the same attempts as the program that starts it. */
interface ShardSetup {
  readonly index: number;
  readonly request: SynthesisRequest;
  readonly resources: string;
  readonly prove: string;
  readonly fixtureFolders: readonly string[];
}

interface ShardContext extends Omit<ShardSetup, "index"> {
  /** The file of the program of worker threads. */
  readonly program: string;
  readonly signal: AbortSignal;
}

/** Starts shards in worker threads, or undefined for a synthesis that is too small for that. */
export const createShardStarter = ({
  request,
  resources,
  prove,
  fixtureFolders,
  ...context
}: ShardContext): StartShard | undefined =>
  request.count < minCount
    ? undefined
    : index => readShard({ index, request, resources, prove, fixtureFolders }, context);

async function* readShard(
  setup: ShardSetup,
  { program, signal }: Pick<ShardContext, "program" | "signal">,
): AsyncGenerator<AttemptResult> {
  const thread = new Worker(program, { workerData: setup, resourceLimits });
  const attempts: AttemptResult[] = [];
  let hasEnded = false;
  let failure: Error | undefined;
  let wake = () => {};
  thread.on("message", (attempt: AttemptResult) => {
    attempts.push(attempt);
    wake();
  });
  thread.on("error", cause => {
    failure = new Error(`a thread of the synthesis failed: ${String(cause)}`, { cause });
  });
  thread.on("exit", () => {
    hasEnded = true;
    wake();
  });
  const interrupt = () => wake();
  signal.addEventListener("abort", interrupt);
  try {
    for (;;) {
      const attempt = attempts.shift();
      if (attempt) {
        if (attempt.kind === "accepted") thread.postMessage("read");
        yield attempt;
        continue;
      }
      signal.throwIfAborted();
      if (failure) throw failure;
      if (hasEnded) return;
      await new Promise<void>(resolve => (wake = resolve));
    }
  } finally {
    signal.removeEventListener("abort", interrupt);
    await thread.terminate();
  }
}

/** The program of a thread: makes the attempts of its shard, few ahead of the reader. */
export async function runShardThread(
  openCatalog: (fixtureFolders: readonly string[]) => Promise<Catalog>,
): Promise<void> {
  const { index, request, resources, prove, fixtureFolders } = workerData as ShardSetup;
  const port = parentPort!;
  const unread = { tasks: 0 };
  port.on("message", () => unread.tasks--);
  const catalog = await openCatalog(fixtureFolders);
  const countTokens = await createConversationCounter(request, catalog);
  const options = createSynthesisOptions(request, { catalog, resources, prove, countTokens });
  for await (const attempt of synthesizeShard(options, index)) {
    port.postMessage(attempt);
    if (attempt.kind !== "accepted") continue;
    unread.tasks++;
    while (unread.tasks >= maxUnreadTasks) await once(port, "message");
  }
  port.close();
}

/**
 * Lets the heap grow by a quarter between full collections. V8's default is up to four times what
 * is in use where memory is free, and a synthesis uses little of what it allocates for long.
 */
export const limitHeapGrowth = (): void => setFlagsFromString("--heap-growing-percent=25");
