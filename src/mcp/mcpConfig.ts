/**
 * Reads a workspace's `prove/mcp.json`, which lists third-party MCP servers in the format of VS
 * Code's own `mcp.json`: how to start each server, and whether its tools may change things. A
 * faulty entry has an error of its own, and the others can be used.
 */
import { findNodeAtLocation, getNodeValue, type Node } from "jsonc-parser";
import { homedir } from "node:os";
import { basename, isAbsolute, resolve } from "node:path";
import { z } from "zod";
import { clock } from "../environment/fieldSchemas.ts";
import type { Tool } from "../environment/server.ts";
import { isMissing, toReadError } from "../storage/fileErrors.ts";
import { readTextFile } from "../storage/textFiles.ts";
import { UserError } from "../userError.ts";
import { isJsonObject, type JsonObject } from "../environment/json.ts";
import { createLineFinder, listProperties, parseFile } from "./jsoncNodes.ts";
import { findRemoteFault, remoteShape, type Remote } from "./remoteSetting.ts";
import {
  createReset,
  fillsSandbox,
  findResetFault,
  newFolder,
  resetSchema,
  sandboxVariable,
  type Reset,
} from "./resetSetting.ts";

/** One server of the file, with its defaults filled in. */
export type ServerEntry = ProgramEntry | RemoteEntry;

interface EntryBase {
  readonly name: string;
  /** Whether everything that the server can reach may be changed or lost. */
  readonly isDisposable: boolean;
  /** Tools that only read, whatever the server says about them. */
  readonly reads?: readonly string[];
  /** Keys of a result that report a failed call, for servers that do not set MCP's `isError`. */
  readonly errorKeys: readonly string[];
  /** Keys of the entry that have an effect in other programs only. */
  readonly ignoredKeys: readonly string[];
}

/** The program that fixes the time of a server. */
export const faketime = "faketime";

/** A server that is started here. */
export interface ProgramEntry extends EntryBase {
  readonly command: string;
  readonly args: readonly string[];
  /** The server's whole environment, except PATH. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** How each process gets a state of its own; undefined if all share what the server reaches. */
  readonly reset?: Reset;
  /** The time that its clock always shows, `YYYY-MM-DDTHH:MM` in UTC. */
  readonly time?: string;
}

/** A server that runs elsewhere. */
export interface RemoteEntry extends EntryBase, Remote {
  readonly reset?: never;
}

export const isRemote = (entry: ServerEntry): entry is RemoteEntry => "url" in entry;

/** The servers of a file by name: the entry, or why the server cannot be started. */
export interface ServerEntries {
  readonly entries: ReadonlyMap<string, ServerEntry>;
  readonly errors: ReadonlyMap<string, UserError>;
  /** The names of the servers that the file leaves out. */
  readonly disabled: ReadonlySet<string>;
}

export const noServerEntries: ServerEntries = {
  entries: new Map(),
  errors: new Map(),
  disabled: new Set(),
};

/** Whether a person must agree before the server is started or spoken to. */
export const needsConsent = (entry: ServerEntry): boolean => allowsWrites(entry) || isRemote(entry);

/** Whether tools that write may be called: on a copy, or on what the entry calls disposable. */
export const allowsWrites = ({ isDisposable, reset }: ServerEntry): boolean =>
  isDisposable || reset !== undefined;

export const allowsTool = (entry: ServerEntry, { effect }: Pick<Tool, "effect">): boolean =>
  effect === "read" || allowsWrites(entry);

/**
 * Reads the entries of a `prove/mcp.json` by name; a missing file has none. Relative paths in it
 * start at `workspace`. Throws a `UserError` for a file that cannot be read as a whole.
 */
export function readServerEntries(file: string, workspace: string): ServerEntries {
  let text: string;
  try {
    text = readTextFile(file);
  } catch (cause) {
    if (isMissing(cause)) return noServerEntries;
    throw toReadError(file, cause);
  }
  return parseServerEntries(text, file, workspace);
}

/**
 * Reads the entry with that name. Throws a `UserError` that says what is wrong with it, lists the
 * names, or shows how to write an entry.
 */
export function findServerEntry(file: string, workspace: string, name: string): ServerEntry {
  const { entries, errors, disabled } = readServerEntries(file, workspace);
  const entry = entries.get(name);
  if (entry) return entry;
  const error = errors.get(name);
  if (error) throw error;
  if (disabled.has(name))
    throw new UserError(`${name} is disabled in ${file}`, "enable it there to use it");
  const example = `{"servers": {"${name}": {"command": "npx", "args": ["-y", "<package>"]}}}`;
  throw new UserError(
    `${file} has no server ${name}`,
    entries.size ? `choose one of ${[...entries.keys()].join(", ")}` : `write ${example} into it`,
  );
}

