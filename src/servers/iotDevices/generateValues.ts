/**
 * What stands in the flat: its rooms with their devices, the scenes and the automations, as they
 * are in every world.
 */
import type { Action, Device, OfKind, Sensor, Trigger } from "./state.ts";

type Placed = "room_id" | "model";
export type Fitting =
  | Omit<OfKind<"light">, Placed>
  | Omit<OfKind<"plug">, Placed>
  | Omit<OfKind<"fan">, Placed>
  | Omit<OfKind<"thermostat">, Placed>
  | Omit<OfKind<"blinds">, Placed>
  | Omit<OfKind<"vacuum">, Placed | "rooms" | "since">
  | Omit<OfKind<"lock">, Placed | "codes">;

type Color = NonNullable<OfKind<"light">["color"]>;

const light = (name: string, watts: number, is_on = false, color?: Color): Fitting => ({
  kind: "light",
  name,
  watts,
  is_on,
  brightness: 80,
  dims: true,
  ...(color ? { color } : {}),
});
const plain = (name: string, watts: number, is_on = false): Fitting => ({
  kind: "light",
  name,
  watts,
  is_on,
  brightness: 100,
});
const plug = (
  name: string,
  watts: number,
  is_on = false,
  marks: Partial<Pick<OfKind<"plug">, "attended" | "essential" | "child_lock">> = {},
): Fitting => ({ kind: "plug", name, watts, is_on, ...marks });
const fan = (
  name: string,
  speeds: number,
  watts: number,
  speed = 0,
  child_lock?: true,
): Fitting => ({ kind: "fan", name, speeds, watts, speed, ...(child_lock ? { child_lock } : {}) });
const heating = (target: number, is_on = true, child_lock?: true): Fitting => ({
  kind: "thermostat",
  name: "heating",
  is_on,
  target,
  watts: 600,
  ...(child_lock ? { child_lock } : {}),
});
const blinds = (name: string, position: number, battery: number): Fitting => ({
  kind: "blinds",
  name,
  position,
  battery,
});
const lock = (name: string, is_locked: boolean, battery: number, ajar?: true): Fitting => ({
  kind: "lock",
  name,
  is_locked,
  ...(ajar ? { ajar } : {}),
  battery,
});
const vacuum = (
  name: string,
  activity: OfKind<"vacuum">["activity"],
  battery: number,
  bin: number,
): Fitting => ({ kind: "vacuum", name, activity, battery, bin });

export interface RoomPlan {
  readonly name: string;
  readonly circuit: number;
  readonly daylight: number;
  readonly temperature: number;
  readonly threshold?: true;
  /** What of it the small flat has. */
  readonly few?: { readonly fittings: readonly string[]; readonly sensors: number };
  readonly fittings: readonly Fitting[];
  readonly sensors: readonly (readonly [Sensor["kind"], number | boolean | undefined])[];
}

