/** The items and the stores in other cities of the generated retail chains. */
import type { RetailChainState } from "./state.ts";

type Item = RetailChainState["items"][string];

/** No name is part of another. The small fixture has the first eight. */
export const itemPlans: readonly (readonly [
  name: string,
  brand: string,
  category: Item["category"],
  price: number,
])[] = [
  ["Alpine dome tent", "Norrun", "tents", 289],
  ["Rain shell", "Norrun", "clothing", 139],
  ["Trail runners", "Stoneway", "footwear", 119.9],
  ["Climbing rope 60 m", "Basalt", "climbing", 154],
  ["Gas burner", "Embra", "cooking", 44.5],
  ["Trekking pack 50 l", "Carria", "packs", 179],
  ["Storm lantern", "Lichta", "lights", 36.9],
  ["Water filter", "Klarwell", "water", 52],
  ["Tunnel tent", "Norrun", "tents", 349],
  ["Tarp 3 × 3 m", "Norrun", "tents", 79.5],
  ["Tent footprint", "Norrun", "tents", 39],
  ["Bivouac sack", "Fellbed", "tents", 96],
  ["Steel tent pegs", "Fellbed", "tents", 14.9],
  ["Merino base layer", "Wollin", "clothing", 69],
  ["Down jacket", "Wollin", "clothing", 219],
  ["Hiking trousers", "Stoneway", "clothing", 84.9],
  ["Sun hoodie", "Wollin", "clothing", 58],
  ["Wool beanie", "Wollin", "clothing", 24.5],
  ["Approach shoes", "Stoneway", "footwear", 134],
  ["Winter boots", "Stoneway", "footwear", 198],
  ["Camp slippers", "Fellbed", "footwear", 42],
  ["Hiking socks", "Wollin", "footwear", 17.9],
  ["Gaiters", "Stoneway", "footwear", 34.5],
  ["Climbing harness", "Basalt", "climbing", 72],
  ["Locking carabiner", "Basalt", "climbing", 13.5],
  ["Chalk ball", "Basalt", "climbing", 6.9],
  ["Kids' helmet", "Basalt", "climbing", 49],
  ["Belay device", "Basalt", "climbing", 31],
  ["Titanium mug", "Embra", "cooking", 27.5],
  ["Camp kettle", "Embra", "cooking", 33],
  ["Folding spork set", "Embra", "cooking", 11.9],
  ["Windscreen", "Embra", "cooking", 18],
  ["Hydration vest", "Carria", "packs", 89],
  ["Dry bag 20 l", "Carria", "packs", 21.5],
  ["Child carrier", "Carria", "packs", 239],
  ["Hip pouch", "Carria", "packs", 28.9],
  ["Running headlamp", "Lichta", "lights", 54],
  ["Bike light pair", "Lichta", "lights", 38],
  ["Camp string light", "Lichta", "lights", 25.5],
  ["Soft flask", "Klarwell", "water", 16.5],
  ["Purifying tablets", "Klarwell", "water", 8.9],
  ["Folding canister 10 l", "Klarwell", "water", 19.5],
];

/**
 * Stores in other cities: city, quarter, address, kilometres north and east of the city's centre.
 */
export const branchPlans: readonly (readonly [
  city: string,
  quarter: string,
  address: string,
  north: number,
  east: number,
])[] = [
  ["Hamburg", "Altstadt", "Steinstraße 40", 0.4, 0.6],
  ["Lyon", "Bellecour", "8 Rue Mercière", -0.5, 0.2],
  ["Porto", "Baixa", "Rua das Flores 112", 0.3, -0.4],
  ["Hamburg", "Ottensen", "Bahrenfelder Straße 97", -0.3, -3.8],
  ["Lisbon", "Chiado", "Rua Garrett 61", 0.1, -0.3],
  ["Madrid", "Chamberí", "Calle de Fuencarral 140", 1.4, 0.1],
  ["Paris", "Bastille", "27 Rue de la Roquette", 0.2, 1.6],
  ["Berlin", "Kreuzberg", "Bergmannstraße 22", -3.1, -0.9],
  ["Barcelona", "Gràcia", "Carrer de Verdi 33", 1.9, -0.8],
  ["Copenhagen", "Nørrebro", "Elmegade 5", 1.5, -1.2],
  ["Vienna", "Neubau", "Neubaugasse 48", -0.3, -1.9],
  ["Dublin", "Liberties", "74 Thomas Street", -0.7, -1.4],
];
