/** What is wrong with the description of a server that its schema cannot say. */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import { findProbeProblems, type ServerFile, type ServerFileProblem } from "./serverFile.ts";

export const findServerFileProblems = (file: ServerFile): readonly ServerFileProblem[] => [
  ...findProbeProblems(file),
  ...findVolatileProblems(file),
  ...findEntityProblems(file),
];

/** The parts of what is observed and returned. */
const roots = ["files", "probes", "results"];

function* findVolatileProblems({ volatile, tools }: ServerFile): Iterable<ServerFileProblem> {
  for (const [i, pointer] of volatile.entries()) {
    const path = ["volatile", i];
    const [root = "", name] = pointer.split("/").slice(1);
    if (!roots.includes(root))
      yield {
        path,
        message: `it leads nowhere: a pointer begins with ${roots.map(it => `/${it}/`).join(" or ")}`,
      };
    else if (root === "results" && name !== undefined && !name.includes("*"))
      if (!Object.hasOwn(tools, name)) yield { path, message: `there is no tool ${name}` };
  }
}

/** A kind that tools take and that no result shows cannot be found out. */
function* findEntityProblems({ tools }: ServerFile): Iterable<ServerFileProblem> {
  const shown = new Set<Json>();
  for (const { outputSchema } of Object.values(tools))
    for (const { key, value } of listKeywords(outputSchema, []))
      if (key === "x-entity") shown.add(value);
  for (const [name, { inputSchema }] of Object.entries(tools))
    for (const { key, value, path, schema } of listKeywords(inputSchema, [
      "tools",
      name,
      "inputSchema",
    ]))
      if ((key === "x-entity" && !schema["x-spoken"]) || key === "x-label")
        if (!shown.has(value))
          yield {
            path,
            message: `no result of a tool has the id of a ${JSON.stringify(value)}: correct the kind, or write it as x-entity into an outputSchema`,
          };
}

interface Keyword {
  readonly key: string;
  readonly value: Json;
  readonly path: readonly (string | number)[];
  readonly schema: JsonObject;
}

/** The keywords of a schema and of the schemas inside it. */
function* listKeywords(value: Json, path: readonly (string | number)[]): Iterable<Keyword> {
  if (Array.isArray(value))
    for (const [i, it] of value.entries()) yield* listKeywords(it as Json, [...path, i]);
  if (!isJsonObject(value)) return;
  for (const [key, it] of Object.entries(value)) {
    const own = [...path, key];
    if (key.startsWith("x-")) yield { key, value: it, path: own, schema: value };
    else yield* listKeywords(it, own);
  }
}
