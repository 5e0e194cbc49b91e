/**
 * What supervised training reads: teachers' conversations as token ids with a mask over what the student should have written,
 * laid end to end in memory that all workers share. Knows no tensors.
 */
import type { Catalog } from "../environment/catalog.ts";
import { menuOf } from "../environment/menu.ts";
import { limits, writtenTalk } from "../model/chat.ts";
import type { Tokenizer } from "../model/tokenizer.ts";
import type { Talk } from "../policy/policy.ts";
import type { SftSettings } from "../run/config.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { chanceOf } from "./chance.ts";
import { withSlip } from "./slips.ts";

/** Conversations end to end. The arrays lie in shared memory: handing a corpus to a worker copies nothing. */
export interface Corpus {
  readonly ids: Uint16Array;
  /** 1 on the tokens that carry the loss. */
  readonly mask: Uint8Array;
  /** Where each conversation begins; one more at the end. */
  readonly starts: Uint32Array;
  /** Conversations before this one are for training, the others for validation. */
  readonly kept: number;
}

export interface Conversation {
  readonly ids: readonly number[];
  readonly mask: readonly number[];
}

export const corpusSize = (corpus: Corpus): number => corpus.starts.length - 1;

export function conversationAt({ ids, mask, starts }: Corpus, i: number): Conversation {
  const [from, to] = [starts[i]!, starts[i + 1]!];
  return { ids: [...ids.subarray(from, to)], mask: [...mask.subarray(from, to)] };
}

/** The talk of a task as it stood at the end of a trajectory. */
export const talkOf = (catalog: Catalog, task: Task, { header, events }: Trajectory): Talk => ({ header, tools: menuOf(catalog.tools, task.menu), now: task.now, events });

export interface Built {
  readonly corpus: Corpus;
  /** Conversations left out because the student could not hold them. */
  readonly overLong: number;
  readonly slips: number;
}

/**
 * Builds a corpus: each task's conversation, now and then once more with a slip. One task in fifty, at most
 * 200, is kept apart for validation.
 */
export async function buildCorpus(
  tasks: AsyncIterable<Task> | Iterable<Task>,
  { catalog, tokenizer, settings, seed }: { catalog: Catalog; tokenizer: Tokenizer; settings: SftSettings; seed: number },
): Promise<Built> {
  const training: Conversation[] = [];
  const validation: Conversation[] = [];
  let n = 0;
  let overLong = 0;
  let slips = 0;
  for await (const task of tasks) {
    const chance = chanceOf(seed, n++);
    const plain = teachable(tokenizer, talkOf(catalog, task, task.trajectory));
    if (!plain) overLong++;
    else if (n % 50 === 0 && validation.length < 200) validation.push(plain);
    else training.push(plain);
    if (plain && n % 50 === 0) continue;
    const slip = plain && chance() < settings.slips ? await withSlip(task, catalog, chance) : undefined;
    const erring = slip && teachable(tokenizer, talkOf(catalog, task, slip.trajectory), slip.message);
    if (erring) {
      training.push(erring);
      slips++;
    }
  }
  return { corpus: laidOut(training, validation), overLong, slips };
}

/** A conversation as ids and mask, or undefined where it is longer than a student can hold. `silent` is a message not to be learned. */
export function teachable(tokenizer: Tokenizer, talk: Talk, silent = -1): Conversation | undefined {
  const { ids, mask, message, opening } = writtenTalk(tokenizer, talk);
  const sampled = mask.reduce((sum, it) => sum + it, 0);
  if (opening > limits.prompt || sampled > limits.sampled || ids.length > limits.context) return undefined;
  return { ids, mask: mask.map((it, i) => (message[i] === silent ? 0 : it)) };
}

function laidOut(training: readonly Conversation[], validation: readonly Conversation[]): Corpus {
  const all = [...training, ...validation];
  const total = all.reduce((sum, it) => sum + it.ids.length, 0);
  const ids = new Uint16Array(new SharedArrayBuffer(total * 2));
  const mask = new Uint8Array(new SharedArrayBuffer(total));
  const starts = new Uint32Array(new SharedArrayBuffer((all.length + 1) * 4));
  let at = 0;
  for (const [i, it] of all.entries()) {
    ids.set(it.ids, at);
    mask.set(it.mask, at);
    at += it.ids.length;
    starts[i + 1] = at;
  }
  return { ids, mask, starts, kept: training.length };
}
