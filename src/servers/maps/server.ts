/** A map of the home city and the cities it has to do with: 16 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { finding } from "./places.ts";
import { ways } from "./routes.ts";
import { ground, keeping } from "./saving.ts";
import { Atlas } from "./state.ts";

const { share_route, ...routes } = ways;

export type { Atlas } from "./state.ts";

export const server = defineServer({
  name: "maps",
  category: "Travel",
  summary:
    "places, streets and cities, routes by every mode, traffic and closures, saved places and shared routes",
  schema: Atlas,
  tools: { ...finding, ...routes, ...ground, ...keeping, share_route },
});
