/** The tokenizer: lossless text, ids that text never has, numbers, and training. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  marks,
  parseTokenizer,
  Tokenizer,
  trainTokenizer,
} from "../../src/model/student/tokenizer.ts";

const texts = [
  "move 50 from Everyday to Savings",
  "the balance of acc_101 is 1250.75",
  "Savings acc_102 kind savings; Everyday acc_101 kind checking",
];
const names = ["banking_transfer", "banking_list_accounts"];
const keys = ["amount", "from_account"];
const tokenizer = trainTokenizer([...texts, ...texts], names, keys, 560);

describe("a tokenizer", () => {
  test("decodes any text that it encoded", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), text => {
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
      }),
    );
    for (const text of [...texts, "Größe ✓ 日本語 🙂", " \t\n  x", "__a__1", "\uFEFFa"])
      expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  });

  test("never encodes text as a mark, a name or a key", () => {
    const spelled = [
      ...marks,
      ...names,
      ...names.map(it => ` ${it}`),
      ...keys.map(it => ` ${it}=`),
      marks.join(""),
    ];
    for (const text of spelled)
      expect(tokenizer.encode(text).every(id => tokenizer.isText(id))).toBe(true);
    fc.assert(
      fc.property(fc.string(), text => {
        expect(tokenizer.encode(text).filter(id => !tokenizer.isText(id))).toEqual([]);
      }),
    );
  });

  test("encodes numbers two digits at a time in text, ids and amounts", () => {
    const getPieces = (text: string) => tokenizer.encode(text).map(id => tokenizer.decode([id]));
    expect(getPieces(" 1250")).toEqual([" 12", "50"]);
    expect(getPieces(" acc_101").slice(-2)).toEqual(["10", "1"]);
    expect(getPieces(" 1250.75")).toEqual([" 12", "50", ".", "75"]);
  });

  test("encodes a common word with its space as one id", () =>
    expect(tokenizer.encode(" Everyday")).toHaveLength(1));

  test("has an id for each name and key", () => {
    expect(tokenizer.nameOf(tokenizer.nameId("banking_transfer")!)).toBe("banking_transfer");
    expect(tokenizer.keyOf(tokenizer.keyId("amount")!)).toBe("amount");
    expect(tokenizer.nameId("nope")).toBeUndefined();
    expect(
      tokenizer.decode([
        tokenizer.markId("<call>"),
        tokenizer.nameId("banking_transfer")!,
        tokenizer.keyId("amount")!,
      ]),
    ).toBe("<call> banking_transfer amount=");
  });

  test("is the same when its file is parsed, and when it is trained again", () => {
    const again = parseTokenizer(JSON.stringify(tokenizer.file));
    expect(again.encode(texts.join())).toEqual(tokenizer.encode(texts.join()));
    expect(trainTokenizer([...texts, ...texts], names, keys, 560).digest).toBe(tokenizer.digest);
  });

  test("has a size that is a multiple of 8 and larger than every id", () => {
    expect(tokenizer.size % 8).toBe(0);
    expect(
      Math.max(...tokenizer.encode(texts.join()), tokenizer.keyId("from_account")!),
    ).toBeLessThan(tokenizer.size);
    expect(new Tokenizer({ ...tokenizer.file, keys: [] }).size % 8).toBe(0);
  });
});
