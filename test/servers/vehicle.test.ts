/** Tests every vehicle tool: results, changes to the state, and refusals. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSessionByName, openCatalog } from "../../src/environment/catalog.ts";
import { server as vehicle } from "../../src/servers/vehicle/server.ts";
import type { VehicleState } from "../../src/servers/vehicle/state.ts";
import { walk } from "../contracts/walk.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkAllTools } = createChecks(vehicle);

const [corva, van, kiwi, roadster, runabout] = [
  "veh_101",
  "veh_104",
  "veh_107",
  "veh_110",
  "veh_113",
] as const;
const [home, studio, cafe, fuel, charger, madrid, paris] = [
  "plc_101",
  "plc_104",
  "plc_107",
  "plc_119",
  "plc_122",
  "plc_131",
  "plc_134",
] as const;

const of =
  (tool: string) =>
  (vehicle_id: string, args: Call[1] = {}): Call => [tool, { vehicle_id, ...args }];
const [start, stop, brake, release] = [
  of("start_engine"),
  of("stop_engine"),
  of("press_brake"),
  of("release_brake"),
];
const [status, lock, unlock, climate, lights, wipers] = [
  of("get_vehicle_status"),
  of("lock_doors"),
  of("unlock_doors"),
  of("set_climate"),
  of("set_headlights"),
  of("set_wipers"),
];
const shift = (vehicle_id: string, gear: string): Call => ["shift_gear", { vehicle_id, gear }];
const cruise = (vehicle_id: string, speed: number): Call => [
  "set_cruise_control",
  { vehicle_id, speed },
];
const mode = (vehicle_id: string, to: string): Call => ["set_drive_mode", { vehicle_id, mode: to }];
const go = (vehicle_id: string, place_id: string): Call => [
  "set_navigation",
  { vehicle_id, place_id },
];
const refuel = (vehicle_id: string, energy: string, amount: number): Call => [
  "refuel",
  { vehicle_id, energy, amount },
];
/** From the kerb onto the road: the van's brake is pressed already. */
const setsOff = (vehicle_id: string): Call[] => [
  ...(vehicle_id === van ? [] : [brake(vehicle_id)]),
  start(vehicle_id),
  shift(vehicle_id, "drive"),
  release(vehicle_id),
];
const arrives = (vehicle_id: string): Call[] => [
  brake(vehicle_id, { at_destination: true }),
  shift(vehicle_id, "park"),
  stop(vehicle_id),
];

describe("vehicles", () => {
  test("are listed with where they are and how far they get: 100 * 22.4 / 5.4 + 100 * 7.8 / 16 km", () =>
    check(
      [["list_vehicles", { name: "corva" }]],
      returns({
        vehicles: [
          {
            vehicle: "Corva",
            vehicle_id: corva,
            where: "at Ana's flat",
            range: 463,
            access: "drive",
          },
        ],
      }),
    ));
  test("are found by name only up to its maximum length", () =>
    check([["list_vehicles", { name: "x".repeat(201) }]], refuses("invalid_params", /name/)));
  test("have a status", () =>
    check(
      [status(corva)],
      returns({
        engine: "off",
        gear: "park",
        brake: "released",
        doors: "locked",
        fuel: "22.4 of 43 l of petrol",
        charge: "65 percent of 12 kWh",
        odometer: 18206.7,
      }),
    ));
  test("that are unknown are refused", () =>
    check([status("__proto__")], refuses("not_found", /no vehicle __proto__/)));
  test("warn of soft tires", () =>
    check(
      [["get_tire_pressure", { vehicle_id: van }]],
      returns({
        should_be: "3.2 bar",
        condition: "low at the rear left",
        tires: [{}, {}, { tire: "rear left", pressure: "2.6 bar" }, {}],
      }),
    ));
  test("that are unknown have no tires", () =>
    check(
      [["get_tire_pressure", { vehicle_id: "veh_9" }]],
      refuses("not_found", /no vehicle veh_9/),
    ));
  test("with access `view` are not controlled", () =>
    check(
      [brake(roadster)],
      refuses(
        "permission_denied",
        /you may see where the roadster \(veh_110\) is, and not steer it/,
      ),
    ));
});

