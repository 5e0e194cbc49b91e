/** The vehicle server: remote control of the vehicles of one person. */
import { defineServer } from "../../environment/server.ts";
import { cabinTools } from "./cabinTools.ts";
import { doorTools } from "./doorTools.ts";
import { engineTools } from "./engineTools.ts";
import { invariants } from "./invariants.ts";
import { pedalTools } from "./pedalTools.ts";
import { refuelTools } from "./refuelTools.ts";
import { VehicleState, references } from "./state.ts";
import { tripQueries } from "./tripQueries.ts";
import { tripTools } from "./tripTools.ts";
import { vehicleQueries } from "./vehicleQueries.ts";

const { list_vehicles, get_vehicle_status, get_tire_pressure } = vehicleQueries;
const { set_cruise_control, set_drive_mode, set_navigation } = tripTools;
const { find_destinations, get_navigation, get_trip_log } = tripQueries;

export const server = defineServer({
  name: "vehicle",
  category: "IoT/Devices",
  summary:
    "vehicles with engine, gear, brake and doors, climate and lights, tank and battery, routes and trips",
  schema: VehicleState,
  references,
  invariants,
  tools: {
    list_vehicles,
    get_vehicle_status,
    ...engineTools,
    ...doorTools,
    ...refuelTools,
    get_tire_pressure,
    ...cabinTools,
    ...pedalTools,
    set_cruise_control,
    set_drive_mode,
    find_destinations,
    set_navigation,
    get_navigation,
    get_trip_log,
  },
});
