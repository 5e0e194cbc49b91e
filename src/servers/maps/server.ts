/** A map of the home city and the cities it has to do with: 16 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { placeTools } from "./placeTools.ts";
import { routeTools } from "./routeTools.ts";
import { areaTools } from "./areaTools.ts";
import { savedPlaceTools } from "./savedPlaceTools.ts";
import { Atlas } from "./state.ts";

const { share_route, ...routes } = routeTools;

export type { Atlas } from "./state.ts";

export const server = defineServer({
  name: "maps",
  category: "Travel",
  summary:
    "places, streets and cities, routes by every mode, traffic and closures, saved places and shared routes",
  schema: Atlas,
  tools: { ...placeTools, ...routes, ...areaTools, ...savedPlaceTools, share_route },
});
