/**
 * The names that worlds are cast from. The first of each list is the shipped world's; the others
 * are what another seed may choose. Knows no roles and no servers.
 */

/**
 * Full names with first names that occur once, so that a first name can be a user name and a
 * greeting.
 */
export const people: readonly string[] = [
  "Ana Ruiz",
  "Ben Okafor",
  "Chloe Martin",
  "David Chen",
  "Emma Novak",
  "Farid Haddad",
  "Grace Kim",
  "Hugo Silva",
  "Ines Costa",
  "Jonas Weber",
  "Kira Sato",
  "Liam Walsh",
  "Maya Patel",
  "Noah Berg",
  "Paul Ruiz",
  "Rosa Ruiz",
  "Clara Mendes",
  "Marco Bianchi",
  "Nadia Petrov",
  "Oskar Lind",
  "Sofia Marin",
  "Helena Brandt",
  "Viktor Larsen",
  "Julien Moreau",
  "Camille Girard",
  "Rui Almeida",
  "Teresa Pinto",
  "Anton Gruber",
  "Beatrix Holm",
  "Cyrus Kamali",
  "Daphne Papas",
  "Elio Conti",
  "Freya Dahl",
  "Gideon Stone",
  "Hanna Virtanen",
  "Isak Nyman",
  "Jola Nowak",
  "Karim Bensaid",
  "Leonie Vogt",
  "Mateo Vega",
  "Nora Lindqvist",
  "Omar Farouk",
  "Petra Horvat",
  "Quentin Roux",
  "Ravi Menon",
  "Selma Yilmaz",
  "Tomas Kral",
  "Ulla Jensen",
  "Vera Kolar",
  "Wim Janssen",
];

/**
 * Cities away from home: name, country, airport, latitude, longitude, metres above the sea, time
 * zone.
 */
export const cities: readonly (readonly [
  string,
  string,
  string,
  number,
  number,
  number,
  string,
])[] = [
  ["Hamburg", "Germany", "HAM", 53.5511, 9.9937, 6, "Europe/Berlin"],
  ["Lyon", "France", "LYS", 45.764, 4.8357, 173, "Europe/Paris"],
  ["Porto", "Portugal", "OPO", 41.1579, -8.6291, 104, "Europe/Lisbon"],
  ["Lisbon", "Portugal", "LIS", 38.7223, -9.1393, 15, "Europe/Lisbon"],
  ["Madrid", "Spain", "MAD", 40.4168, -3.7038, 657, "Europe/Madrid"],
  ["Paris", "France", "CDG", 48.8566, 2.3522, 35, "Europe/Paris"],
  ["Berlin", "Germany", "BER", 52.52, 13.405, 34, "Europe/Berlin"],
  ["Amsterdam", "Netherlands", "AMS", 52.3676, 4.9041, 2, "Europe/Amsterdam"],
  ["London", "United Kingdom", "LHR", 51.5074, -0.1278, 11, "Europe/London"],
  ["Barcelona", "Spain", "BCN", 41.3874, 2.1686, 12, "Europe/Madrid"],
  ["Milan", "Italy", "MXP", 45.4642, 9.19, 120, "Europe/Rome"],
  ["Copenhagen", "Denmark", "CPH", 55.6761, 12.5683, 5, "Europe/Copenhagen"],
  ["Vienna", "Austria", "VIE", 48.2082, 16.3738, 171, "Europe/Vienna"],
  ["Dublin", "Ireland", "DUB", 53.3498, -6.2603, 17, "Europe/Dublin"],
];

/** The home city in other worlds is another invented one, at the same place. */
export const homes: readonly string[] = [
  "Port Alder",
  "Westmar",
  "Kestrel Bay",
  "San Telmo",
  "Marenholt",
  "Brightwater",
];

export const studios: readonly string[] = [
  "Harbor Studio",
  "Lantern Works",
  "Studio Nord",
  "Paperboat",
  "Bureau Fern",
];

/** Client firms by role; the field of business stays whatever the name. */
export const clients: readonly {
  readonly names: readonly string[];
  readonly legal: string;
  readonly industry: string;
  readonly city: string;
}[] = [
  {
    names: ["Northwind", "Stillwater", "Eastgate", "Greyhaven"],
    legal: "Insurance",
    industry: "Insurance",
    city: "Hamburg",
  },
  {
    names: ["Bluepeak", "Redcliff", "Whiteford", "Silverpass"],
    legal: "Outdoor",
    industry: "Outdoor equipment",
    city: "Lyon",
  },
  {
    names: ["Orchard Foods", "Meadow Foods", "Valley Foods", "Grove Foods"],
    legal: "",
    industry: "Food",
    city: "Porto",
  },
];

