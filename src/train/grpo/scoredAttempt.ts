/**
 * A scored attempt of a group with the tokens to train on: how it is made of a rollout, and the
 * line of a group file that it is stored as.
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { ChatFormat, ChatTokens } from "../../model/chatFormat.ts";
import type { Branch } from "../../model/transformer/packedBatch.ts";
import type { TokenMask } from "../../model/textTokens.ts";
import type { Breakdown } from "../../reward/breakdown.ts";
import { paperProfile, type Profile } from "../../reward/profiles.ts";
import { createScorer } from "../../reward/scorer.ts";
import { isAchieved } from "../../reward/success.ts";
import { groupFormat, type GroupLine } from "../../run/group.ts";
import { createConversation } from "../sft/corpus.ts";
import type { FinishedAttempt } from "../../trajectory/attempt.ts";
import type { Task } from "../../trajectory/task.ts";
import { listCalls, type Trajectory } from "../../trajectory/trajectory.ts";

export interface GroupAttempt extends Pick<FinishedAttempt, "task" | "trajectory"> {
  readonly breakdown: Breakdown;
  /** The reward of the paper's profile, whichever profile the run uses. */
  readonly paper: number;
  readonly success: boolean;
  /**
   * The tokens that all attempts of the group begin with: menu, time, first user turn, and the
   * turns of the teacher if the attempt is at one turn.
   */
  readonly opening: readonly number[];
  /** The tokens after the opening, up to the last one that the student sampled. */
  readonly branch: Branch;
  /** lp_old of the sampled tokens, in order. */
  readonly logprobs: readonly number[];
  /** For each sampled token the position of its call in the transcript, or -1. */
  readonly callOfToken: readonly number[];
  advantage: number;
  /** What is added to the advantage of each call's tokens; absent without credit per call. */
  credits?: readonly number[];
  /** Indices of the sampled tokens whose importance ratio was clipped. */
  clipped: number[];
}

interface ScorerOptions {
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly chat: ChatFormat;
}

/**
 * Returns a function that scores an attempt and encodes its tokens for training. The result is
 * undefined for an attempt that failed for reasons outside the policy, which is not scored. With
 * constrained decoding, `masks` has the tokens that were allowed in place of each sampled one.
 */
export function createAttemptScorer({
  catalog,
  profile,
  chat: chatFormat,
}: ScorerOptions): (
  rollout: FinishedAttempt,
  masks?: readonly TokenMask[],
) => GroupAttempt | undefined {
  const score = createScorer(catalog);
  const profiles = profile.name === paperProfile.name ? [] : [paperProfile];
  return (rollout, masks) => {
    const scored = score(rollout, profile, ...profiles);
    if ("unscorable" in scored) return undefined;
    const { task, trajectory } = rollout;
    const [breakdown, paper = breakdown] = scored.breakdowns;
    const chat = chatFormat.encode(createConversation(catalog, task, trajectory));
    const end = chat.mask.lastIndexOf(1) + 1;
    const branch = {
      ids: chat.ids.slice(chat.given, end),
      mask: chat.mask.slice(chat.given, end),
      ...(masks ? { allowed: placeMasks(chat.mask.slice(chat.given, end), masks) } : {}),
    };
    const logprobs = chat.logprobs.filter((_, i) => chat.mask[i] === 1);
    const opening = chat.ids.slice(0, chat.given);
    return {
      task,
      trajectory,
      breakdown,
      paper: paper.total,
      success: isAchieved(scored.attempt, profile),
      opening,
      branch,
      logprobs,
      callOfToken: listCallsOfTokens(chat, trajectory, chatFormat),
      advantage: 0,
      clipped: [],
    };
  };
}

/** The masks at the places of the tokens that were sampled with them. */
function placeMasks(
  sampled: readonly number[],
  masks: readonly TokenMask[],
): (TokenMask | undefined)[] {
  const count = sampled.reduce((sum, it) => sum + it, 0);
  if (count !== masks.length)
    throw new Error(`an attempt of ${count} sampled tokens has ${masks.length} masks`);
  let n = 0;
  return sampled.map(it => (it === 1 ? masks[n++] : undefined));
}

/** For each sampled token the position of its call in the transcript, or -1. */
function listCallsOfTokens(
  { ids, mask, message }: ChatTokens,
  trajectory: Trajectory,
  chatFormat: ChatFormat,
): number[] {
  const positions = new Map<number, number[]>();
  for (const [position, it] of listCalls(trajectory).entries())
    positions.set(it.message, [...(positions.get(it.message) ?? []), position]);
  const idsByMessage = new Map<number, number[]>();
  for (const [i, id] of ids.entries())
    if (mask[i] === 1)
      idsByMessage.set(message[i]!, [...(idsByMessage.get(message[i]!) ?? []), id]);
  return [...idsByMessage].flatMap(([number, own]) =>
    chatFormat.indexCalls(own).map(call => positions.get(number)?.[call] ?? -1),
  );
}

/** The lines of a group, in the order of its attempts. */
export const createGroupLines = (
  step: number,
  {
    attempts,
    variant,
  }: { readonly attempts: readonly GroupAttempt[]; readonly variant: Task | undefined },
): GroupLine[] =>
  attempts.map((it, attempt) => ({
    format: groupFormat,
    step,
    task: it.task.id,
    attempt,
    advantage: it.advantage,
    ...(it.credits ? { credits: [...it.credits] } : {}),
    success: it.success,
    paper: it.paper,
    breakdown: it.breakdown,
    clipped: it.clipped,
    trajectory: stripTrajectory(it.trajectory),
    ...(variant ? { variant } : {}),
  }));

/** Without patches, which a replay restores, and with log-probabilities to six digits. */
function stripTrajectory({ header, events }: Trajectory): GroupLine["trajectory"] {
  return {
    header,
    events: events.map(it => {
      if (it.kind === "assistant" && it.logprobs)
        return { ...it, logprobs: it.logprobs.map(lp => Number(lp.toPrecision(6))) };
      if (it.kind !== "call") return it;
      const { patches: _, ...rest } = it;
      return rest;
    }),
  };
}