export const roomPlans: readonly RoomPlan[] = [
  {
    name: "kitchen",
    circuit: 3600,
    daylight: 420,
    temperature: 20.6,
    few: {
      fittings: ["ceiling light", "fridge", "oven", "coffee machine", "dishwasher"],
      sensors: 2,
    },
    fittings: [
      plain("ceiling light", 24, true),
      plug("fridge", 90, true, { essential: true }),
      plug("oven", 2400, false, { attended: true }),
      plug("kettle", 2000),
      plug("coffee machine", 1400, true),
      fan("extractor hood", 3, 60),
      light("worktop light", 12, false, "cool white"),
      blinds("roller blinds", 60, 74),
      plug("dishwasher", 1800, false, { child_lock: true }),
      plug("radio", 8),
      heating(20),
      plug("toaster", 900, false, { attended: true }),
    ],
    sensors: [
      ["power", undefined],
      ["smoke", false],
      ["temperature", undefined],
      ["leak", false],
      ["humidity", 58],
      ["motion", true],
    ],
  },
  {
    name: "living room",
    circuit: 3000,
    daylight: 620,
    temperature: 20.1,
    few: {
      fittings: [
        "ceiling light",
        "floor lamp",
        "heating",
        "blinds",
        "television",
        "terrace blinds",
        "balcony door",
        "stereo",
      ],
      sensors: 2,
    },
    fittings: [
      light("ceiling light", 30),
      light("floor lamp", 15, true, "warm white"),
      heating(20.5),
      blinds("blinds", 100, 81),
      plug("television", 140),
      blinds("terrace blinds", 0, 7),
      lock("balcony door", false, 66, true),
      fan("ceiling fan", 5, 15),
      light("shelf lights", 9, false, "blue"),
      plug("stereo", 60, true),
      light("reading lamp", 8, false),
      plug("aquarium pump", 25, true, { essential: true }),
      light("picture light", 6),
    ],
    sensors: [
      ["light", undefined],
      ["temperature", undefined],
      ["power", undefined],
      ["air", 820],
      ["motion", false],
      ["window", false],
    ],
  },
  {
    name: "bedroom",
    circuit: 2400,
    daylight: 380,
    temperature: 18.2,
    few: { fittings: ["bedside lamp", "heating", "standing fan"], sensors: 2 },
    fittings: [
      light("ceiling light", 20),
      light("bedside lamp", 8, false, "orange"),
      heating(18),
      blinds("blinds", 0, 58),
      fan("standing fan", 3, 20),
      plug("electric blanket", 110, false, { attended: true }),
      light("wardrobe light", 5),
      light("window-side lamp", 8, false, "warm white"),
      plug("alarm clock", 4, true),
    ],
    sensors: [
      ["temperature", undefined],
      ["window", true],
      ["humidity", 52],
      ["power", undefined],
      ["light", undefined],
    ],
  },
  {
    name: "hallway",
    circuit: 2000,
    daylight: 60,
    temperature: 19,
    few: { fittings: ["ceiling light", "front door", "Dusty", "Mopsy", "mailbox"], sensors: 1 },
    fittings: [
      plain("ceiling light", 16),
      lock("front door", true, 43),
      vacuum("Dusty", "docked", 88, 35),
      vacuum("Mopsy", "stuck", 31, 50),
      plug("router", 12, true, { essential: true }),
      lock("building entrance", true, 71),
      lock("mailbox", true, 4),
      light("mirror light", 10),
      plug("shoe dryer", 300),
      light("coat rack light", 6),
    ],
    sensors: [
      ["motion", false],
      ["temperature", undefined],
      ["smoke", false],
      ["light", undefined],
      ["power", undefined],
    ],
  },
  {
    name: "study",
    circuit: 2400,
    daylight: 520,
    temperature: 19.4,
    fittings: [
      light("ceiling light", 24),
      light("desk lamp", 11, true, "cool white"),
      heating(21),
      blinds("blinds", 80, 92),
      plug("printer", 35),
      plug("monitor", 45, true),
      plug("laptop dock", 65, true),
      fan("desk fan", 4, 8),
      lock("desk drawer", true, 55),
      light("bookcase lights", 14, false, "warm white"),
      vacuum("Roomy", "cleaning", 64, 20),
    ],
    sensors: [
      ["temperature", undefined],
      ["window", true],
      ["air", 1150],
      ["light", undefined],
      ["power", undefined],
    ],
  },
  {
    name: "bathroom",
    circuit: 3000,
    daylight: 140,
    temperature: 21.8,
    fittings: [
      plain("ceiling light", 18),
      light("mirror light", 12, true),
      heating(22, true, true),
      fan("ventilator", 3, 18, 1),
      plug("towel rail", 450),
      plug("hair dryer", 1800, false, { attended: true }),
      plug("washing machine", 2000, false, { child_lock: true }),
      blinds("window shade", 40, 63),
      lock("medicine cabinet", true, 38),
    ],
    sensors: [
      ["humidity", 71],
      ["leak", false],
      ["temperature", undefined],
      ["power", undefined],
      ["motion", false],
    ],
  },
  {
    name: "guest room",
    circuit: 2000,
    daylight: 300,
    temperature: 16.8,
    fittings: [
      light("ceiling light", 18),
      light("bedside lamp", 7, false, "warm white"),
      heating(17),
      blinds("blinds", 100, 8),
      plug("heated throw", 120, false, { attended: true }),
      fan("tower fan", 5, 12, 0, true),
      plug("sewing machine", 90),
      light("reading lamp", 6),
    ],
    sensors: [
      ["temperature", undefined],
      ["window", true],
      ["motion", false],
    ],
  },
  {
    name: "dining room",
    circuit: 2400,
    daylight: 460,
    temperature: 19.9,
    fittings: [
      light("pendant lamp", 36, false, "warm white"),
      light("sideboard lamp", 9, true),
      heating(20),
      blinds("blinds", 70, 47),
      plug("wine cooler", 80, true, { essential: true }),
      plug("hot plate", 1100, false, { attended: true }),
      fan("ceiling fan", 3, 18),
      light("candle lights", 5, false, "orange"),
      vacuum("Crumbs", "docked", 14, 60),
    ],
    sensors: [
      ["temperature", undefined],
      ["light", undefined],
      ["window", false],
      ["power", undefined],
    ],
  },
  {
    name: "laundry room",
    circuit: 3600,
    daylight: 40,
    temperature: 18.6,
    fittings: [
      plain("ceiling light", 16),
      plug("tumble dryer", 2200, false, { child_lock: true }),
      plug("iron", 2200, false, { attended: true }),
      plug("dehumidifier", 260, true),
      fan("ventilator", 3, 22, 2),
      lock("bike room door", false, 29),
      plug("drying cabinet", 1500),
      light("counter light", 8),
    ],
    sensors: [
      ["humidity", 66],
      ["leak", true],
      ["power", undefined],
      ["smoke", false],
    ],
  },
  {
    name: "sunroom",
    circuit: 1800,
    daylight: 1400,
    temperature: 17.5,
    threshold: true,
    fittings: [
      light("string lights", 10, false, "pink"),
      light("plant lamp", 40, true, "purple"),
      blinds("awning", 0, 83),
      blinds("side blinds", 30, 69),
      fan("standing fan", 4, 14),
      plug("fountain", 30),
      heating(16, false),
      plug("record player", 18),
      lock("garden gate", false, 77),
    ],
    sensors: [
      ["light", undefined],
      ["temperature", undefined],
      ["humidity", 61],
      ["window", false],
    ],
  },
  {
    name: "pantry",
    circuit: 1600,
    daylight: 0,
    temperature: 15.4,
    fittings: [
      plain("ceiling light", 10),
      plug("freezer", 110, true, { essential: true }),
      plug("bread slicer", 130, false, { child_lock: true }),
      lock("cellar door", true, 61),
      light("shelf light", 4),
      plug("scales charger", 10),
      fan("ventilator", 2, 10),
    ],
    sensors: [
      ["temperature", undefined],
      ["humidity", 49],
      ["motion", false],
    ],
  },
  {
    name: "dressing room",
    circuit: 1600,
    daylight: 90,
    temperature: 18.9,
    fittings: [
      light("mirror lights", 22, false, "cool white"),
      light("ceiling light", 14),
      plug("steamer", 1300, false, { attended: true }),
      plug("garment rack", 70),
      heating(19, true),
      blinds("window shade", 100, 35),
      vacuum("Fluffy", "docked", 96, 95),
      light("wardrobe light", 6),
    ],
    sensors: [
      ["temperature", undefined],
      ["motion", false],
      ["power", undefined],
    ],
  },
];

