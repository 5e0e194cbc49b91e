/**
 * Computes the split of a task from the tools that its goals call. The seed has no influence, so a
 * chain of tools is in the same split in every synthesis.
 */
import { hash } from "node:crypto";
import type { Task } from "../../trajectory/task.ts";

export type Split = Task["split"];

/** Servers whose tools are in no training task, to measure generalization to unseen servers. */
export const heldOutServers: readonly string[] = ["trading", "marketplace", "team_chat", "vehicle"];

export const isHeldOut = (server: string): boolean => heldOutServers.includes(server);

/** One set of tools in this many is held out. */
const heldOutInterval = 5;

/**
 * Computes the split from the full names of the tools, or from the home server if there are none. A
 * single tool is always for training, because a model must have seen what each tool does.
 */
export function computeSplit(tools: Iterable<string>, home = ""): Split {
  const names = [...new Set(tools)].sort();
  if (
    isHeldOut(home) ||
    names.some(it => heldOutServers.some(server => it.startsWith(`${server}_`)))
  )
    return "heldout-server";
  if (names.length < 2) return "train";
  const digest = hash("sha256", names.join("\n"), "hex");
  return Number.parseInt(digest.slice(0, 8), 16) % heldOutInterval === 0
    ? "heldout-chain"
    : "train";
}
