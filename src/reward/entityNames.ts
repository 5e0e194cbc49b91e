/**
 * Names the entities of an attempt's states in words: their kind and their label, as the servers'
 * tools declare them, and the paths of files.
 */
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import { getKeyword, getProperties, listBranches } from "../environment/schemaKeywords.ts";
import type { JsonSchema, Tool } from "../environment/server.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import { findEntityPath, getEntity, hasEntity } from "../trajectory/entities.ts";

/** What a path in a state leads to. */
interface NamedPlace {
  /** The entities on the way, such as "account acc_677 (Savings)"; empty if there are none. */
  readonly subject: string;
  /** The field in the last of them; undefined if the path leads to the entity itself. */
  readonly field?: string;
}

/** What the tools of a server declare about its entities. */
interface DeclaredNames {
  /** The kinds of its entities, such as `account`. */
  readonly kinds: ReadonlySet<string>;
  /** The fields that name an entity of a kind. */
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
  /** The fields with names, and with ids that people know. */
  readonly fields: ReadonlySet<string>;
}

export class EntityNames {
  readonly #worlds: Readonly<Record<string, readonly JsonObject[]>>;
  readonly #declared: Readonly<Record<string, DeclaredNames>>;

  constructor({ states, tools }: Pick<Attempt, "states" | "tools">) {
    const servers = Object.keys(states.goal);
    const worlds = (server: string) =>
      [states.final, states.goal, states.start].flatMap(it =>
        isJsonObject(it[server]?.world) ? [it[server].world] : [],
      );
    this.#worlds = Object.fromEntries(servers.map(it => [it, worlds(it)]));
    this.#declared = Object.fromEntries(servers.map(it => [it, readNames(it, tools)]));
  }

