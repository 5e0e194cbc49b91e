/** The basket: its lines, its limits and its bill. All dishes in it are from one restaurant. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents } from "../../environment/fieldSchemas.ts";
import { sumAmounts } from "../../environment/amounts.ts";
import { refuse } from "../../environment/server.ts";
import {
  type Deliveries,
  computeDiscount,
  countPieces,
  computeSubtotal,
  restaurants,
  type Line,
} from "./state.ts";

export const maxPieces = 30;

export const maxPerDish = 20;

/** Refuses if the basket is from another restaurant, or the restaurant takes no orders today. */
export function requireSameRestaurant(deliveries: Deliveries, restaurant_id: string): void {
  const { name, paused } = restaurants.find(deliveries, restaurant_id);
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

/** The arguments of `refuse`. */
type Problem = readonly ["conflict" | "precondition_failed", string, string | undefined];

/** Why a promo code cannot be used for the restaurant of the basket, whatever is in it. */
export function findPromoProblem(
  { restaurants, promos, basket, orders }: Deliveries,
  code: string,
  now: string,
): Problem | undefined {
  const promo = promos[code]!;
  if (promo.until < now.slice(0, 10))
    return [
      "precondition_failed",
      `${code} expired on ${promo.until}`,
      "food_delivery_get_basket with only_valid lists those that hold",
    ];
  const { name } = restaurants[basket.restaurant_id!]!;
  if (promo.restaurant_id !== undefined && promo.restaurant_id !== basket.restaurant_id)
    return [
      "precondition_failed",
      `${code} is for ${restaurants[promo.restaurant_id]!.name} only, and the basket is from ${name}`,
      undefined,
    ];
  const validOrders = Object.values(orders).filter(it => it.cancelled === undefined);
  const earlierOrder = validOrders.find(it => it.promo === code);
  if (earlierOrder)
    return [
      "conflict",
      `${code} was used for order ${earlierOrder.number}`,
      "each code is good for one order",
    ];
  if (promo.first_only && validOrders.some(it => it.restaurant_id === basket.restaurant_id))
    return [
      "precondition_failed",
      `${code} is for the first order from a restaurant, and ${name} has had one`,
      undefined,
    ];
  return undefined;
}

/** Computes what the basket costs, with its promo code if it can still be used. */
export function computeBill(deliveries: Deliveries, now: string) {
  const { basket, promos } = deliveries;
  const restaurant = deliveries.restaurants[basket.restaurant_id!]!;
  const subtotal = computeSubtotal(deliveries, basket.lines);
  const promo =
    basket.promo === undefined || findPromoProblem(deliveries, basket.promo, now)
      ? undefined
      : promos[basket.promo];
  const discount = computeDiscount(promo, subtotal, restaurant.delivery_fee);
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
  const restaurant = deliveries.restaurants[deliveries.basket.restaurant_id!]!;
  const subtotal = computeSubtotal(deliveries, deliveries.basket.lines);
  const missing = sumAmounts([restaurant.minimum, -subtotal]);
  return omitUndefined({
    restaurant: restaurant.name,
    pieces: countPieces(deliveries.basket.lines),
    subtotal,
    missing: missing > 0 ? missing : undefined,
  });
}
