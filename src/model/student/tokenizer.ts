/**
 * Converts text to token ids and back: byte-level byte-pair encoding, lossless on any text, with
 * two-digit number pieces. Tool names, argument keys and control marks have ids of their own that
 * text is never encoded to; only compactChat.ts writes them.
 */
import { hash } from "node:crypto";
import { z } from "zod";

const tokenizerFormat = "prove/tokenizer@1";

/** The control marks of a conversation, in the order of their ids from 0. */
export const marks = [
  "<pad>",
  "<menu>",
  "<user>",
  "<asst>",
  "<call>",
  "<also>",
  "<arg>",
  "<eoc>",
  "<res>",
  "<fin>",
  "<eot>",
] as const;
export type Mark = (typeof marks)[number];

const tokenizerSchema = z.strictObject({
  format: z.literal(tokenizerFormat),
  /** Tool names with an id of their own. */
  names: z.array(z.string()),
  /** Argument keys with an id of their own. */
  keys: z.array(z.string()),
  /** Pairs of ids in the order in which they were learned. Each is merged into the next id. */
  merges: z.array(z.tuple([z.int(), z.int()])),
});

type TokenizerFile = z.infer<typeof tokenizerSchema>;

const firstByte = marks.length;
const firstNumber = firstByte + 256;
/** ` 00`…` 99`, `00`…`99`, ` 0`…` 9`: numbers are encoded two digits at a time. */
const numberPieces = [
  ...Array.from({ length: 100 }, (_, i) => ` ${String(i).padStart(2, "0")}`),
  ...Array.from({ length: 100 }, (_, i) => String(i).padStart(2, "0")),
  ...Array.from({ length: 10 }, (_, i) => ` ${i}`),
];
const firstMerge = firstNumber + numberPieces.length;
const numberId = new Map(numberPieces.map((piece, i) => [piece, firstNumber + i]));

/**
 * Splits text before merging: year and month of a date, minutes of a time, words with the space
 * (and slash) before them, id prefixes with their underscore, pairs of digits, and single
 * characters.
 */
const pieces =
  / ?\d{4}-\d\d-|:\d\d(?!\d)| ?\/?[\p{L}\p{M}]{1,32}(?:_[\p{L}\p{M}]{1,32}){0,4}(?:_(?=\d))?| ?\d{1,2}| ?[^\s\p{L}\p{M}\d]|\s/gu;

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder("utf-8", { ignoreBOM: true });

export class Tokenizer {
  readonly file: TokenizerFile;
  /** The number of ids, a multiple of 8; the last ones may be unused. */
  readonly size: number;
  readonly #bytes: Uint8Array[] = [];
  readonly #rank = new Map<number, number>();
  readonly #nameId: ReadonlyMap<string, number>;
  readonly #keyId: ReadonlyMap<string, number>;
  readonly #firstName: number;
  readonly #firstKey: number;
  readonly #cache = new Map<string, readonly number[]>();

