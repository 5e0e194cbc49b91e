/**
 * The tokenizer of a Hugging Face model folder: text to token ids and back, by tokenizer.json. Text
 * of users and tools is never encoded to a control token.
 */
import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { z } from "zod";
import { readJsonFile } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";

const addedToken = z.looseObject({
  id: z.int().min(0),
  content: z.string().min(1),
  special: z.boolean().default(false),
  lstrip: z.boolean().default(false),
  rstrip: z.boolean().default(false),
  single_word: z.boolean().default(false),
});
const tokenizerFile = z.looseObject({
  model: z.looseObject({
    type: z.string().optional(),
    vocab: z.union([z.record(z.string(), z.int()), z.array(z.unknown())]),
    /** Pairs, in older files as one text with a space. */
    merges: z.array(z.union([z.string(), z.array(z.string())])).optional(),
  }),
  added_tokens: z.array(addedToken).default([]),
  normalizer: z.unknown().default(null),
  pre_tokenizer: z.unknown().default(null),
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
   * where `protect` has marked them.
   */
  encode(text: string): number[];
  /** Marks the texts of control tokens in a text of a user or a tool, so that they stay text. */
  protect(text: string): string;
  /** The text without marks. */
  unprotect(text: string): string;
  /** Decodes ids to text, with control tokens spelled out. */
  decode(ids: readonly number[]): string;
}

/**
 * Marks a protected text, after its first character. The character is a noncharacter of Unicode,
 * which texts do not contain; it is removed from texts that contain it.
 */
const protection = "\uFDD0";

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
      "choose another model, or train this one in another engine",
    );
  try {
    return createTokenizer(file);
  } catch (cause) {
    throw new UserError(
      `${name} describes a tokenizer that cannot be used: ${(cause as Error).message}`,
      "choose another model, or train this one in another engine",
      { cause },
    );
  }
}

function createTokenizer(file: z.infer<typeof tokenizerFile>): HuggingFaceTokenizer {
  const added = new Map(file.added_tokens.map(it => [it.content, it]));
  const text = new Tokenizer(removeControlTokens(file), {});
  const whole = new Tokenizer(file, {});
  const vocabulary = Object.values(file.model.vocab).filter(it => typeof it === "number");
  const size =
    1 + [...vocabulary, ...file.added_tokens.map(it => it.id)].reduce((a, b) => Math.max(a, b), 0);
  const pattern = createPattern([...added.keys()]);
  const protectedTexts = pattern && new RegExp(pattern.source, "g");
  const unprotect = (it: string) => it.replaceAll(protection, "");
  const encodeText = (it: string): number[] => {
    const ids = it === "" ? [] : text.encode(it, { add_special_tokens: false }).ids;
    if (ids.some(id => id === undefined || id === null))
      throw new Error("a text has characters that the tokenizer does not know");
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
    encode(rendered) {
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
        ids.push(...encodeText(unprotect(next?.lstrip ? start.trimEnd() : start)));
      }
      return ids;
    },
    protect: it => {
      const clean = unprotect(it);
      return protectedTexts
        ? clean.replace(protectedTexts, found => `${found[0]}${protection}${found.slice(1)}`)
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
  return new RegExp(`(${escaped.join("|")})`);
}
