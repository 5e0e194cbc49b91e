/** Parameters that several tools share. */
import { id } from "../../environment/fieldSchemas.ts";

export const vehicleId = id("vehicle").describe("Vehicle id, as vehicle_list_vehicles gives it");
export const placeId = id("place").describe("Place id, as vehicle_find_destinations gives it");
