/**
 * The vehicle server: remote control of the vehicles of one person. Also its rules, which hold
 * whichever tools are used.
 */
import { type Invariant, defineServer } from "../../environment/server.ts";
import { isEcoClimate, cabinTools, doorTools, engineTools, pedalTools } from "./controlTools.ts";
import {
  minElectricCharge,
  describeSoftTires,
  roundToTenth,
  type Vehicle,
  VehicleState,
  references,
} from "./state.ts";
import {
  cruiseLimits,
  modeSpeedLimits,
  tripTools,
  refuelTools,
  tripQueries,
  vehicleQueries,
} from "./tripTools.ts";

type VehicleInvariant = Invariant<VehicleState>;

/** An invariant of every single vehicle. `before` is the same vehicle before the write. */
const createVehicleInvariant = (
  rule: string,
  isViolated: (vehicle: Vehicle, state: VehicleState, before?: Vehicle) => boolean,
): VehicleInvariant => ({
  rule,
  findViolation: (state, before) =>
    Object.entries(state.vehicles).find(([id, it]) =>
      isViolated(it, state, before?.vehicles[id]),
    )?.[0],
});

const drivingIsSafe = createVehicleInvariant(
  "A vehicle moves only with its engine on, its brake released, a gear in and its doors shut.",
  it =>
    it.speed > 0 !== (it.since !== undefined) ||
    (it.speed > 0 &&
      (it.engine === "off" ||
        it.brake ||
        it.open.length > 0 ||
        !["drive", "reverse"].includes(it.gear))),
);

const cruiseIsWithinLimits = createVehicleInvariant(
  "Cruise control keeps a speed that the drive mode and the tires allow, and only in drive.",
  it =>
    it.cruise !== undefined &&
    (it.speed !== it.cruise ||
      it.gear !== "drive" ||
      it.cruise > modeSpeedLimits[it.mode] ||
      (it.cruise > cruiseLimits.soft && describeSoftTires(it) !== undefined)),
);

const modesAreAvailable = createVehicleInvariant(
  "A vehicle is in one of its modes; electric is chosen with enough charge, sport with firm tires.",
  (it, _state, before) =>
    !it.modes.includes(it.mode) ||
    (before !== undefined &&
      it.mode !== before.mode &&
      ((it.mode === "sport" && describeSoftTires(it) !== undefined) ||
        (it.mode === "electric" &&
          Math.round((100 * (it.battery?.level ?? 0)) / (it.battery?.capacity ?? 1)) <
            minElectricCharge))),
);

const ecoClimateIsModest = createVehicleInvariant(
  "In eco mode, a climate that is on is within the limits of that mode.",
  it => it.mode === "eco" && it.climate.fan > 0 && !isEcoClimate(it.climate),
);

const parkedVehiclesAreOff = createVehicleInvariant(
  "With the engine off, a vehicle stands in park, without wipers and with parking lights at most.",
  it =>
    it.engine === "off" &&
    (it.gear !== "park" || it.wipers !== "off" || !["off", "parking"].includes(it.lamps)),
);

const viewedVehiclesAreNotControlled = createVehicleInvariant(
  "A vehicle that the user may only see is never changed.",
  (it, _state, before) =>
    before?.access === "view" && JSON.stringify(it) !== JSON.stringify(before),
);

const doorsAreLockedShut = createVehicleInvariant(
  "A locked vehicle has no open door, and with a child lock no rear door is opened.",
  (it, _state, before) =>
    (it.locked && it.open.length > 0) ||
    (before?.child_lock === true &&
      (!it.child_lock ||
        it.open.some(door => door.startsWith("rear") && !before.open.includes(door)))),
);

const energyIsBought = createVehicleInvariant(
  "Tank and battery never hold more than their capacity, and get fuller only at a station.",
  (it, state, before) => {
    const stores = [
      { energy: it.tank?.fuel, store: it.tank, storeBefore: before?.tank },
      { energy: "power" as const, store: it.battery, storeBefore: before?.battery },
    ];
    const isAtStation = (energy: "petrol" | "diesel" | "power" | undefined) =>
      energy !== undefined &&
      it.engine === "off" &&
      it.away === 0 &&
      state.places[it.place_id]!.sells?.[energy] !== undefined;
    return stores.some(
      ({ energy, store, storeBefore }) =>
        store &&
        (store.level > store.capacity ||
          (storeBefore && store.level > storeBefore.level && !isAtStation(energy))),
    );
  },
);

const odometersMatchTrips: VehicleInvariant = {
  rule: "An odometer shows its first value plus all trips of the vehicle, and never goes back.",
  findViolation({ vehicles, trips }, before) {
    for (const [id, it] of Object.entries(vehicles)) {
      const km = Object.values(trips)
        .filter(trip => trip.vehicle_id === id)
        .reduce((sum, trip) => sum + trip.km, it.odometer_first);
      if (roundToTenth(km) !== it.odometer)
        return `the odometer of ${id} shows ${it.odometer}, and the trips give ${roundToTenth(km)}`;
      const odometerBefore = before?.vehicles[id]?.odometer;
      if (odometerBefore !== undefined && it.odometer < odometerBefore)
        return `the odometer of ${id} went back from ${odometerBefore}`;
    }
    return undefined;
  },
};

const tripsAreLogged: VehicleInvariant = {
  rule: "A running engine has one open trip, and a trip that has ended is kept as it is.",
  findViolation({ vehicles, trips }, before) {
    for (const [id, it] of Object.entries(vehicles)) {
      const open = Object.keys(trips).filter(
        key => trips[key]!.vehicle_id === id && trips[key]!.minutes === undefined,
      );
      const expected = it.engine === "on" ? [it.trip_id] : [];
      if (open.join() !== expected.join() || (it.engine === "off" && it.trip_id !== undefined))
        return `${id} has the open trips ${open.join(", ") || "none"}, engine ${it.engine}`;
    }
    const changed = Object.entries(before?.trips ?? {}).find(
      ([id, it]) => it.minutes !== undefined && JSON.stringify(trips[id]) !== JSON.stringify(it),
    );
    return changed && `${changed[0]} had ended and was changed`;
  },
};

const invariants: readonly VehicleInvariant[] = [
  drivingIsSafe,
  cruiseIsWithinLimits,
  modesAreAvailable,
  ecoClimateIsModest,
  parkedVehiclesAreOff,
  viewedVehiclesAreNotControlled,
  doorsAreLockedShut,
  energyIsBought,
  odometersMatchTrips,
  tripsAreLogged,
];

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
