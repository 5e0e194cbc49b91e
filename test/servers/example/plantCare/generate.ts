/** Generates the plants of an office, each looked after by a member of the staff. */
import {
  defineGenerator,
  type GeneratorContext,
} from "../../../../src/servers/shared/generator.ts";
import type { SharedCast } from "../../../../src/servers/shared/cast.ts";
import { dayAfterStart } from "../../../../src/servers/shared/startTime.ts";
import { server } from "./server.ts";
import { rooms, type PlantCare } from "./state.ts";

/** The common name and the species. */
const species = [
  ["Monstera", "Monstera deliciosa"],
  ["Ficus", "Ficus benjamina"],
  ["Peace Lily", "Spathiphyllum wallisii"],
  ["Spider Plant", "Chlorophytum comosum"],
  ["Rubber Tree", "Ficus elastica"],
  ["Snake Plant", "Dracaena trifasciata"],
  ["Olive Tree", "Olea europaea"],
  ["Lemon Tree", "Citrus limon"],
  ["Rosemary", "Salvia rosmarinus"],
  ["Aloe", "Aloe vera"],
  ["Fern", "Nephrolepis exaltata"],
  ["Ivy", "Hedera helix"],
] as const;

const sizes = ["Big", "Little", "Old", "Tall", "New"] as const;

function generate({ cast, size, random, nextId }: GeneratorContext): PlantCare {
  const state: PlantCare = { plants: {}, waterings: {} };
  const isFull = size === "full";
  const names = sizes.flatMap(it =>
    species.map(([name, latin]) => [`${it} ${name}`, latin] as const),
  );
  for (const [name, latin] of names.filter((_, i) => isFull || i % 7 === 0)) {
    const plantId = nextId("plant");
    const interval = 4 + random.integer(11);
    state.plants[plantId] = {
      name,
      species: latin,
      room: random.pick(rooms),
      keeper: random.pick(cast.staff).name,
      interval,
    };
    const latest = 1 + random.integer(interval + 2);
    for (const i of isFull ? [3, 2, 1, 0] : [1, 0])
      state.waterings[nextId("watering")] = {
        plant_id: plantId,
        day: dayAfterStart(-latest - i * interval),
        millilitres: 100 + 50 * random.integer(9),
      };
  }
  return state;
}

function findInconsistencies(state: PlantCare, cast: SharedCast): string[] {
  const staff = new Set(cast.staff.map(it => it.name));
  const strangers = Object.entries(state.plants)
    .filter(([, it]) => !staff.has(it.keeper))
    .map(([plantId, it]) => `${plantId} is looked after by ${it.keeper}, who is not on the staff`);
  const orphans = Object.entries(state.waterings)
    .filter(([, it]) => !state.plants[it.plant_id])
    .map(([wateringId, it]) => `${wateringId} is of ${it.plant_id}, which does not exist`);
  return [...strangers, ...orphans];
}

export const generator = defineGenerator<PlantCare>({
  server,
  generate,
  findInconsistencies: (state, _states, cast) => findInconsistencies(state, cast),
});
