/**
 * Labels of tool pairs, which say whether one tool's call can depend on the other's. Declarations,
 * names and chat models all produce labels of this type; they are compared here, and those of chat
 * models are cached.
 */
import type { Tool, JsonSchema } from "../../environment/server.ts";
import type { DependencyGraph } from "./dependencyGraph.ts";
import { z } from "zod";
import { computeDigest, deepFreeze } from "../../environment/digest.ts";
import { readStrictLog } from "../../storage/jsonLines.ts";
import { LineWriter } from "../../storage/lineWriter.ts";
import type { ChatModel } from "../../policy/chatModel.ts";
import { PolicyFault } from "../../policy/policy.ts";
import { completeStructured } from "../../policy/structuredOutput.ts";

/** The published part of a tool, which connected servers provide too. */
export type PublishedTool = Pick<
  Tool,
  "name" | "server" | "effect" | "summary" | "inputSchema" | "outputSchema"
>;

/** `a` before `b`. A pair without an edge has one label `none`, in either direction. */
export interface Label {
  readonly a: string;
  readonly b: string;
  readonly label: "explicit" | "implicit" | "none";
  /** The path in the result of `a`, such as `accounts[].account_id`, and the argument of `b`. */
  readonly via?: { readonly output: string; readonly input: string };
  /** 0 to 1. */
  readonly confidence: number;
  readonly rationale?: string;
}

/** The edges of a dependency graph as labels. */
export const listDeclaredLabels = ({ edges }: Pick<DependencyGraph, "edges">): Label[] =>
  edges.map(({ a, b, kind, via, confidence }) => ({
    a,
    b,
    label: kind,
    ...(via ? { via: { output: via.output, input: via.input } } : {}),
    confidence,
  }));

/** Lists all unordered pairs, n(n-1)/2 of them. */
const listPairs = <T>(tools: readonly T[]): (readonly [T, T])[] =>
  tools.flatMap((a, i) => tools.slice(i + 1).map(b => [a, b] as const));

interface Agreement {
  /** Pairs connected by the labels, by the reference, and by both. */
  readonly labelled: number;
  readonly reference: number;
  readonly both: number;
  /** both / labelled; 1 where nothing is labelled. */
  readonly precision: number;
  /** both / reference; 1 where the reference is empty. */
  readonly recall: number;
}

/** Measures how far labels agree with a reference on the directed pairs of all kinds or of one. */
export function measureAgreement(
  labels: readonly Label[],
  reference: readonly Label[],
  kind?: "explicit" | "implicit",
): Agreement {
  const listEdgeKeys = (list: readonly Label[]) =>
    new Set(
      list
        .filter(it => it.label !== "none" && (kind === undefined || it.label === kind))
        .map(it => `${it.a} > ${it.b}`),
    );
  const [own, other] = [listEdgeKeys(labels), listEdgeKeys(reference)];
  const both = [...own].filter(it => other.has(it)).length;
  const ratio = (total: number) => (total === 0 ? 1 : Math.round((1000 * both) / total) / 1000);
  return {
    labelled: own.size,
    reference: other.size,
    both,
    precision: ratio(own.size),
    recall: ratio(other.size),
  };
}

// Caches the labels that a chat model has given in an append-only file, one label per line. A pair
// is identified by a hash of both tools, the question and the model, so that a pair is asked about
// again only if one of them changes.

const labelFormat = "prove/label@1";

const entrySchema = z.strictObject({
  format: z.literal(labelFormat),
  /** From `computePairKey`. */
  key: z.string(),
  /** The model's name. */
  by: z.string(),
  a: z.string(),
  b: z.string(),
  label: z.enum(["explicit", "implicit", "none"]),
  via: z.strictObject({ output: z.string(), input: z.string() }).optional(),
  confidence: z.number().min(0).max(1),
  rationale: z.string().optional(),
});

type Entry = z.infer<typeof entrySchema>;

/**
 * Computes the key of a pair from both published tools, the question and the model's name. The
 * order of the tools does not matter.
 */
function computePairKey(
  a: PublishedTool,
  b: PublishedTool,
  question: string,
  model: string,
): string {
  // the hash includes the key `cards`, so renaming it would invalidate every cache
  const cards = [a, b]
    .map(({ name, summary, inputSchema, outputSchema }) => ({
      name,
      summary,
      inputSchema,
      outputSchema,
    }))
    .sort((x, y) => (x.name < y.name ? -1 : 1));
  return computeDigest(deepFreeze(structuredClone({ cards, question, model })));
}

export class LabelCache {
  readonly file: string;
  readonly #byKey = new Map<string, Label[]>();

  /** Reads the file if it exists. Throws a `UserError` that names the first invalid line. */
  constructor(file: string) {
    this.file = file;
    const entries = readStrictLog(entrySchema, file, {
      noun: "a label",
      remedy: "delete the line: its pair is asked about again",
      // the pair of a line that was cut off is asked about again
      onTorn: () => {},
    });
    for (const it of entries) this.#remember(it);
  }

