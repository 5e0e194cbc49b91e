/**
 * Reads JSON Lines: files that stream line by line, and small logs that are read whole. A last line
 * that was cut off while it was written is reported and skipped.
 */
import { createReadStream } from "node:fs";
import type { z } from "zod";
import { UserError } from "../userError.ts";
import { isMissing, toReadError } from "./fileErrors.ts";
import { describeTooDeep, isTooDeep } from "./jsonDepth.ts";
import { parseJson, type JsonSource } from "./parseJson.ts";
import { maxLogBytes, readTextFile } from "./textFiles.ts";

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** Of the line's first byte in the file. */
  readonly offset: number;
  /** Length in bytes, without the line break. */
  readonly bytes: number;
  /** Whether a line break ends it; only a last line may lack one. */
  readonly whole: boolean;
}

/** A position between two lines of a file. */
export interface LinePosition {
  /** In bytes. */
  readonly offset: number;
  /** Lines before it. */
  readonly lines: number;
}

export const fileStart: LinePosition = { offset: 0, lines: 0 };

/** A line that could not be read, and perhaps lines after it. */
export interface SkippedLine {
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

export interface ReadOptions {
  /** Receives a remark about a torn last line, which is skipped: its write was cut off. */
  readonly onTorn?: (remark: string) => void;
  readonly signal?: AbortSignal;
}

/** The longest line that is read: enough for any task, and a limit for files that have no lines. */
const maxLineBytes = 64 * 2 ** 20;

/** Receives the number of a line that is longer, and is left out. */
type OnLongLine = (number: number) => void;

/** Completes "log.jsonl:3 …". */
export const tooLongReason = "is longer than 64 MiB";

/** Bytes that are read at a time: a few milliseconds of work. */
export const chunkBytes = 256 * 1024;

/**
 * Splits bytes into lines. Blank lines are left out but counted. Throws a `UserError` that names
 * `source` on a line of over 64 MiB, unless there is a receiver of such lines.
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  onLongLine?: OnLongLine,
): AsyncGenerator<Line> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  /** Of a line that is too long, which are counted only. */
  let droppedBytes = 0;
  let offset = 0;
  let number = 1;
  const finishLine = (rest: Uint8Array, whole: boolean): Line => {
    const bytes = Buffer.concat([...pending, rest]);
    const line = { number, text: decodeLine(bytes), offset, bytes: bytes.length, whole };
    pending = [];
    pendingBytes = 0;
    offset += bytes.length + 1;
    number++;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      if (droppedBytes > 0) {
        offset += droppedBytes + end - start + 1;
        number++;
        droppedBytes = 0;
        start = end + 1;
        continue;
      }
      const line = finishLine(chunk.subarray(start, end), true);
      if (line.text.trim() !== "") yield line;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    if (droppedBytes > 0) {
      droppedBytes += chunk.length - start;
      continue;
    }
    // a copy, because the producer may reuse its chunk
    pending.push(Buffer.from(chunk.subarray(start)));
    pendingBytes += chunk.length - start;
    if (pendingBytes <= maxLineBytes) continue;
    if (!onLongLine)
      throw new UserError(
        `line ${number} of ${source} ${tooLongReason}`,
        "use a file of JSON Lines, with one object per line",
      );
    onLongLine(number);
    droppedBytes = pendingBytes;
    pending = [];
    pendingBytes = 0;
  }
  if (pendingBytes === 0) return;
  const line = finishLine(new Uint8Array(0), false);
  if (line.text.trim() !== "") yield line;
}

/** UTF-8, without a byte order mark or the carriage return of a Windows line. */
function decodeLine(bytes: Buffer): string {
  const text = bytes.toString("utf8").replace(/\r$/, "");
  return text.codePointAt(0) === 0xfeff ? text.slice(1) : text;
}

/** The lines of a file from a position on, without blank ones. */
export async function* readLines(
  file: string,
  start: LinePosition = fileStart,
  onLongLine?: OnLongLine,
): AsyncGenerator<Line> {
  const chunks = createReadStream(file, { highWaterMark: chunkBytes, start: start.offset });
  try {
    for await (const line of splitLines(chunks as AsyncIterable<Uint8Array>, file, onLongLine))
      yield { ...line, offset: line.offset + start.offset, number: line.number + start.lines };
  } catch (cause) {
    throw toReadError(file, cause);
  }
}

