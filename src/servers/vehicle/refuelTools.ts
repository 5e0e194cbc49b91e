/** The tool that refuels or charges a vehicle. */
import { z } from "zod";
import { cents } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { about } from "./resultRows.ts";
import { rangeOf, tenth } from "./motion.ts";
import { called, energies, placeOf, standing, steered, Garage } from "./state.ts";
import { vehicleId } from "./parameters.ts";

const tool = createToolFactory(Garage);

const units = { petrol: "l", diesel: "l", power: "kWh" };

export const refuelTools = {
  refuel: tool({
    effect: "write",
    summary:
      "Fill up or charge a vehicle that stands with its engine off at a station that sells what it takes.",
    input: {
      vehicle_id: vehicleId,
      energy: z.enum(energies).describe("What goes in; power charges the battery"),
      amount: z
        .number()
        .min(0.5)
        .max(200)
        .multipleOf(0.5)
        .describe("Litres, or kilowatt hours of power")
        .meta({ examples: [5, 8, 10, 12, 15, 18, 20, 25, 30, 35, 40, 50] }),
    },
    returns: {
      ...about,
      level: z.string(),
      capacity: z.string(),
      cost: cents().describe("Euros"),
      range: z.int(),
    },
    run(garage, { vehicle_id, energy, amount }) {
      const vehicle = steered(garage, vehicle_id);
      const what = called(vehicle, vehicle_id);
      const store =
        energy === "power"
          ? vehicle.battery
          : vehicle.tank?.fuel === energy
            ? vehicle.tank
            : undefined;
      const takes = [
        ...(vehicle.tank ? [vehicle.tank.fuel] : []),
        ...(vehicle.battery ? ["power"] : []),
      ].join(" and ");
      if (!store)
        return refuse(
          "precondition_failed",
          `${what} takes ${takes}, not ${energy}`,
          `choose ${takes}`,
        );
      standing(vehicle, vehicle_id, "it cannot be filled up");
      if (vehicle.engine === "on")
        refuse("precondition_failed", `the engine of ${what} is on`, "vehicle_stop_engine first");
      const place = placeOf(garage, vehicle.place_id);
      const price = vehicle.away === 0 ? place.sells?.[energy] : undefined;
      if (price === undefined)
        return refuse(
          "precondition_failed",
          `${what} is ${vehicle.away === 0 ? "at" : "on the road from"} ${place.name}, which sells no ${energy}`,
          "drive to a station; vehicle_find_destinations finds some",
        );
      const free = tenth(store.capacity - store.level);
      if (amount > free)
        refuse(
          "limit_exceeded",
          `${what} holds ${store.capacity} ${units[energy]} and has ${tenth(store.level)} in it: ${amount} do not fit`,
          `${Math.floor(2 * free) / 2} at most`,
        );
      store.level = tenth(store.level + amount);
      return {
        vehicle: vehicle.name,
        vehicle_id,
        level: `${store.level} ${units[energy]}`,
        capacity: `${store.capacity} ${units[energy]}`,
        cost: Math.round(amount * price * 100) / 100,
        range: rangeOf(vehicle),
      };
    },
  }),
};