export interface Move {
  readonly room: string;
  /** A device's name, or all devices of a kind. */
  readonly what: string;
  readonly do: Action["do"];
  readonly level?: number;
}

const move = (room: string, what: Move["what"], act: Action["do"], level?: number): Move => ({
  room,
  what,
  do: act,
  ...(level === undefined ? {} : { level }),
});

export interface ScenePlan {
  readonly name: string;
  readonly mode?: "home" | "away" | "night";
  readonly moves: readonly Move[];
  /** It names a device that is gone. */
  readonly lost?: string;
}

/** The first four are the small flat's. */
export const scenePlans: readonly ScenePlan[] = [
  {
    name: "Leaving home",
    mode: "away",
    moves: [
      move("kitchen", "coffee machine", "off"),
      move("living room", "floor lamp", "off"),
      move("hallway", "front door", "lock"),
    ],
  },
  {
    name: "Coming home",
    mode: "home",
    moves: [move("hallway", "ceiling light", "on"), move("living room", "floor lamp", "set", 60)],
  },
  {
    name: "Movie evening",
    moves: [
      move("living room", "television", "on"),
      move("living room", "floor lamp", "set", 20),
      move("living room", "blinds", "close"),
      move("living room", "ceiling light", "off"),
    ],
  },
  {
    name: "Warm welcome",
    lost: "hall lamp",
    moves: [move("hallway", "ceiling light", "on"), move("living room", "heating", "set", 21)],
  },
  {
    name: "Good night",
    mode: "night",
    moves: [
      move("bedroom", "bedside lamp", "set", 15),
      move("living room", "light", "off"),
      move("kitchen", "ceiling light", "off"),
      move("hallway", "front door", "lock"),
    ],
  },
  {
    name: "Good morning",
    mode: "home",
    moves: [
      move("bedroom", "blinds", "open"),
      move("bedroom", "ceiling light", "set", 60),
      move("kitchen", "coffee machine", "on"),
    ],
  },
  {
    name: "Breakfast",
    moves: [
      move("kitchen", "worktop light", "on"),
      move("kitchen", "radio", "on"),
      move("kitchen", "roller blinds", "open"),
    ],
  },
  {
    name: "Cooking",
    moves: [
      move("kitchen", "extractor hood", "set", 2),
      move("kitchen", "light", "on"),
      move("kitchen", "radio", "on"),
    ],
  },
  {
    name: "Dinner with friends",
    moves: [
      move("dining room", "pendant lamp", "set", 50),
      move("dining room", "candle lights", "on"),
      move("dining room", "heating", "set", 21),
    ],
  },
  {
    name: "Reading",
    moves: [
      move("living room", "reading lamp", "set", 90),
      move("living room", "television", "off"),
      move("living room", "ceiling light", "off"),
    ],
  },
  {
    name: "Deep focus",
    moves: [
      move("study", "desk lamp", "set", 100),
      move("study", "ceiling light", "off"),
      move("study", "printer", "off"),
      move("study", "blinds", "open", 50),
    ],
  },
  {
    name: "Video call light",
    moves: [
      move("study", "ceiling light", "set", 70),
      move("study", "desk lamp", "set", 60),
      move("study", "desk fan", "off"),
    ],
  },
  {
    name: "End of work",
    moves: [
      move("study", "light", "off"),
      move("study", "monitor", "off"),
      move("study", "laptop dock", "off"),
    ],
  },
  {
    name: "Guests stay over",
    moves: [
      move("guest room", "bedside lamp", "on"),
      move("guest room", "ceiling light", "set", 40),
    ],
  },
  {
    name: "Guest room rest",
    moves: [move("guest room", "light", "off"), move("guest room", "tower fan", "off")],
  },
  {
    name: "Bath time",
    moves: [
      move("bathroom", "mirror light", "set", 30),
      move("bathroom", "towel rail", "on"),
      move("bathroom", "window shade", "close"),
    ],
  },
  {
    name: "After the shower",
    moves: [move("bathroom", "ventilator", "set", 3), move("bathroom", "towel rail", "off")],
  },
  {
    name: "Laundry day",
    moves: [
      move("laundry room", "light", "on"),
      move("laundry room", "ventilator", "set", 3),
      move("laundry room", "dehumidifier", "on"),
    ],
  },
  {
    name: "Ironing",
    moves: [move("laundry room", "iron", "on"), move("laundry room", "counter light", "on")],
  },
  {
    name: "Plants",
    moves: [
      move("sunroom", "plant lamp", "set", 100),
      move("sunroom", "awning", "open"),
      move("sunroom", "fountain", "on"),
    ],
  },
  {
    name: "Summer evening",
    moves: [
      move("sunroom", "string lights", "on"),
      move("sunroom", "record player", "on"),
      move("sunroom", "side blinds", "open"),
    ],
  },
  {
    name: "Hot afternoon",
    moves: [
      move("living room", "ceiling fan", "set", 4),
      move("living room", "blinds", "close"),
      move("bedroom", "blinds", "close"),
      move("study", "blinds", "close"),
    ],
  },
  {
    name: "All lights off",
    moves: [
      move("kitchen", "light", "off"),
      move("living room", "light", "off"),
      move("study", "light", "off"),
      move("hallway", "light", "off"),
      move("bedroom", "light", "off"),
    ],
  },
  {
    name: "Party",
    lost: "disco ball",
    moves: [
      move("living room", "shelf lights", "set", 100),
      move("living room", "stereo", "on"),
      move("dining room", "candle lights", "on"),
    ],
  },
  {
    name: "Weekend lie-in",
    moves: [
      move("bedroom", "blinds", "close"),
      move("bedroom", "alarm clock", "off"),
      move("bedroom", "heating", "set", 19),
    ],
  },
  {
    name: "Holiday",
    mode: "away",
    moves: [
      move("living room", "floor lamp", "off"),
      move("study", "monitor", "off"),
      move("kitchen", "coffee machine", "off"),
      move("dining room", "sideboard lamp", "off"),
      move("hallway", "front door", "lock"),
    ],
  },
  {
    name: "Dressing up",
    moves: [
      move("dressing room", "mirror lights", "set", 100),
      move("dressing room", "steamer", "on"),
    ],
  },
  {
    name: "Night light",
    moves: [move("hallway", "mirror light", "set", 5), move("bathroom", "mirror light", "set", 5)],
  },
  {
    name: "Everything tight",
    moves: [
      move("hallway", "building entrance", "lock"),
      move("sunroom", "garden gate", "lock"),
      move("laundry room", "bike room door", "lock"),
    ],
  },
  {
    name: "Baking",
    moves: [move("kitchen", "oven", "on"), move("kitchen", "worktop light", "on")],
  },
  {
    name: "Nursery rhymes",
    lost: "night projector",
    moves: [move("guest room", "bedside lamp", "set", 20)],
  },
  {
    name: "Warm study",
    moves: [move("study", "heating", "set", 22), move("study", "desk lamp", "on")],
  },
  {
    name: "Picture evening",
    moves: [
      move("living room", "picture light", "set", 70),
      move("living room", "television", "off"),
    ],
  },
  {
    name: "Quiet morning",
    mode: "home",
    moves: [
      move("hallway", "coat rack light", "set", 30),
      move("kitchen", "worktop light", "set", 40),
    ],
  },
];

