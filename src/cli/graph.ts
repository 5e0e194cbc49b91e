/**
 * `graph`: lists the dependency edges between tools, as they are declared, or as names or a chat
 * model suggest them. Verifies edges on live sessions and compares labels with the declarations.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { UserError } from "../userError.ts";
import {
  verifyEdges,
  type EdgeVerification,
  listObservedTools,
  observeServer,
  planVerification,
  runVerification,
  type Observation,
  type PlannedEdge,
} from "../synthesis/graph/verifyEdges.ts";
import {
  listVerdictFiles,
  formatVerdict,
  readVerdicts,
  findVerdict,
  type EdgeVerdicts,
  getDependencyGraph,
  type Edge,
} from "../synthesis/graph/dependencyGraph.ts";
import {
  measureAgreement,
  listDeclaredLabels,
  type Label,
  type PublishedTool,
  labelByNames,
  LabelCache,
  labelWithModel,
} from "../synthesis/graph/labels.ts";
import { readTemplates } from "../synthesis/text/templates.ts";
import { createVerificationSetup } from "../synthesis/user/verificationSetup.ts";
import { writeFileAtomically } from "../storage/atomicWrite.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import {
  defineCommand,
  flag,
  option,
  optionalArgument,
  type CliContext,
  type OptionValues,
} from "./command.ts";
import { withConnectedServer } from "./connectedServer.ts";
import { openEndpointFor, sentContent, toUserError } from "../app/endpoints.ts";
import {
  oneOf,
  outputPath,
  connectOption,
  jsonFlag,
  seedOption,
  trustServerFlag,
  endpointOptions,
  readEndpointOptions,
} from "./options.ts";
import { allowsTool, type ServerEntry } from "../mcp/mcpConfig.ts";
import type { ConnectedSession } from "../mcp/connectedSession.ts";
import { describeProgram } from "../trajectory/programText.ts";

const labellers = ["declared", "names", "model"] as const;
type Labeller = (typeof labellers)[number];

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
    const { connect, out, json } = options;
    const by = chooseLabeller(options);
    if (out !== undefined && !options.verify)
      throw new UserError("--out keeps what a run has shown, and nothing was run", "add --verify");
    const graphs: ServerGraph[] = [];
    if (connect !== undefined)
      graphs.push(await createConnectedGraph(context, connect, by, options));
    else
      for (const server of name === undefined ? catalog.servers.keys() : [name])
        graphs.push(await createGraph(context, server, by, options));
    if (out !== undefined) await writeVerdicts(graphs, out, context);
    if (json) print(JSON.stringify(graphs, null, 2));
    else for (const it of graphs) for (const line of formatGraph(it)) print(escapeInvisible(line));
    return 0;
  },
});

/** An edge of any labeller, with the result of running it. */
type LabelledEdge = Pick<Edge, "a" | "b" | "kind" | "confidence"> & {
  via?: { output: string; input: string; entity?: string };
} & Partial<Pick<EdgeVerification, "verified" | "why">> & { rejected?: string };

interface ServerGraph {
  readonly server: string;
  readonly hash?: string;
  readonly by: string;
  readonly edges: readonly LabelledEdge[];
  /** How far the labels agree with the declarations, by kind of edge. */
  readonly agreement?: Readonly<Record<string, ReturnType<typeof measureAgreement>>>;
}

/**
 * Writes the edges that were run as verdicts, which synthesis reads from
 * `prove/graphs/audit.jsonl`.
 */
async function writeVerdicts(
  graphs: readonly ServerGraph[],
  out: string,
  { cwd, printNote }: CliContext,
): Promise<void> {
  const edges = graphs.flatMap(it =>
    it.edges.filter(edge => edge.verified === "works" || edge.verified === "fails"),
  );
  const lines = edges.map(({ a, b, via, verified, why = "the second call succeeds" }) =>
    formatVerdict({
      a,
      b,
      ...(via ? { input: via.input } : {}),
      verdict: verified === "works" ? "accept" : "reject",
      reason: why,
      author: "run",
    }),
  );
  const file = resolve(cwd, out);
  mkdirSync(dirname(file), { recursive: true });
  await writeFileAtomically(file, lines.map(it => `${it}\n`).join(""));
  const rejected = edges.filter(it => it.verified === "fails").length;
  printNote(`${out} has ${lines.length} verdicts, ${rejected} of them reject the edge`);
}

function chooseLabeller({ by, connect }: GraphOptions): Labeller {
  if (by === "declared" && connect !== undefined)
    throw new UserError(
      "a connected server declares no entities",
      "choose --by names or --by model",
    );
  return by ?? (connect === undefined ? "declared" : "names");
}

async function createGraph(
  context: CliContext,
  name: string,
  by: Labeller,
  options: GraphOptions,
): Promise<ServerGraph> {
  const { catalog, resources, prove } = context;
  const server = catalog.getServer(name);
  const storedVerdicts = readVerdicts(listVerdictFiles(resources, prove));
  const { edges: declaredEdges, hash } = getDependencyGraph(server);
  const declared = listDeclaredLabels({ edges: declaredEdges });
  const labels =
    by === "declared"
      ? declared
      : await labelTools(by, name, [...server.tools.values()], context, options);
  const edges = by === "declared" ? declaredEdges : toEdges(labels);
  const verifications = options.verify
    ? await verifyServer(context, name, edges, options.seed)
    : [];
  return {
    server: name,
    hash,
    by,
    edges: addVerdicts(edges, verifications, storedVerdicts),
    ...(by === "declared"
      ? {}
      : {
          agreement: {
            explicit: measureAgreement(labels, declared, "explicit"),
            implicit: measureAgreement(labels, declared, "implicit"),
          },
        }),
  };
}

