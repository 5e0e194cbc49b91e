/**
 * Links to an attempt of the open workspace, for messages and notes:
 *
 *     vscode://prove-rl.prove-rl/open?task=ID&call=3
 *     vscode://prove-rl.prove-rl/open?run=NAME&step=20&task=ID&attempt=2&call=3
 *
 * Calls and attempts count from 1.
 */
import { UserError } from "../../userError.ts";

/** What a link names; calls and attempts count from 0. */
export interface AttemptLink {
  readonly task: string;
  /** A student's attempt in a step of a run; absent for the teacher's. */
  readonly attempt?: { readonly run: string; readonly step: number; readonly number: number };
  readonly call?: number;
}

/** The part of an address that a link consists of. */
interface LinkAddress {
  readonly path: string;
  readonly query: string;
}

const remedy = "a link is open?task=ID, or open?run=NAME&step=N&task=ID&attempt=N";

/** Throws a `UserError` for an address that is not a link. */
export function parseLink({ path, query }: LinkAddress): AttemptLink {
  if (path !== "/open") throw new UserError(`there is nothing at ${path}`, remedy);
  const parameters = new URLSearchParams(query);
  const task = parameters.get("task");
  if (!task) throw new UserError("the link names no task", remedy);
  const call = parseNumber(parameters, "call", 1);
  const run = parameters.get("run");
  return {
    task,
    ...(run === null ? {} : { attempt: { run, ...parseAttempt(parameters) } }),
    ...(call === undefined ? {} : { call: call - 1 }),
  };
}

export function formatLink({ task, attempt, call }: AttemptLink): LinkAddress {
  const parameters = new URLSearchParams();
  if (attempt) {
    parameters.set("run", attempt.run);
    parameters.set("step", String(attempt.step));
  }
  parameters.set("task", task);
  if (attempt) parameters.set("attempt", String(attempt.number + 1));
  if (call !== undefined) parameters.set("call", String(call + 1));
  return { path: "/open", query: parameters.toString() };
}

function parseAttempt(parameters: URLSearchParams): { step: number; number: number } {
  const step = parseNumber(parameters, "step", 0);
  const number = parseNumber(parameters, "attempt", 1);
  if (step === undefined || number === undefined)
    throw new UserError("the link names a run, but no step or attempt", remedy);
  return { step, number: number - 1 };
}

function parseNumber(parameters: URLSearchParams, name: string, least: number): number | undefined {
  const text = parameters.get(name);
  if (text === null) return undefined;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (number < least)
    throw new UserError(`${name} in the link is not a number from ${least}`, remedy);
  return number;
}
