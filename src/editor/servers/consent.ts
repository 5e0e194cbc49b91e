/**
 * Describes what a person agrees to before a third-party server is started whose tools may change
 * things, or a remote one is connected to: the program with all that it is started with, or
 * the address and what is sent to it.
 */
import { isRemote, type ServerEntry } from "../../mcp/mcpConfig.ts";
import { describeHeaders, describeUrl } from "../../mcp/remoteSetting.ts";
import { describeReset } from "../../mcp/resetSetting.ts";
import { describeProgram } from "../../trajectory/programText.ts";

/** Lists the command, each argument, the folder and the variables of a server, without values. */
export function describeStart(entry: ServerEntry): string {
  if (isRemote(entry))
    return [
      `Address: ${describeUrl(entry.url)}`,
      `It is sent ${describeHeaders(entry)}.`,
      describePermission(entry),
    ].join("\n\n");
  const { program, args, folder, variables } = describeProgram(entry);
  return [
    `Command: ${program}`,
    args.length === 0
      ? "Arguments: none"
      : ["Arguments:", ...args.map((it, i) => `  ${i + 1}. ${it}`)].join("\n"),
    `Folder: ${folder}`,
    `Environment variables: ${variables.join(", ")}`,
    describePermission(entry),
  ].join("\n\n");
}

function describePermission({ isDisposable, reset }: ServerEntry): string {
  if (isDisposable)
    return "It is marked as disposable: all its tools may be called, and they may change or delete everything they can reach.";
  return reset
    ? `All its tools may be called: it works on ${describeReset(reset)}, but they may change or delete what else they can reach.`
    : "Only tools that are known to read are called.";
}
