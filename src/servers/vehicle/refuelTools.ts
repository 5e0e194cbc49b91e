/** The tool that refuels or charges a vehicle. */
import { z } from "zod";
import { cents } from "../../environment/fieldSchemas.ts";
import { refuse } from "../../environment/server.ts";
import { control } from "./control.ts";
import { computeRange, roundToTenth } from "./motion.ts";
import { energies, places, requireStandstill } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const units = { petrol: "l", diesel: "l", power: "kWh" };

export const refuelTools = {
  refuel: control({
    summary:
      "Fill up or charge a vehicle that stands with its engine off at a station that sells what it takes.",
    input: {
      energy: z.enum(energies).describe("What goes in; power charges the battery"),
      amount: z
        .number()
        .min(0.5)
        .max(200)
        .multipleOf(0.5)
        .describe("Litres, or kilowatt hours of power")
        .meta({ examples: vocabulary.amounts }),
    },
    returns: {
      level: z.string(),
      capacity: z.string(),
      cost: cents().describe("Euros"),
      range: z.int(),
    },
    run({ energy, amount }, { state, vehicle, vehicle_id, description }) {
      const store =
        energy === "power"
          ? vehicle.battery
          : vehicle.tank?.fuel === energy
            ? vehicle.tank
            : undefined;
      const energies = [
        ...(vehicle.tank ? [vehicle.tank.fuel] : []),
        ...(vehicle.battery ? ["power"] : []),
      ].join(" and ");
      if (!store)
        return refuse(
          "precondition_failed",
          `${description} takes ${energies}, not ${energy}`,
          `choose ${energies}`,
        );
      requireStandstill(vehicle, vehicle_id, "it cannot be filled up");
      if (vehicle.engine === "on")
        refuse(
          "precondition_failed",
          `the engine of ${description} is on`,
          "vehicle_stop_engine first",
        );
      const place = places.find(state, vehicle.place_id);
      const price = vehicle.away === 0 ? place.sells?.[energy] : undefined;
      if (price === undefined)
        return refuse(
          "precondition_failed",
          `${description} is ${vehicle.away === 0 ? "at" : "on the road from"} ${place.name}, which sells no ${energy}`,
          "drive to a station; vehicle_find_destinations finds some",
        );
      const freeCapacity = roundToTenth(store.capacity - store.level);
      if (amount > freeCapacity)
        refuse(
          "limit_exceeded",
          `${description} holds ${store.capacity} ${units[energy]} and has ${roundToTenth(store.level)} in it: ${amount} do not fit`,
          `${Math.floor(2 * freeCapacity) / 2} at most`,
        );
      store.level = Math.min(store.capacity, roundToTenth(store.level + amount));
      return {
        level: `${store.level} ${units[energy]}`,
        capacity: `${store.capacity} ${units[energy]}`,
        cost: Math.round(amount * price * 100) / 100,
        range: computeRange(vehicle),
      };
    },
  }),
};
