/**
 * The corpus of supervised training: teachers' conversations as token ids, with a mark for each
 * token that the student should learn to write, concatenated in memory that all workers share.
 */
import type { Catalog } from "../../environment/catalog.ts";
import { listMenuTools } from "../../environment/menu.ts";
import { createKeyedStream } from "../../environment/random.ts";
import type { ChatFormat } from "../../model/chatFormat.ts";
import { createRules, type Conversation } from "../../policy/policy.ts";
import type { SftSettings } from "../../run/config.ts";
import { listOfferedItems, type Task } from "../../trajectory/task.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { createCarelessTrajectory, injectError } from "./teacherErrors.ts";

/**
 * Concatenated conversations. The arrays are in shared memory, so that passing a corpus to a worker
 * copies nothing.
 */
export interface Corpus {
  readonly ids: Uint16Array | Uint32Array;
  /** The part of each token, as in `EncodedConversation`. */
  readonly parts: Uint8Array;
  /** The index of each conversation's first token, and at the end the number of tokens. */
  readonly starts: Uint32Array;
  /** The first conversations are for training, the others for validation. */
  readonly trainingCount: number;
}

export interface EncodedConversation {
  readonly ids: readonly number[];
  /** For each token, one of the values of `tokenPart`. */
  readonly parts: readonly number[];
}

/**
 * The part of a token in training: given by users and tools, taught to the student, or ignored
 * because it belongs to an injected error.
 */
export const tokenPart = { given: 0, taught: 1, ignored: 2 } as const;

export const countConversations = (corpus: Corpus): number => corpus.starts.length - 1;

export function getConversation({ ids, parts, starts }: Corpus, i: number): EncodedConversation {
  const [from, to] = [starts[i]!, starts[i + 1]!];
  return { ids: [...ids.subarray(from, to)], parts: [...parts.subarray(from, to)] };
}

/** The conversation of a task at the end of a trajectory. */
export const createConversation = (
  catalog: Catalog,
  task: Task,
  { header, events }: Trajectory,
): Conversation => ({
  header,
  tools: listMenuTools(catalog.tools, listOfferedItems(task), task.tools),
  now: task.now,
  ...createRules(task),
  events,
});

export interface BuiltCorpus {
  readonly corpus: Corpus;
  /** How many conversations were left out because they exceed the student's limits. */
  readonly overLong: number;
  readonly injectedErrors: number;
  /** How many conversations have a careless turn. */
  readonly careless: number;
}

/**
 * Builds a corpus: the conversation of each task, with a careless teacher in a share of the turns,
 * and, for a share of the tasks, the conversation again with an injected error. One task in fifty,
 * at most 200, is for validation.
 */
export async function buildCorpus(
  tasks: AsyncIterable<Task> | Iterable<Task>,
  {
    catalog,
    chat,
    settings,
    seed,
  }: { catalog: Catalog; chat: ChatFormat; settings: SftSettings; seed: number },
): Promise<BuiltCorpus> {
  const training: EncodedConversation[] = [];
  const validation: EncodedConversation[] = [];
  let n = 0;
  let overLong = 0;
  let injectedErrors = 0;
  let careless = 0;
  for await (const task of tasks) {
    const random = createKeyedStream(seed, n++);
    const carelessTrajectory =
      settings.careless > 0
        ? await createCarelessTrajectory(task, catalog, { share: settings.careless, seed })
        : undefined;
    const taught = encodeConversation(
      chat,
      createConversation(catalog, task, carelessTrajectory ?? task.trajectory),
    );
    if (!taught) overLong++;
    else if (n % 50 === 0 && validation.length < 200) validation.push(taught);
    else training.push(taught);
    if (taught && carelessTrajectory) careless++;
    if (taught && n % 50 === 0) continue;
    const injected =
      taught && !carelessTrajectory && random() < settings.slips
        ? await injectError(task, catalog, random)
        : undefined;
    const encoded =
      injected &&
      encodeConversation(
        chat,
        createConversation(catalog, task, injected.trajectory),
        injected.message,
      );
    if (encoded) {
      training.push(encoded);
      injectedErrors++;
    }
  }
  return { corpus: concatenate(training, validation), overLong, injectedErrors, careless };
}

/**
 * A conversation as a student reads it, or undefined if it exceeds the student's limits. The tokens
 * of `ignoredMessage` are not learned.
 */
export function encodeConversation(
  chat: ChatFormat,
  conversation: Conversation,
  ignoredMessage = -1,
): EncodedConversation | undefined {
  const events = conversation.events.map(it =>
    it.kind === "assistant" ? { ...it, text: chat.shortenReply(it.text) } : it,
  );
  const { limits } = chat;
  const { ids, mask, message, opening } = chat.encode({ ...conversation, events });
  const sampled = mask.reduce((sum, it) => sum + it, 0);
  if (opening > limits.prompt || sampled > limits.sampled || ids.length > limits.context)
    return undefined;
  return {
    ids,
    parts: mask.map((it, i) =>
      it === 0
        ? tokenPart.given
        : message[i] === ignoredMessage
          ? tokenPart.ignored
          : tokenPart.taught,
    ),
  };
}

function concatenate(
  training: readonly EncodedConversation[],
  validation: readonly EncodedConversation[],
): Corpus {
  const all = [...training, ...validation];
  const total = all.reduce((sum, it) => sum + it.ids.length, 0);
  const isSmall = all.every(it => it.ids.every(id => id <= 0xffff));
  const ids = isSmall
    ? new Uint16Array(new SharedArrayBuffer(total * 2))
    : new Uint32Array(new SharedArrayBuffer(total * 4));
  const parts = new Uint8Array(new SharedArrayBuffer(total));
  const starts = new Uint32Array(new SharedArrayBuffer((all.length + 1) * 4));
  let at = 0;
  for (const [i, it] of all.entries()) {
    ids.set(it.ids, at);
    parts.set(it.parts, at);
    at += it.ids.length;
    starts[i + 1] = at;
  }
  return { ids, parts, starts, trainingCount: training.length };
}
