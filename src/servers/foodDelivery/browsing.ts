/** The tools that look for something to eat: restaurants, menus, dishes. Changes nothing. */
import { z } from "zod";
import { cents, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  diets,
  dishOf,
  earliest,
  kitchenAt,
  ratingOf,
  restaurantOf,
  Deliveries,
  type Restaurant,
} from "./state.ts";

export const restaurantId = id("restaurant").describe(
  "Restaurant id, as food_delivery_search_restaurants gives it",
);
export const dishId = id("dish").describe("Dish id, as food_delivery_get_menu gives it");
const limit = z.int().min(1).max(50).optional();
const mostPrice = z
  .number()
  .min(1)
  .max(200)
  .optional()
  .meta({ examples: [5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 18, 20] });
const dishRow = { dish: label("dish"), dish_id: id("dish"), price: cents() };

const tool = createToolFactory(Deliveries);

/** In a word or two. */
function doorOf(restaurant: Restaurant, now: string): string {
  if (restaurant.paused) return "paused";
  if (kitchenAt(restaurant, now).isOpen) return `until ${restaurant.closes}`;
  const next = earliest(restaurant, now).slice(0, 10);
  return next === now.slice(0, 10) ? `from ${restaurant.opens}` : "closed today";
}

export const browsing = {
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
    run({ restaurants, dishes }, { name, cuisine, dish, open_now, limit: most = 12 }, { now }) {
      const with_dish =
        dish === undefined
          ? undefined
          : new Set(
              Object.values(dishes)
                .filter(it => it.status !== "gone" && containsText(it.name, dish))
                .map(it => it.restaurant_id),
            );
      const found = Object.entries(restaurants).filter(
        ([key, it]) =>
          (!name || containsText(it.name, name)) &&
          (!cuisine || containsText(it.cuisine, cuisine)) &&
          (!with_dish || with_dish.has(key)) &&
          (!open_now || (!it.paused && kitchenAt(it, now).isOpen)),
      );
      const rows = found
        .sort(([a, x], [b, y]) => ratingOf(y) - ratingOf(x) || (a < b ? -1 : 1))
        .slice(0, most);
      return {
        restaurants: rows.map(([restaurant_id, it]) => ({
          name: it.name,
          restaurant_id,
          cuisine: it.cuisine,
          rating: ratingOf(it),
          open: doorOf(it, now),
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
      const it = restaurantOf(deliveries, restaurant_id);
      return {
        name: it.name,
        restaurant_id,
        cuisine: it.cuisine,
        address: it.address,
        phone: it.phone,
        hours: `${it.opens} to ${it.closes}${it.closed_on ? `, not on ${it.closed_on}s` : ""}`,
        open: doorOf(it, now),
        minimum: it.minimum,
        delivery_fee: it.delivery_fee,
        takes_minutes: it.cooking + it.ride,
        earliest: earliest(it, now),
        rating: ratingOf(it),
        ratings: it.ratings,
      };
    },
  }),
  get_menu: tool({
    effect: "read",
    summary:
      "Get a restaurant's menu: its dishes with their prices, in the order of the card, all of them or only those of a name, a section or a price.",
    input: {
      restaurant_id: restaurantId,
      dish: label("dish").optional().describe("Only dishes whose name contains this"),
      section: z
        .string()
        .min(1)
        .max(40)
        .optional()
        .describe("Only sections that contain this")
        .meta({
          examples: [
            "starters",
            "mains",
            "sides",
            "desserts",
            "drinks",
            "breakfast",
            "sweet",
            "small plates",
          ],
        }),
      most_price: mostPrice.describe("Only dishes up to this price"),
    },
    returns: {
      restaurant: z.string(),
      dishes: z.array(z.object({ ...dishRow, sold_out: z.boolean().optional() })),
    },
    run(deliveries, { restaurant_id, dish, section, most_price }) {
      const { name } = restaurantOf(deliveries, restaurant_id);
      const found = Object.entries(deliveries.dishes).filter(
        ([, it]) =>
          it.restaurant_id === restaurant_id &&
          it.status !== "gone" &&
          (!dish || containsText(it.name, dish)) &&
          (!section || containsText(it.section, section)) &&
          (most_price === undefined || it.price <= most_price),
      );
      return {
        restaurant: name,
        dishes: found.slice(0, 50).map(([dish_id, it]) => ({
          dish: it.name,
          dish_id,
          price: it.price,
          ...(it.status ? { sold_out: true } : {}),
        })),
      };
    },
  }),
  get_menu_item: tool({
    effect: "read",
    summary:
      "Get one dish in full: what is in it, its diets, and the choices it comes with and what they cost.",
    input: { dish_id: dishId },
    returns: {
      ...dishRow,
      restaurant: label("restaurant"),
      restaurant_id: id("restaurant"),
      section: z.string(),
      text: z.string(),
      diets: z.string(),
      sold_out: z.boolean(),
      choices: z
        .array(
          z.object({
            choice: z.string(),
            group: z.string().describe("At most one of each group"),
            required: z.boolean(),
            extra: cents(),
          }),
        )
        .optional(),
    },
    run(deliveries, { dish_id }) {
      const it = dishOf(deliveries, dish_id);
      const choices = (it.options ?? []).flatMap(({ name, required = false, choices: own }) =>
        Object.entries(own).map(([choice, extra]) => ({ choice, group: name, required, extra })),
      );
      return {
        dish: it.name,
        dish_id,
        price: it.price,
        restaurant: deliveries.restaurants[it.restaurant_id]!.name,
        restaurant_id: it.restaurant_id,
        section: it.section,
        text: it.text,
        diets: it.diets.map(diet => diet.replace("_", "-")).join(", ") || "none in particular",
        sold_out: it.status === "sold out",
        ...(choices.length ? { choices } : {}),
      };
    },
  }),
  filter_by_dietary: tool({
    effect: "read",
    summary:
      "Find dishes that suit a diet and can be had today, the cheapest first, everywhere or in one restaurant.",
    input: {
      diet: z.enum(diets).describe("Diet that the dishes must suit"),
      restaurant_id: restaurantId.optional().describe("Only dishes of this restaurant"),
      open_now: z
        .boolean()
        .optional()
        .describe("True for only restaurants that cook now and take orders"),
      most_price: mostPrice.describe("Only dishes up to this price"),
      limit: limit.describe("At most this many, 8 if not given"),
    },
    returns: { dishes: z.array(z.object({ ...dishRow, restaurant: z.string() })) },
    run(deliveries, { diet, restaurant_id, open_now, most_price, limit: most = 8 }, { now }) {
      if (restaurant_id !== undefined && restaurantOf(deliveries, restaurant_id).paused)
        refuse(
          "precondition_failed",
          `${deliveries.restaurants[restaurant_id]!.name} takes no orders today`,
          "leave out restaurant_id to look everywhere",
        );
      const found = Object.entries(deliveries.dishes).filter(([, it]) => {
        const restaurant = deliveries.restaurants[it.restaurant_id]!;
        return (
          it.status === undefined &&
          it.diets.includes(diet) &&
          (restaurant_id === undefined || it.restaurant_id === restaurant_id) &&
          !restaurant.paused &&
          (!open_now || kitchenAt(restaurant, now).isOpen) &&
          (most_price === undefined || it.price <= most_price)
        );
      });
      const rows = found
        .sort(([a, x], [b, y]) => x.price - y.price || (a < b ? -1 : 1))
        .slice(0, most);
      return {
        dishes: rows.map(([dish_id, it]) => ({
          dish: it.name,
          dish_id,
          price: it.price,
          restaurant: deliveries.restaurants[it.restaurant_id]!.name,
        })),
      };
    },
  }),
};
