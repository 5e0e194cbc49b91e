/** Tries what results have shown as arguments of other tools, and finds what they accept. */
import { getProperties, listRequired } from "../../environment/schemaKeywords.ts";
import { createArguments, isTextArgument, setArgument } from "./exampleArguments.ts";
import { toNoun, type AcceptedValue } from "./entityKinds.ts";
import type { Trial, Trials } from "./trials.ts";

const maxCallsPerTool = 60;

/** A text that no server has. */
const unknownText = "qzxv-unknown-7731";

/** Tries values for the required arguments of a tool, and adds which results supply them. */
export async function exploreArguments(
  name: string,
  trials: Trials,
  accepted: AcceptedValue[],
): Promise<void> {
  const { inputSchema } = trials.tools.get(name)!;
  const required = listRequired(inputSchema);
  if (required.length === 0) return;
  const base = createArguments(inputSchema, trials.texts);
  if (!base) return;
  let calls = 0;
  let known = base;
  const keys = required.filter(it => isTextArgument(getProperties(inputSchema)[it] ?? {}));
  const unresolved = keys.filter(key => !accepted.some(it => it.tool === name && it.key === key));
  if (keys.length === 0 && !trials.samples.has(name)) await trials.try(name, known);
  for (const key of unresolved) {
    const give = (text: string) =>
      setArgument(known, key, text, getProperties(inputSchema)[key] ?? {});
    const withUnknown = await trials.try(name, give(unknownText));
    // it takes any text
    if (withUnknown.works && withUnknown.writes) continue;
    const tried = new Set<string>();
    for (const [source, texts] of listSources(name, trials)) {
      if (calls >= maxCallsPerTool || !trials.allows(name)) return;
      const made: { readonly text: string; readonly trial: Trial }[] = [];
      // places that show the same are tried once
      const chosen = texts.filter(it => !tried.has(it)).slice(0, 2);
      if (chosen.length === 0) continue;
      for (const text of chosen) {
        calls++;
        tried.add(text);
        made.push({ text, trial: await trials.try(name, give(text)) });
      }
      const isAccepted = made.every(({ text, trial }) =>
        isBetter(trial, text, withUnknown, unknownText),
      );
      if (!isAccepted) continue;
      accepted.push({ tool: name, key, source });
      known = give(chosen[0]!);
      break;
    }
  }
  if (!trials.samples.has(name)) await trials.try(name, known);
}

/** The texts that results have shown, by their place; those with the most first. */
const listSources = (name: string, { texts }: Trials): [string, string[]][] =>
  Array.from(texts, ([place, shown]): [string, string[]] => [place, [...shown]])
    .filter(([place]) => !place.startsWith(`${name} `))
    .toSorted(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));

/** Whether a known text did more than an unknown one, apart from being shown itself. */
function isBetter(trial: Trial, text: string, unknown: Trial, unknownValue: string): boolean {
  if (!trial.works) return false;
  if (!unknown.works) return true;
  if (trial.writes !== unknown.writes) return trial.writes;
  const [own, other] = [
    trial.shown.replaceAll(text, ""),
    unknown.shown.replaceAll(unknownValue, ""),
  ];
  return !trial.writes && own.length > other.length * 1.2 + 10;
}

/** An argument with the name of one that takes the texts of a place takes them, too. */
export function acceptByName({ tools }: Trials, accepted: AcceptedValue[]): void {
  for (const [tool, { inputSchema }] of tools)
    for (const [key, schema] of Object.entries(getProperties(inputSchema))) {
      if (accepted.some(it => it.tool === tool && it.key === key)) continue;
      const other = accepted.find(it => it.key === key && toNoun(key) !== "");
      if (other && isTextArgument(schema)) accepted.push({ tool, key, source: other.source });
    }
}
