/** The row by which results name a vehicle. */
import { id, label } from "../../environment/fieldSchemas.ts";

export const about = { vehicle: label("vehicle"), vehicle_id: id("vehicle") };
