/** The plants of an office: 5 tools, in their fixed order. */
import { defineServer } from "prove-rl/server";
import { plantTools } from "./plantTools.ts";
import { PlantCare } from "./state.ts";

export const server = defineServer({
  name: "plant_care",
  category: "Lifestyle",
  summary: "plants in rooms, who looks after them, a log of waterings",
  schema: PlantCare,
  tools: plantTools,
});
