/**
 * What people offer on the marketplace of a world, and what they write there. Knows no members and
 * no bids.
 */
import type { MarketplaceWorld } from "./server.ts";

type Listing = MarketplaceWorld["listings"][string];

export type Offer = readonly [
  title: string,
  category: Listing["category"],
  condition: Listing["condition"],
  price: number,
  description: string,
  buy?: number,
];

/** No title is part of another. The first are what others offer, in the small world too. */
export const offers: readonly Offer[] = [
  [
    "Walnut sideboard",
    "furniture",
    "good",
    180,
    "Three doors, 160 cm wide. One small stain on the top that wax will hide.",
    320,
  ],
  [
    "Medium format camera",
    "photography",
    "like_new",
    260,
    "Shutter serviced last autumn, light seals new. With two film backs.",
  ],
  [
    "Folding bicycle",
    "bicycles",
    "good",
    120,
    "Six gears, folds to a suitcase. New tyres last summer.",
    240,
  ],
  [
    "Tube amplifier",
    "music",
    "worn",
    95,
    "15 watts, one input. The grille cloth has a tear, the sound has none.",
  ],
  [
    "First edition atlas",
    "books",
    "good",
    60,
    "Maps of the coast from 1931, binding tight, some foxing.",
  ],
  [
    "Noise-reducing headset",
    "electronics",
    "like_new",
    45,
    "Bought for a course that is over. With case and cable.",
  ],
  ["Art deco mirror", "furniture", "good", 85, "Round, 70 cm, with its old glass."],
  [
    "Enlarger with timer",
    "photography",
    "good",
    110,
    "For 35 mm and 6 by 6, with two lenses and a box of filters.",
    190,
  ],
  [
    "Gravel bicycle",
    "bicycles",
    "like_new",
    420,
    "Size 54, ridden one season, two bottle cages.",
    780,
  ],
  [
    "Upright bass",
    "music",
    "good",
    640,
    "Three-quarter size, solid top, new strings. Bow included.",
  ],
  [
    "Mid-century armchair",
    "furniture",
    "worn",
    70,
    "The frame is sound, the seat wants new fabric.",
  ],
  [
    "Silver pocket watch",
    "collectibles",
    "good",
    130,
    "Runs and keeps time, 1920s, engraved on the back.",
    210,
  ],
  ["E-reader", "electronics", "good", 35, "Front light works, the cover is included."],
  ["Complete sea novels", "books", "good", 40, "Twenty volumes in one binding, read once."],
  ["Wool overcoat", "clothing", "like_new", 55, "Grey herringbone, size M, worn one winter."],
  [
    "Turntable with new belt",
    "music",
    "good",
    75,
    "Belt and needle are new, the lid has scratches.",
    140,
  ],
  ["Harbor chart of 1890", "collectibles", "worn", 90, "Framed, folds visible, colours strong."],
  [
    "Standing desk frame",
    "furniture",
    "like_new",
    150,
    "Electric, three memory heights, without a top.",
    260,
  ],
  [
    "Rangefinder camera",
    "photography",
    "good",
    210,
    "Meter works, the lens is clear. With leather case.",
  ],
  ["Cargo trailer", "bicycles", "worn", 60, "Carries forty kilos, cover repaired once."],
  [
    "Tablet with pencil",
    "electronics",
    "good",
    160,
    "11 inch, 128 GB, battery at 89 per cent.",
    280,
  ],
  ["Concertina", "music", "good", 190, "48 keys, in its own box, bellows tight."],
  ["Leather satchel", "clothing", "worn", 38, "Brown, room for a laptop, one new buckle."],
  [
    "Tin toy steamboat",
    "collectibles",
    "good",
    65,
    "Works with a candle. Box present, lid torn.",
    120,
  ],
  [
    "Rattan shelf",
    "furniture",
    "good",
    42,
    "Five boards, 180 cm high, light enough for one person.",
  ],
  ["Slide projector", "photography", "good", 48, "With spare lamp and six trays."],
  ["Child's balance bike", "bicycles", "good", 25, "For two to four years, wooden, freshly oiled."],
  ["Network storage box", "electronics", "good", 115, "Two bays, without disks, fan replaced."],
  ["Poetry first prints", "books", "like_new", 52, "Seven thin volumes from small presses."],
  ["Sailing jacket", "clothing", "good", 68, "Size L, tight at the seams, hood complete.", 130],
  ["Ship in a bottle", "collectibles", "good", 33, "Three masts, made by a retired pilot."],
  [
    "Drawing table",
    "furniture",
    "worn",
    98,
    "Tilts and locks, with parallel bar, ink stains included.",
  ],
  [
    "Handheld recorder",
    "electronics",
    "like_new",
    72,
    "For interviews and birdsong, with windshield.",
  ],
  ["Touring panniers", "bicycles", "good", 46, "A pair, 40 litres, watertight."],
  ["Accordion music stand", "music", "good", 22, "Heavy, does not wobble."],
  [
    "Folding bellows lens",
    "photography",
    "for_parts",
    28,
    "For parts: the shutter sticks, the glass is fine.",
  ],
];

/** What the user offers, or has offered. */
export const ownOffers: readonly Offer[] = [
  ["Flatbed scanner", "electronics", "good", 40, "Scans A4 and film, with cable and manual.", 90],
  ["Vintage drafting lamp", "furniture", "good", 35, "Clamps to a desk, new wiring."],
  [
    "Studio flash set",
    "photography",
    "good",
    120,
    "Two heads, stands and umbrellas, in a bag.",
    220,
  ],
  ["City road bike", "bicycles", "worn", 90, "Size 52, needs a new chain."],
  [
    "Design magazine collection",
    "books",
    "like_new",
    30,
    "All issues of four years, no pages missing.",
  ],
  ["Keyboard with stand", "music", "good", 80, "76 keys, pedal included.", 150],
  ["Pen display", "electronics", "good", 60, "Medium size, pen with three spare tips."],
  ["Linen curtains", "furniture", "like_new", 24, "Two panels, 140 by 250 cm, natural white."],
  ["Letterpress type case", "collectibles", "worn", 45, "Empty, good for small things on a wall."],
  ["Rain poncho", "clothing", "good", 15, "One size, packs into its own pocket."],
  ["Compact printer", "electronics", "for_parts", 12, "Feeds paper badly, otherwise complete."],
  ["Oak stool", "furniture", "good", 28, "Turned legs, 45 cm high."],
  ["Macro lens", "photography", "like_new", 140, "60 mm, filter thread 52, with hood."],
  ["Trekking boots", "clothing", "worn", 26, "Size 39, resoled once."],
];

export const ratingTexts: Readonly<Record<number, readonly string[]>> = {
  5: [
    "Friendly, quick, and everything as described.",
    "Packed with great care.",
    "Even carried it to the car with me.",
    "Answers within minutes.",
  ],
  4: [
    "All as described, pick-up took some patience.",
    "Fair price, good contact.",
    "Small scratch that was not in the pictures, else fine.",
  ],
  3: ["It was all right.", "Came a week late, but it came."],
  2: ["Had to ask three times.", "More worn than described."],
  1: ["Never turned up."],
};

export const questions: readonly string[] = [
  "Is it still available?",
  "Could I pick it up on Saturday?",
  "Would you ship it?",
  "Does it come with the original box?",
  "What are its measurements?",
  "How old is it?",
];
export const answers: readonly string[] = [
  "Yes, until the bidding ends.",
  "Saturday after eleven suits me.",
  "I can ship it for what the post asks.",
  "Pick-up only, I am afraid.",
  "I will measure and write again.",
  "About six years, I think.",
];
