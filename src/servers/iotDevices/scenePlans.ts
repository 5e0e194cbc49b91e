/** The scenes and automations of the generated homes. */
import type { Action, Trigger } from "./state.ts";

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
  /** The name of a removed device that the scene still uses. */
  readonly lost?: string;
}

/** The first four are in the small fixture. */
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

const atTime = (
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

const onReading = (
  name: string,
  scene: string,
  sensor: string,
  bound: { above?: number; below?: number } = {},
): AutomationPlan => ({ name, scene, when: { sensor, ...bound } });

/** The first three are in the small fixture. */
export const automationPlans: readonly AutomationPlan[] = [
  atTime("Off to work", "Leaving home", "09:40", "weekdays", false),
  atTime("Back from work", "Coming home", "18:15", "weekdays"),
  onReading("Lamp at dusk", "Coming home", "living room light meter", { below: 120 }),
  atTime("Wake up", "Good morning", "06:50", "weekdays"),
  atTime("Sleep well", "Good night", "22:45"),
  atTime("Weekend wake up", "Good morning", "08:30", "weekends"),
  atTime("Weekday breakfast", "Breakfast", "07:10", "weekdays"),
  atTime("Sunday breakfast", "Breakfast", "09:30", "weekends"),
  atTime("Start of work", "Deep focus", "08:45", "weekdays", false),
  atTime("Call it a day", "End of work", "17:45", "weekdays"),
  atTime("Stand-up call", "Video call light", "09:25", "weekdays"),
  atTime("Evening bath", "Bath time", "21:00", "weekends"),
  onReading("Dry the bathroom", "After the shower", "bathroom humidity", { above: 75 }),
  onReading("Dry the laundry", "Laundry day", "laundry room humidity", { above: 70 }),
  atTime("Ironing hour", "Ironing", "18:00", "weekends", false),
  atTime("Plant lamp", "Plants", "07:30"),
  onReading("Shade the flat", "Hot afternoon", "living room temperature", { above: 26 }),
  onReading("Warm the study", "Warm study", "study temperature", { below: 18 }),
  atTime("Lights out", "All lights off", "23:30"),
  atTime("Movie on Saturday", "Movie evening", "20:15", "weekends", false),
  atTime("Reading time", "Reading", "21:30", "weekdays"),
  onReading("Way to the bathroom", "Night light", "hallway motion detector"),
  onReading("Bathroom at night", "Night light", "bathroom motion detector"),
  atTime("Doors at night", "Everything tight", "22:00"),
  atTime("Terrace lights", "Summer evening", "19:45", "weekends", false),
  atTime("Dressed for work", "Dressing up", "07:20", "weekdays"),
  onReading("Guest is up", "Guests stay over", "guest room motion detector"),
  atTime("Guest room off", "Guest room rest", "23:00"),
  atTime("Dinner time", "Dinner with friends", "19:30", "weekends"),
  onReading("Stove is on", "Cooking", "kitchen power meter", { above: 2500 }),
  atTime("Slow Sunday", "Weekend lie-in", "23:45", "weekends"),
  atTime("Pictures after eight", "Picture evening", "20:30", "weekdays", false),
  onReading("Fresh air", "Deep focus", "study air monitor", { above: 1400 }),
  atTime("Gentle start", "Quiet morning", "06:15", "weekdays"),
];
