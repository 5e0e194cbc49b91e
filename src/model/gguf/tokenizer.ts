/**
 * The tokenizer of a GGUF file as tokenizer.json: byte-pair encoding with the vocabulary and merges
 * of the file, and the splitting of text that it names.
 */
import { z } from "zod";
import { UserError } from "../../userError.ts";
import type { GgufFile } from "./file.ts";
import { findReason } from "../../storage/schemaIssue.ts";

const schema = z.looseObject({
  tokens: z.array(z.string()).min(1),
  merges: z.array(z.string()),
  token_type: z.array(z.int()).optional(),
  pre: z.string().default("default"),
  add_bos_token: z.boolean().default(false),
  bos_token_id: z.int().optional(),
  eos_token_id: z.int().optional(),
  padding_token_id: z.int().optional(),
  unknown_token_id: z.int().optional(),
});

/** What a token is, by the ids in a file: 1 is a part of text, and 6 a byte. */
const kinds = { unknown: 2, control: 3, userDefined: 4, unused: 5 } as const;

// How text is split before merges are applied, by the names of llama.cpp.

const words = (digits: string) =>
  String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|${digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const byteLevel = (usesRegex: boolean) => ({
  type: "ByteLevel",
  add_prefix_space: false,
  trim_offsets: usesRegex,
  use_regex: usesRegex,
});
const splitWords = (digits: string) => [
  { type: "Split", pattern: { Regex: words(digits) }, behavior: "Isolated", invert: false },
  byteLevel(false),
];
const singleDigits = [{ type: "Digits", individual_digits: true }, byteLevel(true)];

const llama3 = { splits: splitWords(String.raw`\p{N}{1,3}`), normalizer: null, wholeWords: true };
const gpt4 = { ...llama3, wholeWords: false };
const qwen2 = {
  splits: splitWords(String.raw`\p{N}`),
  normalizer: { type: "NFC" },
  wholeWords: false,
};
const starcoder = { splits: singleDigits, normalizer: null, wholeWords: false };

const splittings = {
  "llama-bpe": llama3,
  llama3,
  "llama-v3": llama3,
  "smaug-bpe": llama3,
  dbrx: gpt4,
  qwen2,
  "deepseek-r1-qwen": qwen2,
  smollm: starcoder,
  starcoder,
  refact: starcoder,
  "gpt-2": { splits: [byteLevel(true)], normalizer: null, wholeWords: false },
} as const;

interface GgufTokenizer {
  readonly tokenizer: object;
  /** tokenizer_config.json. */
  readonly settings: object;
  readonly templates: ReadonlyMap<string, string>;
}

/** Throws a `UserError` if the tokenizer is not of a kind that can be converted. */
export function readGgufTokenizer({ file, metadata }: GgufFile): GgufTokenizer {
  const createError = (what: string) =>
    new UserError(
      `${file}: ${what}`,
      "use the tokenizer.json of the original model with its own weights, or choose another model",
    );
  const kind = metadata.get("tokenizer.ggml.model");
  if (kind !== "gpt2")
    throw createError(
      `a tokenizer of the kind ${String(kind ?? "(none is named)")} is not converted; only gpt2, which is byte-pair encoding, is`,
    );
  const prefix = "tokenizer.ggml.";
  const entries = [...metadata].filter(([key]) => key.startsWith(prefix));
  const parsed = schema.safeParse(
    Object.fromEntries(entries.map(([key, value]) => [key.slice(prefix.length), value])),
  );
  if (!parsed.success) {
    const { path, message } = findReason(parsed.error);
    throw createError(`${prefix}${path.join(".")}: ${message}`);
  }
  const { tokens, merges, token_type: types, pre, ...more } = parsed.data;
  const splitting = Object.entries(splittings).find(([name]) => name === pre)?.[1];
  if (!splitting)
    throw createError(
      `a tokenizer that splits text as ${pre} is not converted; ${Object.keys(splittings).join(", ")} are`,
    );
  const getKind = (id: number) => types?.[id] ?? 1;
  const used = tokens.map((text, id) => ({ text, id, kind: getKind(id) }));
  const known = used.filter(it => it.kind !== kinds.unused);
  const added = known.filter(it =>
    [kinds.unknown, kinds.control, kinds.userDefined].some(kind => kind === it.kind),
  );
  const getText = (id: number | undefined) => (id === undefined ? undefined : tokens[id]);
  const bos = getText(more.bos_token_id);
  const postProcessor =
    more.add_bos_token && bos !== undefined
      ? createBosProcessor(bos, more.bos_token_id!)
      : { ...byteLevel(true), add_prefix_space: true, trim_offsets: false };
  return {
    tokenizer: {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: added.map(it => ({
        id: it.id,
        content: it.text,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: it.kind !== kinds.userDefined,
      })),
      normalizer: splitting.normalizer,
      pre_tokenizer: { type: "Sequence", pretokenizers: splitting.splits },
      post_processor: postProcessor,
      decoder: { ...byteLevel(true), add_prefix_space: true },
      model: {
        type: "BPE",
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: splitting.wholeWords,
        // added tokens, too: their ids follow from the vocabulary when the file is read
        vocab: Object.fromEntries(known.map(it => [it.text, it.id])),
        merges: merges.map(it => it.split(" ")),
      },
    },
    settings: {
      tokenizer_class: "PreTrainedTokenizerFast",
      clean_up_tokenization_spaces: false,
      model_max_length: findContext(metadata),
      add_bos_token: more.add_bos_token,
      ...nameTokens({
        bos_token: bos,
        eos_token: getText(more.eos_token_id),
        pad_token: getText(more.padding_token_id),
        unk_token: getText(more.unknown_token_id),
      }),
    },
    templates: readTemplates(metadata),
  };
}

const nameTokens = (tokens: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(tokens).filter(([, it]) => it !== undefined));

/** Writes a token before each text, which is not done for chats: their templates write it. */
const createBosProcessor = (token: string, id: number) => ({
  type: "TemplateProcessing",
  single: [{ SpecialToken: { id: token, type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
  pair: [
    { SpecialToken: { id: token, type_id: 0 } },
    { Sequence: { id: "A", type_id: 0 } },
    { SpecialToken: { id: token, type_id: 1 } },
    { Sequence: { id: "B", type_id: 1 } },
  ],
  special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
});

const findContext = (metadata: GgufFile["metadata"]) =>
  [...metadata].find(([key]) => key.endsWith(".context_length"))?.[1];

/** The chat templates by name; `default` is that of chats without a purpose of their own. */
function readTemplates(metadata: GgufFile["metadata"]): ReadonlyMap<string, string> {
  const templates = new Map<string, string>();
  for (const [key, value] of metadata) {
    const [, name = "default"] = /^tokenizer\.chat_template(?:\.([\w-]+))?$/.exec(key) ?? [];
    if (
      key.startsWith("tokenizer.chat_template") &&
      !key.endsWith("templates") &&
      typeof value === "string"
    )
      templates.set(name, value);
  }
  return templates;
}
