/** The products, review texts and coupons of the generated shops. */

/**
 * `out`: out of stock. `gone`: discontinued. `low`: two in stock. `few`: at most two per order.
 * `kept`: cannot be returned.
 */
export type Quirk = "out" | "gone" | "low" | "few" | "kept";

export type ProductPlan = readonly [
  name: string,
  brand: string,
  price: number,
  features: Readonly<Record<string, string>>,
  quirk?: Quirk,
];

/** By category. No name is part of another name. */
export const productPlans: Readonly<Record<string, readonly ProductPlan[]>> = {
  Kitchen: [
    ["Moka pot", "Brunetti", 29.9, { cups: "6", material: "aluminium" }],
    ["Gooseneck kettle", "Hario Lane", 64.5, { volume: "0.9 l", power: "1200 W" }, "low"],
    ["Cast iron pan", "Ferro", 48, { diameter: "28 cm", weight: "2.6 kg" }],
    ["Chef's knife", "Kurome", 79, { blade: "20 cm", steel: "VG-10" }, "few"],
    ["Ceramic coffee grinder", "Brunetti", 38.75, { capacity: "40 g", settings: "15" }, "out"],
    ["Pasta machine", "Nonna Pia", 54.9, { width: "15 cm", thicknesses: "9" }],
    ["Bamboo cutting board", "Ferro", 22.4, { size: "40 × 30 cm" }],
  ],
  Audio: [
    ["Over-ear headphones", "Soniq", 149, { battery: "38 h", noise: "cancelling" }],
    ["Earbuds", "Soniq", 89.95, { battery: "7 h", water: "IPX4" }, "kept"],
    ["USB microphone", "Clearvox", 99, { pattern: "cardioid" }, "gone"],
    ["Kitchen radio", "Olmo", 59.9, { bands: "DAB+, FM" }],
    ["Portable speaker", "Boomlet", 74.5, { battery: "16 h", water: "IP67" }],
    ["Record player", "Olmo", 229, { speeds: "33, 45", output: "phono and line" }, "few"],
  ],
  Desk: [
    ["LED desk lamp", "Lumo", 45.9, { light: "2700 to 5000 K", power: "9 W" }],
    ["Mechanical keyboard", "Tacto", 119, { layout: "ISO", switches: "brown" }],
    ["Vertical mouse", "Tacto", 39.5, { hand: "right", battery: "AA" }, "out"],
    ["Laptop stand", "Alza", 34, { height: "15 to 25 cm", material: "aluminium" }],
    ["Dotted notebook", "Papier Nord", 14.9, { pages: "192", size: "A5" }],
    ["Fountain pen", "Papier Nord", 27.5, { nib: "M", filling: "cartridge" }],
    ["Monitor arm", "Alza", 88, { load: "9 kg", screens: "17 to 32 inch" }],
  ],
  Outdoor: [
    ["Two-person tent", "Ridgeline", 189, { weight: "2.1 kg", water: "3000 mm" }],
    ["Down sleeping bag", "Ridgeline", 164.9, { comfort: "2 °C", weight: "980 g" }, "low"],
    ["Trekking poles", "Pasolargo", 49.9, { length: "110 to 135 cm" }],
    ["Insulated bottle", "Fjell", 24.95, { volume: "0.75 l", keeps: "18 h" }],
    ["Head torch", "Fjell", 32, { light: "400 lm", battery: "USB" }],
    ["Day backpack", "Pasolargo", 69.9, { volume: "22 l" }],
    ["Camping stove", "Ridgeline", 57, { power: "2800 W", weight: "85 g" }, "gone"],
  ],
  Bathroom: [
    ["Electric toothbrush", "Denta", 59, { battery: "14 days", modes: "3" }, "kept"],
    ["Linen towel set", "Casa Lino", 36.8, { pieces: "4" }],
    ["Bath mat", "Casa Lino", 19.95, { size: "60 × 90 cm" }],
    ["Hair dryer", "Brisa", 44, { power: "1800 W", weight: "420 g" }],
    ["Beard trimmer", "Brisa", 39.9, { lengths: "1 to 20 mm" }, "kept"],
    ["Shower filter", "Denta", 28.5, { lasts: "6 months" }, "out"],
  ],
  Toys: [
    ["Wooden train set", "Holzli", 52.9, { pieces: "48", age: "3+" }],
    ["Marble run", "Holzli", 41.5, { pieces: "60", age: "4+" }],
    ["Harbor jigsaw puzzle", "Piezas", 17.9, { pieces: "1000" }],
    ["Beginner's telescope", "Astra", 129, { aperture: "70 mm" }, "few"],
    ["Finger paints", "Piezas", 12.4, { colours: "6", age: "2+" }, "kept"],
    ["Cooperative board game", "Tablero", 34.95, { players: "2 to 5", age: "8+" }],
  ],
  Garden: [
    ["Herb planter", "Verdea", 26.9, { size: "60 × 20 cm" }],
    ["Pruning shears", "Ferro", 31, { blade: "steel", length: "21 cm" }],
    ["Balcony tomato kit", "Verdea", 16.5, { plants: "3" }, "kept"],
    ["Watering can", "Verdea", 18.75, { volume: "5 l" }],
    ["Solar string lights", "Lumo", 23.9, { length: "12 m", lights: "100" }],
    ["Folding garden chair", "Casa Lino", 64, { load: "120 kg" }, "low"],
  ],
  Sport: [
    ["Cork yoga mat", "Prana", 58.5, { thickness: "5 mm" }],
    ["Kettlebell", "Hierro", 42, { weight: "12 kg" }],
    ["Resistance bands", "Hierro", 19.5, { pieces: "5" }],
    ["Running belt", "Pasolargo", 21.9, { pockets: "2" }],
    ["Swimming goggles", "Delfin", 17.5, { lens: "mirrored" }, "kept"],
    ["Climbing chalk bag", "Ridgeline", 15.9, { closure: "drawstring" }, "gone"],
    ["Foam roller", "Prana", 26, { length: "45 cm" }],
  ],
};

