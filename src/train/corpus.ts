/**
 * What supervised training reads: teachers' conversations as token ids with a mask over what the
 * student should have written, laid end to end in memory that all workers share. Knows no tensors.
 */
import type { Catalog } from "../environment/catalog.ts";
import { listMenuTools } from "../environment/menu.ts";
import { createKeyedStream } from "../environment/random.ts";
import { studentLimits, encodeChat } from "../model/chatFormat.ts";
import type { Tokenizer } from "../model/tokenizer.ts";
import type { Conversation } from "../policy/policy.ts";
import type { SftSettings } from "../run/config.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { injectError } from "./errorInjection.ts";

/**
 * Conversations end to end. The arrays lie in shared memory: handing a corpus to a worker copies
 * nothing.
 */
export interface Corpus {
  readonly ids: Uint16Array;
  /** What each token is, as in `Conversation`. */
  readonly parts: Uint8Array;
  /** Where each conversation begins; one more at the end. */
  readonly starts: Uint32Array;
  /** Conversations before this one are for training, the others for validation. */
  readonly trainingCount: number;
}

export interface EncodedConversation {
  readonly ids: readonly number[];
  /**
   * Beside `ids`: 0 for what was given, 1 for what is to be taught, 2 for what was said in error
   * and is not to be learned.
   */
  readonly parts: readonly number[];
}

/** The values of `parts`. */
export const tokenPart = { given: 0, taught: 1, ignored: 2 } as const;

export const countConversations = (corpus: Corpus): number => corpus.starts.length - 1;

export function getConversation({ ids, parts, starts }: Corpus, i: number): EncodedConversation {
  const [from, to] = [starts[i]!, starts[i + 1]!];
  return { ids: [...ids.subarray(from, to)], parts: [...parts.subarray(from, to)] };
}

/** The talk of a task as it stood at the end of a trajectory. */
export const createConversation = (
  catalog: Catalog,
  task: Task,
  { header, events }: Trajectory,
): Conversation => ({
  header,
  tools: listMenuTools(catalog.tools, task.menu, task.tools),
  now: task.now,
  events,
});

export interface BuiltCorpus {
  readonly corpus: Corpus;
  /** Conversations left out because the student could not hold them. */
  readonly overLong: number;
  readonly injectedErrors: number;
}

/**
 * Builds a corpus: each task's conversation, now and then once more with a slip. One task in fifty,
 * at most 200, is kept apart for validation.
 */
export async function buildCorpus(
  tasks: AsyncIterable<Task> | Iterable<Task>,
  {
    catalog,
    tokenizer,
    settings,
    seed,
  }: { catalog: Catalog; tokenizer: Tokenizer; settings: SftSettings; seed: number },
): Promise<BuiltCorpus> {
  const training: EncodedConversation[] = [];
  const validation: EncodedConversation[] = [];
  let n = 0;
  let overLong = 0;
  let injectedErrors = 0;
  for await (const task of tasks) {
    const random = createKeyedStream(seed, n++);
    const plain = encodeConversation(tokenizer, createConversation(catalog, task, task.trajectory));
    if (!plain) overLong++;
    else if (n % 50 === 0 && validation.length < 200) validation.push(plain);
    else training.push(plain);
    if (plain && n % 50 === 0) continue;
    const injected =
      plain && random() < settings.slips ? await injectError(task, catalog, random) : undefined;
    const encoded =
      injected &&
      encodeConversation(
        tokenizer,
        createConversation(catalog, task, injected.trajectory),
        injected.message,
      );
    if (encoded) {
      training.push(encoded);
      injectedErrors++;
    }
  }
  return { corpus: concatenate(training, validation), overLong, injectedErrors };
}

/**
 * A conversation as a student would hold it, or undefined where it is too long for that. `erring`
 * is a message not to be learned.
 */
export function encodeConversation(
  tokenizer: Tokenizer,
  conversation: Conversation,
  ignoredMessage = -1,
): EncodedConversation | undefined {
  const events = conversation.events.map(it =>
    it.kind === "assistant" ? { ...it, text: shortenReply(it.text) } : it,
  );
  const { ids, mask, message, opening } = encodeChat(tokenizer, { ...conversation, events });
  const sampled = mask.reduce((sum, it) => sum + it, 0);
  if (
    opening > studentLimits.prompt ||
    sampled > studentLimits.sampled ||
    ids.length > studentLimits.context
  )
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

/** Letters that a small student says in an answer. */
const maxReplyLength = 60;

/**
 * A teacher's words as a small student can say them: the first sentences that fit, a question
 * before all others.
 */
export function shortenReply(text: string): string {
  if (text.length <= maxReplyLength) return text;
  const sentences = text.match(/.+?(?:[.!?](?=\s|$)|$)\s*/gs) ?? [text];
  const question = sentences.find(it => it.trimEnd().endsWith("?")) ?? "";
  let left = maxReplyLength - question.length;
  const kept = sentences.filter(it => it === question || (left -= it.length) >= 0);
  const said = kept.join("").trimEnd();
  return said === "" ? `${text.slice(0, maxReplyLength - 1).replace(/\s\S*$/, "")}…` : said;
}

function concatenate(
  training: readonly EncodedConversation[],
  validation: readonly EncodedConversation[],
): Corpus {
  const all = [...training, ...validation];
  const total = all.reduce((sum, it) => sum + it.ids.length, 0);
  const ids = new Uint16Array(new SharedArrayBuffer(total * 2));
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
