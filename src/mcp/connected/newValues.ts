/** Values for arguments that name what a tool makes, which must not be there yet. */
import { setAt } from "../../environment/argumentPaths.ts";
import { toNoun, type AcceptedValue, type ArgumentExamples } from "./entityKinds.ts";
import type { Trials } from "./trials.ts";

/** How many known texts are tried in place of a new one. */
const maxKnown = 4;

/**
 * New values for an argument that names what its tool makes; undefined for one that takes what is
 * there. Known texts are refused where a new one makes something, or, where both do, the tool is
 * named after what it makes: `create_label` with a `label`.
 */
export async function findNewValues(
  { tool, key, source }: AcceptedValue,
  trials: Trials,
): Promise<ArgumentExamples | undefined> {
  const sample = trials.samples.get(tool);
  if (!sample?.writes || !trials.allows(tool)) return undefined;
  const known = [...trials.texts.get(source)!];
  const values = createNewTexts(known);
  const give = (text: string) => trials.try(tool, setAt(sample.call.arguments, key, text));
  const { works, writes } = await give(values[0]!);
  if (!works || !writes) return undefined;
  if (isNamedAfter(trials.tools.get(tool)!.name, key)) return { tool, key, values };
  for (const it of known.slice(0, maxKnown)) if ((await give(it)).works) return undefined;
  return { tool, key, values };
}

/** Texts of the form of those that are known. */
function createNewTexts(known: readonly string[]): string[] {
  const isOneWord = known.every(it => /^[\p{L}\p{N}_./-]+$/u.test(it));
  const joint = !isOneWord ? " " : known.some(it => it.includes("_")) ? "_" : "-";
  const isLower = known.every(it => it === it.toLowerCase());
  return newNames
    .map(it => (isLower ? it.toLowerCase() : it).replaceAll(" ", joint))
    .filter(it => !known.includes(it));
}

const newNames = ["Winter plans", "Team lunch", "Garden ideas", "Reading list", "Packing list"];

/** Whether an argument is what the name of a tool says that it makes. */
function isNamedAfter(tool: string, key: string): boolean {
  const words = tool
    .split(/(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+/)
    .map(it => it.toLowerCase())
    .filter(Boolean);
  const end = words.findIndex(it => /^(?:to|in|into|for|from|with|on|of|by)$/.test(it));
  const own = end < 0 ? words : words.slice(0, end);
  const creates = /^(?:create|add|new|make|insert|register)$/.test(own[0] ?? "");
  return creates && toNoun(own.at(-1)!) === toNoun(key);
}
