/** Seeded random walks on a server: arguments come from its schemas and from earlier results. */
import type { Json, JsonObject } from "../../src/environment/json.ts";
import type { JsonSchema, Server, Tool } from "../../src/environment/server.ts";
import type { Session } from "../../src/environment/session.ts";

export interface Call {
  name: string;
  arguments: Json;
}

/** mulberry32 */
export function randomNumbers(seed: number): () => number {
  let s = seed >>> 0;
  return () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let t = Math.imul(s ^ (s >>> 15), s | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * `n` calls made one after the other on the session, which they change. Some are meant to be turned
 * down.
 */
export function walk(server: Server, session: Session, n: number, seed: number): Call[] {
  const random = randomNumbers(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const known = new Map<string, string[]>();
  const tools = [...server.tools.values()];
  const calls: Call[] = [];
  for (let i = 0; i < n; i++) {
    const tool = pick(tools);
    const args =
      random() < 0.05
        ? pick<Json>([{}, [], null, "x", { __proto__x: 1 }, { id: 7 }])
        : createArguments(tool, known, random);
    calls.push({ name: tool.name, arguments: args });
    const { outcome } = session.call(tool.name, args);
    if (outcome.kind === "ok") collectIds(tool.outputSchema, outcome.value, known);
  }
  return calls;
}

/** Arguments that the tool's types allow. */
export const createArguments = (
  { inputSchema }: Tool,
  known: ReadonlyMap<string, string[]>,
  random: () => number,
): Json => createValue(inputSchema, known, random);

/** A value that a schema's types allow; entities seen before are preferred to invented ones. */
function createValue(
  schema: JsonSchema,
  known: ReadonlyMap<string, string[]>,
  random: () => number,
): Json {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const seen = known.get((schema["x-entity"] ?? schema["x-label"] ?? "") as string);
  if (seen && random() < 0.9) return pick(seen);
  if (Array.isArray(schema["enum"])) return pick(schema["enum"] as Json[]);
  if (Array.isArray(schema["examples"])) return pick(schema["examples"] as Json[]);
  if (Array.isArray(schema["anyOf"]))
    return createValue(pick(schema["anyOf"] as JsonSchema[]), known, random);
  switch (schema["type"]) {
    case "object": {
      const required = (schema["required"] ?? []) as readonly string[];
      const entries = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
      return Object.fromEntries(
        entries
          .filter(([key]) => required.includes(key) || random() < 0.4)
          .map(([key, it]) => [key, createValue(it, known, random)]),
      );
    }
    case "array":
      return Array.from({ length: Math.floor(random() * 3) + 1 }, () =>
        createValue(schema["items"] as JsonSchema, known, random),
      );
    case "integer":
      return Math.floor(random() * 40);
    case "number":
      return Math.round(random() * 30_000) / 100;
    case "boolean":
      return random() < 0.5;
    default:
      if (schema["format"] === "date")
        return `2026-03-${String(Math.floor(random() * 31) + 1).padStart(2, "0")}`;
      if (schema["format"] === "date-time")
        return `2026-03-${String(Math.floor(random() * 31) + 1).padStart(2, "0")}T1${Math.floor(random() * 10)}:00`;
      return pick(["note", "Ana Ruiz", "__proto__", "..", "2026-02-30", "é", "0"]);
  }
}

/** Keeps every entity and label that a result carries. */
export function collectIds(schema: JsonSchema, value: Json, known: Map<string, string[]>): void {
  const key = schema["x-entity"] ?? schema["x-label"];
  if (typeof key === "string" && typeof value === "string") {
    const list = known.get(key) ?? [];
    if (!list.includes(value)) known.set(key, [...list.slice(-30), value]);
  }
  if (Array.isArray(value))
    for (const it of value) collectIds((schema["items"] ?? {}) as JsonSchema, it as Json, known);
  else if (value !== null && typeof value === "object")
    for (const [name, it] of Object.entries(
      (schema["properties"] ?? {}) as Record<string, JsonSchema>,
    ))
      if (Object.hasOwn(value, name)) collectIds(it, (value as JsonObject)[name]!, known);
}
