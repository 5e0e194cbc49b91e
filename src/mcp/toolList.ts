/**
 * Reads the list of a server's tools, page by page and tool by tool, so that what is odd in one
 * tool costs no other.
 */
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import { readInputSchema, readOutputSchema } from "../environment/plainSchema.ts";
import type { Tool } from "../environment/server.ts";
import { methodNotFound, ReplyError } from "./rpcClient.ts";
import { describeTooDeep, isTooDeep } from "../storage/jsonDepth.ts";

/** A tool as its server lists it, without what is needed to run it and to check its results. */
export interface ConnectedTool extends Omit<Tool, "input" | "returns" | "run"> {
  /** It is known whether the tool reads or writes; otherwise it counts as a write. */
  readonly saysEffect: boolean;
}

/** A tool, or a part of the list, that cannot be offered. */
export interface OmittedTool {
  readonly name: string;
  readonly reason: string;
}

export const describeOmission = ({ name, reason }: OmittedTool): string =>
  `${name} cannot be offered: ${reason}`;

/** The tools of a server, in its order. */
export interface ToolList {
  readonly tools: ReadonlyMap<string, ConnectedTool>;
  readonly omitted: readonly OmittedTool[];
}

/** A limit, so that a server whose list never ends does not block its start forever. */
const maxPages = 1_000;

/** Requests the page of a list that a cursor names, or else the first one. */
type RequestPage = (params: JsonObject) => Promise<Json>;

interface ListOptions {
  /** Tools that only read, whatever the server says. */
  readonly reads?: readonly string[] | undefined;
  /** Why a tool with such a schema of arguments cannot be called. */
  readonly findFault?: (inputSchema: JsonObject) => string | undefined;
}

/**
 * Reads all pages. A cursor that is empty or was given before, and a page without a new tool, end
 * the list. Throws an `Error` if the first page is no list.
 */
export async function readToolList(
  server: string,
  requestPage: RequestPage,
  options: ListOptions = {},
): Promise<ToolList> {
  const tools = new Map<string, ConnectedTool>();
  const omitted = new Map<string, OmittedTool>();
  const omit = (it: OmittedTool) => void omitted.set(it.name, it);
  const endEarly = (reason: string) => omit({ name: "the rest of the list", reason });
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; page <= maxPages; page++) {
    let result: Json;
    try {
      result = await requestPage(cursor === undefined ? {} : { cursor });
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
      if (page === 1 && error.code === methodNotFound) break;
      if (page === 1) throw error;
      endEarly(`page ${page} is refused: ${error.message}`);
      break;
    }
    const listed = isJsonObject(result) ? (result["tools"] ?? []) : undefined;
    if (!Array.isArray(listed)) {
      if (page === 1) throw new Error("its answer to tools/list has no list of tools");
      endEarly(`page ${page} has no list of tools`);
      break;
    }
    const knownCount = tools.size + omitted.size;
    for (const [i, it] of (listed as readonly Json[]).entries()) {
      const tool = readTool(server, options, it, `tool ${i + 1} of page ${page}`);
      if (tools.has(tool.name) || omitted.has(tool.name)) continue;
      if ("reason" in tool) omit(tool);
      else tools.set(tool.name, tool);
    }
    const next = (result as JsonObject)["nextCursor"];
    if (typeof next !== "string" || next === "" || cursors.has(next)) break;
    if (tools.size + omitted.size === knownCount) break;
    cursors.add((cursor = next));
    if (page === maxPages) endEarly(`the list has more than ${maxPages} pages`);
  }
  return { tools, omitted: [...omitted.values()] };
}

/**
 * A listed tool, with the defaults of the protocol: without annotations, a tool writes and its
 * effect cannot be undone.
 */
function readTool(
  server: string,
  { reads = [], findFault }: ListOptions,
  listed: Json,
  place: string,
): ConnectedTool | OmittedTool {
  if (!isJsonObject(listed)) return { name: place, reason: "it is not an object" };
  const { name, description, title, inputSchema, outputSchema } = listed;
  if (typeof name !== "string" || name === "") return { name: place, reason: "it has no name" };
  if (isTooDeep(listed, "document"))
    return { name, reason: `it is ${describeTooDeep("document")}` };
  const input = readInputSchema(inputSchema);
  if ("reason" in input) return { name, reason: input.reason };
  const fault = isJsonObject(inputSchema) ? findFault?.(inputSchema) : undefined;
  if (fault !== undefined) return { name, reason: fault };
  const annotations = isJsonObject(listed["annotations"]) ? listed["annotations"] : {};
  const isRead = annotations["readOnlyHint"] === true || reads.includes(name);
  const texts = [description, title, annotations["title"]];
  return {
    name,
    server,
    effect: isRead ? "read" : "write",
    saysEffect: isRead || annotations["readOnlyHint"] === false,
    summary: (texts.find(it => typeof it === "string" && it !== "") as string | undefined) ?? name,
    destructive: !isRead && annotations["destructiveHint"] !== false,
    idempotent: isRead || annotations["idempotentHint"] === true,
    requires: [],
    inputSchema: input.schema,
    outputSchema: readOutputSchema(outputSchema),
  };
}
