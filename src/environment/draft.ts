/**
 * A frozen JSON value as if it could be changed: reads go through to it, the first write to a
 * record or list copies that one alone, and at the end comes a frozen value that shares all the
 * rest, with the patches between the two. Knows JSON only.
 */
import { deepFreeze, deriveDigest } from "./digest.ts";
import type { Json } from "./json.ts";

/** Keys from the root on. */
export type DraftPath = readonly (string | number)[];

export interface DraftChange {
  readonly op: "add" | "remove" | "replace";
  readonly path: DraftPath;
  readonly value?: Json;
}

export interface Draft<T> {
  /** To read and to change, until `finish`. */
  readonly value: T;
  /**
   * The frozen outcome, the very same object where nothing was written, and what was changed on the
   * way to it.
   */
  finish(): { readonly after: T; readonly changes: readonly DraftChange[] };
}

/** Opens a draft of a deeply frozen value. */
export function createDraft<T extends object>(frozen: T): Draft<T> {
  const root = new Node(frozen, undefined, "");
  return {
    value: root.proxy as T,
    finish() {
      const after = root.finish() as T;
      const changes: DraftChange[] = [];
      if (after !== frozen) changesOf(root, [], changes);
      return { after, changes };
    },
  };
}

/** What a draft, or a part of one, was before anything was written; any other value is itself. */
export const getOriginal = <T extends object>(value: T): T =>
  (nodeOf(value)?.base as T | undefined) ?? value;

const asNode = Symbol("node");
const nodeOf = (value: object): Node | undefined => (value as { [asNode]?: Node })[asNode];
const isObject = (value: unknown): value is object => value !== null && typeof value === "object";

type Container = Record<string, unknown>;

/**
 * One record or list of a draft, which is its own proxy's handler: base until the first write, then
 * the copy.
 */
class Node implements ProxyHandler<object> {
  readonly base: Container;
  readonly proxy: object;
  copy: Container | undefined;
  /** Of a record: keys whose value is not, or may not be, the base's. */
  readonly touched = new Set<string>();
  readonly #parent: Node | undefined;
  readonly #key: string;
  #children: Map<string, Node> | undefined;
  #finished: Container | undefined;

  constructor(base: object, parent: Node | undefined, key: string) {
    this.base = base as Container;
    this.#parent = parent;
    this.#key = key;
    // never a frozen target: a proxy has to report what is fixed there as it is
    this.proxy = new Proxy(Array.isArray(base) ? [] : {}, this);
  }

  get isList(): boolean {
    return Array.isArray(this.base);
  }

  get(_target: object, key: string | symbol): unknown {
    const now = this.copy ?? this.base;
    if (typeof key === "symbol") return key === asNode ? this : Reflect.get(now, key);
    const value = now[key];
    if (!isObject(value) || !Object.hasOwn(now, key)) return value;
    // what the tool has put in itself is its own to change
    return Object.isFrozen(value) && !nodeOf(value) ? this.#child(key, value).proxy : value;
  }

  set(_target: object, key: string | symbol, value: unknown): boolean {
    if (typeof key === "symbol") return false;
    if (value === undefined && !this.isList) return this.deleteProperty(_target, key);
    const now = this.copy ?? this.base;
    if (Object.hasOwn(now, key) && (now[key] === value || this.#stands(key, value))) return true;
    this.write(key)[key] = value;
    return true;
  }

  deleteProperty(_target: object, key: string | symbol): boolean {
    if (typeof key === "symbol") return false;
    if (Object.hasOwn(this.copy ?? this.base, key)) delete this.write(key)[key];
    return true;
  }

  has(_target: object, key: string | symbol): boolean {
    return key === asNode || key in (this.copy ?? this.base);
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

  /** The child that stands where the base had it, if the tool has come by there. */
  child(key: string): Node | undefined {
    return this.#children?.get(key);
  }

  #child(key: string, base: object): Node {
    const known = this.#children?.get(key);
    if (known?.base === base) return known;
    const child = new Node(base, this, key);
    (this.#children ??= new Map()).set(key, child);
    return child;
  }

  /** Whether the value is the draft of what has stood there all along. */
  #stands(key: string, value: unknown): boolean {
    const child = this.#children?.get(key);
    return child?.proxy === value && child?.base === (this.copy ?? this.base)[key];
  }

  /** The copy, to write this key of it; all that lie above are then copies too. */
  write(key: string): Container {
    this.touched.add(key);
    if (!this.copy) {
      this.copy = (
        this.isList ? [...(this.base as unknown as unknown[])] : Object.assign({}, this.base)
      ) as Container;
      this.#parent?.write(this.#key);
    }
    return this.copy;
  }

  /** The value in the end, frozen; all that was not written is shared with the base. */
  finish(): Container {
    if (!this.copy) return this.base;
    if (this.#finished) return this.#finished;
    const copy = (this.#finished = this.copy);
    const keys = this.isList ? Object.keys(copy) : this.touched;
    for (const key of keys) {
      const value = copy[key];
      if (isObject(value)) copy[key] = this.#settled(key, value);
    }
    if (this.isList) return deepFreeze(copy);
    Object.freeze(copy);
    deriveDigest(this.base, copy, this.touched);
    return copy;
  }

  #settled(key: string, value: object): object {
    const child = this.#children?.get(key);
    if (child?.base === value) return child.finish();
    return deepFreeze(plain(value));
  }
}

/**
 * A value that a tool has made, as JSON: with the finished parts of the draft that it took along,
 * and without what is undefined. Frozen.
 */
export const finalizeValue = (value: Json): Json =>
  isObject(value) ? (deepFreeze(plain(value)) as Json) : value;

function plain(value: object): object {
  const node = nodeOf(value);
  if (node) return node.finish();
  if (Object.isFrozen(value)) return value;
  const own = value as Container;
  for (const key of Object.keys(own)) {
    const it = own[key];
    if (isObject(it)) {
      const finished = plain(it);
      if (finished !== it) own[key] = finished;
    } else if (it === undefined && !Array.isArray(own)) delete own[key];
  }
  return own;
}

function changesOf(node: Node, place: DraftPath, changes: DraftChange[]): void {
  const [was, is] = [node.base, node.copy!];
  if (node.isList) return listChanges(node, place, changes);
  for (const key of node.touched) {
    const at = [...place, key];
    if (!Object.hasOwn(is, key)) {
      if (Object.hasOwn(was, key)) changes.push({ op: "remove", path: at });
    } else if (!Object.hasOwn(was, key))
      changes.push({ op: "add", path: at, value: is[key] as Json });
    else if (was[key] !== is[key]) within(node, key, at, changes);
  }
}

/** Into what stands where it stood, or a replacement of the whole. */
function within(node: Node, key: string, at: DraftPath, changes: DraftChange[]): void {
  const child = node.child(key);
  const value = node.copy![key];
  if (child?.copy && child.base === node.base[key] && child.copy === value)
    changesOf(child, at, changes);
  else changes.push({ op: "replace", path: at, value: value as Json });
}

function listChanges(node: Node, place: DraftPath, changes: DraftChange[]): void {
  const [was, is] = [Object.values(node.base), Object.values(node.copy!)];
  const shared = Math.min(was.length, is.length);
  for (let i = 0; i < shared; i++)
    if (was[i] !== is[i]) within(node, String(i), [...place, i], changes);
  for (let i = shared; i < is.length; i++)
    changes.push({ op: "add", path: [...place, i], value: is[i] as Json });
  for (let i = was.length - 1; i >= shared; i--)
    changes.push({ op: "remove", path: [...place, i] });
}
