/**
 * A conversation's transitions through the state machine as text, one line for each user turn:
 * `query -text-> check-query -sound-> turn …`. A state with an attempt after the first is written
 * `ask#2`.
 */
import { z } from "zod";

/** In the paper's five groups: query, turn, tool execution, response, continuation. */
const states = [
  "query",
  "check-query",
  "turn",
  "ask",
  "check-calls",
  "regenerate",
  "execute",
  "success",
  "partial",
  "failure",
  "recover",
  "respond",
  "continue",
  "finish",
  "reject",
] as const;

export type State = (typeof states)[number];

export interface Transition {
  /** Number of the user turn, from 1. */
  readonly t: number;
  readonly from: State;
  readonly event: string;
  readonly to: State;
  readonly attempt: number;
}

/** A log in a file. */
export const logSchema = z.array(z.string());

/** Formats transitions as lines, one for each user turn. */
export function formatStateLog(transitions: readonly Transition[]): string[] {
  const lines: string[] = [];
  for (const [i, { t, from, event, to, attempt }] of transitions.entries()) {
    const isLast = transitions[i + 1]?.t !== t;
    const state = attempt > 1 ? `${from}#${attempt}` : from;
    const step = `${state} -${event.replaceAll("->", ">")}-> ${isLast ? to : ""}`;
    lines[t - 1] = (lines[t - 1] ?? "") + step;
  }
  return lines;
}

/** Parses a log into its transitions, in order. Skips the rest of a line at an unknown state. */
export function parseStateLog(log: readonly string[]): Transition[] {
  return log.flatMap((line, i) => {
    const transitions: Transition[] = [];
    const steps = line.split("-> ").map(it => /^([a-z-]+)(?:#(\d+))?(?: -(.*))?$/.exec(it) ?? []);
    for (const [at, [, from, attempt, event]] of steps.entries()) {
      const to = steps[at + 1]?.[1];
      if (!isState(from) || !isState(to) || event === undefined) break;
      transitions.push({ t: i + 1, from, event, to, attempt: Number(attempt ?? 1) });
    }
    return transitions;
  });
}

const isState = (word: string | undefined): word is State =>
  (states as readonly (string | undefined)[]).includes(word);
