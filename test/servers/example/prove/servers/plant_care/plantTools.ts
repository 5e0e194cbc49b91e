/** The tools of the plant care server: finding plants, watering them and moving them. */
import { z } from "zod";
import {
  ascending,
  contains,
  createToolFactory,
  day,
  equals,
  getSchemas,
  id,
  label,
  refuse,
} from "prove-rl/server";
import { getDue, listWaterings, PlantCare, plantFields, plants, room } from "./state.ts";

const tool = createToolFactory(PlantCare);

export const plantTools = {
  list_plants: plants.list({
    summary: "List the office's plants, those that need water soonest first.",
    filters: {
      name: contains(label("plant"), "Only plants whose name contains this", it => it.name),
      room: equals(room, "Only plants in this room", it => it.room),
    },
    row: { ...plantFields, room, due: [day().describe("When it needs water again"), getDue] },
    order: ascending(getDue),
    limit: 10,
  }),
  get_plant: plants.get({
    summary: "Get a plant's species, who looks after it, and when it was watered.",
    row: {
      ...plantFields,
      species: z.string(),
      room,
      keeper: z.string(),
      waterings: [
        z.array(z.object({ day: day(), millilitres: z.int() })),
        (_, { id: plantId, world }) =>
          listWaterings(world, plantId).map(it => ({ day: it.day, millilitres: it.millilitres })),
      ],
    },
  }),
  water_plant: tool({
    effect: "write",
    summary: "Water a plant, at most once a day, and note it in the log.",
    input: {
      plant_id: plants.id,
      millilitres: z
        .int()
        .min(50)
        .max(1000)
        .describe("How much water, in millilitres")
        .meta({ examples: [100, 150, 200, 250, 300, 400, 500] }),
    },
    returns: { ...getSchemas(plantFields), watering_id: id("watering"), millilitres: z.int() },
    run(state, { plant_id, millilitres }, { now, newId }) {
      const { name } = plants.find(state, plant_id);
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
    returns: { ...getSchemas(plantFields), millilitres: z.int() },
    run(state, _, { now }) {
      const latest = Object.entries(state.waterings).findLast(([, it]) => now.startsWith(it.day));
      if (!latest) return refuse("precondition_failed", "no plant was watered today");
      const [wateringId, { plant_id, millilitres }] = latest;
      delete state.waterings[wateringId];
      return { plant: plants.find(state, plant_id).name, plant_id, millilitres };
    },
  }),
  move_plant: tool({
    effect: "write",
    summary: "Move a plant to another room.",
    input: { plant_id: plants.id, room: room.describe("The room to move it to") },
    returns: { ...getSchemas(plantFields), room },
    run(state, { plant_id, room: wantedRoom }) {
      const plant = plants.find(state, plant_id);
      if (plant.room === wantedRoom)
        refuse("conflict", `${plant.name} (${plant_id}) is in the ${wantedRoom} already`);
      plant.room = wantedRoom;
      return { plant: plant.name, plant_id, room: wantedRoom };
    },
  }),
};