  /** The kind, id and label of an entity; undefined if no server has one with that id. */
  name(id: string): string | undefined {
    for (const server of Object.keys(this.#worlds)) {
      const named = this.#nameIn(server, id);
      if (named !== undefined) return named;
    }
    return undefined;
  }

  /** A value in words: an id with the label of its entity, a text in quotes where it has spaces. */
  formatValue(value: Json): string {
    if (value === null) return "nothing";
    if (typeof value !== "string") return shorten(JSON.stringify(value));
    const label = Object.keys(this.#worlds)
      .map(it => this.#findLabel(it, value))
      .find(it => it !== undefined);
    if (label !== undefined) return `${value} (${label})`;
    return /^\S+$/.test(value) ? shorten(value) : shorten(JSON.stringify(value));
  }

  /** The plain fields of an object in words. */
  formatRecord(value: Json): string {
    if (!isJsonObject(value)) return this.formatValue(value);
    const fields = Object.entries(value)
      .filter(([, it]) => it === null || typeof it !== "object")
      .map(([key, it]) => `${toWords(key)} ${this.formatValue(it)}`);
    return shorten(fields.join(", "), 160);
  }

  /** Names the place of a value in a server's state. */
  describePlace(server: string, path: readonly string[], value: Json): NamedPlace {
    const parts: string[] = [];
    let isEntity = false;
    for (let at = 0; at < path.length;) {
      const [next, text] = this.#describePart(server, path, at);
      isEntity = next - at > 1 || this.#nameIn(server, path[at]!) !== undefined;
      if (/^\d+$/.test(path[at]!) && parts.length > 0) parts.push(`${parts.pop()} ${text}`);
      else parts.push(text);
      at = next;
    }
    const field = isEntity && isJsonObject(value) ? undefined : parts.pop();
    return { subject: parts.join(", "), ...(field === undefined ? {} : { field }) };
  }

  /** The kind of the members of a collection. */
  findKind(server: string, collection: string): string {
    const noun = toSingular(collection);
    const { kinds } = this.#declared[server]!;
    if (kinds.has(noun)) return toWords(noun);
    const longer = [...kinds].filter(it => it.split("_").includes(noun));
    return toWords(longer.length === 1 ? longer[0]! : noun);
  }

  /** The words for the part of a path that begins at a position, and where the next one begins. */
  #describePart(
    server: string,
    path: readonly string[],
    at: number,
  ): readonly [next: number, text: string] {
    const [key, member] = [path[at]!, path[at + 1]];
    if (member !== undefined && path[at] === "entries") return this.#describeFile(server, path, at);
    if (path[at + 1] === "entries" && path[at + 2] !== undefined)
      return this.#describeFile(server, path, at + 1);
    const value = this.#getValue(server, path.slice(0, at + 1));
    if (member !== undefined && isCollection(key, value, member)) {
      const entity = this.#getValue(server, path.slice(0, at + 2));
      const label = this.#findOwnLabel(server, this.findKind(server, key), entity);
      const other = label === undefined ? this.#nameIn(server, member, key) : undefined;
      if (other !== undefined) return [at + 2, `${toWords(key)}, ${other}`];
      const named = label ?? this.#findReferences(server, entity);
      return [at + 2, formatEntity(this.findKind(server, key), member, named)];
    }
    if (/^\d+$/.test(key)) return [at + 1, String(Number(key) + 1)];
    return [at + 1, this.#nameIn(server, key) ?? toWords(key)];
  }

  /** The path of a file, in a tree whose folders have their files in `entries`. */
  #describeFile(
    server: string,
    path: readonly string[],
    from: number,
  ): readonly [next: number, text: string] {
    const names: string[] = [];
    let at = from;
    for (; path[at] === "entries" && path[at + 1] !== undefined; at += 2) names.push(path[at + 1]!);
    const file = `${path[0] === "root" ? "/" : ""}${names.join("/")}`;
    const user = this.#getValue(server, ["user"]);
    const home = typeof user === "string" ? this.#getValue(server, ["users", user, "home"]) : "";
    const isAtHome = typeof home === "string" && home !== "" && `${file}/`.startsWith(`${home}/`);
    return [at, isAtHome ? `~${file.slice(home.length)}` : file];
  }

  #getValue(server: string, path: readonly string[]): Json | undefined {
    for (const world of this.#worlds[server]!) {
      const value = getEntity(world, path);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #nameIn(server: string, id: string, exceptIn?: string): string | undefined {
    const found = this.#findEntity(server, id);
    if (!found || found.collection === exceptIn) return undefined;
    const kind = this.findKind(server, found.collection);
    const label = this.#findOwnLabel(server, kind, found.entity);
    return formatEntity(kind, id, label ?? this.#findReferences(server, found.entity));
  }

  #findLabel(server: string, id: string): string | undefined {
    const found = this.#findEntity(server, id);
    return (
      found && this.#findOwnLabel(server, this.findKind(server, found.collection), found.entity)
    );
  }

  /** The entity with an id, in the collection that has a name for it if several have the id. */
  #findEntity(server: string, id: string) {
    // attempts share their start, whose index is kept
    for (const world of this.#worlds[server]!.toReversed()) {
      if (!hasEntity(world, id)) continue;
      const named = Object.entries(world).find(
        ([, it]) => isJsonObject(it) && isJsonObject(it[id]) && "name" in it[id],
      );
      const path = named ? [named[0], id] : findEntityPath(world, id)!;
      return { collection: path.at(-2)!, entity: this.#getValue(server, path) };
    }
    return undefined;
  }

  #findOwnLabel(server: string, kind: string, entity: Json | undefined): string | undefined {
    if (!isJsonObject(entity)) return undefined;
    const { labels, fields } = this.#declared[server]!;
    const own = labels.get(kind.replaceAll(" ", "_"));
    const texts = Object.entries(entity).flatMap(([key, it]): (readonly [string, string])[] => {
      if ((typeof it !== "string" && typeof it !== "number") || it === "") return [];
      // a field with the id of another entity does not name this one
      return this.#findEntity(server, String(it)) ? [] : [[key, String(it)]];
    });
    const named = texts.find(([key]) => own?.has(key)) ?? texts.find(([key]) => fields.has(key));
    return named && shorten(named[1], 60);
  }

  /** The labels of the entities that an entity without a label of its own refers to. */
  #findReferences(server: string, entity: Json | undefined): string | undefined {
    if (!isJsonObject(entity)) return undefined;
    const labels = Object.values(entity).flatMap(it =>
      typeof it === "string" ? (this.#findLabel(server, it) ?? []) : [],
    );
    return labels.length === 0 ? undefined : labels.slice(0, 2).join(", ");
  }
}

const formatEntity = (kind: string, id: string, label: string | undefined): string =>
  label === undefined || label === id ? `${kind} ${id}` : `${kind} ${id} (${label})`;

/** Whether a value is a collection, whose keys are ids, and not an object with named parts. */
const isCollection = (name: string, value: Json | undefined, member: string): boolean =>
  value !== undefined &&
  isJsonObject(value) &&
  Object.values(value).every(it => isJsonObject(it)) &&
  (/\d/.test(member) || /^[A-Z]+$/.test(member) || toSingular(name) !== name);

const namesByTools = new WeakMap<Attempt["tools"], Map<string, DeclaredNames>>();

/** Reads what the tools of a server declare, once for all attempts with these tools. */
function readNames(server: string, tools: Attempt["tools"]): DeclaredNames {
  const known = namesByTools.get(tools) ?? new Map<string, DeclaredNames>();
  namesByTools.set(tools, known);
  let names = known.get(server);
  if (!names) {
    names = collectNames([...tools.values()].filter(it => it.server === server));
    known.set(server, names);
  }
  return names;
}

function collectNames(tools: readonly Tool[]): DeclaredNames {
  const kinds = new Set<string>();
  const labels = new Map<string, Set<string>>();
  const fields = new Set<string>(["name", "title"]);
  const visit = (schema: JsonSchema, key: string | undefined): void => {
    const entity = getKeyword(schema, "x-entity");
    const label = getKeyword(schema, "x-label");
    if (entity !== undefined) kinds.add(entity);
    if (label !== undefined && key !== undefined) {
      const own = labels.get(label) ?? new Set<string>();
      labels.set(label, own.add(key));
    }
    if (key !== undefined && (label !== undefined || schema["x-spoken"] === true)) fields.add(key);
    for (const it of listBranches(schema)) visit(it, key);
    for (const [name, it] of Object.entries(getProperties(schema))) visit(it, name);
    for (const it of [schema["items"], schema["additionalProperties"]])
      if (isJsonObject(it)) visit(it, key);
  };
  for (const it of tools) visit(it.outputSchema, undefined);
  for (const it of tools) visit(it.inputSchema, undefined);
  return { kinds, labels, fields };
}

/** A field as the owner of a value: "the balance", or `the value "delivered"` if it is no noun. */
export const describeField = (field: string): string =>
  noNoun.test(field) ? `the value "${toWords(field)}"` : `the ${toWords(field)}`;

/** The last words of fields that are no nouns. */
const noNoun =
  /(?:^|_)(?:at|be|by|for|from|in|of|on|out|to|until|via|what|when|where|who|\w{2,40}[^e]ed|free|last|left|paid|sent|spent|arrives|closes|departs|ends|lands|leaves|opens|starts)$/;

const toWords = (key: string): string => key.replaceAll("_", " ");

/** One of what a noun in the plural names. */
const toSingular = (noun: string): string =>
  noun === "people"
    ? "person"
    : noun.replace(/ies$|(?<=ss|x|ch|sh)es$|(?<=[^s])s$/, it => (it === "ies" ? "y" : ""));

export const shorten = (text: string, length = 80): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;
