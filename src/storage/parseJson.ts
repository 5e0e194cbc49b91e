/**
 * Parses JSON and checks it against a schema. An error names the file, the line, and the first
 * value that does not fit.
 */
import { z } from "zod";
import { UserError } from "../userError.ts";
import { withReadErrors } from "./fileErrors.ts";
import { describeTooDeep, isTooDeep } from "./jsonDepth.ts";
import { findReason } from "./schemaIssue.ts";
import { readTextFile } from "./textFiles.ts";
import { suggestName } from "./suggestName.ts";
import {
  findNodeAtLocation,
  parseTree,
  type Node,
  type ParseError,
  type ParseOptions,
} from "jsonc-parser";

/** Where a JSON text comes from, and how errors describe it. */
export interface JsonSource {
  /** The file's path, or another name that the user recognizes. */
  readonly file: string;
  /** The line number when the text is one line of a JSON Lines file. */
  readonly line?: number;
  /** What the value should be, with its article: "a task". */
  readonly noun?: string;
  /** The value that the key `format` must have, such as `prove/task@2`. */
  readonly format?: string;
  readonly remedy?: string;
}

/**
 * The value of a JSON text. Throws a `UserError` with `file:line` where the text is not JSON or the
 * value does not fit.
 */
export function parseJson<T>(schema: z.ZodType<T>, text: string, source: JsonSource): T {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new UserError(
      `${formatPlace(source, () => findSyntaxErrorLine(text))} is not JSON (${(cause as Error).message})`,
      source.remedy ?? defaultRemedy(source),
      { cause },
    );
  }
  return checkJson(schema, json, source, text);
}

/** The value of a JSON file. Throws a `UserError` where it is missing, not JSON or does not fit. */
export function readJsonFile<T>(
  schema: z.ZodType<T>,
  file: string,
  source: Omit<JsonSource, "file"> = {},
): T {
  const text = withReadErrors(file, () => readTextFile(file));
  return parseJson(schema, text, { ...source, file });
}

/**
 * A parsed value, checked. `text` is the JSON text that the value came from; without it, errors
 * name the file and, for JSON Lines, the line.
 */
export function checkJson<T>(
  schema: z.ZodType<T>,
  json: unknown,
  source: JsonSource,
  text?: string,
): T {
  if (isTooDeep(json, "document"))
    throw new UserError(
      `${formatPlace(source, () => undefined)} is not ${source.noun ?? "valid"}: it is ${describeTooDeep("document")}`,
      source.remedy ?? defaultRemedy(source),
    );
  if (source.format !== undefined) checkFormat(json, source.format, source);
  const { success, data, error } = schema.safeParse(json);
  if (success) return data;
  const issue = findReason(error);
  const place = formatPlace(source, () =>
    text === undefined ? undefined : findLine(text, [...issue.path, ...listUnknownKeys(issue)]),
  );
  throw new UserError(
    `${place} is not ${source.noun ?? "valid"}: at /${issue.path.join("/")}: ${issue.message}${suggestKey(schema, issue)}`,
    source.remedy ?? defaultRemedy(source),
    { cause: error },
  );
}

/** The first unknown key of a record, if that is what an issue is about. */
const listUnknownKeys = (issue: z.core.$ZodIssue): readonly string[] =>
  issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];

/** The known key that is nearest to an unknown one, as the end of a message, if one is near. */
function suggestKey(schema: z.ZodType, issue: z.core.$ZodIssue): string {
  let record: unknown = schema;
  for (const key of issue.path) {
    if (record instanceof z.ZodObject) record = record.shape[String(key)];
    else if (record instanceof z.ZodArray) record = record.element;
    while (record instanceof z.ZodOptional) record = record.unwrap();
  }
  const keys = record instanceof z.ZodObject ? Object.keys(record.shape) : [];
  return listUnknownKeys(issue)
    .map(it => suggestName(it, keys))
    .join("");
}

function checkFormat(json: unknown, expected: string, source: JsonSource): void {
  const format =
    json !== null && typeof json === "object" ? (json as { format?: unknown }).format : undefined;
  if (format === expected) return;
  const place = formatPlace(source, () => undefined);
  const [kind, version] = expected.split("@") as [string, string];
  const [foundKind, foundVersion] = typeof format === "string" ? format.split("@") : [];
  if (foundKind === kind && Number(foundVersion) > Number(version))
    throw new UserError(
      `${place} has the format ${String(format)}, which is newer than ${expected}, the newest this program reads`,
      "update PROVE",
    );
  throw new UserError(
    `${place} is not ${source.noun ?? "valid"} (format ${JSON.stringify(format) ?? "missing"})`,
    `its format must be ${expected}`,
  );
}

const defaultRemedy = ({ line }: JsonSource): string =>
  line === undefined ? "correct the file" : "correct or delete that line";

function formatPlace({ file, line }: JsonSource, find: () => number | undefined): string {
  const number = line ?? find();
  return number === undefined ? file : `${file}:${number}`;
}

// Finds the position of a value in JSON text, even if the text is not valid.

/** A part of a text, in UTF-16 code units; `end` is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The range of the value at a path. For a value that is missing, the opening bracket of its nearest
 * ancestor. Broken text is read as far as possible.
 */
export function findRange(text: string, path: readonly PropertyKey[]): TextRange {
  const root = readJsonTree(text);
  if (root)
    for (let depth = path.length; depth >= 0; depth--) {
      const node = findNode(root, path.slice(0, depth));
      if (!node) continue;
      const { offset, length } = node;
      return { start: offset, end: offset + (depth === path.length ? Math.max(length, 1) : 1) };
    }
  return { start: 0, end: Math.min(1, text.length) };
}

/** The range of the key of the entry at a path; for an item of a list, that of the item. */
export function findKeyRange(text: string, path: readonly PropertyKey[]): TextRange {
  const root = readJsonTree(text);
  const property = root && findNode(root, path)?.parent;
  const key = property?.type === "property" ? property.children?.[0] : undefined;
  return key ? { start: key.offset, end: key.offset + key.length } : findRange(text, path);
}

/**
 * The range to mark for the value at a path: a record's or a list's is that of its key, so that a
 * mark stays on one line.
 */
export function findMarkedRange(
  text: string,
  path: readonly PropertyKey[],
  marksKey = false,
): TextRange {
  const range = findRange(text, path);
  return marksKey || /^[{[]./s.test(text.slice(range.start, range.end))
    ? findKeyRange(text, path)
    : range;
}

/** The line, from 1, of the value at a path or of its nearest ancestor. */
export const findLine = (text: string, path: readonly PropertyKey[]): number =>
  countLines(text, findRange(text, path).start);

/** The line, from 1, where a text stops being JSON; undefined where no such place is found. */
export function findSyntaxErrorLine(text: string): number | undefined {
  const errors: ParseError[] = [];
  readJsonTree(text, errors, { disallowComments: true });
  return errors[0] && countLines(text, errors[0].offset);
}

/**
 * The tree of a text, as far as it is JSON; undefined if it is empty, or is nested so deeply that
 * the parser, which is recursive, gives up.
 */
function readJsonTree(
  text: string,
  errors?: ParseError[],
  options?: ParseOptions,
): Node | undefined {
  try {
    return parseTree(text, errors, options);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const findNode = (root: Node, path: readonly PropertyKey[]): Node | undefined =>
  findNodeAtLocation(
    root,
    path.map(it => (typeof it === "symbol" ? String(it) : it)),
  );

const countLines = (text: string, offset: number): number =>
  text.slice(0, offset).split("\n").length;
