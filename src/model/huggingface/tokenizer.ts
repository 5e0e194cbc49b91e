/**
 * The tokenizer of a Hugging Face model folder: text to token ids and back, by tokenizer.json. Text
 * of users and tools is never encoded to a control token.
 */
import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Tokenizer } from "@huggingface/tokenizers";
import { z } from "zod";
import { readJsonFile } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";
import { runLimited } from "../../storage/runLimited.ts";

const addedToken = z.looseObject({
  id: z.int().min(0),
  content: z.string().min(1),
  special: z.boolean().default(false),
  lstrip: z.boolean().default(false),
  rstrip: z.boolean().default(false),
  single_word: z.boolean().default(false),
});
/** A normalizer or a step before the model, or a sequence of them. */
const part = z.looseObject({ type: z.string(), behavior: z.string().optional() });
type Part = z.infer<typeof part>;
const tokenizerFile = z.looseObject({
  model: z.looseObject({
    type: z.string().optional(),
    vocab: z.union([z.record(z.string(), z.int()), z.array(z.unknown())]),
    /** Pairs, in older files as one text with a space. */
    merges: z.array(z.union([z.string(), z.array(z.string())])).optional(),
  }),
  added_tokens: z.array(addedToken).default([]),
  normalizer: part.nullable().default(null),
  pre_tokenizer: part.nullable().default(null),
  post_processor: z.unknown().default(null),
  decoder: z.unknown().default(null),
});

/** A token that stands for a mark of the chat format or for a special text. */
export interface ControlToken {
  readonly id: number;
  readonly text: string;
  readonly isSpecial: boolean;
}

export interface HuggingFaceTokenizer {
  /** How many token ids there are. */
  readonly size: number;
  readonly digest: string;
  readonly controlTokens: readonly ControlToken[];
  /**
   * Encodes a rendered chat, in which the texts of control tokens become control tokens, except
   * where `protect` has marked them. Of a chat in pieces, all but the first are continuations: some
   * tokenizers add a space at the beginning of the whole text.
   */
  encode(text: string, options?: { readonly isContinuation?: boolean }): number[];
  /** Marks the texts of control tokens in a text of a user or a tool, so that they stay text. */
  protect(text: string): string;
  /** The text without marks. */
  unprotect(text: string): string;
  /** Decodes ids to text, with control tokens spelled out. */
  decode(ids: readonly number[]): string;
}

/**
 * Marks a protected text, after each of its characters, because a control token may be a part of
 * another, and a single character. The mark is a noncharacter of Unicode, which texts do not
 * contain; it is removed from texts that contain it.
 */
export const protection = "\uFDD0";

/** Throws a `UserError` if the folder has no tokenizer that can be used. */
export function readHuggingFaceTokenizer(folder: string): HuggingFaceTokenizer {
  const name = join(folder, "tokenizer.json");
  if (!existsSync(name))
    throw new UserError(
      `the model in ${folder} has no tokenizer.json`,
      "download the whole model folder again; if the model has none, load its tokenizer with AutoTokenizer of transformers, and save it there with save_pretrained",
    );
  const file = readJsonFile(tokenizerFile, name, {
    noun: "the tokenizer of a Hugging Face model",
    remedy:
      "download the whole model folder again, with the tokenizer.json that fast tokenizers have",
  });
  const unusual = file.added_tokens.find(it => it.single_word);
  if (unusual)
    throw new UserError(
      `${name}: the token ${unusual.content} must be a single word, which is not supported`,
      "choose another model, or train this one with another training framework",
    );
  try {
    checkNormalizer(file, name);
    return createTokenizer(file, name);
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `${name} describes a tokenizer that cannot be used: ${(cause as Error).message}`,
      "choose another model, or train this one with another training framework",
      { cause },
    );
  }
}

/** Throws a `UserError` if tokens are looked for in a text that the normalizer has changed. */
function checkNormalizer(file: z.infer<typeof tokenizerFile>, name: string): void {
  const normalizer = listParts(file.normalizer).find(it => !/^NFK?[CD]$/.test(it.type));
  const normalized = file.added_tokens.find(it => it["normalized"] === true);
  if (normalizer && normalized)
    throw new UserError(
      `${name}: the token ${normalized.content} is looked for after the normalizer ${normalizer.type} has changed the text, which is not supported`,
      "choose another model, or train this one with another training framework",
    );
}

/** For a megabyte on a slow machine. */
const encodeMs = 60_000;

