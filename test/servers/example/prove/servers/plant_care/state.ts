/** The state of the plant care server: the plants of an office and a log of their waterings. */
import { z } from "zod";
import { addDays, createTableFactory, day, label, type RowContext } from "prove-rl/server";

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

export const plants = createTableFactory(PlantCare)("plants", {
  entity: "plant",
  idsFrom: "plant_care_list_plants",
});

export const room = z.enum(rooms);

/** The fields by which each result names a plant. */
export const plantFields = plants.fields({
  plant: [label("plant"), it => it.name],
  plant_id: plants.idField,
});

/** The waterings of a plant, the latest first. */
export const listWaterings = ({ waterings }: PlantCare, plantId: string) =>
  Object.values(waterings)
    .filter(it => it.plant_id === plantId)
    .sort((a, b) => (a.day > b.day ? -1 : 1));

/** The day on which a plant needs water again. */
export function getDue(
  { interval }: z.infer<typeof Plant>,
  { id, world, now }: RowContext<PlantCare>,
): string {
  const latest = listWaterings(world, id)[0];
  return latest ? addDays(latest.day, interval) : now.slice(0, 10);
}
