/**
 * The key `reset` of an entry in `prove/mcp.json`: how each process of a server gets a state of its
 * own, so that nothing that its tools change is anybody's data.
 */
import { z } from "zod";
import type { JsonObject } from "../environment/json.ts";

export type Reset =
  | {
      readonly kind: "folder";
      /** The folders that are copied, by the name of the fixture. The first is the default. */
      readonly folders: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: "command";
      readonly create: readonly string[];
      readonly remove: readonly string[];
      readonly cwd: string;
    }
  | { readonly kind: "tool"; readonly tool: string; readonly args: JsonObject }
  | { readonly kind: "restart" };

/** What stands for the copied folder, or for the name that `command` creates. */
export const sandboxVariable = "${sandbox}";

/** What stands for the folder of a process whose entry names none. */
export const newFolder = "(a new folder)";

/** The name of the only fixture of a server whose entry does not name any. */
export const defaultSeed = "full";

const seedName = /^[a-z][a-z0-9-]{0,40}$/;
const commandLine = z.array(z.string()).min(1);

const resetKeys = ["folder", "command", "tool", "restart"] as const;

export const resetSchema = z.strictObject({
  folder: z
    .union([z.string().min(1), z.record(z.string().regex(seedName), z.string().min(1))])
    .optional()
    .describe(
      "A folder with the files that the server starts from, or several by name. Each process gets a copy, whose path ${sandbox} stands for in args, env and cwd.",
    ),
  command: commandLine
    .optional()
    .describe(
      "A program with its arguments that creates what a process works on, such as a database, under the name that ${sandbox} stands for.",
    ),
  remove: commandLine.optional().describe("The program that removes what command has created."),
  tool: z.string().min(1).optional().describe("A tool of the server that resets it."),
  arguments: z.record(z.string(), z.json()).optional().describe("The arguments of that tool."),
  restart: z
    .literal(true)
    .optional()
    .describe("The server has its whole state in memory, and starts from the same one each time."),
});

type ResetJson = z.output<typeof resetSchema>;

/** Why the value of the key cannot be used. */
interface ResetFault {
  readonly what: string;
  readonly remedy: string;
}

/** Finds what is wrong with the key. `texts` are those that the server gets. */
export function findResetFault(value: unknown, texts: readonly string[]): ResetFault | undefined {
  const { success, data } = resetSchema.safeParse(value);
  const given = success ? resetKeys.filter(it => data[it] !== undefined) : [];
  if (given.length !== 1 || isEmptyRecord(data!.folder))
    return {
      what: "reset must have one of folder, command, tool and restart",
      remedy: `write for example "reset": {"folder": "seeds/start"} and give ${sandboxVariable} to the server in args, env or cwd`,
    };
  const { command, remove, arguments: args, tool } = data!;
  if ((command === undefined) !== (remove === undefined))
    return command
      ? {
          what: "reset has a command, but nothing that removes what it creates",
          remedy: `add "remove", such as ["dropdb", "${sandboxVariable}"]`,
        }
      : { what: "reset has remove without command", remedy: "remove it" };
  if (args !== undefined && tool === undefined)
    return { what: "reset has arguments without tool", remedy: "remove them" };
  const createsName = given[0] === "folder" || given[0] === "command";
  if (createsName && !texts.some(it => it.includes(sandboxVariable)))
    return {
      what: `reset has ${given[0]}, but the server is not given ${sandboxVariable}`,
      remedy: `write ${sandboxVariable} into args, env or cwd where the server takes its ${command ? "database" : "files or folder"} from`,
    };
  if (command && ![command, remove!].every(line => line.some(it => it.includes(sandboxVariable))))
    return {
      what: `command and remove of reset must both have ${sandboxVariable}`,
      remedy: "write it where they take the name",
    };
  return undefined;
}

const isEmptyRecord = (folder: ResetJson["folder"]) =>
  typeof folder === "object" && Object.keys(folder).length === 0;

/** Whether `${sandbox}` stands for something. */
export const fillsSandbox = (json: ResetJson | null | undefined): boolean =>
  json?.folder !== undefined || json?.command !== undefined;

export function createReset(
  { folder, command, remove, tool, arguments: args }: ResetJson,
  resolveFolder: (path: string) => string,
): Reset {
  if (folder !== undefined) {
    const folders = typeof folder === "string" ? { [defaultSeed]: folder } : folder;
    return {
      kind: "folder",
      folders: Object.fromEntries(
        Object.entries(folders).map(([name, it]) => [name, resolveFolder(it)]),
      ),
    };
  }
  if (command)
    return { kind: "command", create: command, remove: remove!, cwd: resolveFolder(".") };
  if (tool !== undefined) return { kind: "tool", tool, args: args ?? {} };
  return { kind: "restart" };
}

/** What a process works on, for a person to read. */
export function describeReset(reset: Reset): string {
  switch (reset.kind) {
    case "folder":
      return `a copy of ${Object.values(reset.folders).join(" or ")}`;
    case "command":
      return `what ${reset.create.join(" ")} creates`;
    case "tool":
      return `what its tool ${reset.tool} resets`;
    case "restart":
      return "its memory alone, as its entry says";
  }
}
