/**
 * Which split a task belongs to: a pure function of the tools its goals call, so that no seed can
 * move a chain from one to the other.
 */
import { hash } from "node:crypto";
import type { Task } from "../../trajectory/task.ts";

export type Split = Task["split"];

/** Servers whose tools no task for training shows: what is learned elsewhere is tested on them. */
export const heldOutServers: readonly string[] = ["trading", "marketplace", "team_chat", "vehicle"];

export const isHeldOut = (server: string): boolean => heldOutServers.includes(server);

/** Held out: one set of tools in five. */
const heldOutOf = 5;

/**
 * By the tools' full names, or by the home's name where there are none. A set of one tool is for
 * training: what a single tool does must have been seen.
 */
export function splitOf(tools: Iterable<string>, home = ""): Split {
  const names = [...new Set(tools)].sort();
  if (
    isHeldOut(home) ||
    names.some(it => heldOutServers.some(server => it.startsWith(`${server}_`)))
  )
    return "heldout-server";
  if (names.length < 2) return "train";
  return Number.parseInt(hash("sha256", names.join("\n"), "hex").slice(0, 8), 16) % heldOutOf === 0
    ? "heldout-chain"
    : "train";
}
