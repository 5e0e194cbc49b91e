/**
 * Generates the state of a server whose shipped fixtures are written by hand: the shipped state
 * with the people and companies renamed, and with varied values.
 */
import { fixtureFormat } from "../../environment/fixture.ts";
import type { JsonObject } from "../../environment/json.ts";
import type { Server } from "../../environment/server.ts";
import { createVariant } from "../../environment/variant.ts";
import { createCast, shippedSeed } from "./cast.ts";
import type { GeneratorContext } from "./generator.ts";
import { renameCast } from "./renameCast.ts";

export function generateFromShipped(
  { name: server }: Server,
  { cast, readShippedState }: GeneratorContext,
): JsonObject {
  const shipped = readShippedState(server);
  if (cast.seed === shippedSeed) return shipped;
  const state = renameCast(shipped, createCast(shippedSeed), cast);
  return createVariant(
    { format: fixtureFormat, server, name: "full", now: cast.now, state },
    cast.seed,
  ).state;
}
