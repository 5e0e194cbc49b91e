/** Values that the description of an argument names, and combinations of values. */
import { getKeyword, getProperties, removeNull } from "../../environment/schemaKeywords.ts";
import type { JsonSchema } from "../../environment/server.ts";

/** The words that the description of an argument quotes, which are often all that it takes. */
export function listQuoted(schema: JsonSchema, key: string): string[] {
  const quoted = Array.from(getDescription(schema, key).matchAll(quotes), it => it[2]!);
  return [...new Set(quoted)].filter(it => writeFormat(it, moments[0]) === it);
}

const quotes = /(?<!\w)(['"`])([\w./:-]{1,30})\1(?!\w)/g;

/** Times as the description of an argument wants them, such as `10:30` for HH:MM. */
export function listFormatted(schema: JsonSchema, key: string): string[] {
  const named = getKeyword(removeNull(getProperties(schema)[key] ?? {}), "format") ?? "";
  const [format] = formats.exec(getDescription(schema, key)) ?? [standardFormats[named]];
  return format === undefined ? [] : moments.map(it => writeFormat(format, it));
}

const getDescription = (schema: JsonSchema, key: string): string => {
  const description: unknown = getProperties(schema)[key]?.["description"];
  return typeof description === "string" ? description : "";
};

const standardFormats: Readonly<Record<string, string>> = {
  date: "YYYY-MM-DD",
  time: "HH:MM:SS",
  "date-time": "YYYY-MM-DDTHH:MM:SSZ",
};

const formats =
  /(?<![A-Za-z])(?:YYYY|MM|DD|HH)(?:[-/:. T](?:YYYY|MM|DD|HH|SS))+(?::?SS)?Z?(?![A-Za-z])/i;

/** The parts of times by what formats call them; `MM` are minutes after hours. */
const moments = [
  { YYYY: "2026", MM: "04", DD: "14", HH: "10", minutes: "30", SS: "00" },
  { YYYY: "2026", MM: "05", DD: "04", HH: "15", minutes: "00", SS: "00" },
  { YYYY: "2026", MM: "06", DD: "22", HH: "09", minutes: "45", SS: "00" },
] as const;

function writeFormat(format: string, moment: (typeof moments)[number]): string {
  if (!formats.test(format)) return format;
  let hasHours = false;
  return format.replaceAll(/YYYY|MM|DD|HH|SS/gi, part => {
    const name = part.toUpperCase() as "YYYY" | "MM" | "DD" | "HH" | "SS";
    if (name === "MM" && hasHours) return moment.minutes;
    hasHours ||= name === "HH";
    return moment[name];
  });
}

/** Combinations of one choice of each list, those of early choices first, up to a limit. */
export function combineChoices<T>(lists: readonly (readonly T[])[], limit: number): T[][] {
  let all: { readonly choices: T[]; readonly rank: number }[] = [{ choices: [], rank: 0 }];
  for (const list of lists)
    all = all
      .flatMap(({ choices, rank }) =>
        list.map((it, i) => ({ choices: [...choices, it], rank: rank + i })),
      )
      .toSorted((a, b) => a.rank - b.rank)
      .slice(0, limit);
  return all.map(it => it.choices);
}
