/**
 * `graph`: the dependency edges between tools, as they are declared, as names suggest them, or as a
 * chat model labels them; held against live sessions and against one another.
 */
import { mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { UserError } from "../userError.ts";
import { verifyEdges, type EdgeVerification } from "../synthesis/graph/verifyEdges.ts";
import {
  listVerdictFiles,
  formatVerdict,
  readVerdicts,
  findVerdict,
  type EdgeVerdicts,
} from "../synthesis/graph/edgeVerdicts.ts";
import { getDependencyGraph, type Edge } from "../synthesis/graph/dependencyGraph.ts";
import {
  measureAgreement,
  listDeclaredLabels,
  type Label,
  type PublishedTool,
} from "../synthesis/graph/labels.ts";
import { labelByNames } from "../synthesis/graph/nameLabels.ts";
import { LabelCache } from "../synthesis/graph/labelCache.ts";
import { labelWithModel } from "../synthesis/graph/modelLabels.ts";
import { observeServer, verifyObservedEdges } from "../synthesis/graph/observedServer.ts";
import { readTemplates } from "../synthesis/text/templates.ts";
import { createVerificationSetup } from "../synthesis/user/edgeArguments.ts";
import { writeFileAtomically } from "../storage/atomicWrite.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { readSeed } from "./call.ts";
import type { CliCommand, CliContext, Values } from "./command.ts";
import {
  readEndpointOptions,
  endpointOptions,
  endpointUsage,
  toUserError,
  openEndpointFor,
  sentContent,
} from "./endpoints.ts";
import { withConnectedServer } from "./tools.ts";

const labellers = ["declared", "names", "model"] as const;
type Labeller = (typeof labellers)[number];

export const graph: CliCommand = {
  usage: `graph [server | --connect NAME] [--by declared|names|model] [--model M] ${endpointUsage} [--verify] [--out F.jsonl] [--seed S] [--json]`,
  summary:
    "List which tool needs which other; --verify runs every pair on live sessions (--out keeps what that shows), --by compares other labels with the declarations.",
  options: {
    connect: { type: "string" },
    by: { type: "string" },
    model: { type: "string" },
    ...endpointOptions,
    verify: { type: "boolean" },
    out: { type: "string" },
    seed: { type: "string" },
    json: { type: "boolean" },
  },
  async run(terminal, [name], values) {
    const by = labellerOf(values);
    const found: Found[] = [];
    if (typeof values["connect"] === "string")
      found.push(await connectedGraph(terminal, values["connect"], by, values));
    else
      for (const server of name === undefined ? terminal.catalog.servers.keys() : [name])
        found.push(await ownGraph(terminal, server, by, values));
    if (typeof values["out"] === "string") await keep(found, values["out"], terminal, values);
    if (values["json"]) terminal.print(JSON.stringify(found, null, 2));
    else
      for (const it of found)
        for (const line of readable(it)) terminal.print(escapeInvisible(line));
    return 0;
  },
};

/** An edge of any labeller, with what running it showed. */
type Shown = Pick<Edge, "a" | "b" | "kind" | "confidence"> & {
  via?: { output: string; input: string; entity?: string };
} & Partial<Pick<EdgeVerification, "verified" | "why">> & { rejected?: string };

interface Found {
  readonly server: string;
  readonly hash?: string;
  readonly by: string;
  readonly edges: readonly Shown[];
  /** How far the labels agree with the declarations, by kind of edge. */
  readonly agreement?: Readonly<Record<string, ReturnType<typeof measureAgreement>>>;
}

/**
 * Writes what running the edges has shown, as verdicts that synthesis reads from
 * `prove/graphs/audit.jsonl`.
 */
async function keep(
  found: readonly Found[],
  out: string,
  { cwd, printNote: say }: CliContext,
  values: Values,
): Promise<void> {
  if (!values["verify"])
    throw new UserError("--out keeps what a run has shown, and nothing was run", "add --verify");
  const ran = found.flatMap(({ edges }) =>
    edges.filter(it => it.verified === "works" || it.verified === "fails"),
  );
  const lines = ran.map(({ a, b, via, verified, why = "the second call succeeds" }) =>
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
  say(
    `${out} keeps ${lines.length} verdicts, ${ran.filter(it => it.verified === "fails").length} of them against`,
  );
}

function labellerOf(values: Values): Labeller {
  const by =
    (values["by"] as string | undefined) ??
    (values["connect"] === undefined ? "declared" : "names");
  const found = labellers.find(it => it === by);
  if (!found) throw new UserError(`nobody labels by ${by}`, `choose ${labellers.join(", ")}`);
  if (found === "declared" && values["connect"] !== undefined)
    throw new UserError(
      "a connected server declares no entities",
      "choose --by names or --by model",
    );
  return found;
}

async function ownGraph(
  terminal: CliContext,
  name: string,
  by: Labeller,
  values: Values,
): Promise<Found> {
  const { catalog, resources, prove, signal, showProgress: progress } = terminal;
  const server = catalog.getServer(name);
  const audit = readVerdicts(listVerdictFiles(resources, prove));
  const { edges, hash } = getDependencyGraph(server);
  const declared = listDeclaredLabels({ edges });
  const labels =
    by === "declared"
      ? declared
      : await labelsOf(by, name, [...server.tools.values()], terminal, values);
  const verdicts: EdgeVerification[] = [];
  if (values["verify"]) {
    const setup = createVerificationSetup({
      catalog,
      server: name,
      fixtures: catalog.listFixtures(name),
      templates: readTemplates(join(resources, "servers"), server),
      seed: readSeed(values),
    });
    for (const it of verifyEdges(by === "declared" ? edges : edgesOf(labels), setup)) {
      signal.throwIfAborted();
      verdicts.push(it);
      progress(`${name}: ${verdicts.length} pairs run`);
    }
  }
  return {
    server: name,
    hash,
    by,
    edges: shownOf(by === "declared" ? edges : edgesOf(labels), verdicts, audit),
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

/** A connected server's graph: nothing is declared, and only what its entry lets run is run. */
function connectedGraph(
  terminal: CliContext,
  name: string,
  by: Labeller,
  values: Values,
): Promise<Found> {
  return withConnectedServer(terminal, name, async session => {
    const seen = await observeServer(session, terminal.signal);
    const labels = await labelsOf(by, name, seen.tools, terminal, values);
    const verdicts: EdgeVerification[] = [];
    const edges = edgesOf(labels);
    if (values["verify"])
      for await (const it of verifyObservedEdges(session, edges, seen, terminal.signal))
        verdicts.push(it);
    return { server: name, by, edges: shownOf(edges, verdicts, new Map()) };
  });
}

/**
 * By a chat model: what it has said before stands in `prove/graphs`, and only the rest is asked.
 */
async function labelsOf(
  by: Labeller,
  name: string,
  tools: readonly PublishedTool[],
  terminal: CliContext,
  values: Values,
): Promise<readonly Label[]> {
  if (by === "names") return labelByNames(tools);
  const { prove, signal, showProgress: progress } = terminal;
  const model = values["model"] as string | undefined;
  if (model === undefined)
    throw new UserError(
      "--by model needs to know which model labels",
      "add --model, as the endpoint names it",
    );
  const { endpoint, concurrency } = openEndpointFor(
    readEndpointOptions(model, values),
    sentContent.graph,
    terminal,
  );
  const ledger = new LabelCache(join(prove, "graphs", `${name}.labels.jsonl`));
  const onProgress = (known: number, all: number) =>
    progress(`${name}: ${known} of ${all} pairs labelled`);
  return labelWithModel({
    tools,
    model: endpoint,
    cache: ledger,
    concurrency,
    signal,
    onProgress,
  }).catch((error: unknown) => {
    throw toUserError(error);
  });
}

const edgesOf = (labels: readonly Label[]): Edge[] =>
  labels.flatMap(({ a, b, label, via, confidence }): Edge[] =>
    label === "none"
      ? []
      : [{ a, b, kind: label, ...(via ? { via: { ...via, entity: "" } } : {}), confidence }],
  );

function shownOf(
  edges: readonly Edge[],
  verdicts: readonly EdgeVerification[],
  audit: EdgeVerdicts,
): Shown[] {
  return edges.map((edge, i) => {
    const verdict = verdicts[i];
    const said = findVerdict(edge, audit);
    return {
      ...edge,
      ...(said?.verdict === "reject" ? { rejected: `${said.author}: ${said.reason}` } : {}),
      ...(verdict
        ? { verified: verdict.verified, ...(verdict.why === undefined ? {} : { why: verdict.why }) }
        : {}),
    };
  });
}

function readable({ server, hash, by, edges, agreement: agreed }: Found): string[] {
  const ran = edges.filter(it => it.verified !== undefined);
  const share = (of: EdgeVerification["verified"]) =>
    `${ran.filter(it => it.verified === of).length} ${of === "untried" ? "untried" : of === "works" ? "work" : "fail"}`;
  return [
    `${server}: ${edges.length} edges ${by === "declared" ? `(${hash})` : `by ${by}`}${ran.length > 0 ? `, run: ${share("works")}, ${share("fails")}, ${share("untried")}` : ""}`,
    ...edges.map(it => `  ${edgeLine(it)}`),
    ...Object.entries(agreed ?? {}).map(
      ([kind, { precision, recall, both, labelled, reference }]) =>
        `  ${kind}, against the declarations: precision ${precision} (${both} of ${labelled}), recall ${recall} (${both} of ${reference})`,
    ),
  ];
}

function edgeLine({ a, b, kind, via, confidence, verified, why, rejected }: Shown): string {
  const flow = via ? `  ${via.output} -> ${via.input}${via.entity ? ` (${via.entity})` : ""}` : "";
  const ran = verified
    ? `  ${verified}${why === undefined ? "" : `: ${why}`}`
    : rejected === undefined
      ? ""
      : `  not walked (${rejected})`;
  return `${a} -> ${b}  ${kind}${flow}  ${confidence}${ran}`;
}
