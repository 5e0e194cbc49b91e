/** The fields that identify a vehicle in results. */
import { id, label } from "../../environment/fieldSchemas.ts";

export const vehicleRow = { vehicle: label("vehicle"), vehicle_id: id("vehicle") };
