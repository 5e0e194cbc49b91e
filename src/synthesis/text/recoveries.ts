/** Reads and checks what a server declares about recovering from refusals. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Server, Tool } from "../../environment/server.ts";
import { parseJson } from "../../storage/parseJson.ts";
import { readTextFile } from "../../storage/readTextFile.ts";
import { UserError } from "../../userError.ts";
import {
  serverRecoveriesSchema,
  type ArgumentSource,
  type ServerRecoveries,
} from "./recoverySchema.ts";

/** Reads recoveries.json from a server's folder; a server without one declares nothing. */
export function readRecoveries(folder: string, server: Server): ServerRecoveries {
  const file = join(folder, server.name, "recoveries.json");
  return existsSync(file)
    ? parseRecoveries(server, readTextFile(file), file)
    : { format: "prove/recoveries@1", server: server.name };
}

/** Parses the text of a recoveries file. Throws a `UserError` that names the first error. */
export function parseRecoveries(server: Server, text: string, file: string): ServerRecoveries {
  const recoveries = parseJson(serverRecoveriesSchema, text, { file, noun: "a recoveries file" });
  const error = findRecoveryErrors(recoveries, server)[0];
  if (error !== undefined) throw new UserError(`${file}: ${error}`, "correct that recovery");
  return recoveries;
}

/** Checks tools, arguments and named groups. Returns one message per error. */
function findRecoveryErrors(recoveries: ServerRecoveries, server: Server): string[] {
  const { repairs = [], hints = [], moved = [] } = recoveries;
  const errors: string[] = [];
  if (recoveries.server !== server.name)
    errors.push(`server is ${recoveries.server}, not ${server.name}`);
  const getTool = (name: string): Tool | undefined => {
    const tool = server.tools.get(name);
    if (!tool) errors.push(`${server.name} has no tool ${name}`);
    return tool;
  };
  const checkArguments = (
    tool: Tool | undefined,
    of: readonly string[],
    refused: string,
    sources: Readonly<Record<string, ArgumentSource>>,
  ) => {
    const refusedTools = of.map(getTool);
    for (const [key, source] of Object.entries(sources)) {
      if (tool && !hasArgument(tool, key)) errors.push(`${tool.name} has no argument ${key}`);
      if ("argument" in source)
        for (const it of refusedTools)
          if (it && !hasArgument(it, source.argument))
            errors.push(`${it.name} has no argument ${source.argument}`);
      if ("hint" in source && !refused.includes(`(?<${source.hint}>`))
        errors.push(`"${refused}" has no group ${source.hint}`);
    }
  };
  for (const it of repairs) checkArguments(getTool(it.by), it.of, it.refused, it.arguments);
  for (const it of hints)
    for (const name of it.of) checkArguments(server.tools.get(name), [name], it.refused, it.change);
  for (const { by, argument } of moved) {
    const tool = getTool(by);
    if (tool && !hasArgument(tool, argument)) errors.push(`${by} has no argument ${argument}`);
  }
  return errors;
}

const hasArgument = (tool: Tool, key: string): boolean =>
  Object.hasOwn((tool.inputSchema["properties"] ?? {}) as object, key);
