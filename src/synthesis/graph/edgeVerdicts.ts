/**
 * The audit layer over a dependency graph: edges that were turned down, by a run or by a person,
 * with the reason. The graph itself stays what the declarations say; what is left of it is the
 * graph that chains walk. Knows files of verdicts, and no sessions.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { UserError } from "../../userError.ts";
import { graphWith, type Edge, type Graph } from "./dependencyGraph.ts";

export const auditFormat = "prove/audit@1";

/** A line of an audit file. Of two lines on one edge the later one counts. */
const entry = z.strictObject({
  format: z.literal(auditFormat),
  /** Full tool names: `a` before `b`. */
  a: z.string(),
  b: z.string(),
  /** The argument of `b` along which the edge flows; absent for an implicit edge. */
  input: z.string().optional(),
  verdict: z.enum(["accept", "reject"]),
  reason: z.string(),
  /** `run`, or whoever judged. */
  author: z.string(),
});

export type AuditEntry = z.infer<typeof entry>;

/** What was said of edges. */
export type Audit = ReadonlyMap<string, AuditEntry>;

const keyOf = ({ a, b, input }: Pick<AuditEntry, "a" | "b" | "input">): string =>
  `${a} ${b} ${input ?? ""}`;

/** What was said of an edge, or undefined where nobody judged it. */
export const verdictOn = (
  { a, b, via }: Pick<Edge, "a" | "b" | "via">,
  audit: Audit,
): AuditEntry | undefined => audit.get(keyOf({ a, b, ...(via ? { input: via.input } : {}) }));

/** Where verdicts lie: those that ship, and over them the workspace's own. */
export const auditFiles = (resources: string, prove?: string): string[] =>
  [resources, ...(prove === undefined ? [] : [prove])].map(it => join(it, "graphs", "audit.jsonl"));

/**
 * Reads audit files, those that are there, the later ones over the earlier. Throws a `Mistake` with
 * file and line where one does not fit.
 */
export function readAudit(files: readonly string[]): Audit {
  const audit = new Map<string, AuditEntry>();
  for (const file of files.filter(it => existsSync(it))) {
    const lines = readFileSync(file, "utf8").split("\n");
    for (const [i, line] of lines.entries()) {
      if (line.trim() === "") continue;
      const said = entryIn(line, `${file}:${i + 1}`);
      audit.set(keyOf(said), said);
    }
  }
  return audit;
}

/** An edge's entry as its line. */
export const auditLine = (said: Omit<AuditEntry, "format">): string =>
  JSON.stringify({ format: auditFormat, ...said } satisfies AuditEntry);

const eligibles = new WeakMap<Graph, { readonly audit: Audit; readonly graph: Graph }>();

/** The graph without the edges that were turned down. */
export function eligible(graph: Graph, audit: Audit): Graph {
  const known = eligibles.get(graph);
  if (known?.audit === audit) return known.graph;
  const left = graphWith(
    graph,
    graph.edges.filter(it => verdictOn(it, audit)?.verdict !== "reject"),
  );
  eligibles.set(graph, { audit, graph: left });
  return left;
}

function entryIn(line: string, place: string): AuditEntry {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch (cause) {
    throw new UserError(
      `${place} is not JSON (${(cause as Error).message})`,
      "mend or delete the line",
      { cause },
    );
  }
  const parsed = entry.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new UserError(
    `${place} is no verdict on an edge at /${issue.path.join("/")}: ${issue.message}`,
    "mend or delete the line",
    { cause: parsed.error },
  );
}
