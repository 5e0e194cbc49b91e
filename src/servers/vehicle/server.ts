/**
 * The vehicles of one person, steered through their own controls: 20 tools, in their fixed order.
 */
import { defineServer } from "../../environment/server.ts";
import { comfort } from "./comfort.ts";
import { driving } from "./driving.ts";
import { looking } from "./looking.ts";
import { Garage } from "./state.ts";

const {
  list_vehicles,
  get_vehicle_status,
  get_tire_pressure,
  find_destinations,
  get_navigation,
  get_trip_log,
} = looking;
const {
  start_engine,
  stop_engine,
  press_brake,
  release_brake,
  shift_gear,
  set_cruise_control,
  set_drive_mode,
  set_navigation,
} = driving;
const { lock_doors, unlock_doors, set_climate, set_headlights, set_wipers, refuel } = comfort;

export const server = defineServer({
  name: "vehicle",
  category: "IoT/Devices",
  summary:
    "vehicles with engine, gear, brake and doors, climate and lights, tank and battery, routes and trips",
  schema: Garage,
  tools: {
    list_vehicles,
    get_vehicle_status,
    start_engine,
    stop_engine,
    lock_doors,
    unlock_doors,
    refuel,
    get_tire_pressure,
    set_climate,
    set_headlights,
    set_wipers,
    press_brake,
    release_brake,
    shift_gear,
    set_cruise_control,
    set_drive_mode,
    find_destinations,
    set_navigation,
    get_navigation,
    get_trip_log,
  },
});
