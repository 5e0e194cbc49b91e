/** Lines of text files, and the schemas of the tools that read them. */
import { z } from "zod";
import { findReadableFile } from "./lookups.ts";
import { path } from "./parameters.ts";
import type { FilesystemState } from "./state.ts";

/** The lines of a text. A newline at the end does not start another line. */
export const splitLines = (text: string): string[] =>
  text === "" ? [] : (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");

export const readLines = (state: FilesystemState, input: string) =>
  splitLines(findReadableFile(state, input).entry.text);

export const fileParameter = path.file.describe("Text file");
export const limit = z.int().min(1).max(200).optional();
export const lineLimit = limit.describe("At most this many lines, 20 if not given");
export const lines = z.array(z.string());
export const total = z.int().describe("Lines in all");
