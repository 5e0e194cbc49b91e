/** Tools that control one vehicle, the checks before they drive it, and its update after a drive. */
import type { z } from "zod";
import { createToolFactory, refuse, type ToolContext } from "../../environment/server.ts";
import { getSchemas } from "../kit/table.ts";
import { applyDrive, computeKmSince, computeRange } from "./motion.ts";
import { formatVehicle, vehicleRow, vehicles, VehicleState, type Vehicle } from "./state.ts";

const tool = createToolFactory(VehicleState);

/** What a control acts on. */
interface Target extends ToolContext {
  readonly state: VehicleState;
  readonly vehicle: Vehicle;
  readonly vehicle_id: string;
  /** The vehicle in texts. */
  readonly description: string;
}

type Shape = Readonly<Record<string, z.ZodType>>;

interface Control<Input extends Shape, Returns extends Shape> {
  readonly summary: string;
  readonly requires?: readonly string[];
  /** The parameters besides the vehicle. */
  readonly input: Input;
  /** The fields of the result after those of the vehicle. */
  readonly returns: Returns;
  readonly run: (
    args: z.output<z.ZodObject<Input>>,
    target: Target,
  ) => z.input<z.ZodObject<Returns>>;
}

/** A tool that controls one vehicle. It refuses a vehicle that the user may only see. */
export function control<const Input extends Shape, const Returns extends Shape>({
  input,
  returns,
  run,
  ...definition
}: Control<Input, Returns>) {
  const parameters: Shape = { vehicle_id: vehicles.id, ...input };
  return tool({
    ...definition,
    effect: "write",
    input: parameters,
    returns: { ...getSchemas(vehicleRow), ...returns },
    run(state, { vehicle_id: id, ...args }, context) {
      const vehicle_id = id as string;
      const vehicle = vehicles.find(state, vehicle_id);
      const description = formatVehicle(vehicle, vehicle_id);
      if (vehicle.access === "view")
        refuse(
          "permission_denied",
          `you may see where ${description} is, and not steer it`,
          "choose another vehicle; vehicle_list_vehicles says which may be driven",
        );
      const target = { ...context, state, vehicle, vehicle_id, description };
      const result = run(args as z.output<z.ZodObject<Input>>, target);
      return { vehicle: vehicle.name, vehicle_id, ...result };
    },
  });
}

/** The charge that electric mode requires, in percent. */
export const minElectricCharge = 20;

export const requireClosedDoors = (vehicle: Vehicle, vehicle_id: string): void => {
  if (vehicle.open.length > 0)
    refuse(
      "precondition_failed",
      `${formatVehicle(vehicle, vehicle_id)} has a door open: ${vehicle.open.join(", ")}`,
      "vehicle_lock_doors shuts and locks them",
    );
};

export function requirePressedBrake({ brake }: Vehicle, description: string): void {
  if (!brake)
    refuse(
      "precondition_failed",
      `the brake of ${description} is not pressed`,
      "vehicle_press_brake first",
    );
}

/** The range of the vehicle, or a refusal if it has none. */
export function requireRange(vehicle: Vehicle, description: string): number {
  const range = computeRange(vehicle);
  if (range < 1)
    refuse(
      "precondition_failed",
      `${description} has nothing left to drive on`,
      "vehicle_refuel at a station that sells what it takes",
    );
  return range;
}

/** Applies the distance driven since the last change of the vehicle. */
export function updateAfterDrive(state: VehicleState, vehicle: Vehicle, now: string): void {
  if (vehicle.speed === 0) return;
  applyDrive(state, vehicle, computeKmSince(vehicle, now));
  vehicle.since = now;
}
