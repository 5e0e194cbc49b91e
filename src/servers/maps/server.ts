/** The maps server: a map of the home city and of other cities. */
import { defineServer } from "../../environment/server.ts";
import { invariants } from "./invariants.ts";
import { placeTools } from "./placeTools.ts";
import { routeTools } from "./routeTools.ts";
import { areaTools } from "./areaTools.ts";
import { savedPlaceTools } from "./savedPlaceTools.ts";
import { MapsState, references } from "./state.ts";

const { share_route, ...routes } = routeTools;

export const server = defineServer({
  name: "maps",
  category: "Travel",
  summary:
    "places, streets and cities, routes by every mode, traffic and closures, saved places and shared routes",
  schema: MapsState,
  references,
  invariants,
  tools: { ...placeTools, ...routes, ...areaTools, ...savedPlaceTools, share_route },
});
