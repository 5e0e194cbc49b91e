/**
 * Reads a workspace's `prove/mcp.json`, which lists third-party MCP servers in the format of VS
 * Code's own `mcp.json`: how to start each server, and whether its tools may change things.
 */
import { isAbsolute, resolve } from "node:path";
import { z } from "zod";
import { parseJson } from "../storage/parseJson.ts";
import { UserError } from "../userError.ts";
import { readTextFile } from "../storage/readTextFile.ts";

/** One server of the file, with its defaults filled in. */
export interface ServerEntry {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The server's whole environment, except PATH. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Whether everything that the server can reach may be changed or lost. */
  readonly isDisposable: boolean;
  /** Keys of a result that report a failed call, for servers that do not set MCP's `isError`. */
  readonly errorKeys: readonly string[];
}

const entrySchema = z.strictObject({
  type: z
    .literal("stdio")
    .optional()
    .describe("Servers are started here and spoken to over stdin and stdout."),
  command: z.string().min(1).describe("The program that is the server, looked for on PATH."),
  args: z
    .array(z.string())
    .optional()
    .describe("Its arguments. ${workspaceFolder} stands for the folder that holds prove/."),
  env: z
    .record(z.string(), z.string())
    .optional()
    .describe("Its whole environment, beside PATH: nothing else is passed on."),
  cwd: z
    .string()
    .min(1)
    .optional()
    .describe("The folder it is started in; the workspace folder where this is left out."),
  disposable: z
    .boolean()
    .optional()
    .describe(
      "Whether everything that the server can reach may be changed or lost. Without it only the tools that are marked as read-only are run.",
    ),
  errorKeys: z
    .array(z.string().min(1))
    .optional()
    .describe(
      "Keys of a result by which the server says that a call failed: success and ok by being false, any other by being there. Left out: success and error.",
    ),
});

/** The schema of `prove/mcp.json`, which also gives the JSON Schema for the editor. */
export const mcpConfigSchema = z.strictObject({
  $schema: z.string().optional(),
  servers: z.record(
    z
      .string()
      .regex(
        /^[A-Za-z0-9][\w .-]{0,59}$/,
        "a server's name is made of letters, digits, spaces, dots and dashes",
      ),
    entrySchema,
  ),
});

/** The servers of a file by name: the entry, or why the server cannot be started. */
export interface ServerEntries {
  readonly entries: ReadonlyMap<string, ServerEntry>;
  readonly errors: ReadonlyMap<string, UserError>;
}

/**
 * Reads the entries of a `prove/mcp.json` by name; a missing file has none. Relative paths in it
 * start at `workspace`. Throws a `UserError` that names the first value that does not fit.
 */
export function readServerEntries(file: string, workspace: string): ServerEntries {
  let text: string;
  try {
    text = readTextFile(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT")
      return { entries: new Map(), errors: new Map() };
    throw new UserError(
      `cannot read ${file} (${(cause as Error).message})`,
      "check the file's permissions",
      { cause },
    );
  }
  return parseServerEntries(text, file, workspace);
}

/**
 * Reads the entry with that name. Throws a `UserError` that lists the names, or shows how to write
 * an entry, if there is none.
 */
export function findServerEntry(file: string, workspace: string, name: string): ServerEntry {
  const { entries, errors } = readServerEntries(file, workspace);
  const entry = entries.get(name);
  if (entry) return entry;
  const error = errors.get(name);
  if (error) throw error;
  const example = `{"servers": {"${name}": {"command": "npx", "args": ["-y", "<package>"]}}}`;
  throw new UserError(
    `${file} has no server ${name}`,
    entries.size ? `choose one of ${[...entries.keys()].join(", ")}` : `write ${example} into it`,
  );
}

export function parseServerEntries(text: string, file: string, workspace: string): ServerEntries {
  const { servers } = parseJson(mcpConfigSchema, text, { file, noun: "a file of MCP servers" });
  const entries = new Map<string, ServerEntry>();
  const errors = new Map<string, UserError>();
  for (const [name, it] of Object.entries(servers))
    try {
      entries.set(name, createEntry(name, it, file, workspace));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      errors.set(name, error);
    }
  return { entries, errors };
}

function createEntry(
  name: string,
  {
    command,
    args = [],
    env = {},
    cwd = ".",
    disposable = false,
    errorKeys = ["success", "error"],
  }: z.output<typeof entrySchema>,
  file: string,
  workspace: string,
): ServerEntry {
  const substitute = (text: string) => {
    // an environment variable may hold a key, which nobody meant to give to this server
    const variable = /\$\{(?:input|env|command|config):[^}]*\}/.exec(text);
    if (variable)
      throw new UserError(
        `${file} has ${variable[0]} in server ${name}`,
        "write the value itself; only ${workspaceFolder} is filled in",
      );
    return text.replaceAll("${workspaceFolder}", workspace);
  };
  const folder = substitute(cwd);
  return {
    name,
    command: substitute(command),
    args: args.map(substitute),
    env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, substitute(value)])),
    cwd: isAbsolute(folder) ? folder : resolve(workspace, folder),
    isDisposable: disposable,
    errorKeys,
  };
}