export interface AutomationPlan {
  readonly name: string;
  readonly scene: string;
  readonly when:
    | Extract<Trigger, { kind: "time" }>
    | { readonly sensor: string; readonly above?: number; readonly below?: number };
  readonly enabled?: false;
}

const at = (
  name: string,
  scene: string,
  time: string,
  days: Extract<Trigger, { kind: "time" }>["days"] = "daily",
  enabled?: false,
): AutomationPlan => ({
  name,
  scene,
  when: { kind: "time", at: time, days },
  ...(enabled === undefined ? {} : { enabled }),
});
const on = (
  name: string,
  scene: string,
  sensor: string,
  bound: { above?: number; below?: number } = {},
): AutomationPlan => ({ name, scene, when: { sensor, ...bound } });

/** The first three are the small flat's. */
export const automationPlans: readonly AutomationPlan[] = [
  at("Off to work", "Leaving home", "09:40", "weekdays", false),
  at("Back from work", "Coming home", "18:15", "weekdays"),
  on("Lamp at dusk", "Coming home", "living room light meter", { below: 120 }),
  at("Wake up", "Good morning", "06:50", "weekdays"),
  at("Sleep well", "Good night", "22:45"),
  at("Weekend wake up", "Good morning", "08:30", "weekends"),
  at("Weekday breakfast", "Breakfast", "07:10", "weekdays"),
  at("Sunday breakfast", "Breakfast", "09:30", "weekends"),
  at("Start of work", "Deep focus", "08:45", "weekdays", false),
  at("Call it a day", "End of work", "17:45", "weekdays"),
  at("Stand-up call", "Video call light", "09:25", "weekdays"),
  at("Evening bath", "Bath time", "21:00", "weekends"),
  on("Dry the bathroom", "After the shower", "bathroom humidity", { above: 75 }),
  on("Dry the laundry", "Laundry day", "laundry room humidity", { above: 70 }),
  at("Ironing hour", "Ironing", "18:00", "weekends", false),
  at("Plant lamp", "Plants", "07:30"),
  on("Shade the flat", "Hot afternoon", "living room temperature", { above: 26 }),
  on("Warm the study", "Warm study", "study temperature", { below: 18 }),
  at("Lights out", "All lights off", "23:30"),
  at("Movie on Saturday", "Movie evening", "20:15", "weekends", false),
  at("Reading time", "Reading", "21:30", "weekdays"),
  on("Way to the bathroom", "Night light", "hallway motion detector"),
  on("Bathroom at night", "Night light", "bathroom motion detector"),
  at("Doors at night", "Everything tight", "22:00"),
  at("Terrace lights", "Summer evening", "19:45", "weekends", false),
  at("Dressed for work", "Dressing up", "07:20", "weekdays"),
  on("Guest is up", "Guests stay over", "guest room motion detector"),
  at("Guest room off", "Guest room rest", "23:00"),
  at("Dinner time", "Dinner with friends", "19:30", "weekends"),
  on("Stove is on", "Cooking", "kitchen power meter", { above: 2500 }),
  at("Slow Sunday", "Weekend lie-in", "23:45", "weekends"),
  at("Pictures after eight", "Picture evening", "20:30", "weekdays", false),
  on("Fresh air", "Deep focus", "study air monitor", { above: 1400 }),
  at("Gentle start", "Quiet morning", "06:15", "weekdays"),
];

export const models: Readonly<Record<Device["kind"], readonly string[]>> = {
  light: ["Lumo E27", "Lumo Strip 2", "Glim Spot", "Glim Panel 40", "Halden LED"],
  plug: ["Plugwell S1", "Plugwell S2", "Norra Socket", "Volten Mini"],
  fan: ["Breeza 30", "Breeza Ceiling", "Airon Silent"],
  thermostat: ["Thermia Valve 3", "Thermia Floor", "Kelvo T1"],
  blinds: ["Rollo Battery", "Rollo Solar", "Tendo Shade"],
  lock: ["Bolto Pro", "Bolto Mini", "Keyra Home"],
  vacuum: ["Sweepa 5", "Sweepa 7 Mop", "Cleanbot Air"],
};