  constructor(file: TokenizerFile) {
    this.file = file;
    for (let byte = 0; byte < 256; byte++) this.#bytes[firstByte + byte] = Uint8Array.of(byte);
    for (const [piece, id] of numberId) this.#bytes[id] = utf8.encode(piece);
    file.merges.forEach(([a, b], i) => {
      this.#rank.set(pairKey(a, b), firstMerge + i);
      this.#bytes[firstMerge + i] = concatBytes(this.#bytes[a]!, this.#bytes[b]!);
    });
    this.#firstName = firstMerge + file.merges.length;
    this.#firstKey = this.#firstName + file.names.length;
    this.#nameId = new Map(file.names.map((name, i) => [name, this.#firstName + i]));
    this.#keyId = new Map(file.keys.map((key, i) => [key, this.#firstKey + i]));
    this.size = Math.ceil((this.#firstKey + file.keys.length) / 8) * 8;
  }

  /** Encodes text. The ids contain no mark, name or key. */
  encode(text: string): number[] {
    const ids: number[] = [];
    for (const [piece] of text.matchAll(pieces)) ids.push(...this.#encodePiece(piece));
    return ids;
  }

  /**
   * Decodes ids to text, with marks, names and keys spelled out. Invalid UTF-8 becomes the
   * replacement character.
   */
  decode(ids: readonly number[]): string {
    const parts: Uint8Array[] = ids.map(id => this.#bytes[id] ?? utf8.encode(this.#spell(id)));
    return fromUtf8.decode(Buffer.concat(parts));
  }

  markId(mark: Mark): number {
    return marks.indexOf(mark);
  }

  /** The id of a tool name, or undefined if it must be spelled as text. */
  nameId(name: string): number | undefined {
    return this.#nameId.get(name);
  }

  keyId(key: string): number | undefined {
    return this.#keyId.get(key);
  }

  nameOf(id: number): string | undefined {
    return id >= this.#firstName && id < this.#firstKey
      ? this.file.names[id - this.#firstName]
      : undefined;
  }

  keyOf(id: number): string | undefined {
    return this.file.keys[id - this.#firstKey];
  }

  /** Whether an id is text, like all ids that `encode` returns. */
  isText(id: number): boolean {
    return id >= firstByte && id < this.#firstName;
  }

  /** The bytes of a text token. */
  bytesOf(id: number): Uint8Array {
    const bytes = this.#bytes[id];
    if (!bytes) throw new Error(`token ${id} is not text`);
    return bytes;
  }

  get digest(): string {
    return hash("sha256", JSON.stringify(this.file), "hex").slice(0, 16);
  }

  #spell(id: number): string {
    const name = this.nameOf(id);
    const key = this.keyOf(id);
    return marks[id] ?? (name === undefined ? (key === undefined ? "" : ` ${key}=`) : ` ${name}`);
  }

  #encodePiece(piece: string): readonly number[] {
    const number = numberId.get(piece);
    if (number !== undefined) return [number];
    let ids = this.#cache.get(piece);
    if (!ids) {
      ids = applyMerges(
        [...utf8.encode(piece)].map(byte => firstByte + byte),
        this.#rank,
      );
      if (this.#cache.size > 20_000) this.#cache.clear();
      this.#cache.set(piece, ids);
    }
    return ids;
  }
}

/** Parses tokenizer.json. Throws a `ZodError` if it does not match the schema. */
export const parseTokenizer = (text: string): Tokenizer =>
  new Tokenizer(tokenizerSchema.parse(JSON.parse(text)));

/**
 * Learns merges from texts until the vocabulary has `size` ids or no pair occurs twice. The result
 * depends only on the arguments.
 */
export function trainTokenizer(
  texts: Iterable<string>,
  names: readonly string[],
  keys: readonly string[],
  size: number,
): Tokenizer {
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const [piece] of text.matchAll(pieces))
      if (!numberId.has(piece)) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  const words = [...counts].map(([piece, n]) => ({
    ids: [...utf8.encode(piece)].map(byte => firstByte + byte),
    n,
  }));
  const merges: [number, number][] = [];
  while (firstMerge + merges.length + names.length + keys.length < size) {
    const best = findMostCommonPair(words);
    if (!best) break;
    const newId = firstMerge + merges.length;
    merges.push(best);
    const rank = new Map([[pairKey(...best), newId]]);
    for (const word of words) word.ids = applyMerges(word.ids, rank);
  }
  return new Tokenizer({ format: tokenizerFormat, names: [...names], keys: [...keys], merges });
}

function findMostCommonPair(
  words: readonly { readonly ids: readonly number[]; readonly n: number }[],
): [number, number] | undefined {
  const pairs = new Map<number, number>();
  for (const { ids, n } of words)
    for (let i = 0; i + 1 < ids.length; i++) {
      const key = pairKey(ids[i]!, ids[i + 1]!);
      pairs.set(key, (pairs.get(key) ?? 0) + n);
    }
  let best: number | undefined;
  let most = 1;
  for (const [key, n] of pairs)
    if (n > most || (n === most && best !== undefined && key < best)) {
      best = key;
      most = n;
    }
  return best === undefined ? undefined : [Math.floor(best / 65536), best % 65536];
}

/** Applies merges to a word, in the order in which they were learned. */
function applyMerges(word: readonly number[], rank: ReadonlyMap<number, number>): number[] {
  const ids = [...word];
  for (;;) {
    let at = -1;
    let merged = Infinity;
    for (let i = 0; i + 1 < ids.length; i++) {
      const id = rank.get(pairKey(ids[i]!, ids[i + 1]!));
      if (id !== undefined && id < merged) {
        merged = id;
        at = i;
      }
    }
    if (at < 0) return ids;
    ids.splice(at, 2, merged);
  }
}

const pairKey = (a: number, b: number) => a * 65536 + b;

function concatBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}
