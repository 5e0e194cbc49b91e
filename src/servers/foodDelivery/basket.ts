/** The basket: its lines, its limits and its bill. All dishes in it are from one restaurant. */
import { z } from "zod";
import { cents } from "../../environment/fieldSchemas.ts";
import { sumAmounts } from "../../environment/amounts.ts";
import { refuse } from "../../environment/server.ts";
import {
  type Deliveries,
  computeDiscount,
  countPieces,
  findRestaurant,
  computeSubtotal,
  type Line,
} from "./state.ts";

export const maxPieces = 30;

export const maxPerDish = 20;

/** Refuses if the basket is from another restaurant, or the restaurant takes no orders today. */
export function requireSameRestaurant(deliveries: Deliveries, restaurant_id: string): void {
  const { name, paused } = findRestaurant(deliveries, restaurant_id);
  if (paused)
    refuse(
      "precondition_failed",
      `${name} (${restaurant_id}) takes no orders today`,
      "food_delivery_search_restaurants with open_now finds others",
    );
  const currentRestaurant = deliveries.basket.restaurant_id;
  if (currentRestaurant !== undefined && currentRestaurant !== restaurant_id)
    refuse(
      "conflict",
      `the basket holds ${countPieces(deliveries.basket.lines)} dishes from ${deliveries.restaurants[currentRestaurant]!.name}, and an order comes from one restaurant`,
      "place that order first, or food_delivery_remove_from_basket without a dish empties the basket",
    );
}

/** Adds a line to the basket, or adds its quantity to a line with the same choices and note. */
export function addLine({ basket }: Deliveries, line: Line): void {
  const isAlike = (it: Line) =>
    it.dish_id === line.dish_id &&
    it.note === line.note &&
    JSON.stringify(it.choices) === JSON.stringify(line.choices);
  const similarLine = basket.lines.find(
    it => isAlike(it) && it.quantity + line.quantity <= maxPerDish,
  );
  if (similarLine) similarLine.quantity += line.quantity;
  else basket.lines.push(line);
}

/** Computes what the basket costs. */
export function computeBill(deliveries: Deliveries) {
  const { basket, promos } = deliveries;
  const restaurant = deliveries.restaurants[basket.restaurant_id!]!;
  const subtotal = computeSubtotal(deliveries, basket.lines);
  const discount = computeDiscount(
    basket.promo === undefined ? undefined : promos[basket.promo],
    subtotal,
    restaurant.delivery_fee,
  );
  return {
    restaurant,
    subtotal,
    discount,
    delivery_fee: restaurant.delivery_fee,
    total: sumAmounts([subtotal, restaurant.delivery_fee, -discount]),
  };
}

export const basketFields = {
  restaurant: z.string(),
  pieces: z.int(),
  subtotal: cents(),
  missing: cents().optional().describe("Still to come to the least order"),
};

export function describeBasket(deliveries: Deliveries) {
  const { restaurant, subtotal } = computeBill(deliveries);
  const missing = sumAmounts([restaurant.minimum, -subtotal]);
  return {
    restaurant: restaurant.name,
    pieces: countPieces(deliveries.basket.lines),
    subtotal,
    ...(missing > 0 ? { missing } : {}),
  };
}
