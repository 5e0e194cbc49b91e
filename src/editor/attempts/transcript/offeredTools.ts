/** The tools that were offered to the policy, as a text with their descriptions and parameters. */
import type { Catalog } from "../../../environment/catalog.ts";
import { escapeInvisible, splitVisibleLines } from "../../../trajectory/invisibleText.ts";
import type { Task } from "../../../trajectory/task.ts";
import { startsTurn, type Trajectory } from "../../../trajectory/trajectory.ts";
import { describeTool, formatSignature } from "./toolDescription.ts";

/** In the order of the menu; then those that came in a later turn, and those taken away. */
export function formatOfferedTools(
  catalog: Catalog,
  { header, events }: Trajectory,
  task: Task | undefined,
): string {
  const sections: (readonly [title: string, names: readonly string[]])[] = [
    [`${header.menu.length} tools on offer in ${header.id}`, header.menu],
  ];
  let turn = 0;
  for (const it of events) {
    if (startsTurn(it)) turn++;
    if (it.kind === "user" && it.adds) sections.push([`Added in turn ${turn}`, it.adds]);
  }
  if (task && task.hidden.length > 0) sections.push(["Taken away", task.hidden]);
  return sections.map(([title, names]) => formatSection(catalog, title, names)).join("\n");
}

function formatSection(catalog: Catalog, title: string, names: readonly string[]): string {
  const heading = escapeInvisible(title);
  const lines = names.flatMap(name => ["", ...formatTool(catalog, name)]);
  return [heading, "=".repeat(heading.length), ...lines, ""].join("\n");
}

function formatTool(catalog: Catalog, name: string): readonly string[] {
  const tool = catalog.tools.get(name);
  if (!tool) return [escapeInvisible(name), "    No server has this tool any more."];
  return [
    ...splitVisibleLines(formatSignature(tool)),
    ...splitVisibleLines(describeTool(tool)).map(it => `    ${it}`),
  ];
}
