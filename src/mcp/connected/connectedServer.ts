/**
 * A third-party server as a server like any other: its tools run in processes of their own, and its
 * state is what is observed of them.
 */
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { findTypeMismatch } from "../../environment/argumentChecks.ts";
import { computeDigest } from "../../environment/digest.ts";
import { getOriginal } from "../../environment/draft.ts";
import { canonicalJson, isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import {
  Refusal,
  type Server,
  type StateHistory,
  type Tool,
  type ToolContext,
} from "../../environment/server.ts";
import { UserError } from "../../userError.ts";
import type { ServerEntry } from "../mcpConfig.ts";
import { createBrokenFault } from "../serverConnection.ts";
import type { ServerFile } from "./serverFile.ts";
import type { PoolReply } from "./statePool.ts";
import type { StateThread } from "./stateThread.ts";

interface ConnectedServerOptions {
  readonly file: ServerFile;
  /** The folder with its texts. */
  readonly folder?: string;
  readonly thread: StateThread;
  /** The entry of the server. Throws a `UserError` if it must not be started. */
  readonly getEntry: () => ServerEntry;
}

export function createConnectedServer({
  file,
  folder,
  thread,
  getEntry,
}: ConnectedServerOptions): Server {
  const { server: name, summary } = file;
  let isOpen = false;
  const open = () => {
    if (isOpen) return;
    thread.request(name, "open", { entry: getEntry(), known: file });
    isOpen = true;
  };
  const answers = new LRUCache<string, PoolReply>({
    maxSize: maxKeptAnswers,
    sizeCalculation: it => JSON.stringify(it).length,
  });
  const createRequest = (
    tool: string,
    world: object,
    args: JsonObject,
    { fixture, calls }: StateHistory,
  ) => ({
    state: {
      seed: fixture,
      calls: getOriginal(calls),
      digest: computeDigest(getOriginal(world)),
    },
    call: { name: tool, arguments: args },
  });
  const prepare: PrepareTool = async (tool, world, args, history) => {
    open();
    const request = createRequest(tool, world, args, history);
    const key = canonicalJson(request);
    if (answers.has(key)) return;
    try {
      answers.set(key, await thread.requestLater(name, "call", request));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      answers.set(key, { outcome: createBrokenFault(error.message) });
    }
  };
  const ask = (tool: string, world: object, args: JsonObject, context: ToolContext): PoolReply => {
    open();
    const request = createRequest(tool, world, args, context.history!);
    if (answers.size > 0) {
      const key = canonicalJson(request);
      const answer = answers.get(key);
      // what broke is tried again by the next call
      if (answer?.outcome.kind === "broken") answers.delete(key);
      if (answer) return answer;
    }
    return thread.request(name, "call", request);
  };
  const run: RunTool = (tool, world, args, context) => {
    const { outcome, world: after } = ask(tool, world, args, context);
    switch (outcome.kind) {
      case "ok":
        if (after) assignChanges(world as Record<string, Json>, after);
        return outcome.value;
      case "broken":
        throw Object.assign(new Error(), { stack: outcome.message });
      default:
        throw new Refusal(
          outcome.type === "internal" || outcome.type === "unknown_tool"
            ? "precondition_failed"
            : outcome.type,
          outcome.message,
          outcome.hint,
        );
    }
  };
  return {
    name,
    category: "Connected",
    summary,
    schema: z.record(z.string(), z.json()),
    references: {},
    tools: createTools(file, run, prepare),
    ...(folder === undefined ? {} : { folder }),
    invariants: [],
    isConnected: true,
    checkAccess: () => void getEntry(),
    countWork: async () => (isOpen ? { ...(await thread.requestLater(name, "count", {})) } : {}),
  };
}

/** Of answers that were asked for in advance, in characters of JSON. */
const maxKeptAnswers = 100_000_000;

type RunTool = (tool: string, world: object, args: JsonObject, context: ToolContext) => Json;

type PrepareTool = (
  tool: string,
  world: object,
  args: JsonObject,
  history: StateHistory,
) => Promise<void>;

/** The tools of a server, by their names in tasks. */
export const createTools = (
  { server, tools }: ServerFile,
  run: RunTool,
  prepare?: PrepareTool,
): ReadonlyMap<string, Tool> =>
  new Map(
    Object.entries(tools).map(([name, it]): [string, Tool] => [
      name,
      {
        name,
        server,
        effect: it.effect,
        summary: it.summary,
        destructive: it.destructive ?? false,
        idempotent: it.effect === "read" || (it.idempotent ?? false),
        requires: [],
        input: z.custom<JsonObject>(args => isJsonObject(args) && fits(it.inputSchema, args)),
        returns: z.json(),
        inputSchema: it.inputSchema,
        outputSchema: it.outputSchema,
        run: (world, args, context) => run(name, world as object, args, context),
        ...(prepare
          ? { prepare: (world, args, history) => prepare(name, world as object, args, history) }
          : {}),
      },
    ]),
  );

/** If the schema is not valid, the server decides. */
function fits(schema: JsonObject, args: JsonObject): boolean {
  try {
    return findTypeMismatch(schema, args) === undefined;
  } catch {
    return true;
  }
}

/** Gives a draft the values of another record, and touches only what differs. */
function assignChanges(draft: Record<string, Json>, wanted: JsonObject): void {
  for (const key of Object.keys(draft)) if (!Object.hasOwn(wanted, key)) delete draft[key];
  for (const [key, value] of Object.entries(wanted)) {
    const own = Object.hasOwn(draft, key) ? draft[key] : undefined;
    if (isJsonObject(own) && isJsonObject(value)) assignChanges(own, value);
    else if (Array.isArray(own) && Array.isArray(value)) assignItems(own as Json[], value);
    else if (own !== value) draft[key] = value;
  }
}

/** What is appended to a list is added to it; any other change of its length replaces it. */
function assignItems(draft: Json[], wanted: readonly Json[]): void {
  const isAppended = wanted.length > draft.length && draft.every((it, i) => isSame(it, wanted[i]!));
  if (isAppended) draft.push(...wanted.slice(draft.length));
  else if (wanted.length === draft.length) {
    for (const [i, it] of wanted.entries()) {
      const own = draft[i]!;
      if (isJsonObject(own) && isJsonObject(it)) assignChanges(own, it);
      else if (!isSame(own, it)) draft[i] = it;
    }
  } else draft.splice(0, draft.length, ...wanted);
}

const isSame = (own: Json, other: Json): boolean => {
  if (own === null || other === null || typeof own !== "object" || typeof other !== "object")
    return own === other;
  return computeDigest(getOriginal(own)) === computeDigest(other);
};