export function parseServerEntries(text: string, file: string, workspace: string): ServerEntries {
  const entries = new Map<string, ServerEntry>();
  const errors = new Map<string, UserError>();
  const disabled = new Set<string>();
  const findLine = createLineFinder(text);
  for (const { name, node } of listEntryNodes(text, file)) {
    const json: unknown = getNodeValue(node);
    if (disabledEntrySchema.safeParse(json).success) {
      disabled.add(name);
      continue;
    }
    const isRepeated = entries.delete(name) || errors.has(name);
    const fault = isRepeated ? repeatedName : findFault(json);
    if (fault)
      errors.set(name, toError(fault, `${file}:${findLine(findOffset(node, fault))}`, name));
    else entries.set(name, createEntry(name, json, workspace));
  }
  return { entries, errors, disabled };
}

const repeatedName: EntryFault = {
  path: [],
  what: "the file has two servers of this name",
  remedy: "rename one of them",
};

const toError = ({ what, remedy }: EntryFault, place: string, name: string) =>
  new UserError(`${place}, server ${name}: ${what}`, remedy);

/** The entries in the order of the file. */
function listEntryNodes(text: string, file: string): { name: string; node: Node }[] {
  const root = parseFile(text, file);
  if (!root) return [];
  const place = (node: Node) => `${file}:${createLineFinder(text)(node.offset)}`;
  if (root.type !== "object")
    throw new UserError(
      `${place(root)} is not a file of MCP servers: it must be an object`,
      `write {"servers": {}} into it`,
    );
  const properties = listProperties(root);
  // the settings of VS Code have the same in an object
  const settings = properties.find(it => it.name === "mcp")?.node;
  const lists = [...properties, ...(settings ? listProperties(settings) : [])].filter(
    it => it.name === "servers" || it.name === "mcpServers",
  );
  const others = properties.filter(it => it.name !== "inputs" && it.name !== "$schema");
  if (lists.length === 0 && others.length > 0)
    throw new UserError(
      `${file} has no servers, only ${others.map(it => it.name).join(", ")}`,
      `name them under "servers"`,
    );
  return lists.flatMap(({ name, node }) => {
    if (node.type === "null") return [];
    if (node.type === "object") return listProperties(node);
    throw new UserError(
      `${place(node)} is not a file of MCP servers: ${name} must be an object`,
      "write each server under its name",
    );
  });
}

/** Where the value of a fault is, or the nearest value around it. */
function findOffset(entry: Node, { path }: EntryFault): number {
  const steps = path.map(it => (typeof it === "number" ? it : String(it)));
  for (let depth = steps.length; depth > 0; depth--) {
    const node = findNodeAtLocation(entry, steps.slice(0, depth));
    if (node) return node.offset;
  }
  return entry.offset;
}

type EntryJson = z.output<typeof entrySchema>;

/** What is filled in. Variables of the environment are not: they may hold keys. */
const createVariables = (workspace: string): Readonly<Record<string, string>> => ({
  workspaceFolder: workspace,
  workspaceFolderBasename: basename(workspace),
  userHome: homedir(),
});

/** `${name}`, also if it is not closed; and a name of VS Code's variables without the dollar. */
const variable =
  /\$\{([^}]*)\}?|\{(?:workspaceFolder(?:Basename)?|userHome|(?:env|input):[^{}]*)\}/g;

/** Finds a variable that nothing is filled in for, which the server would get as it is written. */
function findVariableFault(json: unknown): EntryFault | undefined {
  const variables = createVariables("");
  const entry = entrySchema.parse(json);
  const hasSandbox = fillsSandbox(entry.reset);
  for (const [path, text] of [...listTexts(entry), ...listResetTexts(entry)])
    for (const [whole, name] of text.matchAll(variable)) {
      if (hasSandbox && whole === sandboxVariable && path[0] !== "command") continue;
      if (name === undefined || !whole.endsWith("}") || !Object.hasOwn(variables, name))
        return {
          path,
          what: `${formatPath(path)} has ${whole}, which is not filled in`,
          remedy:
            "write the value itself; only ${workspaceFolder}, ${workspaceFolderBasename} and ${userHome} are filled in, and ${sandbox} with reset",
        };
    }
  return undefined;
}

