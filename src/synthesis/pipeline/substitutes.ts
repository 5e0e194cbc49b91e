/** Finds tools and servers that can replace each other, so that a menu has only one of them. */
import type { Server } from "../../environment/server.ts";
import { getDeclarations, type ToolDeclaration } from "../graph/declarations.ts";

/**
 * Whether two reads take the same entities, and show the same entity or mostly the same fields.
 */
export function isSubstitute(a: ToolDeclaration, b: ToolDeclaration): boolean {
  if (a.tool.effect !== "read" || b.tool.effect !== "read" || a.tool.server !== b.tool.server)
    return false;
  if (getRequiredEntities(a) !== getRequiredEntities(b)) return false;
  const entities = new Set(a.outputs.map(it => it.entity));
  if (b.outputs.some(it => entities.has(it.entity))) return true;
  const [fieldsOfA, fieldsOfB] = [listFields(a), listFields(b)];
  const shared = fieldsOfA.filter(it => fieldsOfB.includes(it)).length;
  return shared * 2 > Math.min(fieldsOfA.length, fieldsOfB.length);
}

const getRequiredEntities = ({ inputs }: ToolDeclaration): string =>
  inputs
    .filter(it => it.isRequired)
    .map(it => it.entity)
    .sort()
    .join(" ");

const listFields = ({ tool }: ToolDeclaration): string[] =>
  Object.keys((tool.outputSchema["properties"] ?? {}) as object);

/** The tools to hide so that nothing does what the named tools of these servers do. */
export function findToolsToHide(names: readonly string[], servers: readonly Server[]): Set<string> {
  const declarations = servers.flatMap(it => [...getDeclarations(it).values()]);
  const namedTools = declarations.filter(it => names.includes(it.tool.name));
  return new Set(
    declarations
      .filter(it => namedTools.some(other => other === it || isSubstitute(it, other)))
      .map(it => it.tool.name),
  );
}

const relatedServers: readonly (readonly string[])[] = [
  ["calendar", "video_meeting"],
  ["email", "team_chat", "social_media"],
  ["banking", "payments", "budget", "trading"],
  ["shopping", "marketplace", "retail_chain", "food_delivery"],
  ["crm", "issue_tracker"],
  ["maps", "vehicle", "travel_booking"],
];

/** Whether two servers have so much in common that tools of one may replace tools of the other. */
export const areRelatedServers = (a: string, b: string): boolean =>
  relatedServers.some(it => it.includes(a) && it.includes(b));
