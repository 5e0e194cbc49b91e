/**
 * `graph`: lists the dependency edges between tools, as they are declared, or as names or a chat
 * model suggest them. Verifies edges on live sessions and compares labels with the declarations.
 */
import { resolve } from "node:path";
import {
  addVerdicts,
  createGraph,
  labellers,
  labelTools,
  toEdges,
  writeVerdicts,
  type LabelledEdge,
  type Labeller,
  type ServerGraph,
} from "../app/graph.ts";
import type { ConnectedSession } from "../mcp/connectedSession.ts";
import { isRemote, type ServerEntry } from "../mcp/mcpConfig.ts";
import { describeNoReset } from "../mcp/noReset.ts";
import type { Edge } from "../synthesis/graph/dependencyGraph.ts";
import type { PublishedTool } from "../synthesis/graph/labels.ts";
import {
  listObservedTools,
  observeServer,
  planVerification,
  runVerification,
  type EdgeVerification,
  type Observation,
  type PlannedEdge,
} from "../synthesis/graph/verifyEdges.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { UserError } from "../userError.ts";
import {
  defineCommand,
  flag,
  option,
  optionalArgument,
  type CliContext,
  type OptionValues,
} from "./command.ts";
import { describeTarget, withConnectedServer } from "./connectedServer.ts";
import {
  connectOption,
  endpointOptions,
  jsonFlag,
  oneOf,
  outputPath,
  readEndpointOptions,
  seedOption,
  trustServerFlag,
} from "./options.ts";

const graphOptions = {
  connect: connectOption,
  trustServer: trustServerFlag,
  by: option(
    "--by <labels>",
    "where edges come from (default: declared, or names with --connect)",
    {
      parser: oneOf(labellers, "nobody labels by"),
    },
  ),
  model: option("--model <name>", "the model of --by model, as the endpoint names it"),
  verify: flag("--verify", "run every edge on live sessions"),
  out: option("--out <file>", "file for the verdicts of --verify, which synthesis reads", {
    parser: outputPath("prove/graphs/audit.jsonl"),
  }),
  seed: seedOption,
  json: jsonFlag,
  ...endpointOptions,
};
type GraphOptions = OptionValues<typeof graphOptions>;

export const graph = defineCommand({
  name: "graph",
  description:
    "List which tool needs the result of which other tool. With --verify, run every edge on live sessions; with --by, label the pairs in another way and compare the labels with the declarations.",
  arguments: [optionalArgument("[server]", "only this server (default: all)")],
  options: graphOptions,
  examples: [
    "graph banking --verify",
    "graph --verify --out prove/graphs/audit.jsonl",
    "graph video_meeting --by model --model qwen3-4b",
    "graph --connect memory",
  ],
  async run(context, [name], options) {
    const { catalog, print } = context;
    const { connect, out, verify, seed, json } = options;
    const labelling = {
      by: chooseLabeller(options),
      model: options.model,
      endpoint: readEndpointOptions(options),
    };
    if (out !== undefined && !verify)
      throw new UserError("--out keeps what a run has shown, and nothing was run", "add --verify");
    const graphs: ServerGraph[] = [];
    if (connect !== undefined)
      graphs.push(await createConnectedGraph(context, connect, labelling, options));
    else
      for (const server of name === undefined ? catalog.servers.keys() : [name])
        graphs.push(await createGraph(context, server, { ...labelling, verify, seed }));
    if (out !== undefined) {
      const { all, rejected } = await writeVerdicts(graphs, resolve(context.cwd, out));
      context.printNote(`${out} has ${all} verdicts, ${rejected} of them reject the edge`);
    }
    if (json) print(JSON.stringify(graphs, null, 2));
    else for (const it of graphs) for (const line of formatGraph(it)) print(escapeInvisible(line));
    return 0;
  },
});

function chooseLabeller({ by, connect }: GraphOptions): Labeller {
  if (by === "declared" && connect !== undefined)
    throw new UserError(
      "a connected server declares no entities",
      "choose --by names or --by model",
    );
  return by ?? (connect === undefined ? "declared" : "names");
}

/** A connected server declares nothing, and only what its entry allows is run. */
function createConnectedGraph(
  context: CliContext,
  name: string,
  labelling: Parameters<typeof labelTools>[2],
  options: GraphOptions,
): Promise<ServerGraph> {
  return withConnectedServer(context, { ...options, connect: name }, async session => {
    const reads = listObservedTools(session);
    if (reads.length > 0)
      context.printNote(
        `${describeCalls("graph calls these read-only tools", session.entry)}: ${reads.map(it => escapeInvisible(it.name)).join(", ")}`,
      );
    const observed = await observeServer(session, context.signal);
    const edges = toEdges(await labelTools(name, observed.tools, labelling, context));
    const verifications = options.verify
      ? await verifyConnectedEdges(context, session, edges, observed, options.trustServer)
      : [];
    return {
      server: name,
      by: labelling.by,
      edges: addVerdicts(edges, verifications, new Map()),
    };
  });
}

