/**
 * Labels of tool pairs: does one tool's result, or its having run, matter to the other? Whoever
 * labels (declarations, names, a chat model) says it in this shape, so that one can be held against
 * another. Knows no sessions: whether a label is true is run elsewhere.
 */
import type { JsonSchema, Tool } from "../../environment/server.ts";
import type { DependencyGraph } from "./dependencyGraph.ts";

/** A tool as far as it is published: what a connected server tells of one, too. */
export type PublishedTool = Pick<
  Tool,
  "name" | "server" | "effect" | "summary" | "inputSchema" | "outputSchema"
>;

/** `a` before `b`. A pair without an edge has one label `none`, in either direction. */
export interface Label {
  readonly a: string;
  readonly b: string;
  readonly label: "explicit" | "implicit" | "none";
  /**
   * What flows: the place in a's result, such as `accounts[].account_id`, and the argument of b.
   */
  readonly via?: { readonly output: string; readonly input: string };
  /** 0 to 1. */
  readonly confidence: number;
  readonly rationale?: string;
}

/** What the declarations say, as labels. */
export const listDeclaredLabels = ({ edges }: Pick<DependencyGraph, "edges">): Label[] =>
  edges.map(({ a, b, kind, via, confidence }) => ({
    a,
    b,
    label: kind,
    ...(via ? { via: { output: via.output, input: via.input } } : {}),
    confidence,
  }));

/** All unordered pairs, n(n-1)/2 of them. */
export const listPairs = <T>(tools: readonly T[]): (readonly [T, T])[] =>
  tools.flatMap((a, i) => tools.slice(i + 1).map(b => [a, b] as const));

/**
 * Labels read off names alone, for servers that declare no entities: explicit where a field of a's
 * result and a required argument of b have one name and one type (`accounts[].id` counts as
 * `account_id`, `from_account_id` takes an `account_id`). Sees no implicit edge.
 */
export function labelByNames(tools: readonly PublishedTool[]): Label[] {
  const outputs = new Map(tools.map(it => [it.name, fieldsOf(it.outputSchema, "", "")]));
  return tools.flatMap(b =>
    requiredOf(b).flatMap(([input, type]) =>
      tools.flatMap((a): Label[] => {
        if (a === b) return [];
        const field = outputs
          .get(a.name)!
          .find(it => it.type === type && namesOf(input).includes(it.name));
        return field
          ? [
              {
                a: a.name,
                b: b.name,
                label: "explicit",
                via: { output: field.path, input },
                confidence: field.path.includes("[") ? 0.6 : 0.7,
              },
            ]
          : [];
      }),
    ),
  );
}

/**
 * Words that name nothing in particular: two tools that both take one have nothing to do with each
 * other.
 */
const generic = new Set([
  "name",
  "title",
  "text",
  "query",
  "limit",
  "status",
  "date",
  "from",
  "to",
  "type",
  "kind",
  "note",
  "message",
  "content",
  "subject",
  "body",
  "state",
  "category",
  "condition",
  "priority",
  "color",
  "mode",
  "description",
  "amount",
  "count",
  "value",
  "reason",
  "day",
  "month",
  "start",
  "end",
  "at",
]);

interface Field {
  readonly path: string;
  readonly name: string;
  readonly type: string;
}

function fieldsOf(schema: JsonSchema, path: string, noun: string): Field[] {
  const branches =
    ((schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined) ?? [];
  const own = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>).flatMap(
    ([key, it]): Field[] => {
      const at = path ? `${path}.${key}` : key;
      const items = it["type"] === "array" ? (it["items"] as JsonSchema | undefined) : undefined;
      const inside = items ? fieldsOf(items, `${at}[]`, singular(key)) : fieldsOf(it, at, key);
      const name = normalized(key, noun);
      const type = items ? items["type"] : it["type"];
      return typeof type === "string" && type !== "object" && !generic.has(name)
        ? [{ path: items ? `${at}[]` : at, name, type }, ...inside]
        : inside;
    },
  );
  return [...own, ...branches.flatMap(it => fieldsOf(it, path, noun))];
}

function requiredOf({ inputSchema }: PublishedTool): [key: string, type: string][] {
  const properties = (inputSchema["properties"] ?? {}) as Record<string, JsonSchema>;
  return ((inputSchema["required"] ?? []) as readonly string[]).flatMap(
    (key): [string, string][] => {
      const schema = properties[key];
      const type =
        schema?.["type"] === "array"
          ? (schema["items"] as JsonSchema | undefined)?.["type"]
          : schema?.["type"];
      // a number or one of a few words is chosen, not found out
      const isFound =
        type === "string"
          ? schema?.["enum"] === undefined
          : type === "integer" && /(^|_)id$/.test(normalized(key, ""));
      return isFound && !generic.has(normalized(key, "")) ? [[key, type as string]] : [];
    },
  );
}

/**
 * `id` of an account is an `account_id`, `name` of an entity an `entity_name`, `ids` are an `id`,
 * camel case is snake case.
 */
function normalized(key: string, noun: string): string {
  const name = singular(key.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase());
  return (name === "id" || name === "name") && noun !== "" ? `${singular(noun)}_${name}` : name;
}

const singular = (word: string): string => word.replace(/ies$/, "y").replace(/([^su])s$/, "$1");

/** The names under which another tool may show what an argument takes. */
function namesOf(input: string): string[] {
  const name = normalized(input, "");
  return [name, name.replace(/^(from|to|new|old|source|target|parent|other)_/, "")];
}

export interface Agreement {
  /** Pairs that the labels call connected, and that the reference does. */
  readonly labelled: number;
  readonly reference: number;
  readonly both: number;
  /** both / labelled, both / reference; 1 where there was nothing to find. */
  readonly precision: number;
  readonly recall: number;
}

/**
 * How far labels agree with a reference on which tool comes before which, of all kinds or of one.
 */
export function measureAgreement(
  labels: readonly Label[],
  reference: readonly Label[],
  kind?: "explicit" | "implicit",
): Agreement {
  const edges = (of: readonly Label[]) =>
    new Set(
      of
        .filter(it => it.label !== "none" && (kind === undefined || it.label === kind))
        .map(it => `${it.a} > ${it.b}`),
    );
  const [own, other] = [edges(labels), edges(reference)];
  const both = [...own].filter(it => other.has(it)).length;
  const share = (of: number) => (of === 0 ? 1 : Math.round((1000 * both) / of) / 1000);
  return {
    labelled: own.size,
    reference: other.size,
    both,
    precision: share(own.size),
    recall: share(other.size),
  };
}