describe("the engine", () => {
  test("starts with the brake pressed", () =>
    check(
      [brake(corva), start(corva), status(corva)],
      returns({ engine: "on", brake: "pressed" }),
    ));
  test("does not start without the brake", () =>
    check(
      [start(corva)],
      refuses("precondition_failed", /brake of the Corva \(veh_101\) is not pressed/),
    ));
  test("does not start with a door open", () =>
    check(
      [brake(kiwi), start(kiwi)],
      refuses("precondition_failed", /Kiwi share car \(veh_107\) has a door open: driver/),
    ));
  test("starts once the doors are shut", () =>
    check([brake(kiwi), lock(kiwi), start(kiwi)], returns({ engine: "on", range: 119 })));
  test("warns of soft tires", () =>
    check([start(van)], returns({ warning: "the tires are low at the rear left" })));
  test("starts once", () => check([start(van), start(van)], refuses("conflict", /on already/)));
  test("stops once", () => check([stop(van)], refuses("conflict", /off already/)));
  test("does not stop on the move", () =>
    check(
      [...setsOff(corva), stop(corva)],
      refuses("precondition_failed", /driving at 50 km\/h: its engine cannot be stopped/),
    ));
  test("stops in park only", () =>
    check(
      [start(van), shift(van, "drive"), stop(van)],
      refuses("precondition_failed", /is in drive: its engine stops in park/),
    ));
  test("starts in park only", () =>
    check(
      [start(van), shift(van, "neutral"), shift(van, "park"), stop(van)],
      returns({ engine: "off" }),
    ));
});

describe("brake and gear", () => {
  test("the brake is pressed once", () =>
    check([brake(van)], refuses("conflict", /pressed already/)));
  test("the brake is released once", () =>
    check([release(corva)], refuses("conflict", /not pressed/)));
  test("in park nothing moves when it is released", () =>
    check([start(van), release(van)], returns({ brake: "released", speed: 0 })));
  test("in drive the vehicle sets off", () => check([...setsOff(corva)], returns({ speed: 50 })));
  test("in reverse it is slow", () =>
    check([start(van), shift(van, "reverse"), release(van)], returns({ speed: 5 })));
  test("in neutral it would roll away", () =>
    check(
      [start(van), shift(van, "neutral"), release(van)],
      refuses("precondition_failed", /would roll away/),
    ));
  test("out of park it needs the engine", () =>
    check(
      [shift(van, "drive")],
      refuses(
        "precondition_failed",
        /engine of the studio van \(veh_104\) is off, and it leaves park only with it on/,
      ),
    ));
  test("the gear needs the brake", () =>
    check(
      [start(van), release(van), shift(van, "drive")],
      refuses("precondition_failed", /not pressed/),
    ));
  test("the current gear is refused", () =>
    check([shift(van, "park")], refuses("conflict", /in park already/)));
  test("the gear is not changed while driving", () =>
    check(
      [...setsOff(van), shift(van, "park")],
      refuses("precondition_failed", /cannot be put into park/),
    ));
  test("a destination is not reached while standing", () =>
    check(
      [brake(corva, { at_destination: true })],
      refuses("precondition_failed", /is not driving/),
    ));
  test("without a destination none is reached", () =>
    check(
      [...setsOff(van), brake(van, { at_destination: true })],
      refuses("precondition_failed", /has no destination/),
    ));
  test("a stop on the road: a minute at 50 km/h", () =>
    check(
      [...setsOff(van), brake(van)],
      returns({ stopped_after: "0.8 km", where: "0.8 km from Harbor Studio" }),
    ));
});

