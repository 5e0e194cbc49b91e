/** Which split a task belongs to: a pure function of the tools its goals call, so that no seed can move a chain from one to the other. */
import { hash } from "node:crypto";

/** Held out: one set of tools in five. */
const heldOutOf = 5;

/** A set of one tool is always for training: what a single tool does must have been seen. */
export function splitOf(tools: Iterable<string>): "train" | "heldout-chain" {
  const names = [...new Set(tools)].sort();
  if (names.length < 2) return "train";
  return Number.parseInt(hash("sha256", names.join("\n"), "hex").slice(0, 8), 16) % heldOutOf === 0 ? "heldout-chain" : "train";
}
