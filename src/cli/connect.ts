/**
 * `connect`: makes a third-party server an environment. Explores it in sandboxes, and writes what
 * is known about it and the fixtures that its sessions start from.
 */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { computeDigest, deepFreeze } from "../environment/digest.ts";
import { formatFixture, getFixtureFile } from "../environment/fixture.ts";
import { listRequired, getProperties } from "../environment/schemaKeywords.ts";
import { storeConsent } from "../mcp/connected/consents.ts";
import { createTools } from "../mcp/connected/connectedServer.ts";
import { Cassette, getCassetteFile } from "../mcp/connected/cassette.ts";
import { exploreServer } from "../mcp/connected/explore.ts";
import { exploreRecording } from "../mcp/connected/recording.ts";
import {
  getServerFile,
  getTextFolder,
  readServerFile,
  type ServerFile,
} from "../mcp/connected/serverFile.ts";
import { StatePool } from "../mcp/connected/statePool.ts";
import {
  findServerEntry,
  isRemote,
  readServerEntries,
  type ServerEntry,
} from "../mcp/mcpConfig.ts";
import { createNoResetError } from "../mcp/noReset.ts";
import { describeReset } from "../mcp/resetSetting.ts";
import { completeTemplates } from "../synthesis/text/readTemplates.ts";
import { findTemplateErrors } from "../synthesis/text/templates.ts";
import { writeFileAtomically } from "../storage/atomicWrite.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { UserError } from "../userError.ts";
import { argument, defineCommand, flag, option, type CliContext } from "./command.ts";
import { chooseServerName, requireStart } from "./connectedServer.ts";
import { jsonFlag, trustServerFlag } from "./options.ts";

export const connect = defineCommand({
  name: "connect",
  description:
    "Make a third-party server of prove/mcp.json an environment for tasks, rewards and training. Tries its tools in sandboxes, or on what was recorded of it, and writes prove/servers/NAME.server.json with what they do, which you can edit, and the fixtures that sessions start from. A server that is written down already is only checked.",
  arguments: [
    argument(
      "<name>",
      "a server of prove/mcp.json whose entry has a reset, or one that was recorded",
      {
        required: "the name of a server",
      },
    ),
  ],
  options: {
    as: option("--as <name>", "its name in tasks (default: the name of its entry)"),
    again: flag("--again", "explore it again, and replace what was written about it"),
    trustServer: trustServerFlag,
    json: jsonFlag,
  },
  examples: [
    "connect memory",
    "connect memory --trust-server",
    "connect io.example/notes --as notes",
  ],
  async run(context, [entryName], { as, again, trustServer, json }) {
    const { prove, cwd, print, printNote, showProgress, signal } = context;
    const name = chooseServerName(as ?? entryName, context);
    const path = getServerFile(prove, name);
    const source = findSource(context, entryName, getCassetteFile(prove, name));
    const { entry } = source;
    if (entry) {
      await requireStart(context, entry, trustServer);
      await storeConsent(entry);
    }
    if (existsSync(path) && !again) {
      const file = readServerFile(path, name);
      if (entry) await checkFixtures(context, entry, file);
      for (const line of describeFile(file)) print(line);
      const what = entry ? "server" : "recording";
      printNote(`${relative(cwd, path)} is as it was; --again explores the ${what} again`);
      return 0;
    }
    const fixed = entry && !isRemote(entry) ? entry.time : undefined;
    const now = fixed ?? `${new Date().toISOString().slice(0, 10)}T09:00`;
    const options = { name, now, signal, onProgress: showProgress };
    const explored = entry
      ? await exploreServer(entry, options)
      : await exploreRecording(source.cassette, options);
    const { file, fixtures, remarks } = explored;
    await write(path, `${JSON.stringify(file, null, 2)}\n`);
    const texts = join(getTextFolder(prove, name), "templates.json");
    const hasTexts = existsSync(texts);
    if (!hasTexts) await write(texts, proposeTexts(file));
    for (const it of fixtures)
      await write(getFixtureFile(join(prove, "fixtures"), name, it.name), formatFixture(it));
    if (json) print(JSON.stringify({ file, fixtures: fixtures.map(it => it.name), remarks }));
    else
      for (const line of [
        ...describeFile(file),
        entry
          ? `  state: ${describeReset(entry.reset!)}, as ${fixtures.map(it => it.name).join(", ")}; ${file.restore === "files" ? "files are put back under the running process" : "another state needs another process"}`
          : `  state: constant; ${source.cassette.size} calls are answered from ${relative(cwd, source.cassette.file)}`,
        ...remarks.map(it => `  note: ${it}`),
        `${relative(cwd, path)} says all this, and can be edited`,
        hasTexts
          ? `${relative(cwd, texts)} is kept as it was; delete it for new proposals`
          : `${relative(cwd, texts)} has what users say, proposed from the descriptions: read and edit it`,
        `next: prove-rl synthesize --servers ${name} --count 50 --out prove/tasks/${name}.tasks.jsonl`,
      ])
        print(escapeInvisible(line));
    return 0;
  },
});

