/**
 * The schema of one server's entry in `prove/mcp.json`, and what is wrong with an entry that does
 * not fit it. Keys that other programs read are ignored if they would change nothing here, and
 * refused by name if they would.
 */
import { z } from "zod";
import { isJsonObject } from "../environment/json.ts";

/** Why an entry cannot be used. */
export interface EntryFault {
  /** Leads from the entry to the value. */
  readonly path: readonly PropertyKey[];
  readonly what: string;
  readonly remedy: string;
}

/** Keys of other programs that make no difference here. */
export const ignoredKeys: readonly string[] = [
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

const remote: Refusal = {
  what: "is for a remote server, and only programs on this machine can be connected",
  remedy: "write the command that starts the server, or remove the entry",
};
const sandbox: Refusal = {
  what: "is not supported: the server would run without its sandbox",
  remedy: "remove it, or write a command that starts the sandbox",
};
const toolChoice: Refusal = {
  what: "is not supported: all tools of the server would be offered",
  remedy: "remove it; without disposable, only tools marked as read-only are called",
};

const refusals: ReadonlyMap<PropertyKey, Refusal> = new Map([
  ...["url", "serverUrl", "httpUrl", "headers", "headersHelper", "oauth", "auth"].map(
    it => [it, remote] as const,
  ),
  ...["sandbox", "sandboxEnabled"].map(it => [it, sandbox] as const),
  ...["tools", "includeTools", "excludeTools", "enabledTools", "disabledTools"].map(
    it => [it, toolChoice] as const,
  ),
  ["envFile", { what: "is not read", remedy: "write its variables into env" }],
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

export const entrySchema = z.strictObject({
  ...createKeys(ignoredKeys, z.unknown().meta(unsuggested).optional()),
  ...createKeys(refusals.keys(), withoutEffect.meta(unsuggested).optional()),
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
    .describe("The folder it is started in; the workspace folder where this is left out."),
  disposable: z
    .boolean()
    .nullish()
    .describe(
      "Whether everything that the server can reach may be changed or lost. Without it only the tools that are marked as read-only are run.",
    ),
  errorKeys: z
    .array(z.string().min(1))
    .nullish()
    .describe(
      "Keys of a result by which the server says that a call failed: success and ok by being false, any other by being there. Left out: success and error.",
    ),
  disabled: z.literal(false).nullish().describe("Whether to leave the server out."),
  enabled: z.literal(true).nullish().meta(unsuggested),
});

/** An entry that is left out. The rest of it is not read. */
export const disabledEntrySchema = z.union([
  z.looseObject({ disabled: z.literal(true) }),
  z.looseObject({ enabled: z.literal(false) }),
]);

const serversSchema = z.record(z.string(), z.union([entrySchema, disabledEntrySchema])).nullish();

/** The schema of `prove/mcp.json` for the editor, which accepts the entries that are read. */
export const mcpConfigSchema = z.looseObject({
  $schema: z.string().optional(),
  servers: serversSchema,
  mcpServers: serversSchema.describe("The same as servers, as other programs name it."),
});

/** The first thing that is wrong with an entry, or undefined. */
export function findEntryFault(json: unknown): EntryFault | undefined {
  if (!isJsonObject(json))
    return { path: [], what: `it must be an object, not ${describe(json)}`, remedy: "correct it" };
  const { error } = entrySchema.safeParse(json);
  if (!error) return undefined;
  // a key that is not known explains more than a command that is missing
  const issue =
    error.issues.find(it => refusals.has(it.path[0]!)) ??
    error.issues.find(it => it.code === "unrecognized_keys") ??
    error.issues[0]!;
  const { path } = issue;
  const refusal = refusals.get(path[0]!);
  if (refusal) return { path, ...refusal, what: `${String(path[0])} ${refusal.what}` };
  if (issue.code === "unrecognized_keys")
    return {
      path: [issue.keys[0]!],
      what: `the key ${issue.keys[0]!} is not known`,
      remedy:
        "correct or remove it; the keys are command, args, env, cwd, disposable, errorKeys and disabled",
    };
  return { path, ...explain(issue, getValue(json, path)) };
}

function explain(issue: z.core.$ZodIssue, value: unknown): Refusal {
  const key = formatPath(issue.path);
  if (value === undefined)
    return { what: `${key} is missing`, remedy: "add the program that is the server" };
  if (key === "type")
    return typeof value === "string" && /^(https?|sse|ws|websocket|streamable.*)$/i.test(value)
      ? { ...remote, what: `type ${value} ${remote.what}` }
      : { what: `type must be stdio, not ${describe(value)}`, remedy: "correct or remove it" };
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
export const formatPath = (path: readonly PropertyKey[]): string =>
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
