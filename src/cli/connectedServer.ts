/** Runs a third-party MCP server of the workspace while a command works with it. */
import { join } from "node:path";
import { connectServer, type ConnectedSession } from "../mcp/connectedSession.ts";
import { hasConsent, storeConsent } from "../mcp/connected/consents.ts";
import { suggestServerName } from "../mcp/connected/serverFile.ts";
import {
  allowsWrites,
  findServerEntry,
  isRemote,
  needsConsent,
  type ProgramEntry,
  type ServerEntry,
} from "../mcp/mcpConfig.ts";
import { describeHeaders, describeUrl } from "../mcp/remoteSetting.ts";
import { describeReset } from "../mcp/resetSetting.ts";
import { describeOmission } from "../mcp/toolList.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { describeProgram } from "../trajectory/programText.ts";
import { UserError } from "../userError.ts";
import type { CliContext } from "./command.ts";

/** The server to start, and whether the command line agrees to all that it may change. */
interface ConnectOptions {
  readonly connect: string;
  readonly trustServer: boolean;
}

/**
 * Starts the server with that name in `prove/mcp.json`, and stops it once the work is done. Shows
 * what is started. A server whose tools may change things is started only with consent.
 */
export async function withConnectedServer<T>(
  context: CliContext,
  options: ConnectOptions,
  work: (session: ConnectedSession) => Promise<T>,
): Promise<T> {
  const { prove, cwd, signal, printNote } = context;
  const entry = findServerEntry(join(prove, "mcp.json"), cwd, options.connect);
  await requireStart(context, entry, options.trustServer);
  const session = await connectServer(entry, signal);
  const omitted = session.omittedTools.map(it => `  ${escapeInvisible(describeOmission(it))}`);
  if (omitted.length > 0)
    printNote(
      [
        `not all that ${escapeInvisible(entry.name)} lists can be offered:`,
        ...truncateList(omitted),
      ].join("\n"),
    );
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

/**
 * Shows what is started, and asks where its tools may change things. Before a server that is far
 * away is spoken to for the first time, a person must agree, because it is sent headers.
 */
export async function requireStart(
  context: CliContext,
  entry: ServerEntry,
  isTrusted: boolean,
): Promise<void> {
  context.printNote(describeStart(entry).join("\n"));
  // what may be anybody's data is asked about each time
  const isShared = allowsWrites(entry) && !entry.reset;
  const isKnown = !isShared && hasConsent(entry);
  if (isTrusted || isKnown || !needsConsent(entry)) return;
  await requireConsent(context, entry);
  if (isRemote(entry)) await storeConsent(entry);
}

/** The name of an entry as that of an environment. */
export function chooseServerName(wanted: string, { catalog }: CliContext): string {
  const name = suggestServerName(wanted);
  if (!/^[a-z][a-z0-9_]{1,30}$/.test(name))
    throw new UserError(
      `${wanted} cannot be the name of a server in tasks`,
      "add --as and a name of 2 to 31 lower-case letters, digits and _, which begins with a letter",
    );
  if (catalog.servers.has(name))
    throw new UserError(
      `${name} is a server that ships`,
      `choose another, such as --as my_${name}`,
    );
  return name;
}

/** The command line of a server, or its address. */
export function describeTarget(entry: ServerEntry): string {
  if (isRemote(entry)) return describeUrl(entry.url);
  const { program, args } = describeProgram(entry);
  return [program, ...args].join(" ");
}

/** Describes the command, the folder and the environment of a server, or the address and headers. */
function describeStart(entry: ServerEntry): string[] {
  return [
    ...(isRemote(entry)
      ? [`connecting to ${describeTarget(entry)}`, `  with ${describeHeaders(entry)}`]
      : describeProgramStart(entry)),
    ...(entry.ignoredKeys.length > 0
      ? [`  keys of its entry without an effect here: ${entry.ignoredKeys.join(", ")}`]
      : []),
    ...describePermission(entry),
  ].map(escapeInvisible);
}

function describeProgramStart(entry: ProgramEntry): string[] {
  const { folder, variables } = describeProgram(entry);
  return [
    `starting ${describeTarget(entry)} in ${folder}`,
    `  with the environment variables ${variables.join(", ")}`,
  ];
}

function describePermission({ isDisposable, reset }: ServerEntry): string[] {
  const all = "all its tools may be called";
  if (isDisposable)
    return [
      `  it is marked as disposable: ${all}, and they may change or delete everything they can reach`,
    ];
  return reset
    ? [
        `  ${all}: it works on ${describeReset(reset)}, but its tools may change or delete what else they can reach`,
      ]
    : [];
}

const maxListed = 20;

const truncateList = (lines: readonly string[]): readonly string[] =>
  lines.length > maxListed
    ? [...lines.slice(0, maxListed), `  and ${lines.length - maxListed} more`]
    : lines;

async function requireConsent({ confirm }: CliContext, entry: ServerEntry): Promise<void> {
  const { name } = entry;
  const changes = allowsWrites(entry);
  if (!confirm)
    throw new UserError(
      changes
        ? `the tools of ${name} may make changes, and it starts only with consent`
        : `${name} is remote, and PROVE connects to it only with consent`,
      `read what would be ${isRemote(entry) ? "sent" : "started"} above, then add --trust-server, or run the command in a terminal`,
    );
  const action = isRemote(entry) ? "connect to" : "start";
  if (!(await confirm(`${action} ${name}${changes ? " and let its tools make changes" : ""}?`)))
    throw new UserError(`${name} was not started`, "answer y to start it");
}