describe("on the road", () => {
  test("cruise control keeps the speed", () =>
    check(
      [...setsOff(corva), cruise(corva, 90), status(corva)],
      returns({ speed: 90, cruise: 90 }),
    ));
  test("the brake ends it", () =>
    check(
      [...setsOff(corva), cruise(corva, 90), brake(corva), status(corva)],
      returns({ speed: 0, brake: "pressed" }),
    ));
  test("cruise control needs a moving vehicle", () =>
    check(
      [cruise(corva, 90)],
      refuses("precondition_failed", /is not driving: it stands in park/),
    ));
  test("cruise control needs a minimum speed", () =>
    check(
      [start(van), shift(van, "drive"), release(van), cruise(van, 30), cruise(van, 60)],
      refuses("precondition_failed", /drives at 30 km\/h, and cruise control works from 40/),
    ));
  test("cruise control refuses the current speed", () =>
    check(
      [...setsOff(corva), cruise(corva, 90), cruise(corva, 90)],
      refuses("conflict", /set to 90 km\/h already/),
    ));
  test("soft tires limit cruise control", () =>
    check(
      [...setsOff(van), cruise(van, 100)],
      refuses(
        "limit_exceeded",
        /tires of the studio van \(veh_104\) are low at the rear left: 80 km\/h at most, not 100/,
      ),
    ));
  test("electric mode limits cruise control", () =>
    check(
      [mode(corva, "electric"), ...setsOff(corva), cruise(corva, 120)],
      refuses("limit_exceeded", /110 km\/h at most in electric mode/),
    ));
  for (const speed of [-5, 29, 1e308])
    test(`${speed} is no speed`, () =>
      check([cruise(corva, speed)], refuses("invalid_params", /speed/)));
  test("a mode changes the range: eco takes 15 percent less", () =>
    check([mode(van, "eco")], returns({ mode: "eco", range: 618 })));
  test("the current mode is refused", () =>
    check([mode(corva, "comfort")], refuses("conflict", /in comfort mode already/)));
  test("not every vehicle has every mode", () =>
    check([mode(van, "sport")], refuses("precondition_failed", /has no sport mode/)));
  test("electric mode needs charge, which a trip to Madrid uses up", () =>
    check(
      [
        mode(corva, "electric"),
        go(corva, madrid),
        ...setsOff(corva),
        ...arrives(corva),
        mode(corva, "comfort"),
        mode(corva, "electric"),
      ],
      refuses(
        "precondition_failed",
        /battery of the Corva \(veh_101\) is at 0 percent, and electric mode needs 20/,
      ),
    ));
});