/**
 * The lines of a file as JSON, not checked any further. Throws a `UserError` with `file:line` where
 * a line is not JSON, unless it is the last one and torn.
 */
export async function* readJsonLines(
  file: string,
  { onTorn, signal }: ReadOptions = {},
): AsyncGenerator<{ readonly json: unknown; readonly number: number }> {
  for await (const { text, number, whole } of readLines(file)) {
    signal?.throwIfAborted();
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch (cause) {
      if (whole || !isCutOff(text)) throw notJson(`${file}:${number}`, cause as Error);
      onTorn?.(formatTornLine(file, number));
      continue;
    }
    yield { json, number };
  }
}

/** A small log, read whole. */
export interface Log<T> {
  readonly lines: readonly T[];
  readonly skipped: readonly SkippedLine[];
}

/** Every line of a log that fits the schema; the others are reported. A missing file is empty. */
export function readLog<T>(schema: z.ZodType<T>, file: string): Log<T> {
  const lines: T[] = [];
  const skipped: SkippedLine[] = [];
  for (const { line, text } of readNumberedLines(file))
    try {
      const json: unknown = JSON.parse(text);
      if (isTooDeep(json, "document")) throw new Error(`it is ${describeTooDeep("document")}`);
      lines.push(schema.parse(json));
    } catch (error) {
      skipped.push({ line, reason: (error as Error).message.split("\n")[0]! });
    }
  return { lines, skipped };
}

/**
 * Every line of a log, each of which must fit the schema. A missing file is empty. Throws a
 * `UserError` with `file:line`; a torn last line is reported to `onTorn` instead if it is given.
 */
export function readStrictLog<T>(
  schema: z.ZodType<T>,
  file: string,
  { onTorn, ...source }: Omit<JsonSource, "file" | "line"> & Pick<ReadOptions, "onTorn"> = {},
): readonly T[] {
  const entries: T[] = [];
  for (const { line, text, whole } of readNumberedLines(file))
    if (onTorn && !whole && isCutOff(text)) onTorn(formatTornLine(file, line));
    else entries.push(parseJson(schema, text, { ...source, file, line }));
  return entries;
}

function* readNumberedLines(
  file: string,
): Generator<{ readonly line: number; readonly text: string; readonly whole: boolean }> {
  let content: string;
  try {
    content = readTextFile(file, maxLogBytes);
  } catch (cause) {
    if (isMissing(cause)) return;
    throw toReadError(file, cause);
  }
  const texts = content.split("\n");
  for (const [i, text] of texts.entries())
    if (text.trim() !== "") yield { line: i + 1, text, whole: i < texts.length - 1 };
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a text is the beginning of JSON and nothing else: its write was cut off. Zeros at its end
 * do not count, which a crash of the machine can leave.
 */
export function isCutOff(text: string): boolean {
  let end = text.length;
  while (text.codePointAt(end - 1) === 0) end--;
  try {
    JSON.parse(text.slice(0, end));
    return false;
  } catch (error) {
    const { message } = error as Error;
    const [, position] = /at position (\d+)/.exec(message) ?? [];
    return message.startsWith("Unexpected end") || Number(position) >= end;
  }
}

/** Completes "log.jsonl:3 …", as `formatDamage` does. */
export const tornReason = "is torn (a write was cut off)";

/** What is wrong in a line, and in the lines after it, that `JSON.parse` does not read. */
export function formatDamage(error: unknown, linesAfter = 0): string {
  // the error counts its lines from the one that was parsed
  const message = (error as Error).message.replace(/ \(line \d+ column \d+\)$/, "");
  return `is not JSON (${message})${linesAfter > 0 ? `, nor are the ${linesAfter} lines after it,` : ""}`;
}

const formatTornLine = (file: string, line: number): string =>
  `${file}:${line} ${tornReason} and was skipped`;

const notJson = (place: string, cause: Error): UserError =>
  new UserError(`${place} ${formatDamage(cause)}`, "correct or delete that line", {
    cause,
  });
