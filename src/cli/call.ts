/** `call`: makes one call in a fresh session and shows its outcome and what it changed. */
import { relative } from "node:path";
import { getCassetteFile } from "../mcp/connected/cassette.ts";
import { Recorder } from "../mcp/connected/recording.ts";
import type { ConnectedSession } from "../mcp/connectedSession.ts";
import { UserError } from "../userError.ts";
import { isJsonObject } from "../environment/json.ts";
import { getUsableServer } from "../environment/catalog.ts";
import { openSession } from "../environment/session.ts";
import type { CallResult, Outcome, Patch } from "../environment/outcome.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { parseCallArguments } from "../storage/exactJson.ts";
import { argument, defineCommand, flag, type CliContext, type Parser } from "./command.ts";
import { chooseServerName, withConnectedServer } from "./connectedServer.ts";
import { connectOption, fixtureOption, jsonFlag, seedOption, trustServerFlag } from "./options.ts";

const jsonText: Parser<unknown> = {
  parse(text) {
    try {
      return parseCallArguments(text);
    } catch (cause) {
      throw new UserError(
        `the arguments are not JSON (${(cause as Error).message})`,
        `write them as '{"key": "value"}'`,
        { cause },
      );
    }
  },
};

export const call = defineCommand({
  name: "call",
  description:
    "Make one call in a fresh session, or on a server of prove/mcp.json. Prints the outcome and what the call changed in the state; exits with 1 if the call fails.",
  arguments: [
    argument("<tool>", "full name of the tool", { required: "the name of a tool" }),
    argument("[arguments]", "arguments as a JSON object", { parser: jsonText, default: {} }),
  ],
  options: {
    fixture: fixtureOption,
    seed: seedOption,
    connect: connectOption,
    record: flag(
      "--record",
      "keep the answer of the server of --connect in prove/servers, for environments without it",
    ),
    trustServer: trustServerFlag,
    json: jsonFlag,
  },
  examples: [
    `call banking_get_balance '{"account_id": "acc_101"}'`,
    `call banking_list_accounts --fixture small --json`,
  ],
  async run(context, [tool, args], { fixture, seed, connect, record, trustServer, json }) {
    if (record && connect === undefined)
      throw new UserError("--record needs a server that answers", "add --connect NAME");
    const result: Result =
      connect === undefined
        ? callTool(context, tool, args, { fixture, seed })
        : await withConnectedServer(context, { connect, trustServer }, async session => ({
            outcome: record
              ? await recordCall(context, session, tool, args)
              : await session.call(tool, args),
          }));
    if (json) context.print(JSON.stringify(result, null, 2));
    else for (const line of formatResult(result)) context.print(escapeInvisible(line));
    return result.outcome.kind === "ok" ? 0 : 1;
  },
});

/** The state of a connected server is not visible, so its result has no patches. */
type Result = CallResult | { readonly outcome: Outcome; readonly patches?: never };

function callTool(
  { catalog }: CliContext,
  name: string,
  args: unknown,
  { fixture, seed }: { readonly fixture: string; readonly seed: number },
): CallResult {
  const tool = catalog.tools.get(name);
  const server = tool && catalog.getServer(tool.server);
  const own = [...catalog.own.keys()].find(it => name.startsWith(`${it}_`));
  if (!server && own !== undefined) getUsableServer(catalog, own);
  if (!server) throw new UserError(`there is no tool ${name}`, "prove-rl tools lists them");
  const session = openSession({
    servers: [{ server, fixture: catalog.getFixture(server.name, fixture) }],
    seed,
  });
  return session.call(name, args);
}

/** Makes a call on a server, and keeps its answer. */
async function recordCall(
  context: CliContext,
  session: ConnectedSession,
  tool: string,
  args: unknown,
): Promise<Outcome> {
  if (!isJsonObject(args))
    throw new UserError("only calls with an object of arguments are recorded", "correct them");
  const file = getCassetteFile(context.prove, chooseServerName(session.entry.name, context));
  const recorder = Recorder.open(session, file);
  try {
    const outcome = await recorder.record(tool, args);
    const place = relative(context.cwd, file);
    context.printNote(
      recorder.newCount > 0
        ? `recorded in ${place}`
        : recorder.changed.length > 0
          ? `${place} has another answer to this call, which it keeps`
          : recorder.cassette.find(tool, args)
            ? `${place} has this answer already`
            : `nothing was recorded in ${place}: the server did not answer the call`,
    );
    return outcome;
  } finally {
    recorder.close();
  }
}

function formatResult({ outcome, patches = [] }: Result): string[] {
  const lines =
    outcome.kind === "ok"
      ? `ok ${JSON.stringify(outcome.value, null, 2)}`.split("\n")
      : [`${outcome.kind} (${outcome.type}): ${outcome.message}`];
  if (outcome.kind !== "ok" && outcome.hint) lines.push(`  hint: ${outcome.hint}`);
  if (patches.length) lines.push("changed:", ...patches.map(it => `  ${formatPatch(it)}`));
  return lines;
}

const formatPatch = ({ op, path, value }: Patch) =>
  op === "remove" ? `- ${path}` : `${op === "add" ? "+" : "~"} ${path} = ${JSON.stringify(value)}`;