/** What is explored: a server in sandboxes, else what was recorded of it. */
type Source =
  { readonly entry: ServerEntry } | { readonly entry?: never; readonly cassette: Cassette };

/** A recording needs neither the server nor its entry. */
function findSource({ prove, cwd }: CliContext, entryName: string, recording: string): Source {
  const file = join(prove, "mcp.json");
  const isRecorded = existsSync(recording);
  const entry = isRecorded
    ? readServerEntries(file, cwd).entries.get(entryName)
    : findServerEntry(file, cwd, entryName);
  if (entry?.reset) return { entry };
  if (entry && !isRecorded) throw createNoResetError(entry);
  return { cassette: Cassette.read(recording) };
}

/** The text of a templates file with proposals. */
function proposeTexts(file: ServerFile): string {
  const server = { name: file.server, tools: createTools(omitVolatile(file), () => null) };
  const templates = completeTemplates(server);
  // an argument whose name cannot be a slot has to be said by a person
  const tools = Object.fromEntries(
    Object.entries(templates.tools).filter(
      ([name, it]) =>
        findTemplateErrors({ ...templates, tools: { [name]: it } }, server).length === 0,
    ),
  );
  return `${JSON.stringify({ ...templates, tools }, null, 2)}\n`;
}

/** The description without fields of results that are left out. */
const omitVolatile = (file: ServerFile): ServerFile => ({
  ...file,
  tools: Object.fromEntries(
    Object.entries(file.tools).map(([name, it]) => {
      const properties = Object.entries(getProperties(it.outputSchema)).filter(
        ([key]) => !file.volatile.includes(`/results/${name}/${key}`),
      );
      const outputSchema = { ...it.outputSchema, properties: Object.fromEntries(properties) };
      return [name, { ...it, outputSchema }];
    }),
  ),
});

async function write(path: string, text: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  await writeFileAtomically(path, text);
}

/** Throws a `UserError` if the server no longer starts from what the fixtures say. */
async function checkFixtures(
  { catalog, prove }: CliContext,
  entry: ServerEntry,
  file: ServerFile,
): Promise<void> {
  const pool = new StatePool(entry, file);
  try {
    for (const fixture of catalog.listFixtures(file.server)) {
      const { state } = catalog.getFixture(file.server, fixture);
      const observed = deepFreeze(await pool.observe(fixture));
      if (computeDigest(observed) !== computeDigest(state))
        throw new UserError(
          `${file.server} no longer starts from what ${getFixtureFile(join(prove, "fixtures"), file.server, fixture)} says`,
          "run prove-rl connect with --again; tasks that were made before no longer fit",
        );
    }
  } finally {
    await pool.close();
  }
}

function describeFile({
  server,
  tools,
  leftOut = {},
  failures,
  volatile,
  probes,
}: ServerFile): string[] {
  const all = Object.entries(tools);
  const count = (effect: string) => all.filter(([, it]) => it.effect === effect).length;
  const kinds = new Set(
    [...JSON.stringify(tools).matchAll(/"x-entity":"([^"]+)"/g)].map(([, it]) => it!),
  );
  const rows = all.map(([name, { inputSchema, effect, because }]) => {
    const required = listRequired(inputSchema);
    const args = Object.keys(getProperties(inputSchema)).map(it =>
      required.includes(it) ? it : `${it}?`,
    );
    return `  ${`${name}(${args.join(", ")})`.padEnd(52)} ${effect.padEnd(5)} ${because ?? ""}`;
  });
  const list = (what: string, values: readonly string[]) =>
    values.length > 0 ? [`  ${what}: ${values.join(", ")}`] : [];
  return [
    `${server}: ${all.length} tools, of which ${count("read")} read and ${count("write")} write`,
    ...rows.map(it => it.trimEnd()),
    ...list("things that tools are about", [...kinds]),
    ...list(
      "left out",
      Object.entries(leftOut).map(([name, reason]) => `${name} (${reason})`),
    ),
    ...list("results that are failures", failures),
    ...list("varies between equal runs", volatile),
    ...list(
      "reads that show the state",
      probes.map(it => it.tool),
    ),
  ].map(escapeInvisible);
}
