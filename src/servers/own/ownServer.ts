/**
 * A server that a workspace defines in TypeScript: loaded when it is first needed, and checked as
 * the servers that ship are by their tests.
 */
import { basename, dirname } from "node:path";
import { z } from "zod";
import { collectDefinitions, type Server, type Tool } from "../../environment/server.ts";
import { findReason } from "../../storage/schemaIssue.ts";
import { UserError } from "../../userError.ts";
import { runLimited } from "../../storage/runLimited.ts";
import { runModule } from "./moduleRunner.ts";

/** How long loading a server and a call may take, in milliseconds. */
export interface OwnServerLimits {
  readonly load: number;
  readonly call: number;
}

const defaultLimits: OwnServerLimits = { load: 10_000, call: 10_000 };

/** A server whose module runs when something of it is needed besides its name. */
export class OwnServer implements Server {
  readonly name: string;
  readonly folder: string;
  readonly #file: string;
  readonly #others: readonly Server[];
  readonly #limits: OwnServerLimits;
  #server: Server | undefined;
  #error: UserError | undefined;

  /** `others` are the servers whose names and tools are taken. */
  constructor(file: string, others: readonly Server[], limits = defaultLimits) {
    this.folder = dirname(file);
    this.#file = file;
    this.#others = others;
    this.#limits = limits;
    const name = basename(this.folder);
    const isTaken = others.some(it => it.name === name);
    this.name = isTaken ? `${name} (prove/servers)` : name;
    if (isTaken)
      this.#error = new UserError(
        `${file} has the name of another server, ${name}`,
        "rename its folder and the server",
      );
  }

  get category() {
    return this.#get().category;
  }
  get summary() {
    return this.#get().summary;
  }
  get schema() {
    return this.#get().schema;
  }
  get references() {
    return this.#get().references;
  }
  get tools() {
    return this.#get().tools;
  }
  get invariants() {
    return this.#get().invariants;
  }

  checkAccess(): void {
    this.#get();
    if (this.#error) throw this.#error;
  }

  checkWrite(after: unknown, before: unknown): void {
    checkState(this.#get(), after, before);
  }

  #get(): Server {
    if (this.#server) return this.#server;
    try {
      if (this.#error) throw this.#error;
      this.#server = loadServer(this.#file, this.#others, this.#limits);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.#error = error;
      this.#server = createFaultyServer(this.name, error);
    }
    return this.#server;
  }
}

const createFaultyServer = (name: string, { what, remedy }: UserError): Server => ({
  name,
  category: "Faulty",
  summary: `${what}; ${remedy}`,
  schema: z.record(z.string(), z.json()),
  references: {},
  tools: new Map(),
  invariants: [],
});

/** Runs the module of a server and checks what it exports. Throws a `UserError`. */
function loadServer(file: string, others: readonly Server[], limits: OwnServerLimits): Server {
  const name = basename(dirname(file));
  const [exported, definitions] = collectDefinitions(() => {
    try {
      return runLimited(
        limits.load,
        () => runModule(file),
        seconds =>
          new UserError(
            `${file} was not loaded within ${seconds} seconds`,
            "look for a loop that does not end outside of its tools",
          ),
      );
    } catch (error) {
      throw explainFailure(file, error);
    }
  });
  const server = exported["server"] ?? exported["default"];
  if (!isServer(server))
    throw new UserError(
      `${file} exports no server`,
      "write export const server = defineServer({ … }) in it",
    );
  if (server.name !== name)
    throw new UserError(
      `${file} defines the server ${server.name}, and its folder is named ${name}`,
      "give both the same name",
    );
  for (const tool of server.tools.keys()) {
    const other = others.find(it => tool.startsWith(`${it.name}_`) && it.tools.has(tool));
    if (other)
      throw new UserError(
        `${file} has the tool ${tool}, and so has the server ${other.name}`,
        "rename the tool or the server",
      );
  }
  const listed = new Set<unknown>(Array.from(server.tools.values(), it => it.run));
  const lost = definitions.find(it => !listed.has(it.run));
  if (lost)
    throw new UserError(
      `${file} defines a tool that its server does not have (${lost.summary})`,
      "if it is listed, another one with the same name follows it: rename one of them; otherwise, list or remove it",
    );
  const tools = Array.from(server.tools, ([key, it]) => [key, limitTool(it, limits)] as const);
  return { ...server, tools: new Map(tools) };
}

const isServer = (value: unknown): value is Server =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  "tools" in value &&
  value.tools instanceof Map;

/** A tool whose calls end, and whose results are as it declares them. */
const limitTool = (tool: Tool, { call }: OwnServerLimits): Tool => ({
  ...tool,
  run(world, args, context) {
    let hasStarted = false;
    const result = runLimited(call, () => {
      // on a busy machine it would be run again, on what the first run has written
      if (hasStarted) throw new Error(`it takes more than ${call / 1000} seconds`);
      hasStarted = true;
      return tool.run(world, args, context);
    });
    const { error } = tool.returns.safeParse(result);
    if (error) throw new Error(`its result is not what it declares: ${describeIssue(error)}`);
    return result;
  },
});

/** Throws if a write left a state that the server does not allow. */
function checkState({ schema, invariants }: Server, after: unknown, before: unknown): void {
  const { error } = schema.safeParse(after);
  if (error) throw new Error(`it would leave a state that is not valid: ${describeIssue(error)}`);
  for (const { rule, findViolation } of invariants) {
    const violation = findViolation(after, before);
    if (violation !== undefined)
      throw new Error(`it would break the rule ${JSON.stringify(rule)}: ${violation}`);
  }
}

function describeIssue(error: z.ZodError): string {
  const { path, message } = findReason(error);
  return [path.join("."), message].filter(Boolean).join(": ");
}

/** Why a module could not be run, with the line in the server's own files. */
function explainFailure(file: string, error: unknown): unknown {
  if (error instanceof UserError) return error;
  const { message, stack = "", loc } = error as Partial<Error> & Located;
  const folder = dirname(file);
  const place = stack.slice(stack.indexOf(folder) + folder.length);
  const [, own, line] = stack.includes(folder) ? (/^([^\n:]*):(\d+)/.exec(place) ?? []) : [];
  const at = own === undefined ? `${file}${loc ? `:${loc.line}` : ""}` : `${folder}${own}:${line}`;
  const [reason = ""] = (message ?? String(error)).split("\n");
  return new UserError(`${at} cannot be loaded: ${reason}`, "correct that line", { cause: error });
}

/** An error of the parser. */
interface Located {
  readonly loc?: { readonly line: number };
}
