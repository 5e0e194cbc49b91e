/**
 * A conversation's way through the state machine as text, a line a user turn: `query -text->
 * check-query -sound-> turn …`, an attempt above the first behind the state it was made in:
 * `ask#2`. Written and read here; knows the states' names only.
 */
import { z } from "zod";

/** In the paper's five groups: query, turn, tool execution, response, continuation. */
export const states = [
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

/** A log as files keep it. */
export const logSchema = z.array(z.string());

/** The transitions as lines, one for each user turn. */
export function formatStateLog(transitions: readonly Transition[]): string[] {
  const lines: string[] = [];
  for (const [i, { t, from, event, to, attempt }] of transitions.entries()) {
    const last = transitions[i + 1]?.t !== t;
    const step = `${attempt > 1 ? `${from}#${attempt}` : from} -${event.replaceAll("->", ">")}-> ${last ? to : ""}`;
    lines[t - 1] = (lines[t - 1] ?? "") + step;
  }
  return lines;
}

/** The transitions that a log tells, in order. What it does not understand ends a line. */
export function parseStateLog(log: readonly string[]): Transition[] {
  return log.flatMap((line, i) => {
    const found: Transition[] = [];
    const steps = [...line.matchAll(/([a-z-]+)(?:#(\d+))? -(.*?)-> (?=([a-z-]+))/g)];
    for (const [, from, attempt, event, to] of steps) {
      if (!isState(from) || !isState(to)) break;
      found.push({ t: i + 1, from, event: event!, to, attempt: Number(attempt ?? 1) });
    }
    return found;
  });
}

const isState = (word: string | undefined): word is State =>
  (states as readonly (string | undefined)[]).includes(word);
