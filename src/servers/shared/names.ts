/**
 * The names that a cast is chosen from. The first of each list is used by the shipped fixtures; the
 * others are what another seed can choose.
 */

/**
 * Full names. Each first name occurs once, so that it can serve as a user name and in a greeting.
 */
export const personNames: readonly string[] = [
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

/** Invented names of the home city, which is always at the same position. */
export const homeCityNames: readonly string[] = [
  "Port Alder",
  "Westmar",
  "Kestrel Bay",
  "San Telmo",
  "Marenholt",
  "Brightwater",
];

export const studioNames: readonly string[] = [
  "Harbor Studio",
  "Lantern Works",
  "Studio Nord",
  "Paperboat",
  "Bureau Fern",
];

/** Client companies by role; the industry does not depend on the chosen name. */
export const clientNames: readonly {
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

/** Companies that may become clients: names, industry, city. */
export const prospectNames: readonly (readonly [readonly string[], string, string])[] = [
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

export const streetNames: readonly string[] = [
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
