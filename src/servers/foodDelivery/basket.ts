/** The state of the basket: its lines, its limits and its bill. A basket belongs to one restaurant. */
import { z } from "zod";
import { cents } from "../../environment/fieldSchemas.ts";
import { sumAmounts } from "../../environment/amounts.ts";
import { refuse } from "../../environment/server.ts";
import {
  type Deliveries,
  discountOf,
  piecesIn,
  restaurantOf,
  subtotalOf,
  type Line,
} from "./state.ts";

export const mostPieces = 30;

export const mostAlike = 20;

/** Refuses where the basket is another restaurant's, or the restaurant takes no orders. */
export function requireSameRestaurant(deliveries: Deliveries, restaurant_id: string): void {
  const { name, paused } = restaurantOf(deliveries, restaurant_id);
  if (paused)
    refuse(
      "precondition_failed",
      `${name} (${restaurant_id}) takes no orders today`,
      "food_delivery_search_restaurants with open_now finds others",
    );
  const other = deliveries.basket.restaurant_id;
  if (other !== undefined && other !== restaurant_id)
    refuse(
      "conflict",
      `the basket holds ${piecesIn(deliveries.basket.lines)} dishes from ${deliveries.restaurants[other]!.name}, and an order comes from one restaurant`,
      "place that order first, or food_delivery_remove_from_basket without a dish empties the basket",
    );
}

/** Puts a line into the basket; one like it grows. */
export function addLine({ basket }: Deliveries, line: Line): void {
  const isAlike = (it: Line) =>
    it.dish_id === line.dish_id &&
    it.note === line.note &&
    JSON.stringify(it.choices) === JSON.stringify(line.choices);
  const same = basket.lines.find(it => isAlike(it) && it.quantity + line.quantity <= mostAlike);
  if (same) same.quantity += line.quantity;
  else basket.lines.push(line);
}

/** What the basket costs as it is. */
export function billOf(deliveries: Deliveries) {
  const { basket, promos } = deliveries;
  const restaurant = deliveries.restaurants[basket.restaurant_id!]!;
  const subtotal = subtotalOf(deliveries, basket.lines);
  const discount = discountOf(
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

export const basketNow = {
  restaurant: z.string(),
  pieces: z.int(),
  subtotal: cents(),
  missing: cents().optional().describe("Still to come to the least order"),
};

export function basketState(deliveries: Deliveries) {
  const { restaurant, subtotal } = billOf(deliveries);
  const missing = sumAmounts([restaurant.minimum, -subtotal]);
  return {
    restaurant: restaurant.name,
    pieces: piecesIn(deliveries.basket.lines),
    subtotal,
    ...(missing > 0 ? { missing } : {}),
  };
}
