/** The tools of the plant care server: finding plants, watering them and moving them. */
import { z } from "zod";
import { day, id, label } from "../../../../src/environment/fieldSchemas.ts";
import { createToolFactory, refuse } from "../../../../src/environment/server.ts";
import { containsText } from "../../../../src/environment/textSearch.ts";
import { addDays } from "../../../../src/environment/time.ts";
import { plantFields, plantId, room } from "./parameters.ts";
import { findPlant, listWaterings, PlantCare } from "./state.ts";

const tool = createToolFactory(PlantCare);

export const plantTools = {
  list_plants: tool({
    effect: "read",
    summary: "List the office's plants, those that need water soonest first.",
    input: {
      name: label("plant").optional().describe("Only plants whose name contains this"),
      room: room.optional().describe("Only plants in this room"),
      limit: z.int().min(1).max(50).optional().describe("At most this many, 10 if not given"),
    },
    returns: {
      plants: z.array(
        z.object({ ...plantFields, room, due: day().describe("When it needs water again") }),
      ),
    },
    run(state, { name, room: wantedRoom, limit = 10 }, { now }) {
      const rows = Object.entries(state.plants)
        .filter(
          ([, it]) =>
            (!name || containsText(it.name, name)) && (!wantedRoom || it.room === wantedRoom),
        )
        .map(([plant_id, it]) => {
          const latest = listWaterings(state, plant_id)[0];
          const due = latest ? addDays(latest.day, it.interval) : now.slice(0, 10);
          return { plant: it.name, plant_id, room: it.room, due };
        });
      return { plants: rows.sort((a, b) => (a.due < b.due ? -1 : 1)).slice(0, limit) };
    },
  }),
  get_plant: tool({
    effect: "read",
    summary: "Get a plant's species, who looks after it, and when it was watered.",
    input: { plant_id: plantId },
    returns: {
      ...plantFields,
      species: z.string(),
      room,
      keeper: z.string(),
      waterings: z.array(z.object({ day: day(), millilitres: z.int() })),
    },
    run(state, { plant_id }) {
      const { name, species, room: current, keeper } = findPlant(state, plant_id);
      const waterings = listWaterings(state, plant_id).map(it => ({
        day: it.day,
        millilitres: it.millilitres,
      }));
      return { plant: name, plant_id, species, room: current, keeper, waterings };
    },
  }),
  water_plant: tool({
    effect: "write",
    summary: "Water a plant, at most once a day, and note it in the log.",
    input: {
      plant_id: plantId,
      millilitres: z
        .int()
        .min(50)
        .max(1000)
        .describe("How much water, in millilitres")
        .meta({ examples: [100, 150, 200, 250, 300, 400, 500] }),
    },
    returns: { ...plantFields, watering_id: id("watering"), millilitres: z.int() },
    run(state, { plant_id, millilitres }, { now, newId }) {
      const { name } = findPlant(state, plant_id);
      const today = now.slice(0, 10);
      const latest = listWaterings(state, plant_id)[0];
      if (latest?.day === today)
        refuse(
          "conflict",
          `${name} (${plant_id}) got ${latest.millilitres} ml today`,
          "choose another plant, or take that back with plant_care_undo_watering",
        );
      const watering_id = newId("watering");
      state.waterings[watering_id] = { plant_id, day: today, millilitres };
      return { plant: name, plant_id, watering_id, millilitres };
    },
  }),
  undo_watering: tool({
    effect: "write",
    summary: "Remove the latest of today's waterings from the log.",
    requires: ["water_plant"],
    input: {},
    returns: { ...plantFields, millilitres: z.int() },
    run(state, _, { now }) {
      const latest = Object.entries(state.waterings).findLast(([, it]) => now.startsWith(it.day));
      if (!latest) return refuse("precondition_failed", "no plant was watered today");
      const [wateringId, { plant_id, millilitres }] = latest;
      delete state.waterings[wateringId];
      return { plant: findPlant(state, plant_id).name, plant_id, millilitres };
    },
  }),
  move_plant: tool({
    effect: "write",
    summary: "Move a plant to another room.",
    input: { plant_id: plantId, room: room.describe("The room to move it to") },
    returns: { ...plantFields, room },
    run(state, { plant_id, room: wantedRoom }) {
      const plant = findPlant(state, plant_id);
      if (plant.room === wantedRoom)
        refuse("conflict", `${plant.name} (${plant_id}) is in the ${wantedRoom} already`);
      plant.room = wantedRoom;
      return { plant: plant.name, plant_id, room: wantedRoom };
    },
  }),
};
