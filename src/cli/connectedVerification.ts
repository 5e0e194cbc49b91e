/**
 * Verifies the edges of a third-party server. Says which of its tools are called before they are,
 * and calls those that write only if its entry says that it is disposable.
 */
import { allowsTool, type ServerEntry } from "../mcp/mcpConfig.ts";
import type { ConnectedSession } from "../mcp/connectedSession.ts";
import type { Edge } from "../synthesis/graph/dependencyGraph.ts";
import type { PublishedTool } from "../synthesis/graph/labels.ts";
import {
  planVerification,
  runVerification,
  type Observation,
  type PlannedEdge,
  type EdgeVerification,
} from "../synthesis/graph/verifyEdges.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { describeProgram } from "../trajectory/programText.ts";
import type { CliContext } from "./command.ts";

/** A person who can be asked has to agree to writes, unless the command line already does. */
export async function verifyConnectedEdges(
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
export function describeCalls(what: string, entry: ServerEntry): string {
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
