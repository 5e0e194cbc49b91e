/**
 * Explores a third-party server in sandboxes: which tools write, how failures and results that are
 * text look, which values of results other tools take, and what differs between equal runs.
 */
import { fixtureFormat, type Fixture } from "../../environment/fixture.ts";
import { listRequired } from "../../environment/schemaKeywords.ts";
import type { LoggedCall } from "../../environment/server.ts";
import type { ServerEntry } from "../mcpConfig.ts";
import { createNoResetError } from "../noReset.ts";
import { defaultSeed } from "../resetSetting.ts";
import { ServerConnection } from "../serverConnection.ts";
import { describeOmission, type ConnectedTool, type ToolList } from "../toolList.ts";
import { acceptByName, exploreArguments, type ArgumentFindings } from "./acceptedValues.ts";
import { addLists, addNewThings, findKinds, markExamples, markKinds } from "./entityKinds.ts";
import { chooseProbes, findVolatile, findWhetherFilesAreNoticed } from "./sandboxChecks.ts";
import { serverFileFormat, type ServerFile } from "./serverFile.ts";
import { defaultLimits, StatePool } from "./statePool.ts";
import { createToolEntry, createToolName, describeTool } from "./toolEntries.ts";
import { Trials, type ExploreLimits } from "./trials.ts";

/** A call that takes as long has hung, or is of little use in training. */
const exploreLimits: ExploreLimits = {
  timeouts: { start: defaultLimits.timeouts.start, call: 10_000 },
  tool: 60_000,
  all: 600_000,
};

export interface ExploreOptions {
  /** The name that the environment gets. */
  readonly name: string;
  /** The time at which its sessions start. */
  readonly now: string;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
  readonly limits?: ExploreLimits;
}

export interface Exploration {
  readonly file: ServerFile;
  readonly fixtures: readonly Fixture[];
  /** What a person should know beside what is in the file. */
  readonly remarks: readonly string[];
}

/** Throws a `UserError` for a server that cannot be reset, with what to add to its entry. */
export async function exploreServer(
  entry: ServerEntry,
  options: ExploreOptions,
): Promise<Exploration> {
  const { limits = exploreLimits } = options;
  const { reset } = entry;
  if (!reset) throw createNoResetError(entry);
  const { list, isOnFiles } = await listTools(entry, options.signal, limits);
  const seeds = reset.kind === "folder" ? Object.keys(reset.folders) : [defaultSeed];
  const chosen = chooseTools(options.name, list);
  const deadline = performance.now() + limits.all;
  const exploring = { ...options, ...chosen, limits, deadline, isOnFiles, seed: seeds[0]! };
  // to put files back is fast, and shows whether the server notices it
  const explored =
    (isOnFiles && (await explore(entry, { ...exploring, restore: "files" }))) ||
    (await explore(entry, { ...exploring, restore: "restart" }));
  if (!explored) throw new Error("a server that is started again for each state was not explored");
  return { ...explored, fixtures: await createFixtures(entry, explored.file, seeds) };
}

async function listTools(
  entry: ServerEntry,
  signal: AbortSignal,
  { timeouts }: ExploreLimits,
): Promise<{ readonly list: ToolList; readonly isOnFiles: boolean }> {
  const connection = await ServerConnection.open(entry, signal, timeouts);
  try {
    return { list: connection.list, isOnFiles: connection.folder !== undefined };
  } finally {
    await connection.close();
  }
}

interface ChosenTools {
  /** By their names in tasks. */
  readonly tools: ReadonlyMap<string, ConnectedTool>;
  readonly leftOut: Readonly<Record<string, string>>;
}

export function chooseTools(server: string, list: ToolList): ChosenTools {
  const tools = new Map<string, ConnectedTool>();
  const leftOut: Record<string, string> = {};
  for (const it of list.omitted) leftOut[it.name] = describeOmission(it);
  for (const tool of list.tools.values()) {
    const name = createToolName(server, tool.name);
    const other = tools.get(name);
    if (other) leftOut[tool.name] = `it has the same name here as ${other.name}`;
    else if (!/^[a-z][a-z0-9_]{2,63}$/.test(name)) leftOut[tool.name] = "its name is too long";
    else tools.set(name, tool);
  }
  return { tools, leftOut };
}

interface Exploring extends ExploreOptions, ChosenTools {
  readonly limits: ExploreLimits;
  readonly deadline: number;
  readonly isOnFiles: boolean;
  readonly seed: string;
  readonly restore: ServerFile["restore"];
}

/** What is found; undefined if a process does not notice that its files are put back. */
async function explore(
  entry: ServerEntry,
  options: Exploring,
): Promise<Omit<Exploration, "fixtures"> | undefined> {
  const { name, now, tools, isOnFiles, restore, onProgress } = options;
  const leftOut = { ...options.leftOut };
  const entries = Object.fromEntries(Array.from(tools, ([key, it]) => [key, createToolEntry(it)]));
  const trials = new Trials({
    ...options,
    entries,
    createPool: (known, limits) => new StatePool(entry, known, limits),
  });
  try {
    if (!isOnFiles) await chooseProbes(trials);
    await trials.observeStart();
    for (const [tool, { inputSchema }] of tools)
      if (listRequired(inputSchema).length === 0) await trials.try(tool, {});
    const findings: ArgumentFindings = { accepted: [], examples: [] };
    const checked = new Set<LoggedCall>();
    let noticesFiles: boolean | undefined;
    // what one tool shows, another one takes, and shows more
    for (let round = 0; round < 2; round++)
      for (const tool of tools.keys()) {
        onProgress(`${name}: ${tool}, ${trials.callCount} calls made`);
        await exploreArguments(tool, trials, findings);
        if (restore === "files") noticesFiles ??= await findWhetherFilesAreNoticed(trials, checked);
        if (noticesFiles === false) return undefined;
      }
    const volatile = await findVolatile(trials);
    await acceptByName(trials, findings);
    trials.startChecks();
    const described = await describeTools(trials, findings);
    for (const [key, it] of tools)
      if (trials.isUnusable(key)) {
        leftOut[it.name] = "calls of it ended the server, or had no result in time";
        delete described[key];
      }
    const file: ServerFile = {
      format: serverFileFormat,
      server: name,
      entry: entry.name,
      summary: `what ${entry.name} works on`,
      now,
      restore: noticesFiles ? "files" : "restart",
      tools: described,
      ...(Object.keys(leftOut).length > 0 ? { leftOut } : {}),
      failures: [...trials.failures],
      probes: trials.probes,
      volatile,
    };
    return { file, remarks: [...trials.remarks, ...trials.listOmissions()] };
  } finally {
    await trials.close();
  }
}

/** What was found about the tools. */
export async function describeTools(
  trials: Trials,
  { accepted, examples }: ArgumentFindings,
): Promise<ServerFile["tools"]> {
  const kinds = findKinds(accepted, trials);
  addLists(kinds, trials);
  await addNewThings(kinds, trials);
  const described = Object.fromEntries(
    Array.from(trials.tools, ([key, it]) => [key, describeTool(key, it, trials)]),
  );
  markKinds(described, kinds, trials);
  markExamples(described, examples);
  return described;
}

async function createFixtures(
  entry: ServerEntry,
  file: ServerFile,
  seeds: readonly string[],
): Promise<Fixture[]> {
  const pool = new StatePool(entry, file);
  try {
    const fixtures: Fixture[] = [];
    for (const name of seeds) {
      const state = await pool.observe(name);
      fixtures.push({ format: fixtureFormat, server: file.server, name, now: file.now, state });
    }
    return fixtures;
  } finally {
    await pool.close();
  }
}