function createTokenizer(file: z.infer<typeof tokenizerFile>, name: string): HuggingFaceTokenizer {
  const added = new Map(file.added_tokens.map(it => [it.content, it]));
  const own = removeControlTokens(file);
  const [first, others] = [true, false].map(it => adaptPreTokenizer(file.pre_tokenizer, it));
  const atStart = new Tokenizer({ ...own, pre_tokenizer: first }, {});
  const later = isDeepStrictEqual(first, others)
    ? atStart
    : new Tokenizer({ ...own, pre_tokenizer: others }, {});
  const whole = new Tokenizer(file, {});
  const { vocab } = file.model;
  const ids = Array.isArray(vocab) ? [vocab.length - 1] : Object.values(vocab);
  const size =
    1 + [...ids, ...file.added_tokens.map(it => it.id)].reduce((a, b) => Math.max(a, b), 0);
  const pattern = createPattern([...added.keys()]);
  const protectedTexts = pattern && new RegExp(pattern.source, "g");
  const unprotect = (it: string) => it.replaceAll(protection, "");
  const encodeText = (it: string, isStart: boolean): number[] => {
    const text = isStart ? atStart : later;
    const ids = it === "" ? [] : text.encode(it, { add_special_tokens: false }).ids;
    if (ids.some(id => id === undefined || id === null))
      throw new Error("a text has characters that the tokenizer does not know");
    return ids;
  };
  const encode = (rendered: string, isContinuation: boolean): number[] => {
    const ids: number[] = [];
    let trimsNext = false;
    const parts = pattern ? rendered.split(pattern) : [rendered];
    for (const [i, part] of parts.entries()) {
      // the parts alternate between text and control tokens
      const token = i % 2 === 1 ? added.get(part) : undefined;
      if (token) {
        ids.push(token.id);
        trimsNext = token.rstrip;
        continue;
      }
      const next = added.get(parts[i + 1] ?? "");
      const start = trimsNext ? part.trimStart() : part;
      const isStart = i === 0 && !isContinuation;
      for (const id of encodeText(unprotect(next?.lstrip ? start.trimEnd() : start), isStart))
        ids.push(id);
    }
    return ids;
  };
  return {
    size,
    digest: hash("sha256", JSON.stringify(file), "hex").slice(0, 16),
    controlTokens: file.added_tokens.map(it => ({
      id: it.id,
      text: it.content,
      isSpecial: it.special,
    })),
    encode(rendered, { isContinuation = false } = {}) {
      return runLimited(
        encodeMs,
        () => encode(rendered, isContinuation),
        seconds =>
          new UserError(
            `${name} takes more than ${seconds} seconds to encode ${rendered.length} characters`,
            "choose another model, or train this one with another training framework",
          ),
      );
    },
    protect: it => {
      const clean = unprotect(it);
      return protectedTexts
        ? clean.replace(protectedTexts, found => Array.from(found, it => it + protection).join(""))
        : clean;
    },
    unprotect,
    decode: ids =>
      ids.length === 0
        ? ""
        : whole.decode([...ids], {
            skip_special_tokens: false,
            clean_up_tokenization_spaces: false,
          }),
  };
}

/** The parts of a normalizer, of which a sequence has several. */
function listParts(of: Part | null): readonly Part[] {
  if (!of) return [];
  const parts = of.type === "Sequence" ? of["normalizers"] : undefined;
  return Array.isArray(parts) ? parts.flatMap(it => listParts(part.parse(it))) : [of];
}

/**
 * A pre-tokenizer that the library computes as the Python library does: for a text at the start of
 * a chat or later in it, and with words that end before the next space.
 */
function adaptPreTokenizer(of: Part | null, isStart: boolean): Part | null {
  if (!of) return null;
  const { type } = of;
  if (type === "Sequence" && Array.isArray(of["pretokenizers"])) {
    const parts = of["pretokenizers"].map(it => adaptPreTokenizer(part.parse(it), isStart));
    return { ...of, pretokenizers: parts };
  }
  if (type === "Split" && !/^(isolated|removed)$/i.test(String(of["behavior"])))
    throw new Error(`splitting text as ${String(of["behavior"])} is not supported`);
  if (type !== "Metaspace") return of;
  const { replacement = "▁", add_prefix_space: hasPrefix = true, split = true } = of;
  const { prepend_scheme: scheme = hasPrefix ? "always" : "never" } = of;
  const prefix = scheme === "first" ? (isStart ? "always" : "never") : scheme;
  const words = { ...of, prepend_scheme: prefix };
  if (!split) return words;
  const space = String(replacement).replace(/[\\^$.*+?()[\]{}|-]/g, "\\$&");
  const pattern = { Regex: `${space}[^${space}]*|[^${space}]+` };
  const each = { type: "Split", pattern, behavior: "Isolated", invert: false };
  return { type: "Sequence", pretokenizers: [words, each] };
}

/**
 * The tokenizer of text: control tokens are found in the rendered chat first, and text has none,
 * not even if merges spell one.
 */
function removeControlTokens(file: z.infer<typeof tokenizerFile>) {
  const added = new Set(file.added_tokens.map(it => it.content));
  const { merges } = file.model;
  const kept = merges?.filter(
    it => !added.has(typeof it === "string" ? it.replace(" ", "") : it.join("")),
  );
  return { ...file, added_tokens: [], model: kept ? { ...file.model, merges: kept } : file.model };
}

/** Matches the texts of control tokens, the longest first, with one group. */
function createPattern(texts: readonly string[]): RegExp | undefined {
  if (texts.length === 0) return undefined;
  const escaped = texts
    .toSorted((a, b) => b.length - a.length)
    .map(it => it.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`(${escaped.join("|")})(?!${protection})`);
}
