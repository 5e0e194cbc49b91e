/**
 * The stored tokenizers and chats of each model family, and what the Python libraries make of them.
 * test/engines/tiny_tokenizers.py writes them.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../src/environment/json.ts";

export interface ExpectedText {
  readonly text: string;
  readonly ids: readonly number[];
  readonly decoded: string;
  /** The ids if nothing in the text is a control token. */
  readonly plain: readonly number[];
}

export interface ExpectedChat {
  readonly name: string;
  readonly messages: readonly JsonObject[];
  readonly tools: readonly JsonObject[];
  readonly text?: string;
  readonly ids?: readonly number[];
  /** The exception that the template raises. */
  readonly error?: string;
}

export const familyNames = ["qwen", "granite", "llama", "smollm", "llama2"] as const;

export const getFamilyFolder = (name: string): string =>
  join(import.meta.dirname, "families", name);

export const readExpected = (
  name: string,
): { readonly texts: readonly ExpectedText[]; readonly chats: readonly ExpectedChat[] } =>
  JSON.parse(readFileSync(join(getFamilyFolder(name), "expected.json"), "utf8"));