/** The texts that the server gets, with their places. */
const listTexts = ({ command, args, env, cwd }: EntryJson): [(string | number)[], string][] => [
  [["command"], command],
  ...(args ?? []).map((it, i): [(string | number)[], string] => [["args", i], it]),
  ...Object.entries(env ?? {}).flatMap(([key, value]): [string[], string][] => [
    [["env", key], key],
    [["env", key], value ?? ""],
  ]),
  [["cwd"], cwd ?? ""],
];

const listResetTexts = ({ reset }: EntryJson): [(string | number)[], string][] => {
  const { folder = {}, command = [], remove = [] } = reset ?? {};
  const folders = typeof folder === "string" ? [folder] : Object.values(folder);
  return [...folders, ...command, ...remove].map(it => [["reset"], it]);
};

function createEntry(name: string, json: unknown, workspace: string): ServerEntry {
  if (!hasAddress(json)) return createProgramEntry(name, entrySchema.parse(json), workspace);
  const data = remoteEntrySchema.parse(json);
  return { ...createBase(name, data), url: data.url, headers: data.headers ?? {} };
}

const createBase = (
  name: string,
  json: Pick<EntryJson, "disposable" | "reads" | "errorKeys">,
): EntryBase => ({
  name,
  isDisposable: json.disposable ?? false,
  ...(json.reads?.length ? { reads: json.reads } : {}),
  errorKeys: json.errorKeys ?? ["success", "error"],
  ignoredKeys: ignoredKeys.filter(it => Object.hasOwn(json, it)),
});

function createProgramEntry(name: string, json: EntryJson, workspace: string): ProgramEntry {
  const { command: program, args, env, cwd, reset, time } = json;
  const variables = createVariables(workspace);
  const fillIn = (text: string) =>
    text.replaceAll(variable, (whole, it: string) => variables[it] ?? whole);
  const fillInPath = (text: string) => fillIn(text.replace(/^~(?=$|[/\\])/, "${userHome}"));
  const resolvePath = (path: string) => {
    const filled = fillInPath(path);
    return isAbsolute(filled) || filled.startsWith(sandboxVariable)
      ? filled
      : resolve(workspace, filled);
  };
  // in another folder, a relative path would lead elsewhere
  const command = reset && /[\\/]/.test(program) ? resolvePath(program) : fillInPath(program);
  const line = [...createClock(time), command, ...(args ?? []).map(fillInPath)];
  return {
    ...createBase(name, json),
    command: line[0]!,
    args: line.slice(1),
    env: Object.fromEntries(
      Object.entries({ ...(time ? { TZ: "UTC" } : {}), ...env }).flatMap(([key, value]) =>
        value === null ? [] : [[fillIn(key), fillIn(value)]],
      ),
    ),
    // relative paths that its tools are given must not lead into the workspace
    cwd: reset && !cwd ? newFolder : resolvePath(cwd ?? "."),
    ...(reset ? { reset: createReset(reset, resolvePath) } : {}),
    ...(time ? { time } : {}),
  };
}

/** The beginning of a command line whose program sees that time. */
const createClock = (time: string | null | undefined): readonly string[] =>
  time ? [faketime, "--exclude-monotonic", "-f", `${time.replace("T", " ")}:00`] : [];

// The schema of one server's entry in `prove/mcp.json`, and what is wrong with an entry that does
// not fit it. Keys that other programs read are ignored if they would change nothing here, and
// refused by name if they would.

/** Why an entry cannot be used. */
interface EntryFault {
  /** Leads from the entry to the value. */
  readonly path: readonly PropertyKey[];
  readonly what: string;
  readonly remedy: string;
}

/** Keys of other programs that make no difference here. */
const ignoredKeys: readonly string[] = [
  "gallery",
  "version",
  "name",
  "title",
  "description",
  "icon",
  "icons",
  "source",
  "autoApprove",
  "alwaysAllow",
  "alwaysLoad",
  "autoStart",
  "trust",
  "timeout",
  "networkTimeout",
  "initTimeout",
  "dev",
  "watchPaths",
];

type Refusal = Pick<EntryFault, "what" | "remedy">;

const signIn: Refusal = {
  what: "is not supported: nobody is asked to sign in",
  remedy: 'write "headers": {"Authorization": "Bearer ${env:NAME}"} with a token that you have',
};
const ofRemote: Refusal = {
  what: "is for a server at an address, and this entry has a command",
  remedy: "remove it, or the command",
};
const ofProgram: Refusal = {
  what: "is for a program that is started here, and this entry has an address",
  remedy: "remove it, or url",
};
const sandbox: Refusal = {
  what: "is not supported: the server would run without its sandbox",
  remedy: "remove it, or write a command that starts the sandbox",
};
const toolChoice: Refusal = {
  what: "is not supported: all tools of the server would be offered",
  remedy: "remove it; without reset or disposable, only tools marked as read-only are called",
};

