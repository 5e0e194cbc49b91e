/** Finds what differs between two runs of the same calls, as pointers that leave it out. */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";

/** The pointers to what differs; `*` stands for the index in a list, and for names that vary. */
export function listDifferences(a: Json, b: Json, pointer = ""): string[] {
  if (isJsonObject(a) && isJsonObject(b)) return listInRecords(a, b, pointer);
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length)
    return a.flatMap((it: Json, i) => listDifferences(it, b[i] as Json, `${pointer}/*`));
  return JSON.stringify(a) === JSON.stringify(b) ? [] : [pointer];
}

function listInRecords(a: JsonObject, b: JsonObject, pointer: string): string[] {
  const shared = Object.keys(a).filter(it => Object.hasOwn(b, it));
  const others = [...Object.keys(a), ...Object.keys(b)].filter(it => !shared.includes(it));
  return [
    ...shared.flatMap(it => listDifferences(a[it]!, b[it]!, `${pointer}/${escapePart(it)}`)),
    ...(others.length > 0
      ? [`${pointer}/${pointer === "/files" ? `${escapePart(findFolder(others))}*` : "*"}`]
      : []),
  ];
}

const escapePart = (part: string) => part.replaceAll("~", "~0").replaceAll("/", "~1");

/** The folder that all paths are in, with its slash. */
function findFolder(paths: readonly string[]): string {
  const [first = "", ...rest] = paths;
  let length = first.lastIndexOf("/") + 1;
  while (length > 0 && !rest.every(it => it.startsWith(first.slice(0, length))))
    length = first.lastIndexOf("/", length - 2) + 1;
  return first.slice(0, length);
}
