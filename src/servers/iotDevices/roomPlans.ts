/** The rooms of the generated homes with their devices. */
import type { OfKind, Sensor } from "./state.ts";

type GeneratedField = "room_id" | "model";

export type Fitting =
  | Omit<OfKind<"light">, GeneratedField>
  | Omit<OfKind<"plug">, GeneratedField>
  | Omit<OfKind<"fan">, GeneratedField>
  | Omit<OfKind<"thermostat">, GeneratedField>
  | Omit<OfKind<"blinds">, GeneratedField>
  | Omit<OfKind<"vacuum">, GeneratedField | "rooms" | "since">
  | Omit<OfKind<"lock">, GeneratedField | "codes">;

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

const fixedLight = (name: string, watts: number, is_on = false): Fitting => ({
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
  /** The part of the room that the small fixture has. */
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
      fixedLight("ceiling light", 24, true),
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
      fixedLight("ceiling light", 16),
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
      fixedLight("ceiling light", 18),
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
      fixedLight("ceiling light", 16),
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
      fixedLight("ceiling light", 10),
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