const refusals: ReadonlyMap<PropertyKey, Refusal> = new Map([
  ...["serverUrl", "httpUrl"].map(
    it => [it, { what: "is not read", remedy: "write the address as url" }] as const,
  ),
  ...["headersHelper", "oauth", "auth"].map(it => [it, signIn] as const),
  ...["sandbox", "sandboxEnabled"].map(it => [it, sandbox] as const),
  ...["tools", "includeTools", "excludeTools", "enabledTools", "disabledTools"].map(
    it => [it, toolChoice] as const,
  ),
  ["envFile", { what: "is not read", remedy: "write its variables into env" }],
]);

/** Keys that entries for programs, and entries for addresses, must not have. */
const programRefusals: ReadonlyMap<PropertyKey, Refusal> = new Map([
  ...refusals,
  ...["url", "headers", "allowHttp"].map(it => [it, ofRemote] as const),
]);
const remoteRefusals: ReadonlyMap<PropertyKey, Refusal> = new Map([
  ...refusals,
  ...["command", "args", "env", "cwd", "time"].map(it => [it, ofProgram] as const),
  [
    "reset",
    {
      what: "is not possible for a remote server, which all sessions share",
      remedy:
        "remove it, and run prove-rl record to make an environment of what the server answers",
    },
  ],
]);

const createKeys = <T extends z.ZodType>(keys: Iterable<PropertyKey>, schema: T) =>
  Object.fromEntries(Array.from(keys, it => [it, schema])) as Record<string, T>;

/** Values with which a refused key says nothing. */
const withoutEffect = z.union([
  z.null(),
  z.literal(false),
  z.literal(""),
  z.array(z.literal("*")).max(1),
]);

/** An editor accepts these keys, but does not suggest them. */
const unsuggested = { doNotSuggest: true };

/** The keys of all entries. */
const commonShape = {
  ...createKeys(ignoredKeys, z.unknown().meta(unsuggested).optional()),
  disposable: z
    .boolean()
    .nullish()
    .describe(
      "Whether everything that the server can reach may be changed or lost. Without it only the tools that are known to read are run.",
    ),
  reads: z
    .array(z.string().min(1))
    .nullish()
    .describe("Tools that only read, of a server that does not say so itself."),
  errorKeys: z
    .array(z.string().min(1))
    .nullish()
    .describe(
      "Keys of a result by which the server says that a call failed: success and ok by being false, any other by being there. Left out: success and error.",
    ),
  disabled: z.literal(false).nullish().describe("Whether to leave the server out."),
  enabled: z.literal(true).nullish().meta(unsuggested),
};

/** The keys that an entry must not have. */
const createRefused = (keys: ReadonlyMap<PropertyKey, Refusal>) =>
  createKeys(keys.keys(), withoutEffect.meta(unsuggested).optional());

const entrySchema = z.strictObject({
  ...createRefused(programRefusals),
  ...commonShape,
  type: z
    .enum(["stdio", "local"])
    .nullish()
    .describe("Servers are started here and spoken to over stdin and stdout."),
  command: z.string().min(1).describe("The program that is the server, looked for on PATH."),
  args: z
    .array(z.string())
    .nullish()
    .describe(
      "Its arguments. ${workspaceFolder} stands for the folder that holds prove/, ${workspaceFolderBasename} for its name, and ${userHome} or ~ for your home folder.",
    ),
  env: z
    .record(z.string(), z.string().nullable())
    .nullish()
    .describe("Its whole environment, beside PATH: nothing else is passed on."),
  cwd: z
    .string()
    .min(1)
    .nullish()
    .describe(
      "The folder it is started in. Where this is left out: the workspace folder, or with reset a folder that is made for each process.",
    ),
  reset: resetSchema
    .nullish()
    .describe(
      "How each process gets a state of its own, so that its tools may write without changing anybody's data.",
    ),
  time: clock()
    .nullish()
    .describe(
      "The time that its clock always shows, such as 2026-03-10T09:00, in UTC unless env has TZ. Needs the program faketime on PATH.",
    ),
});

const remoteEntrySchema = z.strictObject({
  ...createRefused(remoteRefusals),
  ...commonShape,
  ...remoteShape,
});