function formatGraph({ server, hash, by, edges, agreement }: ServerGraph): string[] {
  const runEdges = edges.filter(it => it.verified !== undefined);
  const count = (verified: EdgeVerification["verified"]) =>
    runEdges.filter(it => it.verified === verified).length;
  const counts = `${count("works")} work, ${count("fails")} fail, ${count("untried")} untried`;
  return [
    `${server}: ${edges.length} edges ${by === "declared" ? `(${hash})` : `by ${by}`}${runEdges.length > 0 ? `, run: ${counts}` : ""}`,
    ...edges.map(it => `  ${formatEdge(it)}`),
    ...Object.entries(agreement ?? {}).map(
      ([kind, { precision, recall, both, labelled, reference }]) =>
        `  ${kind}, against the declarations: precision ${precision} (${both} of ${labelled}), recall ${recall} (${both} of ${reference})`,
    ),
  ];
}

function formatEdge({
  a,
  b,
  kind,
  via,
  confidence,
  verified,
  why,
  rejected,
}: LabelledEdge): string {
  const flow = via ? `  ${via.output} -> ${via.input}${via.entity ? ` (${via.entity})` : ""}` : "";
  const verdict = verified
    ? `  ${verified}${why === undefined ? "" : `: ${why}`}`
    : rejected === undefined
      ? ""
      : `  not walked (${rejected})`;
  return `${a} -> ${b}  ${kind}${flow}  ${confidence}${verdict}`;
}

/** A person who can be asked has to agree to writes, unless the command line already does. */
async function verifyConnectedEdges(
  { printNote, confirm, signal }: CliContext,
  session: ConnectedSession,
  edges: readonly Edge[],
  observed: Observation,
  trustsServer: boolean,
): Promise<EdgeVerification[]> {
  const { entry } = session;
  let plan = planVerification(edges, observed, tool =>
    tool.effect === "read" || entry.reset
      ? undefined
      : `${tool.name} is not marked as read-only, and ${describeNoReset(entry)}`,
  );
  printNote(describePlan(entry, plan).map(escapeInvisible).join("\n"));
  const writes = plan.some(it => it.run?.tool.effect === "write");
  if (writes && confirm && !trustsServer && !(await confirm("make these calls that write?")))
    plan = planVerification(edges, observed, tool =>
      tool.effect === "read" ? undefined : `${tool.name} writes, which you did not allow`,
    );
  const verifications: EdgeVerification[] = [];
  for await (const it of runVerification(session, plan, signal)) verifications.push(it);
  return verifications;
}

/** The heading of a list of tools that are about to be called, with the command that runs them. */
const describeCalls = (what: string, entry: ServerEntry): string =>
  `${what} of ${escapeInvisible(entry.name)} (${describeTarget(entry)})`;

function describePlan(entry: ServerEntry, plan: readonly PlannedEdge[]): string[] {
  const calls = new Map<string, string>();
  for (const { run } of plan)
    if (run && !calls.has(run.tool.name)) calls.set(run.tool.name, describeCall(run));
  const refused = new Set(plan.flatMap(it => it.refused?.name ?? []));
  return [
    calls.size > 0
      ? `${describeCalls("--verify calls these tools", entry)}:`
      : describeCalls("--verify calls no tool", entry),
    ...Array.from(calls.values(), it => `  ${it}`),
    ...(refused.size > 0
      ? [
          `  not called, because they are not marked as read-only: ${[...refused].join(", ")}`,
          isRemote(entry)
            ? `  ${describeNoReset(entry)}`
            : `  to run them on a copy, add a reset to entry ${entry.name} of prove/mcp.json, such as "reset": {"folder": "seeds/start"}`,
        ]
      : []),
  ];
}

const describeCall = ({ tool, tries }: NonNullable<PlannedEdge["run"]>): string =>
  `${tool.name}, which ${describeEffect(tool)}, for example with ${shorten(JSON.stringify(tries[0]))}`;

const describeEffect = ({ effect }: PublishedTool): string =>
  effect === "read" ? "is marked as read-only" : "may change what it can reach";

const shorten = (text: string) => (text.length > 100 ? `${text.slice(0, 100)}…` : text);
