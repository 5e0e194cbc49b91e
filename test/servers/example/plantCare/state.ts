/** The state of the plant care server: the plants of an office and a log of their waterings. */
import { z } from "zod";
import { day } from "../../../../src/environment/fieldSchemas.ts";
import { findEntity } from "../../../../src/environment/server.ts";

export const rooms = ["hall", "kitchen", "library", "lobby", "studio"] as const;

const Plant = z.strictObject({
  name: z.string().min(1),
  species: z.string().min(1),
  room: z.enum(rooms),
  /** The member of staff who looks after it. */
  keeper: z.string().min(1),
  /** Days from one watering to the next. */
  interval: z.int().min(1).max(60),
});

const Watering = z.strictObject({
  plant_id: z.string(),
  day: day(),
  millilitres: z.int().min(50).max(1000),
});

export const PlantCare = z.strictObject({
  plants: z.record(z.string(), Plant),
  waterings: z.record(z.string(), Watering),
});
export type PlantCare = z.infer<typeof PlantCare>;

/** Refuses the call if there is no such plant. */
export const findPlant = ({ plants }: PlantCare, plantId: string) =>
  findEntity(plants, plantId, "plant", "plant_care_list_plants gives the ids");

/** The waterings of a plant, the latest first. */
export const listWaterings = ({ waterings }: PlantCare, plantId: string) =>
  Object.values(waterings)
    .filter(it => it.plant_id === plantId)
    .sort((a, b) => (a.day > b.day ? -1 : 1));