/** Whether an entry is for a server at an address, though it may be faulty. */
const hasAddress = (json: unknown): boolean =>
  isJsonObject(json) &&
  (json["command"] ?? null) === null &&
  (!withoutEffect.optional().safeParse(json["url"]).success ||
    remoteType.safeParse(json["type"]).success);

const remoteType = z.string().regex(/^(https?|sse|ws|websocket|streamable.*)$/i);

/** An entry that is left out. The rest of it is not read. */
const disabledEntrySchema = z.union([
  z.looseObject({ disabled: z.literal(true) }),
  z.looseObject({ enabled: z.literal(false) }),
]);

const serversSchema = z
  .record(z.string(), z.union([entrySchema, remoteEntrySchema, disabledEntrySchema]))
  .nullish();

/** The schema of `prove/mcp.json` for the editor, which accepts the entries that are read. */
export const mcpConfigSchema = z.looseObject({
  $schema: z.string().optional(),
  servers: serversSchema,
  mcpServers: serversSchema.describe("The same as servers, as other programs name it."),
});

/** The first thing that is wrong with an entry, or undefined. */
function findFault(json: unknown): EntryFault | undefined {
  if (!isJsonObject(json))
    return { path: [], what: `it must be an object, not ${describe(json)}`, remedy: "correct it" };
  if (!hasAddress(json)) return findProgramFault(json) ?? findVariableFault(json);
  const { error, data } = remoteEntrySchema.safeParse(json);
  return error ? toFault(error, json, remoteRefusals) : findRemoteFault(data);
}

function findProgramFault(json: JsonObject): EntryFault | undefined {
  const { error, data } = entrySchema.safeParse(json);
  const resetFault =
    (json["reset"] ?? null) !== null && (data || error?.issues.every(it => it.path[0] === "reset"))
      ? findResetFault(json["reset"], data ? listTexts(data).map(([, text]) => text) : [])
      : undefined;
  if (resetFault) return { path: ["reset"], ...resetFault };
  return error && toFault(error, json, programRefusals);
}

function toFault(
  error: z.ZodError,
  json: JsonObject,
  refused: ReadonlyMap<PropertyKey, Refusal>,
): EntryFault {
  // a key that is not known explains more than a command that is missing
  const issue =
    error.issues.find(it => refused.has(it.path[0]!)) ??
    error.issues.find(it => it.code === "unrecognized_keys") ??
    error.issues[0]!;
  const { path } = issue;
  const refusal = refused.get(path[0]!);
  if (refusal) return { path, ...refusal, what: `${String(path[0])} ${refusal.what}` };
  if (issue.code === "unrecognized_keys") {
    const [key] = issue.keys as [string];
    const keys =
      refused === remoteRefusals
        ? "url, headers, allowHttp"
        : "command, args, env, cwd, reset, time";
    const remedy = `correct or remove it; the keys are ${keys}, type, reads, disposable, errorKeys and disabled`;
    return { path: [key], what: `the key ${key} is not known`, remedy };
  }
  return { path, ...explain(issue, getValue(json, path)) };
}

function explain(issue: z.core.$ZodIssue, value: unknown): Refusal {
  const key = formatPath(issue.path);
  if (value === undefined)
    return key === "url"
      ? { what: "url is missing", remedy: "add the address of the server" }
      : { what: `${key} is missing`, remedy: "add the program that is the server, or url" };
  if (key === "type")
    return {
      what: `type must be stdio, or http for a server at an address, not ${describe(value)}`,
      remedy: "correct or remove it; SSE alone and WebSockets are not supported",
    };
  if (issue.code === "too_small") return { what: `${key} is empty`, remedy: "fill it in" };
  const expected =
    (issue.code === "invalid_type" && expectedTypes[issue.expected]) || "true or false";
  const isSimple = typeof value === "number" || typeof value === "boolean";
  return {
    what: `${key} must be ${expected}, not ${describe(value)}`,
    remedy: expected === "a text" && isSimple ? `write "${value}" in quotes` : "correct it",
  };
}

const expectedTypes: Readonly<Record<string, string>> = {
  string: "a text",
  array: "a list",
  record: "an object",
};

/** A path as in code, such as `env.PORT` and `args[1]`. */
const formatPath = (path: readonly PropertyKey[]): string =>
  path
    .map((it, i) => (typeof it === "number" ? `[${it}]` : `${i ? "." : ""}${String(it)}`))
    .join("");

const getValue = (json: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce((value, key) => (value as Record<PropertyKey, unknown>)[key], json);

const describe = (value: unknown): string => {
  if (Array.isArray(value)) return "a list";
  if (isJsonObject(value)) return "an object";
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
};