describe("routes", () => {
  test("tell how far it is, and what traffic adds", () =>
    check(
      [go(corva, charger)],
      returns({
        destination: "Volt Park",
        distance: "2.1 km",
        minutes: 5,
        delay: 1,
        arrival: "2026-03-09T09:05",
      }),
    ));
  test("are read back", () =>
    check(
      [go(corva, charger), ["get_navigation", { vehicle_id: corva }]],
      returns({ destination: "Volt Park", place_id: charger, distance: "2.1 km" }),
    ));
  test("get shorter on the way: a minute at 50 km/h", () =>
    check(
      [
        go(corva, charger),
        ...setsOff(corva),
        mode(corva, "eco"),
        ["get_navigation", { vehicle_id: corva }],
      ],
      returns({ distance: "0.5 km" }),
    ));
  test("that are not set cannot be read", () =>
    check(
      [["get_navigation", { vehicle_id: corva }]],
      refuses("precondition_failed", /has no destination/),
    ));
  test("are set once", () =>
    check(
      [go(corva, cafe), go(corva, cafe)],
      refuses("conflict", /Café Lumen is the destination/),
    ));
  test("lead to another place", () =>
    check([go(corva, home)], refuses("conflict", /is at Ana's flat/)));
  test("end within the range", () =>
    check(
      [go(corva, paris)],
      refuses(
        "precondition_failed",
        /Paris is 993.6 km away, and the Corva \(veh_101\) gets 463 km/,
      ),
    ));
  test("lead to known places", () =>
    check([go(corva, "Madrid")], refuses("not_found", /no place Madrid/)));
  test("end in a trip that the log keeps", () =>
    check(
      [
        go(corva, charger),
        ...setsOff(corva),
        ...arrives(corva),
        ["get_trip_log", { vehicle_id: corva, limit: 1 }],
      ],
      returns({
        trips: [{ from: "Ana's flat", to: "Volt Park", distance: "2.1 km", driver: "Ana Ruiz" }],
        count: 3,
        distance: "4.5 km",
      }),
    ));
  test("add to the odometer: 18206.7 + 2.1", () =>
    check(
      [go(corva, charger), ...setsOff(corva), ...arrives(corva), status(corva)],
      returns({ odometer: 18208.8, where: "at Volt Park", engine: "off" }),
    ));
  test("are found, the nearest first", () =>
    check(
      [["find_destinations", { vehicle_id: corva, category: "station", limit: 2 }]],
      returns({
        places: [
          { place: "Central Station", distance: "1.7 km" },
          { place: "Quickfill", place_id: fuel, distance: "2 km" },
        ],
      }),
    ));
  test("are found by name", () =>
    check(
      [["find_destinations", { name: "harbor" }]],
      returns({ places: [{ place: "Harbor Studio", place_id: studio, category: "office" }] }),
    ));
  test("are not found from an unknown vehicle", () =>
    check(
      [["find_destinations", { vehicle_id: home }]],
      refuses("not_found", /no vehicle plc_101/),
    ));
  test("of the past are counted", () =>
    check(
      [["get_trip_log", { vehicle_id: van, purpose: "business" }]],
      returns({
        trips: [{ from: "Central Station", to: "Print House Lindner" }],
        count: 1,
        distance: "0.6 km",
      }),
    ));
  test("of the past refuse reversed dates", () =>
    check(
      [["get_trip_log", { vehicle_id: van, from_date: "2026-03-08", to_date: "2026-03-01" }]],
      refuses("invalid_params", /from_date 2026-03-08 is after/),
    ));
  test("of a day that does not exist are refused", () =>
    check(
      [["get_trip_log", { vehicle_id: van, from_date: "2026-02-30" }]],
      refuses("invalid_params", /from_date/),
    ));
});

describe("doors", () => {
  test("are shut and locked", () =>
    check([lock(kiwi), status(kiwi)], returns({ doors: "locked" })));
  test("are locked once", () => check([lock(corva)], refuses("conflict", /locked already/)));
  test("say which one is open", () =>
    check(
      [unlock(corva, { door: "driver" })],
      returns({ doors: "unlocked", opened: "driver door" }),
    ));
  test("are opened one by one", () =>
    check(
      [unlock(corva, { door: "tailgate" }), status(corva)],
      returns({ doors: "tailgate open" }),
    ));
  test("are unlocked once", () => check([unlock(van)], refuses("conflict", /unlocked already/)));
  test("stay locked on the move", () =>
    check(
      [...setsOff(corva), unlock(corva)],
      refuses("precondition_failed", /driving at 50 km\/h: its doors stay locked/),
    ));
  test("stay locked in gear", () =>
    check(
      [start(van), lock(van), shift(van, "drive"), unlock(van)],
      refuses("precondition_failed", /stands in drive/),
    ));
  test("respect the child lock", () =>
    check(
      [unlock(kiwi, { door: "rear left" })],
      refuses("permission_denied", /child lock keeps the rear left door/),
    ));
});

describe("climate, lights and wipers", () => {
  test("the climate comes on", () =>
    check(
      [start(van), climate(van, { temperature: 21.5 }), status(van)],
      returns({ climate: "21.5 °C, fan 2" }),
    ));
  test("the climate runs on a charged battery", () =>
    check(
      [climate(corva, { temperature: 22, fan: 3 })],
      returns({ temperature: "22 °C", fan: 3 }),
    ));
  test("the climate needs the engine otherwise", () =>
    check(
      [climate(van, { fan: 2 })],
      refuses(
        "precondition_failed",
        /engine of the studio van \(veh_104\) is off, and its climate needs it/,
      ),
    ));
  test("eco mode limits the climate", () =>
    check(
      [brake(kiwi), lock(kiwi), start(kiwi), climate(kiwi, { temperature: 25 })],
      refuses("limit_exceeded", /eco mode, which keeps the cabin between 18 and 23/),
    ));
  test("the climate refuses its current values", () =>
    check([climate(corva, { fan: 0 })], refuses("conflict", /like that already/)));
  test("the climate requires a value", () =>
    check([climate(corva)], refuses("invalid_params", /nothing to set/)));
  test("the climate requires a number", () =>
    check(
      [climate(corva, { temperature: "hot" })],
      rejectsArguments(/temperature must be a number/),
    ));
  test("headlights come on", () =>
    check(
      [start(van), lights(van, { headlights: "low" })],
      returns({ headlights: "low", was: "off" }),
    ));
  test("headlights need the engine", () =>
    check(
      [lights(corva, { headlights: "low" })],
      refuses("precondition_failed", /only its parking lights burn/),
    ));
  test("high beam is refused while standing", () =>
    check(
      [start(van), lights(van, { headlights: "high" })],
      refuses("precondition_failed", /high beam is for the road/),
    ));
  test("headlights stay on in the rain", () =>
    check(
      [
        ...setsOff(corva),
        lights(corva, { headlights: "low" }),
        lights(corva, { headlights: "off" }),
      ],
      refuses("precondition_failed", /driving in the rain/),
    ));
  test("parking lights are refused while driving", () =>
    check(
      [...setsOff(corva), lights(corva, { headlights: "parking" })],
      refuses("precondition_failed", /needs its lights/),
    ));
  test("headlights refuse their current setting", () =>
    check([lights(corva, { headlights: "off" })], refuses("conflict", /set to off already/)));
  test("wipers are set", () =>
    check(
      [...setsOff(corva), wipers(corva, { wipers: "slow", wash: true })],
      returns({ wipers: "slow", was: "off", washer: 65 }),
    ));
  test("wipers need the engine", () =>
    check(
      [wipers(corva, { wipers: "slow" })],
      refuses("precondition_failed", /its wipers need it/),
    ));
  test("washing needs fluid", () =>
    check(
      [start(van), wipers(van, { wipers: "slow", wash: true })],
      refuses("precondition_failed", /3 percent of washer fluid/),
    ));
  test("stopping the engine turns them off", () =>
    check(
      [start(van), wipers(van, { wipers: "fast" }), stop(van), status(van)],
      returns({ wipers: "off", headlights: "off" }),
    ));
});

describe("tank and battery", () => {
  test("are filled at a station: 20 l at 1.62", () =>
    check(
      [refuel(kiwi, "petrol", 20)],
      returns({ level: "25.2 l", capacity: "38 l", cost: 32.4, range: 581 }),
    ));
  test("refuse more than fits", () =>
    check(
      [refuel(kiwi, "petrol", 40)],
      refuses("limit_exceeded", /holds 38 l and has 5.2 in it: 40 do not fit/),
    ));
  test("refuse the wrong fuel", () =>
    check(
      [refuel(kiwi, "diesel", 20)],
      refuses("precondition_failed", /takes petrol, not diesel/),
    ));
  test("are not filled at home", () =>
    check(
      [refuel(corva, "petrol", 10)],
      refuses("precondition_failed", /at Ana's flat, which sells no petrol/),
    ));
  test("are not filled with the engine on", () =>
    check(
      [brake(kiwi), lock(kiwi), start(kiwi), refuel(kiwi, "petrol", 10)],
      refuses("precondition_failed", /engine of the Kiwi share car \(veh_107\) is on/),
    ));
  test("are charged where there is power: 4 kWh at 0.49", () =>
    check(
      [go(corva, charger), ...setsOff(corva), ...arrives(corva), refuel(corva, "power", 4)],
      returns({ level: "11.8 kWh", cost: 1.96 }),
    ));
  for (const amount of [0, -5, -0, 1e308, Number.NaN, 0.3])
    test(`do not take ${amount}`, () =>
      check([refuel(kiwi, "petrol", amount)], {
        kind: amount === amount ? "refused" : "bad-arguments",
        type: "invalid_params",
      }));
});

describe("loopholes", () => {
  test("electric mode is not chosen at a speed that its cruise control refuses", () =>
    check(
      [...setsOff(corva), cruise(corva, 130), mode(corva, "electric")],
      refuses(
        "precondition_failed",
        /the Corva \(veh_101\) is cruising at 130 km\/h, and electric mode goes 110 at most/,
      ),
    ));
  test("eco mode is not chosen with a climate that it refuses", () =>
    check(
      [climate(corva, { temperature: 27, fan: 5 }), mode(corva, "eco")],
      refuses("precondition_failed", /is at 27 °C, fan 5, and eco mode keeps the cabin between 18/),
    ));
  test("electric mode needs the charge that is left, not that of the last stop", () =>
    check(
      [
        cruise(runabout, 150),
        ...["high", "low", "high", "low"].map(it => lights(runabout, { headlights: it })),
        mode(runabout, "electric"),
      ],
      refuses("precondition_failed", /is at 16 percent, and electric mode needs 20/),
      {
        edits: {
          [`vehicles.${runabout}.modes`]: ["comfort", "electric"],
          [`vehicles.${runabout}.battery.level`]: 8.2,
          [`vehicles.${runabout}.route.km`]: 300,
          "weather.rain": "none",
        },
      },
    ));
  test("a destination is not reached in reverse", () =>
    check(
      [
        start(van),
        go(van, cafe),
        shift(van, "reverse"),
        release(van),
        brake(van, { at_destination: true }),
      ],
      refuses("precondition_failed", /is in reverse, which does not lead to a destination/),
    ));
  test("who turned the wipers off before does not drive without them in heavy rain", () =>
    check(
      [start(van), shift(van, "drive"), release(van)],
      refuses("precondition_failed", /it rains heavily, and the wipers of .* are off/),
      { edits: { "weather.rain": "heavy" } },
    ));
  test("a tank is not filled beyond its capacity by rounding", () =>
    check([refuel(kiwi, "petrol", 20.5), status(kiwi)], returns({ fuel: "38 of 38 l of petrol" }), {
      edits: { [`vehicles.${kiwi}.tank.level`]: 17.55 },
    }));
});

test("whatever is called, odometers show what they did plus all trips, and only what drives has a speed", () => {
  const catalog = openCatalog([vehicle], [join(import.meta.dirname, "../../resources/servers")]);
  for (let seed = 0; seed < 12; seed++) {
    const session = openSessionByName(catalog, {
      servers: [{ name: "vehicle", fixture: "full" }],
      seed,
    });
    walk(vehicle, session, 200, seed);
    const { vehicles, trips } = session.state["vehicle"]!.world as unknown as VehicleState;
    for (const [key, it] of Object.entries(vehicles)) {
      const km = Object.values(trips).reduce(
        (sum, trip) => (trip.vehicle_id === key ? sum + trip.km : sum),
        it.odometer_first,
      );
      expect(it.odometer, `${it.name} after walk ${seed}`).toBeCloseTo(km, 1);
      if (it.speed > 0)
        expect([it.engine, it.brake, it.gear === "park", it.open]).toEqual([
          "on",
          false,
          false,
          [],
        ]);
      expect(it.tank === undefined || it.tank.level <= it.tank.capacity).toBe(true);
    }
  }
});

checkAllTools();
