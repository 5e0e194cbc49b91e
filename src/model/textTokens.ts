/**
 * Finds the text tokens that continue a text, with a trie over the bytes of all text tokens. Masks
 * have one entry per token of the vocabulary, 1 for those that are allowed.
 */
import type { Tokenizer } from "./student/tokenizer.ts";

export type TokenMask = Uint8Array;

export interface TextTokens {
  /** All text tokens. */
  readonly all: TokenMask;
  /** The bytes of a token, one character each. */
  bytesOf(id: number): string;
  /**
   * The tokens after which `canContinue` holds. It must hold for all beginnings of a text for which
   * it holds. `key` stands for `canContinue` with this text: the mask of a key is computed once.
   */
  findContinuations(
    key: string | undefined,
    text: string,
    canContinue: (text: string) => boolean,
  ): TokenMask;
}

interface TrieNode {
  readonly ids: number[];
  readonly children: Map<string, TrieNode>;
}

/** A mask takes as many bytes as the vocabulary has tokens. */
const maxKeptMasks = 4096;

const byTokenizer = new WeakMap<Tokenizer, TextTokens>();

/** The text tokens of a tokenizer, which are the same object each time. */
export function getTextTokens(tokenizer: Tokenizer): TextTokens {
  let tokens = byTokenizer.get(tokenizer);
  if (!tokens) byTokenizer.set(tokenizer, (tokens = createTextTokens(tokenizer)));
  return tokens;
}

function createTextTokens(tokenizer: Tokenizer): TextTokens {
  const root: TrieNode = { ids: [], children: new Map() };
  const all = new Uint8Array(tokenizer.size);
  const bytes: string[] = [];
  for (let id = 0; id < tokenizer.size; id++) {
    if (!tokenizer.isText(id)) continue;
    all[id] = 1;
    const text = Buffer.from(tokenizer.bytesOf(id)).toString("latin1");
    bytes[id] = text;
    insert(root, text, id);
  }
  const masks = new Map<string, TokenMask>();
  return {
    all,
    bytesOf: id => bytes[id]!,
    findContinuations(key, text, canContinue) {
      const known = key === undefined ? undefined : masks.get(key);
      if (known) return known;
      const mask = new Uint8Array(tokenizer.size);
      markContinuations(root, text, { mask, canContinue });
      if (masks.size >= maxKeptMasks) masks.clear();
      if (key !== undefined) masks.set(key, mask);
      return mask;
    },
  };
}

function insert(root: TrieNode, bytes: string, id: number): void {
  let node = root;
  for (const byte of bytes) {
    let child = node.children.get(byte);
    if (!child) node.children.set(byte, (child = { ids: [], children: new Map() }));
    node = child;
  }
  node.ids.push(id);
}

function markContinuations(
  node: TrieNode,
  text: string,
  found: { readonly mask: TokenMask; readonly canContinue: (text: string) => boolean },
): void {
  for (const [byte, child] of node.children) {
    if (!found.canContinue(text + byte)) continue;
    for (const id of child.ids) found.mask[id] = 1;
    markContinuations(child, text + byte, found);
  }
}
