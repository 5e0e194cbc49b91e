/**
 * A draft makes a frozen JSON value writable: reads go through to the value, and the first write to
 * a record or list copies only that one. Finishing a draft gives a frozen value that shares
 * everything else, and the list of changes.
 */
import { deepFreeze, deriveDigest } from "./digest.ts";
import type { Json } from "./json.ts";

/** The keys and indices from the root to a value. */
type DraftPath = readonly (string | number)[];

export interface DraftChange {
  readonly op: "add" | "remove" | "replace";
  readonly path: DraftPath;
  readonly value?: Json;
}

interface Draft<T> {
  /** To read and to write until `finish`. */
  readonly value: T;
  /** The frozen result, which is the original object if nothing was written, and the changes. */
  finish(): { readonly after: T; readonly changes: readonly DraftChange[] };
}

/** Creates a draft of a deeply frozen value. */
export function createDraft<T extends object>(frozen: T): Draft<T> {
  const root = new DraftNode(frozen, undefined, "");
  return {
    value: root.proxy as T,
    finish() {
      const after = root.finish() as T;
      const changes: DraftChange[] = [];
      if (after !== frozen) collectChanges(root, [], changes);
      return { after, changes };
    },
  };
}

/**
 * The frozen value that a draft, or a part of a draft, was created from, which is much faster to
 * read than the draft. Any other value is returned as it is.
 */
export const getOriginal = <T extends object>(value: T): T =>
  (getNode(value)?.base as T | undefined) ?? value;

/**
 * A value that a tool has built, as frozen JSON: with the finished parts of the draft that it
 * contains, and without undefined entries.
 */
export const finalizeValue = (value: Json): Json =>
  isObject(value) ? (deepFreeze(finalizeObject(value)) as Json) : value;

const nodeKey = Symbol("node");
const getNode = (value: object): DraftNode | undefined =>
  (value as { [nodeKey]?: DraftNode })[nodeKey];
const isObject = (value: unknown): value is object => value !== null && typeof value === "object";

type Container = Record<string, unknown>;

/**
 * One record or list of a draft, and the handler of its proxy: it reads from the base until the
 * first write, then from the copy.
 */
class DraftNode implements ProxyHandler<object> {
  readonly base: Container;
  readonly proxy: object;
  copy: Container | undefined;
  /** The keys of a record whose values may differ from those of the base. */
  readonly touchedKeys = new Set<string>();
  readonly #parent: DraftNode | undefined;
  readonly #key: string;
  #children: Map<string, DraftNode> | undefined;
  #result: Container | undefined;

  constructor(base: object, parent: DraftNode | undefined, key: string) {
    this.base = base as Container;
    this.#parent = parent;
    this.#key = key;
    // the target is not frozen, because a proxy must report the properties of a frozen target as
    // they are
    this.proxy = new Proxy(Array.isArray(base) ? [] : {}, this);
  }

  get isList(): boolean {
    return Array.isArray(this.base);
  }

  get(_target: object, key: string | symbol): unknown {
    const current = this.copy ?? this.base;
    if (typeof key === "symbol") return key === nodeKey ? this : Reflect.get(current, key);
    const value = current[key];
    if (!isObject(value) || !Object.hasOwn(current, key)) return value;
    // a value that the tool has inserted is its own to change
    return Object.isFrozen(value) && !getNode(value) ? this.#openChild(key, value).proxy : value;
  }