/** Firms that may become clients: name, field, city. */
export const prospects: readonly (readonly [readonly string[], string, string])[] = [
  [["Alpenglow Hotels", "Summit Hotels", "Larch Hotels"], "Hospitality", "Vienna"],
  [["Tidewater Books", "Ebbtide Books", "Foreland Books"], "Publishing", "London"],
  [["Kestrel Robotics", "Heron Robotics", "Osprey Robotics"], "Machinery", "Berlin"],
  [["Verde Mobility", "Lima Mobility", "Olive Mobility"], "Transport", "Barcelona"],
  [["Luma Optics", "Vero Optics", "Clara Optics"], "Optics", "Milan"],
  [["Nordhaus Furniture", "Birkhaus Furniture", "Ostholm Furniture"], "Furniture", "Copenhagen"],
  [["Salt & Vine", "Oak & Barrel", "Stone & Grape"], "Wine", "Lisbon"],
  [["Atlas Cargo", "Meridian Cargo", "Compass Cargo"], "Logistics", "Amsterdam"],
  [["Pinecrest School", "Elmwood School", "Rowan School"], "Education", "home"],
  [["Maritime Museum", "Lighthouse Museum", "Fishery Museum"], "Culture", "home"],
  [["Iris Health", "Linden Health", "Aster Health"], "Health care", "Paris"],
  [["Copperline Energy", "Brassfield Energy", "Tinworks Energy"], "Energy", "Madrid"],
];

export const streets: readonly string[] = [
  "Quay Street",
  "Mill Lane",
  "Harbor Road",
  "Chapel Street",
  "Alder Avenue",
  "Market Square",
  "Bridge Street",
  "Customs Row",
  "Garden Street",
  "Station Road",
  "Lighthouse Way",
  "Old Wall",
];

/**
 * Places of the home city: role, category, names, house number, index of the street, and how far
 * north and east of the centre in metres.
 */
