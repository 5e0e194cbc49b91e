/**
 * The third-party servers that a workspace names in its `mcp.json`, in the format of the editor's
 * own: how each is started, and what may be run on it. Starts nothing.
 */
import { readFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { z } from "zod";
import { parseJson } from "../storage/parseJson.ts";
import { UserError } from "../userError.ts";

export interface ServerEntry {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** All that the server is given of an environment, beside PATH. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Whether everything that the server can reach may be changed. */
  readonly isDisposable: boolean;
  /**
   * Keys of a result by which the server says that a call failed, where it does not say so as MCP
   * does.
   */
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

/**
 * The shape of `prove/mcp.json`; also the source of the JSON Schema that the editor completes with.
 */
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

/**
 * The entries of a `prove/mcp.json`, none where there is no such file. Throws a `UserError` that
 * names the first place that does not fit.
 */
export function readServerEntries(file: string, folder: string): ReadonlyMap<string, ServerEntry> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return new Map();
    throw new UserError(
      `cannot read ${file} (${(cause as Error).message})`,
      "check the file's permissions",
      { cause },
    );
  }
  return parseServerEntries(text, file, folder);
}

/**
 * The entry of that name. Throws a `UserError` that says how one is written, or which there are.
 */
export function findServerEntry(file: string, folder: string, name: string): ServerEntry {
  const entries = readServerEntries(file, folder);
  const found = entries.get(name);
  if (found) return found;
  const example = `{"servers": {"${name}": {"command": "npx", "args": ["-y", "<package>"]}}}`;
  throw new UserError(
    `${file} has no server ${name}`,
    entries.size ? `choose one of ${[...entries.keys()].join(", ")}` : `write ${example} into it`,
  );
}

export function parseServerEntries(
  text: string,
  file: string,
  folder: string,
): ReadonlyMap<string, ServerEntry> {
  const { servers } = parseJson(mcpConfigSchema, text, { file, noun: "a file of MCP servers" });
  return new Map(
    Object.entries(servers).map(([name, it]) => [name, entryOf(name, it, file, folder)]),
  );
}

function entryOf(
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
  folder: string,
): ServerEntry {
  const filled = (text: string) => {
    const asked = /\$\{(?:input|env|command|config):[^}]*\}/.exec(text);
    if (asked)
      throw new UserError(
        `${file} has ${asked[0]} in server ${name}`,
        "write the value itself; only ${workspaceFolder} is filled in",
      );
    return text.replaceAll("${workspaceFolder}", folder);
  };
  const at = filled(cwd);
  return {
    name,
    command: filled(command),
    args: args.map(filled),
    env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, filled(value)])),
    cwd: isAbsolute(at) ? at : resolve(folder, at),
    isDisposable: disposable,
    errorKeys,
  };
}