  set(_target: object, key: string | symbol, value: unknown): boolean {
    if (typeof key === "symbol") return false;
    if (value === undefined && !this.isList) return this.deleteProperty(_target, key);
    const current = this.copy ?? this.base;
    const isUnchanged =
      Object.hasOwn(current, key) && (current[key] === value || this.#isDraftOf(key, value));
    if (!isUnchanged) this.openCopy(key)[key] = value;
    return true;
  }

  deleteProperty(_target: object, key: string | symbol): boolean {
    if (typeof key === "symbol") return false;
    if (Object.hasOwn(this.copy ?? this.base, key)) delete this.openCopy(key)[key];
    return true;
  }

  has(_target: object, key: string | symbol): boolean {
    return key === nodeKey || key in (this.copy ?? this.base);
  }

  ownKeys(): (string | symbol)[] {
    return Reflect.ownKeys(this.copy ?? this.base);
  }

  getOwnPropertyDescriptor(target: object, key: string | symbol): PropertyDescriptor | undefined {
    const found = Reflect.getOwnPropertyDescriptor(this.copy ?? this.base, key);
    return (
      found && {
        value: this.get(target, key),
        writable: true,
        enumerable: found.enumerable ?? false,
        configurable: !(this.isList && key === "length"),
      }
    );
  }

  defineProperty(target: object, key: string | symbol, { value }: PropertyDescriptor): boolean {
    return this.set(target, key, value);
  }

  /** The child under a key of the base, if it has been opened. */
  getChild(key: string): DraftNode | undefined {
    return this.#children?.get(key);
  }

  #openChild(key: string, base: object): DraftNode {
    const known = this.#children?.get(key);
    if (known?.base === base) return known;
    const child = new DraftNode(base, this, key);
    (this.#children ??= new Map()).set(key, child);
    return child;
  }

  /** Whether the value is the draft of the value that is already under this key. */
  #isDraftOf(key: string, value: unknown): boolean {
    const child = this.#children?.get(key);
    return child?.proxy === value && child?.base === (this.copy ?? this.base)[key];
  }

  /** The copy, for writing this key; everything above it becomes a copy too. */
  openCopy(key: string): Container {
    this.touchedKeys.add(key);
    if (!this.copy) {
      this.copy = (
        this.isList ? [...(this.base as unknown as unknown[])] : Object.assign({}, this.base)
      ) as Container;
      this.#parent?.openCopy(this.#key);
    }
    return this.copy;
  }

  /** The frozen result, which shares everything that was not written with the base. */
  finish(): Container {
    if (!this.copy) return this.base;
    if (this.#result) return this.#result;
    const copy = (this.#result = this.copy);
    const keys = this.isList ? Object.keys(copy) : this.touchedKeys;
    for (const key of keys) {
      const value = copy[key];
      if (isObject(value)) copy[key] = this.#finalizeEntry(key, value);
    }
    if (this.isList) return deepFreeze(copy);
    Object.freeze(copy);
    deriveDigest(this.base, copy, this.touchedKeys);
    return copy;
  }

  #finalizeEntry(key: string, value: object): object {
    const child = this.#children?.get(key);
    if (child?.base === value) return child.finish();
    return deepFreeze(finalizeObject(value));
  }
}

function finalizeObject(value: object): object {
  const node = getNode(value);
  if (node) return node.finish();
  if (Object.isFrozen(value)) return value;
  const own = value as Container;
  for (const key of Object.keys(own)) {
    const it = own[key];
    if (isObject(it)) {
      const finalized = finalizeObject(it);
      if (finalized !== it) own[key] = finalized;
    } else if (it === undefined && !Array.isArray(own)) delete own[key];
  }
  return own;
}

function collectChanges(node: DraftNode, path: DraftPath, changes: DraftChange[]): void {
  const [before, after] = [node.base, node.copy!];
  if (node.isList) return collectListChanges(node, path, changes);
  for (const key of node.touchedKeys) {
    const entryPath = [...path, key];
    if (!Object.hasOwn(after, key)) {
      if (Object.hasOwn(before, key)) changes.push({ op: "remove", path: entryPath });
    } else if (!Object.hasOwn(before, key))
      changes.push({ op: "add", path: entryPath, value: after[key] as Json });
    else if (before[key] !== after[key]) collectEntryChanges(node, key, entryPath, changes);
  }
}

/** The changes inside an entry if it is the same record or list as before, else its replacement. */
function collectEntryChanges(
  node: DraftNode,
  key: string,
  path: DraftPath,
  changes: DraftChange[],
): void {
  const child = node.getChild(key);
  const value = node.copy![key];
  if (child?.copy && child.base === node.base[key] && child.copy === value)
    collectChanges(child, path, changes);
  else changes.push({ op: "replace", path, value: value as Json });
}

function collectListChanges(node: DraftNode, path: DraftPath, changes: DraftChange[]): void {
  const [before, after] = [Object.values(node.base), Object.values(node.copy!)];
  const shared = Math.min(before.length, after.length);
  for (let i = 0; i < shared; i++)
    if (before[i] !== after[i]) collectEntryChanges(node, String(i), [...path, i], changes);
  for (let i = shared; i < after.length; i++)
    changes.push({ op: "add", path: [...path, i], value: after[i] as Json });
  for (let i = before.length - 1; i >= shared; i--)
    changes.push({ op: "remove", path: [...path, i] });
}
