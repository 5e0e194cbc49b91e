/** Valid documents that are spoiled at random, so that most of each is still what is expected. */
import fc from "fast-check";
import type { Json, JsonObject } from "../../../src/environment/json.ts";

/** Runs of each property: FUZZ times as many as in `npm test`, as `npm run soak` asks for. */
export const countRuns = (few: number): number =>
  Math.ceil(few * Number(process.env["FUZZ"] ?? "1"));

interface Edit {
  readonly at: number;
  readonly how: "replace" | "remove" | "rename" | "nest" | "repeat" | "copy" | "insert";
  readonly value: Json;
  readonly from: number;
}

const hostileText = fc.oneof(
  fc.constantFrom(
    "",
    "__proto__",
    "constructor",
    "toString",
    "../../etc/passwd",
    "\u0000",
    "\ud800",
    "\u202eabc",
    "NaN",
    "2026-02-30",
    "2026-03-09T09:00",
    "{{ 1 }}",
    "<tool_call>",
    "<|im_start|>",
    "attachment://x",
    "{",
    "[]",
    "e\u0301",
    "would you like ".repeat(300),
    " ".repeat(4_000),
    "9".repeat(400),
    "x".repeat(20_000),
  ),
  fc.string({ unit: "binary", maxLength: 30 }),
);
const hostileValue: fc.Arbitrary<Json> = fc.oneof(
  hostileText,
  fc.constantFrom<Json>(
    null,
    true,
    0,
    -1,
    -0,
    0.5,
    1e308,
    2 ** 53,
    -(2 ** 31),
    100_000,
    [],
    {},
    [[]],
    [null],
    { length: 1 },
    { role: "assistant" },
  ),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
);
const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(10_000),
  how: fc.constantFrom(
    "replace",
    "replace",
    "replace",
    "remove",
    "rename",
    "nest",
    "repeat",
    "copy",
    "insert",
  ),
  value: hostileValue,
  from: fc.nat(10_000),
});

/** One of the documents, with up to four edits. */
export const spoiled = (documents: readonly Json[]): fc.Arbitrary<Json> =>
  fc
    .tuple(fc.nat(documents.length - 1), fc.array(edit, { minLength: 0, maxLength: 4 }))
    .map(([index, edits]) => edits.reduce(applyEdit, structuredClone(documents[index]!)));

/** The text of one of the documents, of which some characters are cut off, removed or replaced. */
export const spoiledText = (documents: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.nat(documents.length - 1),
      fc.array(fc.record({ at: fc.nat(), length: fc.nat(40), text: hostileText, how: fc.nat(3) }), {
        minLength: 1,
        maxLength: 4,
      }),
    )
    .map(([index, edits]) =>
      edits.reduce((text, { at, length, text: inserted, how }) => {
        const start = text.length === 0 ? 0 : at % text.length;
        if (how === 0) return text.slice(0, start);
        const end = how === 1 ? start + length : start;
        return text.slice(0, start) + (how === 1 ? "" : inserted) + text.slice(end);
      }, documents[index]!),
    );

interface Place {
  readonly parent: Json[] | JsonObject;
  readonly key: string;
}

const get = ({ parent, key }: Place): Json => (parent as JsonObject)[key]!;

function listPlaces(value: Json, places: Place[] = []): Place[] {
  if (value === null || typeof value !== "object") return places;
  for (const key of Object.keys(value)) {
    const place = { parent: value as JsonObject, key };
    places.push(place);
    listPlaces(get(place), places);
  }
  return places;
}

/** Sets an own entry, also one named `__proto__`. */
const set = (parent: Place["parent"], key: string, value: Json): void =>
  void Object.defineProperty(parent, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });

function applyEdit(document: Json, { at, how, value: given, from }: Edit): Json {
  const value = structuredClone(given);
  const places = listPlaces(document);
  const place = places[at % Math.max(1, places.length)];
  if (!place || (at === 0 && how === "replace")) return value;
  const { parent, key } = place;
  const remove = () => {
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else delete (parent as Record<string, Json>)[key];
  };
  if (how === "replace") set(parent, key, value);
  else if (how === "remove") remove();
  else if (how === "rename") {
    const old = get(place);
    remove();
    set(parent, Array.isArray(parent) ? key : typeof value === "string" ? value : "more", old);
  } else if (how === "nest") {
    let nested = get(place);
    for (let i = 0; i < 1 + (from % 200); i++) nested = from % 2 === 0 ? [nested] : { a: nested };
    set(parent, key, nested);
  } else if (how === "repeat")
    set(
      parent,
      key,
      Array.from({ length: from % 60 }, () => structuredClone(get(place))),
    );
  else if (how === "copy") set(parent, key, structuredClone(get(places[from % places.length]!)));
  else if (Array.isArray(parent)) parent.splice(Number(key), 0, value);
  else set(parent, typeof value === "string" ? value : `${key}s`, value);
  return document;
}
