/** Tokenizers of Hugging Face folders give the ids of the Python library, and text stays text. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readHuggingFaceTokenizer } from "../../../src/model/huggingface/tokenizer.ts";
import { familyNames, getFamilyFolder, readExpected } from "./families.ts";

describe.each(familyNames)("%s", name => {
  const tokenizer = readHuggingFaceTokenizer(getFamilyFolder(name));
  const { texts } = readExpected(name);
  const controlIds = new Set(tokenizer.controlTokens.map(it => it.id));

  test("encodes hard texts as the tokenizers library does", () => {
    expect(texts.map(it => tokenizer.encode(it.text))).toEqual(texts.map(it => it.ids));
  });

  test("decodes their ids", () => {
    // the library leaves out a byte order mark that bytes of this family spell
    const usable = texts.filter(it => name !== "llama2" || !it.text.includes("\ufeff"));
    expect(usable.map(it => tokenizer.decode(it.ids))).toEqual(usable.map(it => it.decoded));
  });

  test("encodes hard texts of a user without control tokens", () => {
    expect(texts.map(it => tokenizer.encode(tokenizer.protect(it.text)))).toEqual(
      texts.map(it => it.plain),
    );
  });

  test("no text of a user has a control token", () => {
    const piece = fc.oneof(
      fc.constantFrom(...tokenizer.controlTokens.map(it => it.text)),
      fc.constantFrom("<|", "|>", "<", ">", "im_end", "\n", " "),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), pieces => {
        const text = pieces.join("");
        expect(tokenizer.encode(tokenizer.protect(text)).filter(it => controlIds.has(it))).toEqual(
          [],
        );
      }),
    );
  });
});

interface TokenizerFile {
  readonly model: { readonly vocab: Record<string, number>; readonly merges: readonly unknown[] };
}

function readChanged(change: (file: TokenizerFile) => object, family = "qwen") {
  const folder = mkdtempSync(join(tmpdir(), "prove-tokenizer-"));
  cpSync(getFamilyFolder(family), folder, { recursive: true });
  const file = join(folder, "tokenizer.json");
  writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, "utf8")))));
  const tokenizer = readHuggingFaceTokenizer(folder);
  rmSync(folder, { recursive: true });
  return tokenizer;
}

test("text stays text even if merges spell a control token", () => {
  const tokenizer = readChanged(({ model, ...file }) => {
    const vocab = { ...model.vocab, "<x": 2000, "<x>": 2001 };
    const merges = [...model.merges, ["<", "x"], ["<x", ">"]];
    const added = { id: 2001, content: "<x>", special: true, normalized: false };
    return { ...file, model: { ...model, vocab, merges }, added_tokens: [added] };
  });
  expect(tokenizer.encode("<x>")).toEqual([2001]);
  expect(tokenizer.encode(tokenizer.protect("<x>"))).not.toContain(2001);
});

test("text stays text where a control token is a part of another, or one character", () => {
  const added = ["<call>", "call>", "l><", "~"].map((content, i) => ({
    id: 2001 + i,
    content,
    special: true,
    normalized: false,
  }));
  const tokenizer = readChanged(file => ({ ...file, added_tokens: added }));
  const isControl = (id: number) => added.some(it => it.id === id);
  expect(tokenizer.encode("<call>~call>").filter(isControl)).toEqual([2001, 2004, 2002]);
  for (const text of [
    "<call>",
    "call>",
    "~",
    "<<call>>",
    "<call><call>",
    "<ca<call>ll>",
    "a~b~~",
  ]) {
    const ids = tokenizer.encode(`x${tokenizer.protect(text)}y`);
    expect(ids.filter(isControl), text).toEqual([]);
    expect(tokenizer.decode(ids)).toBe(`x${text}y`);
  }
});

describe("spaces as characters of words have the ids of the tokenizers library", () => {
  const read = (scheme: string, split: boolean) => {
    const space = { type: "Metaspace", replacement: "▁", prepend_scheme: scheme, split };
    return readChanged(it => ({ ...it, normalizer: null, pre_tokenizer: space }), "llama2");
  };

  test.each([
    ["first", false, [353, 325, 317, 2, 262, 1, 298, 354]],
    ["first", true, [353, 324, 354, 2, 262, 1, 298, 354]],
    ["always", false, [353, 325, 317, 2, 324, 262, 1, 324, 298, 354]],
    ["always", true, [353, 324, 354, 2, 324, 262, 1, 324, 298, 354]],
    ["never", false, [297, 325, 317, 2, 262, 1, 298, 354]],
    ["never", true, [297, 324, 354, 2, 262, 1, 298, 354]],
  ] as const)("with a space before %s text, split: %s", (scheme, split, ids) => {
    const tokenizer = read(scheme, split);
    expect(tokenizer.encode("a  w</s>\n<s>b w")).toEqual(ids);
  });

  test("and a piece that continues a chat has none at its beginning", () => {
    const tokenizer = read("first", false);
    const whole = tokenizer.encode("a  w</s>\n<s>b w");
    expect([
      ...tokenizer.encode("a  w</s>"),
      ...tokenizer.encode("\n<s>", { isContinuation: true }),
      ...tokenizer.encode("b w", { isContinuation: true }),
    ]).toEqual(whole);
  });
});

describe("a tokenizer that cannot be used", () => {
  const check = (change: (file: TokenizerFile) => object, message: RegExp) =>
    expect(() => readChanged(change)).toThrow(message);

  test("splits text in an unknown way", () =>
    check(it => ({ ...it, pre_tokenizer: { type: "Other" } }), /cannot be used/));
  test("splits text in a way that the library leaves out", () =>
    check(
      it => ({
        ...it,
        pre_tokenizer: { type: "Split", pattern: { String: " " }, behavior: "MergedWithNext" },
      }),
      /splitting text as MergedWithNext is not supported/,
    ));
  test("says how to split text with a number", () => {
    const split = { type: "Split", pattern: { String: " " }, behavior: 1 };
    check(it => ({ ...it, pre_tokenizer: split }), /behavior/);
    check(
      it => ({ ...it, pre_tokenizer: { type: "Sequence", pretokenizers: [split] } }),
      /cannot be used/,
    );
  });
  test("has a normalizer that is none", () =>
    check(
      it => ({ ...it, normalizer: { type: "Sequence", normalizers: [null] } }),
      /cannot be used/,
    ));
  test("looks for tokens in the normalized text", () =>
    check(
      it => ({
        ...it,
        normalizer: { type: "Sequence", normalizers: [{ type: "Lowercase" }] },
        added_tokens: [{ id: 2001, content: "<X>", special: true, normalized: true }],
      }),
      /the token <X> is looked for after the normalizer Lowercase has changed the text/,
    ));
  test("is not a tokenizer", () => check(() => ({}), /tokenizer\.json/));
  test("is missing", () =>
    expect(() => readHuggingFaceTokenizer(tmpdir())).toThrow(/tokenizer\.json/));
});