export const places: readonly (readonly [
  role: string,
  category: string,
  names: readonly string[],
  house: number,
  street: number,
  north: number,
  east: number,
])[] = [
  ["home", "home", ["Ana's flat"], 27, 4, 620, -840],
  ["studio", "office", ["Harbor Studio"], 3, 2, -310, 450],
  ["cafe", "cafe", ["Café Lumen", "Café Ostra", "Café Brandt"], 14, 0, -120, 380],
  ["bakery", "bakery", ["Corner Bakery", "Hearth Bakery", "Morning Bakery"], 2, 4, 560, -790],
  ["pasta", "restaurant", ["Pasta Fresca", "Pasta Nonna", "Pasta Verde"], 31, 3, 240, -150],
  ["trattoria", "restaurant", ["Trattoria Sole", "Trattoria Luna", "Trattoria Mare"], 9, 5, 40, 20],
  ["sushi", "restaurant", ["Sushi Kaze", "Sushi Nami", "Sushi Hana"], 18, 6, 410, 330],
  ["curry", "restaurant", ["Saffron House", "Cardamom House", "Clove House"], 44, 6, 480, 400],
  ["tacos", "restaurant", ["El Cactus", "La Piñata", "El Maíz"], 7, 8, 150, 690],
  ["burger", "restaurant", ["Dockside Grill", "Pier Grill", "Anchor Grill"], 1, 2, -420, 610],
  ["thai", "restaurant", ["Thai Orchid", "Thai Lotus", "Thai Basil"], 23, 9, -560, -310],
  ["vegan", "restaurant", ["Green Fork", "Sprout Kitchen", "Leaf & Root"], 12, 8, 190, 640],
  ["falafel", "restaurant", ["Levant Corner", "Cedar Corner", "Olive Corner"], 5, 9, -510, -260],
  [
    "pizza",
    "restaurant",
    ["Pizzeria Forno", "Pizzeria Ottavia", "Pizzeria Vulcano"],
    38,
    3,
    300,
    -230,
  ],
  [
    "grocery",
    "supermarket",
    [
      "Orchard Foods market hall",
      "Meadow Foods market hall",
      "Valley Foods market hall",
      "Grove Foods market hall",
    ],
    10,
    5,
    -20,
    -70,
  ],
  ["supermarket", "supermarket", ["Freshway", "Daily Basket", "Good Measure"], 60, 9, -720, -400],
  ["pharmacy", "pharmacy", ["Green Pharmacy", "Swan Pharmacy", "Star Pharmacy"], 8, 4, 590, -700],
  ["books", "shop", ["Harbor Books", "Anchor Books", "Compass Books"], 21, 0, -80, 300],
  ["paper", "shop", ["Paper & Ink", "Quill & Blot", "Folio & Nib"], 16, 3, 210, -60],
  [
    "florist",
    "shop",
    ["Fern & Moss Florist", "Rose & Rye Florist", "Ivy & Oak Florist"],
    19,
    8,
    130,
    520,
  ],
  ["velo", "shop", ["Velo Repair", "Spoke Repair", "Pedal Repair"], 4, 1, 350, 120],
  ["optician", "shop", ["Lens & Co", "Focus & Co", "Sight & Co"], 25, 5, 70, -20],
  [
    "printer",
    "shop",
    ["Print House Lindner", "Print House Adler", "Print House Kranz"],
    52,
    9,
    -640,
    -350,
  ],
  ["hair", "hairdresser", ["Salon Marea", "Salon Brisa", "Salon Onda"], 11, 6, 380, 300],
  ["gym", "gym", ["Harbor Gym", "Anchor Gym", "Quay Gym"], 30, 2, -380, 520],
  ["pottery", "school", ["Clayworks", "Kiln & Wheel", "Mudlark"], 6, 7, -200, 120],
  ["library", "library", ["City Library", "Public Library", "Old Library"], 1, 5, 20, -40],
  ["cinema", "cinema", ["Luna Cinema", "Rex Cinema", "Astor Cinema"], 33, 6, 440, 380],
  ["theatre", "theatre", ["Harbor Theatre", "Quay Theatre", "Pier Theatre"], 2, 7, -160, 200],
  ["concert", "theatre", ["Pier Hall", "Dock Hall", "Mast Hall"], 90, 2, -700, 980],
  ["museum", "museum", ["Maritime Museum", "Lighthouse Museum", "Fishery Museum"], 5, 7, -230, 260],
  ["customs", "venue", ["Old Customs House", "Old Salt House", "Old Grain House"], 1, 7, -140, 160],
  ["dentist", "doctor", ["Quay Dental", "Pearl Dental", "Ivory Dental"], 12, 0, -100, 340],
  ["clinic", "doctor", ["Quay Clinic", "Garden Clinic", "Bridge Clinic"], 40, 0, -60, 520],
  ["doctor", "doctor", ["Dr Adler", "Dr Keller", "Dr Sommer"], 15, 8, 160, 580],
  [
    "hospital",
    "hospital",
    ["City Hospital", "General Hospital", "Harbor Hospital"],
    100,
    9,
    -980,
    -620,
  ],
  ["station", "station", ["Central Station", "Main Station", "South Station"], 1, 9, -450, -120],
  ["airport", "airport", ["Port Alder Airport"], 1, 10, 5200, -6100],
  [
    "ferry",
    "ferry terminal",
    ["Ferry Terminal", "Island Ferries", "Bay Ferries"],
    120,
    2,
    -820,
    1150,
  ],
  ["garage", "garage", ["Garage Lindo", "Garage Rapide", "Garage Nord"], 77, 9, -860, -510],
  ["fuel", "fuel station", ["Quickfill", "Tankwell", "Roadstop"], 84, 9, -910, -560],
  ["charger", "charging station", ["Volt Park", "Amp Park", "Spark Park"], 22, 2, -350, 500],
  [
    "parking",
    "parking",
    ["Market Square Garage", "Old Town Garage", "Bridge Garage"],
    3,
    5,
    60,
    60,
  ],
  ["park", "park", ["Lighthouse Park", "Beacon Park", "Mariner Park"], 2, 10, 900, 1300],
  ["beach", "beach", ["Alder Beach", "Shell Beach", "Dune Beach"], 40, 10, 1400, 1900],
  ["nursery", "school", ["Sunrise Nursery", "Daybreak Nursery", "Skylark Nursery"], 13, 1, 420, 80],
  ["bank", "bank", ["Harbor Bank", "Alder Bank", "Quay Bank"], 17, 5, 30, 10],
  [
    "post",
    "post office",
    ["Market Post Office", "Station Post Office", "Bridge Post Office"],
    20,
    5,
    50,
    -50,
  ],
  ["hotel", "hotel", ["Hotel Meridian", "Hotel Aurora", "Hotel Bellevue"], 2, 6, 330, 260],
  ["lodge", "hotel", ["Lakeside Lodge", "Forest Lodge", "Hillside Lodge"], 1, 11, 14200, -3300],
  ["aunt", "home", ["Aunt Rosa's house"], 8, 11, 2100, -2600],
];
