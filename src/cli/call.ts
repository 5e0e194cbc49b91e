/** `call`: one call in a fresh session, to see what a tool answers and what it changes. */
import { UserError } from "../userError.ts";
import { openSession } from "../environment/session.ts";
import type { CallResult, Outcome, Patch } from "../environment/outcome.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import type { CliCommand, Values } from "./command.ts";
import { withConnectedServer } from "./tools.ts";

export const call: CliCommand = {
  usage: "call <tool> '<json>' [--fixture F] [--seed N | --connect NAME] [--json]",
  summary:
    "Make one call in a fresh session, or on a server of prove/mcp.json: the outcome, and what it changed in the state.",
  options: {
    fixture: { type: "string" },
    seed: { type: "string" },
    connect: { type: "string" },
    json: { type: "boolean" },
  },
  async run(terminal, [name, text = "{}"], values) {
    const { catalog, print } = terminal;
    if (name === undefined)
      throw new UserError("call needs the name of a tool", `usage: prove-rl ${call.usage}`);
    if (typeof values["connect"] === "string") {
      const args = argumentsOf(text);
      return show(
        await withConnectedServer(terminal, values["connect"], async it => ({
          outcome: await it.call(name, args),
        })),
      );
    }
    const tool = catalog.tools.get(name);
    const server = tool && catalog.getServer(tool.server);
    if (!server) throw new UserError(`there is no tool ${name}`, "prove-rl tools lists them");
    const session = openSession({
      servers: [{ server, fixture: catalog.getFixture(server.name, readFixtureName(values)) }],
      seed: readSeed(values),
    });
    return show(session.call(name, argumentsOf(text)));

    function show(called: Answered): number {
      if (values["json"]) print(JSON.stringify(called, null, 2));
      else for (const line of readable(called)) print(escapeInvisible(line));
      return called.outcome.kind === "ok" ? 0 : 1;
    }
  },
};

/** A connected server's state cannot be seen: of what it changed nothing is said. */
type Answered = CallResult | { readonly outcome: Outcome; readonly patches?: never };

/** The fixture that a session starts from where none is named. */
export const readFixtureName = (values: Values): string =>
  (values["fixture"] as string | undefined) ?? "full";

/** `--seed`, 1 where it is not given. Throws a `UserError` for anything but a whole number. */
export function readSeed(values: Values): number {
  const text = (values["seed"] as string | undefined) ?? "1";
  const seed = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(seed))
    throw new UserError(`--seed ${text} is not a whole number`, "give a number such as 1");
  return seed;
}

function argumentsOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new UserError(
      `the arguments are not JSON (${(cause as Error).message})`,
      `write them as '{"key": "value"}'`,
      { cause },
    );
  }
}

function readable({ outcome, patches = [] }: Answered): string[] {
  const lines =
    outcome.kind === "ok"
      ? `ok ${JSON.stringify(outcome.value, null, 2)}`.split("\n")
      : [`${outcome.kind} (${outcome.type}): ${outcome.message}`];
  if (outcome.kind !== "ok" && outcome.hint) lines.push(`  hint: ${outcome.hint}`);
  if (patches.length) lines.push("changed:", ...patches.map(it => `  ${patchLine(it)}`));
  return lines;
}

const patchLine = ({ op, path, value }: Patch) =>
  op === "remove" ? `- ${path}` : `${op === "add" ? "+" : "~"} ${path} = ${JSON.stringify(value)}`;
