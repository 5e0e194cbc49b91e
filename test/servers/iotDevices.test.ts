/** The tools of the smart home server: what they return, what they change, and what they refuse. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSessionByName, openCatalog } from "../../src/environment/catalog.ts";
import type { Json } from "../../src/environment/json.ts";
import { server as iotDevices } from "../../src/servers/iotDevices/server.ts";
import type { Home } from "../../src/servers/iotDevices/state.ts";
import { walk } from "../contracts/walk.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkInvariants, checkAllTools } = createChecks(iotDevices);

const [kitchen, living, bedroom, hallway] = [
  "room_101",
  "room_104",
  "room_107",
  "room_110",
] as const;
const [kitchenLight, fridge, oven, coffee, dishwasher] = [
  "dev_101",
  "dev_104",
  "dev_107",
  "dev_110",
  "dev_113",
] as const;
const [ceiling, floorLamp, heating, blinds, television, terraceBlinds, balconyDoor, stereo] = [
  "dev_116",
  "dev_119",
  "dev_122",
  "dev_125",
  "dev_128",
  "dev_131",
  "dev_134",
  "dev_137",
] as const;
const [bedside, bedroomHeating, fan, hallLight, frontDoor, dusty, mopsy, mailbox] = [
  "dev_140",
  "dev_143",
  "dev_146",
  "dev_149",
  "dev_152",
  "dev_155",
  "dev_158",
  "dev_161",
] as const;
const [leaving, coming, movie, welcome] = ["scn_101", "scn_104", "scn_107", "scn_110"] as const;
const leave: Call = ["activate_scene", { scene_id: leaving }];
const on = (device_id: string): Call => ["turn_on", { device_id }];
const off = (device_id: string): Call => ["turn_off", { device_id }];

describe("rooms", () => {
  test("say what they draw: 24 + 90 + 1400 W", () =>
    check(
      [["list_rooms", { name: "kitch" }]],
      returns({
        rooms: [{ room: "kitchen", room_id: kitchen, devices: 5, watts: 1514 }],
        mode: "home",
      }),
    ));
  test("that no name fits are none", () =>
    check([["list_rooms", { name: "attic" }]], returns({ rooms: [] })));
  test("have names that end somewhere", () =>
    check([["list_rooms", { name: "x".repeat(201) }]], refuses("invalid_params", /name/)));
  test("are as bright as sun and lamps make them: 420 / 2 + 24 * 20 lux", () =>
    check(
      [["get_room_state", { room_id: kitchen }]],
      returns({
        lux: 690,
        temperature: "20.6 °C",
        watts: 1514,
        window: "closed",
        lights: [{ light: "ceiling light", device_id: kitchenLight, state: "on", brightness: 100 }],
      }),
    ));
  test("get darker when a light goes off", () =>
    check(
      [off(kitchenLight), ["get_room_state", { room_id: kitchen }]],
      returns({ lux: 212, watts: 1490 }),
    ));
  test("get darker when the blinds close", () =>
    check(
      [
        ["close_blinds", { device_id: blinds }],
        ["get_room_state", { room_id: living }],
      ],
      returns({ lux: 240 }),
    ));
  test("show colors and fans", () =>
    check(
      [["get_room_state", { room_id: bedroom }]],
      returns({
        window: "open",
        lights: [{ light: "bedside lamp", color: "orange" }],
        fans: [{ fan: "standing fan", device_id: fan, speed: 0, speeds: 3 }],
      }),
    ));
  test("nobody knows are refused", () =>
    check(
      [["get_room_state", { room_id: "__proto__" }]],
      refuses("not_found", /no room __proto__/),
    ));
  test("tell how warm they are", () =>
    check(
      [["get_temperature", { room_id: living }]],
      returns({
        temperature: "20.1 °C",
        target: "20.5 °C",
        heating: "warming up",
        outside: "9 °C",
      }),
    ));
  test("do not heat at an open window", () =>
    check(
      [["get_temperature", { room_id: bedroom }]],
      returns({ heating: "paused, a window is open" }),
    ));
  test("unknown ones have no temperature", () =>
    check([["get_temperature", { room_id: dusty }]], refuses("not_found", /no room dev_155/)));
});

describe("devices", () => {
  test("are listed apart by what they take", () =>
    check(
      [["list_devices", { room_id: living }]],
      returns({
        devices: [
          { name: "ceiling light", state: "off" },
          { name: "floor lamp", state: "on" },
          { name: "heating" },
          { name: "stereo", state: "offline" },
          { name: "television" },
        ],
        blinds: [
          { name: "blinds", device_id: blinds, state: "open" },
          { name: "terrace blinds", state: "closed" },
        ],
        locks: [{ name: "balcony door", state: "open" }],
      }),
    ));
  test("can be narrowed down", () =>
    check(
      [["list_devices", { room_id: kitchen, kind: "plug", name: "wash" }]],
      returns({
        devices: [{ name: "dishwasher", device_id: dishwasher, kind: "plug", state: "off" }],
      }),
    ));
  test("of an unknown room are refused", () =>
    check(
      [["list_devices", { room_id: "room_1" }]],
      refuses("not_found", /iot_devices|no room room_1/),
    ));
  test("are told in full", () =>
    check(
      [["get_device", { device_id: floorLamp }]],
      returns({
        kind: "light",
        room_name: "living room",
        state: "on",
        watts: 12,
        brightness: 80,
        scenes: "Leaving home, Coming home, Movie evening",
      }),
    ));
  test("tell their battery", () =>
    check(
      [["get_device", { device_id: dusty }]],
      returns({ state: "docked", battery: 88, bin: 35 }),
    ));
  test("unknown ones are refused", () =>
    check([["get_device", { device_id: "lamp" }]], refuses("not_found", /no device lamp/)));
});

describe("switches", () => {
  test("turn things on, and the room draws more: 612 + 140 W", () =>
    check([on(television)], returns({ state: "on", watts: 752 })));
  test("show in a power meter", () =>
    check(
      [off(coffee), ["read_sensor", { sensor_id: "sen_101" }]],
      returns({ value: 114, reading: "114 W" }),
    ));
  test("of what is on are refused", () =>
    check(
      [on(coffee)],
      refuses("conflict", /the coffee machine in the kitchen \(dev_110\) is already on/),
    ));
  test("of what is off are refused", () => check([off(oven)], refuses("conflict", /already off/)));
  test("of what is offline are refused", () =>
    check(
      [off(stereo)],
      refuses("precondition_failed", /stereo in the living room \(dev_137\) is offline/),
    ));
  test("keep to the circuit: 1514 + 2400 > 3600", () =>
    check(
      [on(oven)],
      refuses(
        "limit_exceeded",
        /circuit of the kitchen carries 3600 W: 1514 W are in use and 2400 W would come on top/,
      ),
    ));
  test("find room when something else goes off", () =>
    check([off(coffee), on(oven)], returns({ watts: 2514 })));
  test("leave an oven alone when nobody is in", () =>
    check(
      [leave, on(oven)],
      refuses(
        "precondition_failed",
        /oven in the kitchen \(dev_107\) must not run while nobody is in/,
      ),
    ));
  test("keep to the child lock", () =>
    check([off(coffee), on(dishwasher)], refuses("permission_denied", /child lock/)));
  test("leave the fridge on", () =>
    check(
      [off(fridge)],
      refuses("permission_denied", /fridge in the kitchen \(dev_104\) has to stay on/),
    ));
  test("do not turn a lock", () =>
    check([on(frontDoor)], refuses("precondition_failed", /not turned on and off/)));
});

describe("light", () => {
  test("is dimmed", () =>
    check(
      [
        ["set_brightness", { device_id: floorLamp, brightness: 40 }],
        ["get_device", { device_id: floorLamp }],
      ],
      returns({ brightness: 40, watts: 6 }),
    ));
  test("comes on with it", () =>
    check(
      [["set_brightness", { device_id: ceiling, brightness: 50 }]],
      returns({ brightness: 50, was: "off" }),
    ));
  test("is not dimmed to what it is", () =>
    check(
      [["set_brightness", { device_id: floorLamp, brightness: 80 }]],
      refuses("conflict", /already at 80 percent/),
    ));
  test("cannot be dimmed everywhere", () =>
    check(
      [["set_brightness", { device_id: hallLight, brightness: 50 }]],
      refuses("precondition_failed", /cannot be dimmed/),
    ));
  test("of a fan is refused", () =>
    check(
      [["set_brightness", { device_id: fan, brightness: 50 }]],
      refuses("precondition_failed", /dev_146 \(standing fan\) is a fan, not a light/),
    ));
  for (const brightness of [0, -5, 101, 1e308])
    test(`does not go to ${brightness} percent`, () =>
      check(
        [["set_brightness", { device_id: floorLamp, brightness }]],
        refuses("invalid_params", /brightness/),
      ));
  test("changes color", () =>
    check(
      [
        ["set_color", { device_id: floorLamp, color: "red" }],
        ["get_room_state", { room_id: living }],
      ],
      returns({ lights: [{}, { light: "floor lamp", color: "red" }] }),
    ));
  test("has to be on for it", () =>
    check(
      [["set_color", { device_id: bedside, color: "red" }]],
      refuses("precondition_failed", /bedside lamp in the bedroom \(dev_140\) is off/),
    ));
  test("without colors is refused", () =>
    check(
      [on(ceiling), ["set_color", { device_id: ceiling, color: "red" }]],
      refuses(
        "precondition_failed",
        /ceiling light in the living room \(dev_116\) is of one white only/,
      ),
    ));
  test("is refused the color it has", () =>
    check(
      [["set_color", { device_id: floorLamp, color: "warm white" }]],
      refuses("conflict", /already warm white/),
    ));
});

describe("heating and air", () => {
  test("a room warms up by a tenth a minute", () =>
    check(
      [
        ["set_thermostat", { room_id: living, target: 23 }],
        on(television),
        off(television),
        ["get_temperature", { room_id: living }],
      ],
      returns({ temperature: "20.4 °C", target: "23 °C", heating: "warming up" }),
    ));
  test("a room is heated up to its target", () =>
    check(
      [["set_thermostat", { room_id: living, target: 19 }]],
      returns({ temperature: "20.1 °C", heating: "warm enough" }),
    ));
  test("a set target is refused", () =>
    check(
      [["set_thermostat", { room_id: living, target: 20.5 }]],
      refuses("conflict", /already set to 20.5/),
    ));
  test("an open window stands in the way", () =>
    check(
      [["set_thermostat", { room_id: bedroom, target: 21 }]],
      refuses("precondition_failed", /window is open in the bedroom: heating from 18.2 to 21/),
    ));
  test("the target can be lowered at an open window", () =>
    check([["set_thermostat", { room_id: bedroom, target: 16 }]], returns({ target: "16 °C" })));
  test("away mode keeps rooms cool", () =>
    check(
      [leave, ["set_thermostat", { room_id: living, target: 21 }]],
      refuses("precondition_failed", /away mode, which keeps rooms at 18/),
    ));
  test("a hallway has no heating", () =>
    check(
      [["set_thermostat", { room_id: hallway, target: 21 }]],
      refuses("precondition_failed", /hallway \(room_110\) has no heating/),
    ));
  test("a word is no temperature", () =>
    check(
      [["set_thermostat", { room_id: living, target: "warm" }]],
      rejectsArguments(/target must be a number/),
    ));
  test("a quarter of a degree is too fine", () =>
    check(
      [["set_thermostat", { room_id: living, target: 20.25 }]],
      refuses("invalid_params", /target/),
    ));
  test("heating draws its share once it is on: 12 + 140 + 600 W", () =>
    check([off(heating), on(television), on(heating)], returns({ watts: 752 })));
  test("heating that has nothing to heat may be on at an open window", () =>
    check([off(bedroomHeating), on(bedroomHeating)], returns({ state: "on" })));
  test("a fan takes a speed", () =>
    check(
      [
        ["set_fan_speed", { device_id: fan, speed: 2 }],
        ["get_device", { device_id: fan }],
      ],
      returns({ state: "on at speed 2", watts: 40 }),
    ));
  test("a speed that a fan does not have is refused", () =>
    check(
      [["set_fan_speed", { device_id: fan, speed: 5 }]],
      refuses("limit_exceeded", /speeds 1 to 3, not 5/),
    ));
  test("the current speed is refused", () =>
    check(
      [on(fan), ["set_fan_speed", { device_id: fan, speed: 1 }]],
      refuses("conflict", /already runs at speed 1/),
    ));
});

describe("blinds", () => {
  test("close", () =>
    check([["close_blinds", { device_id: blinds }]], returns({ position: 0, was: 100 })));
  test("open as far as asked", () =>
    check(
      [
        ["open_blinds", { device_id: blinds, position: 30 }],
        ["list_devices", { room_id: living }],
      ],
      returns({ blinds: [{ state: "30 percent open" }, {}] }),
    ));
  test("do not open twice", () =>
    check(
      [["open_blinds", { device_id: blinds }]],
      refuses("conflict", /the blinds in the living room \(dev_125\) are already open/),
    ));
  test("do not close twice", () =>
    check(
      [
        ["close_blinds", { device_id: blinds }],
        ["close_blinds", { device_id: blinds }],
      ],
      refuses("conflict", /already closed/),
    ));
  test("need charge", () =>
    check(
      [["open_blinds", { device_id: terraceBlinds }]],
      refuses(
        "precondition_failed",
        /battery of the terrace blinds .* is at 7 percent, and its motor needs 10/,
      ),
    ));
  test("stay shut while nobody is in", () =>
    check(
      [["close_blinds", { device_id: blinds }], leave, ["open_blinds", { device_id: blinds }]],
      refuses("precondition_failed", /away mode/),
    ));
});

describe("locks", () => {
  const unlock = (device_id: string, pin: string): Call => ["unlock_door", { device_id, pin }];
  test("open with a code, and the log says whose", () =>
    check(
      [unlock(frontDoor, "2958"), ["get_lock_log", { door: "front", limit: 1 }]],
      returns({
        locks: [{ door: "front door", state: "unlocked" }],
        log: [{ at: "2026-03-09T09:00", action: "unlocked", by: "Rosa Ruiz" }],
      }),
    ));
  test("do not open with another", () =>
    check(
      [unlock(frontDoor, "0000")],
      refuses("permission_denied", /does not open the front door/),
    ));
  test("do not open with a code that has ended", () =>
    check(
      [unlock(frontDoor, "8340")],
      refuses("permission_denied", /code of the cleaner .* ended on 2026-02-28/),
    ));
  test("do not open while the alarm is armed", () =>
    check(
      [leave, unlock(frontDoor, "4071")],
      refuses("precondition_failed", /alarm is armed in away mode/),
    ));
  test("need charge", () =>
    check(
      [unlock(mailbox, "4071")],
      refuses("precondition_failed", /mailbox lock \(dev_161\) is at 4 percent/),
    ));
  test("that are open need no code", () =>
    check([unlock(balconyDoor, "4071")], refuses("conflict", /not locked/)));
  test("take four digits", () =>
    check([unlock(frontDoor, "40 71")], refuses("invalid_params", /pin/)));
  test("lock again", () =>
    check(
      [unlock(frontDoor, "4071"), ["lock_door", { device_id: frontDoor }]],
      returns({ state: "locked" }),
    ));
  test("are not locked twice", () =>
    check([["lock_door", { device_id: frontDoor }]], refuses("conflict", /already locked/)));
  test("lock only a door that is shut", () =>
    check(
      [["lock_door", { device_id: balconyDoor }]],
      refuses("precondition_failed", /balcony door \(dev_134\) is not shut/),
    ));
  test("keep a log, newest first", () =>
    check(
      [["get_lock_log", { limit: 2 }]],
      returns({
        locks: [{ door: "balcony door" }, { door: "front door" }, { door: "mailbox" }],
        log: [
          { door: "mailbox", at: "2026-03-08T22:27" },
          { door: "front door", action: "locked" },
        ],
      }),
    ));
  test("have no log of the future", () =>
    check([["get_lock_log", { since: "2026-03-10" }]], refuses("invalid_params", /after today/)));
  test("refuse 30 February", () =>
    check([["get_lock_log", { since: "2026-02-30" }]], refuses("invalid_params", /since/)));
});

describe("sensors", () => {
  test("are found by room and kind", () =>
    check(
      [["list_sensors", { room_id: bedroom, kind: "window" }]],
      returns({
        sensors: [{ sensor: "bedroom window contact", sensor_id: "sen_116", battery: 22 }],
      }),
    ));
  test("are found by what is left of their battery", () =>
    check(
      [["list_sensors", { battery_below: 10 }]],
      returns({
        sensors: [
          { sensor: "bedroom temperature", battery: 9 },
          { sensor: "kitchen smoke alarm", battery: 3 },
        ],
      }),
    ));
  test("of an unknown room are refused", () =>
    check([["list_sensors", { room_id: "x" }]], refuses("not_found", /no room x/)));
  test("of no known kind are refused", () =>
    check([["list_sensors", { kind: "ghost" }]], refuses("invalid_params", /kind/)));
  test("read light with the blinds half down: 620 / 2 / 2 + 12 * 20 lux", () =>
    check(
      [["read_sensor", { sensor_id: "sen_107" }]],
      returns({ value: 395, reading: "395 lux" }),
    ));
  test("report an open window", () =>
    check(
      [["read_sensor", { sensor_id: "sen_116" }]],
      returns({ reading: "open", room_name: "bedroom" }),
    ));
  test("that are silent are refused", () =>
    check(
      [["read_sensor", { sensor_id: "sen_104" }]],
      refuses("precondition_failed", /kitchen smoke alarm\) is offline with 3 percent/),
    ));
});

describe("vacuums", () => {
  const start = (device_id: string, ...room_ids: string[]): Call => [
    "start_vacuum",
    { device_id, ...(room_ids.length > 0 ? { room_ids } : {}) },
  ];
  test("clean the rooms they are sent to", () =>
    check(
      [start(dusty, kitchen, hallway)],
      returns({ status: "cleaning", cleaning: "kitchen, hallway", battery: 88, minutes: 24 }),
    ));
  test("come back with less charge and a fuller bin: 35 + 2 * 10", () =>
    check(
      [start(dusty, kitchen, hallway), ["dock_vacuum", { device_id: dusty }]],
      returns({ status: "docked", battery: 87, bin: 55 }),
    ));
  test("have room for six rooms more at most: 35 + 6 * 10 and then 10", () =>
    check(
      [
        start(dusty, kitchen, living, bedroom, hallway),
        ["dock_vacuum", { device_id: dusty }],
        start(dusty, kitchen, living, bedroom),
      ],
      refuses("limit_exceeded", /bin of Dusty|bin of the Dusty/),
    ));
  test("do not start twice", () =>
    check([start(dusty), start(dusty)], refuses("conflict", /cleaning already/)));
  test("that are stuck stay", () =>
    check(
      [start(mopsy)],
      refuses("precondition_failed", /Mopsy in the hallway \(dev_158\) is stuck/),
    ));
  test("that are stuck cannot drive home", () =>
    check([["dock_vacuum", { device_id: mopsy }]], refuses("precondition_failed", /stuck/)));
  test("on their dock stay there", () =>
    check([["dock_vacuum", { device_id: dusty }]], refuses("conflict", /on its dock already/)));
});

describe("scenes", () => {
  test("are found by name and by what they use", () =>
    check(
      [["list_scenes", { device_id: television }]],
      returns({ scenes: [{ scene: "Movie evening", scene_id: movie, devices: 4 }] }),
    ));
  test("of an unknown device are refused", () =>
    check([["list_scenes", { device_id: "dev_999" }]], refuses("not_found", /no device dev_999/)));
  test("move only what is not so already", () =>
    check([["activate_scene", { scene_id: movie }]], returns({ changed: 3, mode: "home" })));
  test("show in the room: 15 W at a fifth, the television and the heating", () =>
    check(
      [
        ["activate_scene", { scene_id: movie }],
        ["get_room_state", { room_id: living }],
      ],
      returns({ watts: 743, lux: 60 }),
    ));
  test("leave their name in the log", () =>
    check(
      [
        ["unlock_door", { device_id: frontDoor, pin: "4071" }],
        leave,
        ["get_lock_log", { door: "front", limit: 1 }],
      ],
      returns({ log: [{ action: "locked", by: "the Leaving home scene" }] }),
    ));
  test("set the mode", () => check([leave, ["list_rooms", {}]], returns({ mode: "away" })));
  test("without any effect are refused", () =>
    check(
      [
        ["activate_scene", { scene_id: movie }],
        ["activate_scene", { scene_id: movie }],
      ],
      refuses("conflict", /Movie evening/),
    ));
  test("undo another scene", () =>
    check([leave, ["activate_scene", { scene_id: coming }], on(oven)], returns({ state: "on" })));
  test("with a missing device are refused", () =>
    check(
      [["activate_scene", { scene_id: welcome }]],
      refuses("precondition_failed", /Warm welcome\) uses the hall lamp, removed on 2026-01-17/),
    ));
  test("with a silent device are refused as a whole", () =>
    check(
      [
        ["create_scene", { name: "Quiet", turn_off: [coffee, stereo] }],
        ["activate_scene", { scene_id: "scn_1220" }],
      ],
      refuses("precondition_failed", /stereo in the living room \(dev_137\) is offline/),
    ));
  test("that are new are found", () =>
    check(
      [
        ["create_scene", { name: "Quiet", turn_off: [coffee, stereo] }],
        ["list_scenes", { name: "quiet" }],
      ],
      returns({ scenes: [{ scene: "Quiet", devices: 2 }] }),
    ));
  test("can be made", () =>
    check(
      [
        [
          "create_scene",
          { name: "Late snack", turn_on: [ceiling, hallLight], brightness: 30, mode: "night" },
        ],
      ],
      returns({ scene: "Late snack", devices: 2 }),
    ));
  test("have names of their own", () =>
    check(
      [["create_scene", { name: "movie EVENING", turn_on: [ceiling] }]],
      refuses("conflict", /already a scene Movie evening/),
    ));
  test("need something to do", () =>
    check([["create_scene", { name: "Nothing" }]], refuses("invalid_params", /needs a device/)));
  test("do not take a lock", () =>
    check(
      [["create_scene", { name: "Doors", turn_on: [frontDoor] }]],
      refuses("precondition_failed", /front door in the hallway \(dev_152\) is not turned on/),
    ));
  test("do not take the fridge away", () =>
    check(
      [["create_scene", { name: "Silence", turn_off: [fridge] }]],
      refuses("permission_denied", /has to stay on/),
    ));
});

describe("automations", () => {
  const create = (args: Call[1]): Call => [
    "create_automation",
    { name: "Evening", scene_id: movie, ...args },
  ];
  test("say when and what", () =>
    check(
      [["list_automations", { scene_id: coming }]],
      returns({
        automations: [
          { automation: "Back from work", when: "on weekdays at 18:15", scene: "Coming home" },
          { automation: "Lamp at dusk", when: "when living room light meter is below 120" },
        ],
      }),
    ));
  test("are listed by whether they are enabled", () =>
    check(
      [["list_automations", { enabled: false }]],
      returns({ automations: [{ automation: "Off to work", enabled: false }] }),
    ));
  test("of an unknown scene are refused", () =>
    check([["list_automations", { scene_id: "scn_1" }]], refuses("not_found", /no scene scn_1/)));
  test("can be made for a time; Monday 08:00 has passed", () =>
    check(
      [create({ at: "08:00", days: "weekdays" })],
      returns({ when: "on weekdays at 08:00", next: "2026-03-10T08:00" }),
    ));
  test("can be made for a sensor", () =>
    check(
      [create({ sensor_id: "sen_110", above: 24 })],
      returns({ when: "when living room temperature is above 24" }),
    ));
  test("need one of both", () =>
    check([create({})], refuses("invalid_params", /either at a time or by a sensor/)));
  test("need a value where there are values", () =>
    check([create({ sensor_id: "sen_110" })], refuses("invalid_params", /needs a value/)));
  test("need none where there is none", () =>
    check(
      [create({ sensor_id: "sen_119", above: 3 })],
      refuses("invalid_params", /has no values/),
    ));
  test("are not created twice", () =>
    check(
      [create({ at: "20:00" }), create({ name: "Again", at: "20:00" })],
      refuses("conflict", /does the same/),
    ));
  test("do not take a scene that cannot be", () =>
    check(
      [create({ scene_id: welcome, at: "20:00" })],
      refuses("precondition_failed", /hall lamp/),
    ));
  test("refuse a time that does not exist", () =>
    check([create({ at: "25:00" })], refuses("invalid_params", /time of day/)));
});

test("a secret is declared as one", () =>
  expect(JSON.stringify(iotDevices.tools.get("iot_devices_unlock_door")!.inputSchema)).toContain(
    '"x-sensitive":true',
  ));

test("after any calls, the log of each lock ends with how it stands, and scenes use what is or was there", () => {
  const catalog = openCatalog([iotDevices], [join(import.meta.dirname, "../../resources/servers")]);
  for (let seed = 0; seed < 12; seed++) {
    const session = openSessionByName(catalog, {
      servers: [{ name: "iot_devices", fixture: "full" }],
      seed,
    });
    walk(iotDevices, session, 150, seed);
    const { devices, removed, scenes, log } = session.state["iot_devices"]!
      .world as unknown as Home;
    for (const [key, it] of Object.entries(devices)) {
      const turns = Object.values(log)
        .filter(entry => entry.lock_id === key && entry.action !== "wrong code")
        .sort((a, b) => (a.at < b.at ? -1 : 1));
      if (it.kind === "lock")
        expect(turns.at(-1)!.action, `${it.name} after walk ${seed}`).toBe(
          it.is_locked ? "locked" : "unlocked",
        );
    }
    const used = Object.values(scenes).flatMap(it => it.actions.map(action => action.device_id));
    expect(used.filter(it => !(it in devices) && !(it in removed))).toEqual([]);
  }
});

describe("loopholes", () => {
  const scene = (action: Record<string, Json>, edits: Record<string, Json> = {}) => ({
    edits: { "scenes.scn_107.actions": [action], ...edits },
  });
  const activate: Call = ["activate_scene", { scene_id: movie }];
  test("a scene does not set heating whose child lock is on", () =>
    check(
      [activate],
      refuses("permission_denied", /has its child lock on/),
      scene({ device_id: heating, do: "set", level: 23 }, { "devices.dev_122.child_lock": true }),
    ));
  test("a scene does not speed up a fan whose child lock is on", () =>
    check(
      [activate],
      refuses("permission_denied", /has its child lock on/),
      scene(
        { device_id: fan, do: "set", level: 3 },
        { "devices.dev_146.speed": 1, "devices.dev_146.child_lock": true },
      ),
    ));
  test("a scene does not heat an empty flat above 18 °C", () =>
    check(
      [activate],
      refuses("precondition_failed", /keeps rooms at 18 °C at most: 23 °C is too warm/),
      scene({ device_id: heating, do: "set", level: 23 }, { mode: "away" }),
    ));
  test("a scene does not open blinds in away mode", () =>
    check(
      [activate],
      refuses("precondition_failed", /not opened in away mode/),
      scene({ device_id: blinds, do: "open", level: 7 }, { mode: "away" }),
    ));
  test("a scene does not turn a lock with an empty battery", () =>
    check(
      [activate],
      refuses("precondition_failed", /battery of the mailbox lock .* is at 4 percent/),
      scene({ device_id: mailbox, do: "lock" }, { "devices.dev_161.is_locked": false }),
    ));
  test("a scene does not leave the oven on in an empty flat", () =>
    check(
      [off(coffee), on(oven), leave],
      refuses("precondition_failed", /the oven in the kitchen .* must not run while nobody is in/),
    ));
  const automate = (scene_id: string, sensor_id: string, more: Call[1] = {}): Call => [
    "create_automation",
    { name: "Way in", scene_id, sensor_id, ...more },
  ];
  test("an armed alarm is not disarmed with a scene made for that", () =>
    check(
      [off(coffee), leave, ["create_scene", { name: "Way in", turn_off: [stereo], mode: "home" }]],
      refuses("precondition_failed", /armed in away mode: a scene that sets home mode/),
    ));
  test("a scene that keeps the alarm armed can be made", () =>
    check(
      [off(coffee), leave, ["create_scene", { name: "Dark", turn_off: [stereo], mode: "away" }]],
      returns({ scene: "Dark" }),
    ));
  test("a burglar whom a motion sensor sees does not disarm the alarm", () =>
    check(
      [automate(coming, "sen_119")],
      refuses("permission_denied", /\(Coming home\) sets home mode, .* \(sen_119\) would disarm/),
    ));
  test("an armed alarm is not disarmed by the next reading of a thermometer", () =>
    check(
      [off(coffee), leave, automate(coming, "sen_110", { above: -20 })],
      refuses("permission_denied", /\(sen_110\) would disarm the alarm/),
    ));
  test("a motion sensor may arm the alarm", () =>
    check([automate(leaving, "sen_119")], returns({ scene: "Leaving home" })));
  test("a brighter light does not overload the circuit", () =>
    check(
      [["set_brightness", { device_id: floorLamp, brightness: 100 }]],
      refuses("limit_exceeded", /the circuit of the living room carries \d+ W/),
      {
        edits: {
          "devices.dev_119.is_on": true,
          "devices.dev_119.brightness": 10,
          "devices.dev_119.watts": 3000,
        },
      },
    ));
});

describe("every rule can be broken", () => {
  const entry = { lock_id: frontDoor, at: "2026-03-09T09:00", action: "unlocked", by: "Ana Ruiz" };
  checkInvariants({
    "What must not run unattended is off in away mode.": {
      mode: "away",
      "devices.dev_107.is_on": true,
    },
    "In away mode nothing is heated above its limit, opened or unlocked.": [
      { mode: "away" },
      { "devices.dev_122.target": 18.5 },
    ],
    "What has a child lock, is offline or has to stay on stays as it is.": {
      "devices.dev_113.is_on": true,
    },
    "Devices change only in what their controls set.": { "devices.dev_107.watts": 1 },
    "Locks and blinds move only with enough charge, and a door is locked only when it is shut.": {
      "devices.dev_134.is_locked": true,
    },
    "A door is unlocked only with a valid code, and the log has each turn of a bolt.": {
      "devices.dev_152.is_locked": false,
      "log.log_900": { ...entry, by: "the cleaner" },
    },
    "No circuit is loaded beyond what it carries.": { "devices.dev_107.is_on": true },
    "Vacuums start from their dock only, not at night, and not over thresholds.": {
      "devices.dev_158.activity": "cleaning",
    },
    "The mode changes only by a scene that sets it.": { mode: "away" },
    "Nothing is added that disarms the alarm: no scene while it is armed, no automation by a sensor that an intruder sets off or while it is armed.":
      {
        "automations.aut_900": {
          name: "Way in",
          scene_id: coming,
          when: { kind: "sensor", sensor_id: "sen_119" },
          enabled: true,
        },
      },
    "Scenes and automations are only added, up to 60 each, with their own names.": {
      "automations.aut_101.enabled": true,
    },
    "Calls change neither sensors nor rooms, except for the temperature at a time.": {
      "rooms.room_101.circuit": 9000,
    },
  });
});

checkAllTools();