export const reviewTexts: Readonly<
  Record<number, readonly (readonly [title: string, text: string])[]>
> = {
  5: [
    ["Exactly what I wanted", "I have used it every day for a month and would not give it back."],
    ["Beautifully made", "Solid, well thought out, and it looks better than in the pictures."],
    ["Worth every euro", "I hesitated at the price. I should not have."],
    ["A gift that landed", "My sister has not stopped talking about it."],
  ],
  4: [
    ["Very good, with one snag", "Works as it should; the manual could be clearer."],
    ["Nearly perfect", "One star off because the box arrived dented."],
    ["Good value", "Does the job of things that cost twice as much."],
  ],
  3: [
    ["It is all right", "Nothing wrong with it, nothing special either."],
    ["Smaller than I thought", "Check the measurements before you order."],
  ],
  2: [
    ["Not for daily use", "After three weeks it shows its age already."],
    ["Expected more", "It works, but it feels flimsy."],
  ],
  1: [["Came broken", "It arrived with a crack, and I had to send it back."]],
};

export interface CouponPlan {
  readonly code: string;
  readonly title: string;
  readonly kind: "percent" | "amount" | "free_delivery";
  readonly value: number;
  readonly minimum: number;
  readonly category?: string;
  /** Days from today. */
  readonly starts: number;
  readonly expires: number;
}

export const couponPlans: readonly CouponPlan[] = [
  {
    code: "SPRING10",
    title: "Spring welcome",
    kind: "percent",
    value: 10,
    minimum: 40,
    starts: -8,
    expires: 22,
  },
  {
    code: "WINTER15",
    title: "Winter clearance",
    kind: "percent",
    value: 15,
    minimum: 50,
    starts: -60,
    expires: -9,
  },
  {
    code: "BIG25",
    title: "25 off a big basket",
    kind: "amount",
    value: 25,
    minimum: 250,
    starts: -3,
    expires: 40,
  },
  {
    code: "THANKS8",
    title: "Thank-you voucher",
    kind: "amount",
    value: 8,
    minimum: 20,
    starts: -40,
    expires: 60,
  },
  {
    code: "EASTER20",
    title: "Easter special",
    kind: "percent",
    value: 20,
    minimum: 60,
    starts: 20,
    expires: 30,
  },
  {
    code: "FREESHIP",
    title: "Free delivery",
    kind: "free_delivery",
    value: 0,
    minimum: 15,
    starts: -20,
    expires: 10,
  },
  {
    code: "COOK12",
    title: "Kitchen week",
    kind: "percent",
    value: 12,
    minimum: 30,
    category: "Kitchen",
    starts: -2,
    expires: 5,
  },
  {
    code: "TRAIL18",
    title: "Trail season",
    kind: "percent",
    value: 18,
    minimum: 80,
    category: "Outdoor",
    starts: -5,
    expires: 35,
  },
  {
    code: "DESK5",
    title: "Desk refresh",
    kind: "amount",
    value: 5,
    minimum: 25,
    category: "Desk",
    starts: -30,
    expires: 3,
  },
  {
    code: "NEWYEAR20",
    title: "New Year offer",
    kind: "percent",
    value: 20,
    minimum: 100,
    starts: -68,
    expires: -40,
  },
  {
    code: "BDAY15",
    title: "Birthday present",
    kind: "amount",
    value: 15,
    minimum: 45,
    starts: -25,
    expires: 5,
  },
  {
    code: "APP5",
    title: "First order in the app",
    kind: "amount",
    value: 5,
    minimum: 10,
    starts: -200,
    expires: 165,
  },
];
