/** Tools that search and show restaurants. */
import { z } from "zod";
import { cents, id, label } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { limit, restaurantId } from "./parameters.ts";
import {
  computeEarliestArrival,
  checkKitchenHours,
  computeRating,
  findRestaurant,
  Deliveries,
  type Restaurant,
} from "./state.ts";

const tool = createToolFactory(Deliveries);

/** Whether a restaurant is open, in a word or two. */
function describeOpening(restaurant: Restaurant, now: string): string {
  if (restaurant.paused) return "paused";
  if (checkKitchenHours(restaurant, now).isOpen) return `until ${restaurant.closes}`;
  const next = computeEarliestArrival(restaurant, now).slice(0, 10);
  return next === now.slice(0, 10) ? `from ${restaurant.opens}` : "closed today";
}

export const restaurantQueries = {
  search_restaurants: tool({
    effect: "read",
    summary:
      "Find restaurants that deliver, the best rated first, by name, cuisine, a dish, or whether they cook now.",
    input: {
      name: label("restaurant").optional().describe("Only restaurants whose name contains this"),
      cuisine: z
        .string()
        .min(1)
        .max(40)
        .optional()
        .describe("Only cuisines that contain this")
        .meta({
          examples: [
            "italian",
            "japanese",
            "indian",
            "mexican",
            "thai",
            "vegan",
            "lebanese",
            "burgers",
            "bakery",
            "coffee",
            "pizza",
          ],
        }),
      dish: z
        .string()
        .min(2)
        .max(60)
        .optional()
        .describe("Only restaurants with a dish whose name contains this")
        .meta({
          examples: [
            "soup",
            "salad",
            "curry",
            "pizza",
            "noodles",
            "rice",
            "cake",
            "burger",
            "taco",
            "croissant",
            "tofu",
            "lasagne",
          ],
        }),
      open_now: z
        .boolean()
        .optional()
        .describe("True for only restaurants that cook now and take orders"),
      limit: limit.describe("At most this many, 12 if not given"),
    },
    returns: {
      restaurants: z.array(
        z.object({
          name: label("restaurant"),
          restaurant_id: id("restaurant"),
          cuisine: z.string(),
          rating: z.number(),
          open: z.string(),
        }),
      ),
    },
    run({ restaurants, dishes }, { name, cuisine, dish, open_now, limit: maxRows = 12 }, { now }) {
      const with_dish =
        dish === undefined
          ? undefined
          : new Set(
              Object.values(dishes)
                .filter(it => it.status !== "gone" && containsText(it.name, dish))
                .map(it => it.restaurant_id),
            );
      const matches = Object.entries(restaurants).filter(
        ([key, it]) =>
          (!name || containsText(it.name, name)) &&
          (!cuisine || containsText(it.cuisine, cuisine)) &&
          (!with_dish || with_dish.has(key)) &&
          (!open_now || (!it.paused && checkKitchenHours(it, now).isOpen)),
      );
      const rows = matches
        .sort(([a, x], [b, y]) => computeRating(y) - computeRating(x) || (a < b ? -1 : 1))
        .slice(0, maxRows);
      return {
        restaurants: rows.map(([restaurant_id, it]) => ({
          name: it.name,
          restaurant_id,
          cuisine: it.cuisine,
          rating: computeRating(it),
          open: describeOpening(it, now),
        })),
      };
    },
  }),
  get_restaurant: tool({
    effect: "read",
    summary:
      "Get one restaurant: address, hours, least order, delivery fee, how long it takes, and when it could be at the door.",
    input: { restaurant_id: restaurantId },
    returns: {
      name: label("restaurant"),
      restaurant_id: id("restaurant"),
      cuisine: z.string(),
      address: z.string(),
      phone: z.string(),
      hours: z.string(),
      open: z.string(),
      minimum: cents(),
      delivery_fee: cents(),
      takes_minutes: z.int(),
      earliest: z.string().describe("When an order placed now could arrive"),
      rating: z.number(),
      ratings: z.int(),
    },
    run(deliveries, { restaurant_id }, { now }) {
      const it = findRestaurant(deliveries, restaurant_id);
      return {
        name: it.name,
        restaurant_id,
        cuisine: it.cuisine,
        address: it.address,
        phone: it.phone,
        hours: `${it.opens} to ${it.closes}${it.closed_on ? `, not on ${it.closed_on}s` : ""}`,
        open: describeOpening(it, now),
        minimum: it.minimum,
        delivery_fee: it.delivery_fee,
        takes_minutes: it.cooking + it.ride,
        earliest: computeEarliestArrival(it, now),
        rating: computeRating(it),
        ratings: it.ratings,
      };
    },
  }),
};