/** Runs the edges of one server on live sessions. */
async function verifyServer(
  { catalog, resources, signal, showProgress }: CliContext,
  name: string,
  edges: readonly Edge[],
  seed: number,
): Promise<EdgeVerification[]> {
  const setup = createVerificationSetup({
    catalog,
    server: name,
    fixtures: catalog.listFixtures(name),
    templates: readTemplates(join(resources, "servers"), catalog.getServer(name)),
    seed,
  });
  const verifications: EdgeVerification[] = [];
  for (const it of verifyEdges(edges, setup)) {
    verifications.push(it);
    showProgress(`${name}: ${verifications.length} pairs run`);
    // lets an interruption be noticed
    await setImmediate();
    signal.throwIfAborted();
  }
  return verifications;
}

/** A connected server declares nothing, and only what its entry allows is run. */
function createConnectedGraph(
  context: CliContext,
  name: string,
  by: Labeller,
  options: GraphOptions,
): Promise<ServerGraph> {
  return withConnectedServer(context, { ...options, connect: name }, async session => {
    const reads = listObservedTools(session);
    if (reads.length > 0)
      context.printNote(
        `${describeCalls("graph calls these read-only tools", session.entry)}: ${reads.map(it => escapeInvisible(it.name)).join(", ")}`,
      );
    const observed = await observeServer(session, context.signal);
    const edges = toEdges(await labelTools(by, name, observed.tools, context, options));
    const verifications = options.verify
      ? await verifyConnectedEdges(context, session, edges, observed, options.trustServer)
      : [];
    return { server: name, by, edges: addVerdicts(edges, verifications, new Map()) };
  });
}

/**
 * Labels pairs of tools by their names or with a chat model. The model's labels are kept in
 * `prove/graphs`, and it is asked only for those that are missing.
 */
async function labelTools(
  by: Labeller,
  name: string,
  tools: readonly PublishedTool[],
  context: CliContext,
  options: GraphOptions,
): Promise<readonly Label[]> {
  if (by === "names") return labelByNames(tools);
  const { prove, signal, showProgress } = context;
  if (options.model === undefined)
    throw new UserError(
      "--by model needs to know which model labels",
      "add --model, as the endpoint names it",
    );
  const { endpoint, concurrency } = openEndpointFor(
    { ...readEndpointOptions(options), model: options.model },
    sentContent.graph,
    context,
  );
  return labelWithModel({
    tools,
    model: endpoint,
    cache: new LabelCache(join(prove, "graphs", `${toFileName(name)}.labels.jsonl`)),
    concurrency,
    signal,
    onProgress: (done, total) => showProgress(`${name}: ${done} of ${total} pairs labelled`),
  }).catch((error: unknown) => {
    throw toUserError(error);
  });
}

/** A name that cannot be the name of a file, such as one with a slash, becomes one of its own. */
const toFileName = (name: string): string =>
  /^[A-Za-z0-9][\w .-]{0,59}$/.test(name)
    ? name
    : `${name.replaceAll(/[^\w.-]+/g, "-").slice(0, 40)}-${createHash("sha256").update(name).digest("hex").slice(0, 12)}`;

const toEdges = (labels: readonly Label[]): Edge[] =>
  labels.flatMap(({ a, b, label, via, confidence }): Edge[] =>
    label === "none"
      ? []
      : [{ a, b, kind: label, ...(via ? { via: { ...via, entity: "" } } : {}), confidence }],
  );

function addVerdicts(
  edges: readonly Edge[],
  verifications: readonly EdgeVerification[],
  storedVerdicts: EdgeVerdicts,
): LabelledEdge[] {
  return edges.map((edge, i) => {
    const verification = verifications[i];
    const verdict = findVerdict(edge, storedVerdicts);
    return {
      ...edge,
      ...(verdict?.verdict === "reject"
        ? { rejected: `${verdict.author}: ${verdict.reason}` }
        : {}),
      ...(verification
        ? {
            verified: verification.verified,
            ...(verification.why === undefined ? {} : { why: verification.why }),
          }
        : {}),
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
    allowsTool(entry, tool)
      ? undefined
      : `${tool.name} is not marked as read-only, and ${entry.name} is not disposable`,
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
function describeCalls(what: string, entry: ServerEntry): string {
  const { program, args } = describeProgram(entry);
  return `${what} of ${escapeInvisible(entry.name)} (${[program, ...args].join(" ")})`;
}

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
          `  if everything that ${entry.name} can reach may be changed or lost, write "disposable": true into its entry in prove/mcp.json`,
        ]
      : []),
  ];
}

const describeCall = ({ tool, tries }: NonNullable<PlannedEdge["run"]>): string =>
  `${tool.name}, which ${describeEffect(tool)}, for example with ${shorten(JSON.stringify(tries[0]))}`;

const describeEffect = ({ effect }: PublishedTool): string =>
  effect === "read" ? "is marked as read-only" : "may change or delete everything it can reach";

const shorten = (text: string) => (text.length > 100 ? `${text.slice(0, 100)}…` : text);