  /** The labels of a pair, or undefined if it has not been asked. */
  get(key: string): readonly Label[] | undefined {
    return this.#byKey.get(key);
  }

  /** Appends labels given by the model `by`. */
  add(by: string, labels: readonly { readonly key: string; readonly label: Label }[]): void {
    const writer = new LineWriter(this.file);
    try {
      for (const { key, label } of labels) {
        const entry: Entry = { format: labelFormat, key, by, ...label };
        writer.append(JSON.stringify(entry));
        this.#remember(entry);
      }
    } finally {
      writer.close();
    }
  }

  #remember({ key, a, b, label, via, confidence, rationale }: Entry): void {
    const labels = this.#byKey.get(key) ?? [];
    this.#byKey.set(key, labels);
    labels.push({
      a,
      b,
      label,
      ...(via ? { via } : {}),
      confidence,
      ...(rationale === undefined ? {} : { rationale }),
    });
  }
}

// Labels tool pairs by the names of fields and arguments alone, for servers that declare no
// entities. Finds no implicit edges.

/**
 * Returns an explicit label where a field of a's result and a required argument of b have the same
 * name and type. `accounts[].id` counts as `account_id`, and `from_account_id` takes an
 * `account_id`.
 */
export function labelByNames(tools: readonly PublishedTool[]): Label[] {
  const outputs = new Map(tools.map(it => [it.name, listFields(it.outputSchema, "", "")]));
  return tools.flatMap(b =>
    listRequiredInputs(b).flatMap(([input, type]) =>
      tools.flatMap((a): Label[] => {
        if (a === b) return [];
        const field = outputs
          .get(a.name)!
          .find(it => it.type === type && listMatchingNames(input).includes(it.name));
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

/** Names too general to suggest a dependency between two tools that share them. */
const genericNames = new Set([
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

function listFields(schema: JsonSchema, path: string, noun: string): Field[] {
  const branches =
    ((schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined) ?? [];
  const own = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>).flatMap(
    ([key, it]): Field[] => {
      const fieldPath = path ? `${path}.${key}` : key;
      const items = it["type"] === "array" ? (it["items"] as JsonSchema | undefined) : undefined;
      const nested = items
        ? listFields(items, `${fieldPath}[]`, toSingular(key))
        : listFields(it, fieldPath, key);
      const name = normalizeName(key, noun);
      const type = items ? items["type"] : it["type"];
      return typeof type === "string" && type !== "object" && !genericNames.has(name)
        ? [{ path: items ? `${fieldPath}[]` : fieldPath, name, type }, ...nested]
        : nested;
    },
  );
  return [...own, ...branches.flatMap(it => listFields(it, path, noun))];
}

function listRequiredInputs({ inputSchema }: PublishedTool): [key: string, type: string][] {
  const properties = (inputSchema["properties"] ?? {}) as Record<string, JsonSchema>;
  return ((inputSchema["required"] ?? []) as readonly string[]).flatMap(
    (key): [string, string][] => {
      const schema = properties[key];
      const type =
        schema?.["type"] === "array"
          ? (schema["items"] as JsonSchema | undefined)?.["type"]
          : schema?.["type"];
      // people choose numbers and enum values themselves; they need no look-up
      const needsLookUp =
        type === "string"
          ? schema?.["enum"] === undefined
          : type === "integer" && /(^|_)id$/.test(normalizeName(key, ""));
      return needsLookUp && !genericNames.has(normalizeName(key, ""))
        ? [[key, type as string]]
        : [];
    },
  );
}

/**
 * Normalizes a name: `id` of an account to `account_id`, `name` of an entity to `entity_name`,
 * plural to singular, camel case to snake case.
 */
function normalizeName(key: string, noun: string): string {
  const name = toSingular(key.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase());
  return (name === "id" || name === "name") && noun !== "" ? `${toSingular(noun)}_${name}` : name;
}

const toSingular = (word: string): string => word.replace(/ies$/, "y").replace(/([^su])s$/, "$1");

/** Lists the field names that match an argument: its own, and without a prefix like `from_`. */
function listMatchingNames(input: string): string[] {
  const name = normalizeName(input, "");
  return [name, name.replace(/^(from|to|new|old|source|target|parent|other)_/, "")];
}

// Labels tool pairs with a chat model, twenty pairs per request. Each pair is asked once; known
// labels are read from the cache.

interface LabelingOptions {
  readonly tools: readonly PublishedTool[];
  readonly model: ChatModel;
  readonly cache: LabelCache;
  /** Requests in parallel. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  /** Called after each answer with the number of labelled pairs and of all pairs. */
  readonly onProgress?: (known: number, all: number) => void;
}

const pairsInRequest = 20;

/** Requests for one batch of pairs while the answers are invalid. */
const maxAnswers = 3;

/** Part of the cache key: every pair is asked again when this text changes. */
const question = `You label dependencies between the tools of one server. For every pair, say whether one tool's call can depend on the other's:
- explicit: a value in one tool's result is what a required argument of the other takes. Name the place in the result and the argument.
- implicit: no value flows, but one tool must have run before, because it brings about a state that the other one needs.
- none: neither.
Give the direction: "first" if the pair's first tool comes before, "second" if its second does. Two directions of one pair are two labels. Judge by what the schemas and descriptions say; two tools that merely take the same argument do not depend on each other.`;

const answerSchema = z.object({
  labels: z.array(
    z.object({
      pair: z.int(),
      label: z.enum(["explicit", "implicit", "none"]),
      before: z.enum(["first", "second"]),
      output: z.string(),
      input: z.string(),
      confidence: z.number().min(0).max(1),
      rationale: z.string(),
    }),
  ),
});

interface PairQuestion {
  readonly pair: readonly [PublishedTool, PublishedTool];
  readonly key: string;
}

/**
 * Labels every pair of tools. Labels received before an abort or a fault are in the cache and are
 * not requested again.
 */
export async function labelWithModel({
  tools,
  model,
  cache,
  concurrency = 4,
  signal,
  onProgress,
}: LabelingOptions): Promise<Label[]> {
  const all = listPairs(tools).map((pair): PairQuestion => ({
    pair,
    key: computePairKey(pair[0], pair[1], question, model.name),
  }));
  const unlabelled = all.filter(it => !cache.get(it.key));
  let known = all.length - unlabelled.length;
  const batches = Array.from({ length: Math.ceil(unlabelled.length / pairsInRequest) }, (_, i) =>
    unlabelled.slice(i * pairsInRequest, (i + 1) * pairsInRequest),
  );
  const labelBatches = async () => {
    for (let batch = batches.shift(); batch; batch = batches.shift()) {
      cache.add(
        model.name,
        await requestLabels(model, batch, signal).catch((error: unknown) => {
          // the parallel requests start no further batch
          batches.length = 0;
          throw error;
        }),
      );
      known += batch.length;
      onProgress?.(known, all.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, batches.length) }, labelBatches));
  return all.flatMap(it => cache.get(it.key)!);
}

async function requestLabels(
  model: ChatModel,
  batch: readonly PairQuestion[],
  signal: AbortSignal | undefined,
): Promise<{ key: string; label: Label }[]> {
  const messages = [
    { role: "system" as const, content: question },
    { role: "user" as const, content: describeBatch(batch) },
  ];
  let flaw = "";
  for (let i = 0; i < maxAnswers; i++) {
    signal?.throwIfAborted();
    const complaint =
      flaw === ""
        ? []
        : [
            {
              role: "user" as const,
              content: `Your answer did not fit: ${flaw}. Answer again, with every pair from 0 to ${batch.length - 1}.`,
            },
          ];
    const request = { messages: [...messages, ...complaint], temperature: 0 };
    const result = await completeStructured(model, "labels", answerSchema, request, signal);
    flaw = "flaw" in result ? result.flaw : findOmission(result.value, batch);
    if ("value" in result && flaw === "") return readLabels(result.value, batch);
  }
  throw new PolicyFault(
    `${model.name} did not label ${batch[0]!.pair.map(it => it.name).join(" and ")} and the pairs after them: ${flaw}`,
  );
}

/** The tools of a batch and its numbered pairs, as JSON. */
function describeBatch(batch: readonly PairQuestion[]): string {
  const tools = [...new Map(batch.flatMap(it => it.pair).map(it => [it.name, it])).values()];
  return JSON.stringify({
    tools: tools.map(({ name, summary, inputSchema, outputSchema }) => ({
      name,
      summary,
      arguments: inputSchema,
      result: outputSchema,
    })),
    pairs: batch.map(({ pair: [first, second] }, pair) => ({
      pair,
      first: first.name,
      second: second.name,
    })),
  });
}

type Answer = z.infer<typeof answerSchema>;

/** Says which pair an answer leaves out; empty if there is none. */
function findOmission({ labels }: Answer, batch: readonly PairQuestion[]): string {
  const missing = batch.findIndex((_, i) => !labels.some(it => it.pair === i));
  return missing < 0 ? "" : `pair ${missing} has no label`;
}

const readLabels = (
  { labels }: Answer,
  batch: readonly PairQuestion[],
): { key: string; label: Label }[] =>
  labels.flatMap(({ pair, label, before, output, input, confidence, rationale }) => {
    const question = batch[pair];
    if (!question) return [];
    const [a, b] = before === "first" ? question.pair : [question.pair[1], question.pair[0]];
    return [
      {
        key: question.key,
        label: {
          a: a.name,
          b: b.name,
          label,
          ...(label === "explicit" ? { via: { output, input } } : {}),
          confidence,
          rationale,
        },
      },
    ];
  });
