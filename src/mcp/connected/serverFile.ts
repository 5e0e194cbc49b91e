/**
 * What is known about a third-party server that is an environment: the file
 * `prove/servers/NAME.server.json`, which `prove-rl connect` writes and a person may edit.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { clock } from "../../environment/fieldSchemas.ts";
import type { JsonObject } from "../../environment/json.ts";
import { readIfExists } from "../../storage/fileErrors.ts";
import { readJsonFile } from "../../storage/parseJson.ts";
import { UserError } from "../../userError.ts";

export const serverFileFormat = "prove/server@1";

/** How a result that is text is read. */
const textForms = ["text", "python", "lines"] as const;

const jsonObject = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;

const regularExpression = z.string().refine(
  it => {
    try {
      return new RegExp(it, "u") instanceof RegExp;
    } catch {
      return false;
    }
  },
  { error: "it is not a regular expression" },
);

const toolSchema = z.strictObject({
  tool: z.string().min(1).describe("The name by which the server lists it."),
  effect: z
    .enum(["read", "write"])
    .describe("Whether it changes what the server works on. Only writes become part of the state."),
  because: z
    .string()
    .optional()
    .describe("How the effect is known: what the server says, or what a call changed."),
  summary: z.string().describe("What models and people read about it."),
  destructive: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  text: z
    .enum(textForms)
    .optional()
    .describe(
      "How a result that is text is read: as it is, as a value of Python, or as a list of lines. JSON is always read.",
    ),
  inputSchema: jsonObject.describe(
    "The schema of its arguments. x-entity names the kind of thing whose id a value is, x-label the kind whose name it is, and x-spoken says that people know and say the id.",
  ),
  outputSchema: jsonObject.describe("The schema of its results, with the same keywords."),
});

export const serverFileSchema = z.strictObject({
  $schema: z.string().optional(),
  format: z.literal(serverFileFormat),
  server: z
    .string()
    .regex(/^[a-z][a-z0-9_]{1,30}$/)
    .describe("Its name in tasks, and the beginning of the names of its tools."),
  entry: z.string().min(1).describe("The name of its entry in prove/mcp.json."),
  summary: z.string().describe("What its state holds, in one line."),
  now: clock().describe("The time at which sessions start, as the conversation says it."),
  restore: z
    .enum(["files", "restart", "recording"])
    .describe(
      "How a process gets to another state: files where it notices that its files were replaced, else it is started again and repeats the calls. With recording, the server was recorded, and has one state.",
    ),
  tools: z
    .record(z.string().regex(/^[a-z][a-z0-9_]{2,63}$/), toolSchema)
    .describe("The tools by their names in tasks."),
  leftOut: z
    .record(z.string(), z.string())
    .optional()
    .describe("Tools that are not offered, by the name that the server lists, with the reason."),
  failures: z
    .array(regularExpression)
    .describe("Regular expressions: a result whose text one of them matches is a failed call."),
  probes: z
    .array(z.strictObject({ tool: z.string(), arguments: jsonObject }))
    .describe("Reads whose results are part of the state, where it is not in files."),
  volatile: z
    .array(z.string().startsWith("/"))
    .describe(
      "JSON pointers, such as /files/server.log and /results/NAME_get_info/modified, to what differs between equal runs and is left out. In a part, * stands for any text.",
    ),
});

export type ServerFile = z.output<typeof serverFileSchema>;

export interface ServerFileProblem {
  /** Leads to the value that is wrong. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Probes that cannot be made, or must not be. */
export function* findProbeProblems({ probes, tools }: ServerFile): Iterable<ServerFileProblem> {
  for (const [i, { tool }] of probes.entries()) {
    const path = ["probes", i, "tool"];
    if (!Object.hasOwn(tools, tool)) yield { path, message: `there is no tool ${tool}` };
    else if (tools[tool]!.effect === "write")
      yield { path, message: `${tool} is a write, and looking at the state must not change it` };
  }
}

export const getServerFile = (prove: string, server: string): string =>
  join(prove, "servers", `${server}${extension}`);

/** The folder with the texts for a server: what users and the assistant say about it. */
export const getTextFolder = (prove: string, server: string): string =>
  join(prove, "servers", server);

const extension = ".server.json";

/** The name of an entry as that of a server; it may not be valid. */
export const suggestServerName = (entry: string): string =>
  entry
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^[_\d]+|_+$/g, "")
    .slice(0, 31);

/** A file that cannot be used, and why. */
interface FaultyServerFile {
  readonly name: string;
  readonly error: UserError;
}

/** Reads the files of a workspace, in the order of their names. */
export function readServerFiles(prove: string): (ServerFile | FaultyServerFile)[] {
  const folder = join(prove, "servers");
  const names = readIfExists(folder, () => readdirSync(folder)) ?? [];
  return names
    .filter(it => it.endsWith(extension))
    .sort()
    .map(it => {
      const name = it.slice(0, -extension.length);
      try {
        return readServerFile(join(folder, it), name);
      } catch (error) {
        if (error instanceof UserError) return { name, error };
        throw error;
      }
    });
}

export function readServerFile(file: string, name: string): ServerFile {
  const read = readJsonFile(serverFileSchema, file, {
    noun: "a description of a server",
    format: serverFileFormat,
    remedy: "correct it, or write it again with prove-rl connect --again",
  });
  if (read.server !== name)
    throw new UserError(
      `${file} is about the server ${read.server}`,
      `rename it to ${read.server}${extension}`,
    );
  for (const { path, message } of findProbeProblems(read))
    throw new UserError(`${file} has a faulty ${path.join(".")}: ${message}`, "correct that probe");
  return read;
}
