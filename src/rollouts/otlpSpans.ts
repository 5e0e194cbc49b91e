/**
 * The spans of OpenTelemetry traces as JSON: in the encoding of OTLP, as the SDKs print them, and
 * as Phoenix lists them.
 */
import type { Json } from "../environment/json.ts";
import { isRecord } from "./chatRows.ts";
import type { Row } from "./rollout.ts";

export interface Span {
  readonly trace: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  /** In nanoseconds, as digits of equal length. */
  readonly start: string;
  readonly attributes: Readonly<Record<string, Json>>;
  readonly events: readonly { readonly attributes: Readonly<Record<string, Json>> }[];
  /** The message of its error, if it has one. */
  readonly error: string | undefined;
}

/** The spans of one agent, in the order of their start. */
export class AgentSpans {
  readonly id: string;
  /** The agent's own span, unless the file lacks it. */
  readonly agent: Span | undefined;
  readonly spans: readonly Span[];

  constructor(id: string, agent: Span | undefined, spans: readonly Span[]) {
    this.id = id;
    this.agent = agent;
    this.spans = spans;
  }
}

/** The agents of a file, each as a row. The spans of a trace may be in many lines. */
export async function* listAgents(rows: AsyncIterable<Row>): AsyncGenerator<Row> {
  const traces = new Map<string, { readonly number: number; readonly spans: Span[] }>();
  for await (const { json, number } of rows) {
    const found = [...listSpans(json)];
    if (found.length === 0) yield { json, number };
    for (const it of found) {
      const trace = traces.get(it.trace) ?? { number, spans: [] };
      traces.set(it.trace, trace);
      trace.spans.push(it);
    }
  }
  for (const [trace, { number, spans }] of traces)
    for (const json of splitByAgent(trace, spans)) yield { json, number };
}

function splitByAgent(trace: string, spans: readonly Span[]): readonly AgentSpans[] {
  const byId = new Map(spans.map(it => [it.id, it]));
  const owners = new Map<Span, string>();
  const groups = new Map<string, Span[]>();
  for (const it of spans.toSorted((a, b) => (a.start < b.start ? -1 : Number(a.start > b.start)))) {
    const owner = findOwner(it, byId, owners);
    const group = groups.get(owner) ?? [];
    groups.set(owner, group);
    group.push(it);
  }
  return [...groups].map(([owner, group]) => {
    const agent = byId.get(owner);
    const id = groups.size === 1 || owner === "" ? trace : `${trace}/${owner}`;
    return new AgentSpans(id, agent, group);
  });
}

/**
 * The id of the agent that a span belongs to or, without one, of the first ancestor that is missing
 * in the file; "" for a span that has neither. `owners` keeps those that are known.
 */
function findOwner(span: Span, byId: ReadonlyMap<string, Span>, owners: Map<Span, string>): string {
  const path: Span[] = [];
  let owner: string | undefined;
  for (let it = span; (owner ??= owners.get(it)) === undefined;) {
    // until it is known, for a circle that leads back here
    owners.set(it, "");
    path.push(it);
    const parent = it.parent === undefined ? undefined : byId.get(it.parent);
    if (isAgent(it)) owner = it.id;
    else if (parent) it = parent;
    else owner = it.parent ?? "";
  }
  for (const it of path) owners.set(it, owner);
  return owner;
}

const isAgent = ({ attributes }: Span): boolean =>
  attributes["gen_ai.operation.name"] === "invoke_agent" ||
  attributes["openinference.span.kind"] === "AGENT";

function* listSpans(json: unknown): Generator<Span> {
  if (!isRecord(json)) return;
  for (const resource of listOf(json, "resourceSpans"))
    for (const scope of [
      ...listOf(resource, "scopeSpans"),
      ...listOf(resource, "instrumentationLibrarySpans"),
    ])
      for (const it of listOf(scope, "spans")) yield parseSpan(it);
  for (const it of listOf(json, "data")) if (isSpan(it)) yield parseSpan(it);
  if (isSpan(json)) yield parseSpan(json);
}

const listOf = (value: unknown, key: string): readonly Readonly<Record<string, unknown>>[] =>
  isRecord(value) && Array.isArray(value[key])
    ? (value[key] as readonly unknown[]).filter(isRecord)
    : [];

const isSpan = (value: Readonly<Record<string, unknown>>): boolean =>
  "spanId" in value || "span_id" in value || isRecord(value["context"]);

function parseSpan(span: Readonly<Record<string, unknown>>): Span {
  const context = isRecord(span["context"]) ? span["context"] : {};
  const status = isRecord(span["status"]) ? span["status"] : {};
  const code = toText(status["code"] ?? status["status_code"] ?? span["status_code"]);
  const message = status["message"] ?? status["description"] ?? span["status_message"];
  return {
    trace: toText(span["traceId"] ?? span["trace_id"] ?? context["trace_id"]),
    id: toText(span["spanId"] ?? span["span_id"] ?? context["span_id"]),
    parent:
      toText(span["parentSpanId"] ?? span["parent_span_id"] ?? span["parent_id"]) || undefined,
    name: toText(span["name"]),
    start: toNanoseconds(span["startTimeUnixNano"] ?? span["start_time"]),
    attributes: parseAttributes(span["attributes"]),
    events: listOf(span, "events").map(it => ({ attributes: parseAttributes(it["attributes"]) })),
    error: /2|error/i.test(code) ? toText(message) || "error" : undefined,
  };
}

const toText = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";

/** A time in nanoseconds or as a date. */
function toNanoseconds(value: unknown): string {
  const text = toText(value);
  const date = /^\d+$/.test(text) ? Number.NaN : Date.parse(text);
  return (Number.isNaN(date) ? text : `${date}000000`).padStart(24, "0");
}

/** A list of keys and typed values, or an object. */
function parseAttributes(value: unknown): Readonly<Record<string, Json>> {
  if (!Array.isArray(value)) return isRecord(value) ? (value as Record<string, Json>) : {};
  return Object.fromEntries(
    value.flatMap((it: unknown) =>
      isRecord(it) && typeof it["key"] === "string" ? [[it["key"], parseValue(it["value"])]] : [],
    ),
  );
}

function parseValue(value: unknown): Json {
  if (!isRecord(value)) return (value ?? null) as Json;
  const { stringValue, intValue, doubleValue, boolValue, arrayValue, kvlistValue } = value;
  if (arrayValue !== undefined)
    return isRecord(arrayValue) && Array.isArray(arrayValue["values"])
      ? arrayValue["values"].map(parseValue)
      : [];
  if (kvlistValue !== undefined)
    return isRecord(kvlistValue) ? parseAttributes(kvlistValue["values"]) : {};
  const number = intValue ?? doubleValue;
  if (number !== undefined) return parseNumber(toText(number));
  return (stringValue ?? boolValue ?? null) as Json;
}

/** A number, null for NaN and infinity, or the digits of one that would be rounded. */
function parseNumber(text: string): Json {
  const number = Number(text);
  if (text === "" || !Number.isFinite(number)) return null;
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(number) ? text : number;
}
