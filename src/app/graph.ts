/**
 * Lists the dependency edges between the tools of a server: those that are declared, or those that
 * names or a chat model suggest. Runs edges on live sessions, compares labels with the declarations
 * and writes verdicts.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { getUsableServer } from "../environment/catalog.ts";
import { writeFileAtomically } from "../storage/atomicWrite.ts";
import {
  findVerdict,
  formatVerdict,
  getDependencyGraph,
  listVerdictFiles,
  readVerdicts,
  type Edge,
  type EdgeVerdicts,
} from "../synthesis/graph/dependencyGraph.ts";
import {
  labelByNames,
  LabelCache,
  labelWithModel,
  listDeclaredLabels,
  measureAgreement,
  type Label,
  type PublishedTool,
} from "../synthesis/graph/labels.ts";
import { verifyEdges, type EdgeVerification } from "../synthesis/graph/verifyEdges.ts";
import { readTemplates } from "../synthesis/text/readTemplates.ts";
import { createVerificationSetup } from "../synthesis/user/verificationSetup.ts";
import { UserError } from "../userError.ts";
import type { AppContext } from "./context.ts";
import { openEndpointFor, sentContent, toUserError, type EndpointSettings } from "./endpoints.ts";

export const labellers = ["declared", "names", "model"] as const;
export type Labeller = (typeof labellers)[number];

/** Where the edges come from. */
interface Labelling {
  readonly by: Labeller;
  /** The model that labels, as its endpoint names it. */
  readonly model: string | undefined;
  readonly endpoint: EndpointSettings;
}

/** An edge of any labeller, with the result of running it. */
export type LabelledEdge = Pick<Edge, "a" | "b" | "kind" | "confidence"> & {
  via?: { output: string; input: string; entity?: string };
} & Partial<Pick<EdgeVerification, "verified" | "why">> & { rejected?: string };

export interface ServerGraph {
  readonly server: string;
  readonly hash?: string;
  readonly by: string;
  readonly edges: readonly LabelledEdge[];
  /** How far the labels agree with the declarations, by kind of edge. */
  readonly agreement?: Readonly<Record<string, ReturnType<typeof measureAgreement>>>;
}

/** Lists the edges of a server of the catalog, and runs them if asked for. */
export async function createGraph(
  context: AppContext,
  name: string,
  options: Labelling & { readonly verify: boolean; readonly seed: number },
): Promise<ServerGraph> {
  const { catalog, resources, prove } = context;
  const { by } = options;
  const server = getUsableServer(catalog, name);
  const storedVerdicts = readVerdicts(listVerdictFiles(resources, prove));
  const { edges: declaredEdges, hash } = getDependencyGraph(server);
  const declared = listDeclaredLabels({ edges: declaredEdges });
  const labels =
    by === "declared"
      ? declared
      : await labelTools(name, [...server.tools.values()], options, context);
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
  { catalog, resources, signal, showProgress }: AppContext,
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

/**
 * Labels pairs of tools by their names or with a chat model. The model's labels are kept in
 * `prove/graphs`, and it is asked only for those that are missing.
 */
export async function labelTools(
  name: string,
  tools: readonly PublishedTool[],
  { by, model, endpoint: settings }: Labelling,
  context: Pick<AppContext, "printNote" | "prove" | "showProgress" | "signal">,
): Promise<readonly Label[]> {
  if (by === "names") return labelByNames(tools);
  const { prove, signal, showProgress } = context;
  if (model === undefined)
    throw new UserError(
      "--by model needs to know which model labels",
      "add --model, as the endpoint names it",
    );
  const { endpoint, concurrency } = openEndpointFor(
    { ...settings, model },
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

/** The edges of labels, without the pairs that depend on nothing. */
export const toEdges = (labels: readonly Label[]): Edge[] =>
  labels.flatMap(({ a, b, label, via, confidence }): Edge[] =>
    label === "none"
      ? []
      : [{ a, b, kind: label, ...(via ? { via: { ...via, entity: "" } } : {}), confidence }],
  );

/** Adds what running the edges has shown, and the verdicts that reject one. */
export function addVerdicts(
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

/**
 * Writes the edges that were run as verdicts, which synthesis reads from
 * `prove/graphs/audit.jsonl`.
 */
export async function writeVerdicts(
  graphs: readonly ServerGraph[],
  file: string,
): Promise<{ readonly all: number; readonly rejected: number }> {
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
  mkdirSync(dirname(file), { recursive: true });
  await writeFileAtomically(file, lines.map(it => `${it}\n`).join(""));
  return { all: lines.length, rejected: edges.filter(it => it.verified === "fails").length };
}
