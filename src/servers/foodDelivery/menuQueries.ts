/** Tools that search and show restaurants, menus and dishes. */
import { z } from "zod";
import { cents, label, id, rowLimit, rowTotal } from "../../environment/fieldSchemas.ts";
import { containsText } from "../../environment/textSearch.ts";
import { contains, descending, meets, type RowContext, getSchemas } from "../kit/table.ts";
import {
  computeEarliestArrival,
  checkKitchenHours,
  computeRating,
  restaurants,
  Deliveries,
  type Restaurant,
  diets,
  dishes,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { refuse, createToolFactory } from "../../environment/server.ts";

const restaurantRow = restaurants.fields({
  name: label("restaurant"),
  restaurant_id: restaurants.idField,
  cuisine: z.string(),
});

/** Whether a restaurant is open, in a word or two. */
function describeOpening(restaurant: Restaurant, { now }: RowContext<Deliveries>): string {
  if (restaurant.paused) return "paused";
  if (checkKitchenHours(restaurant, now).isOpen) return `until ${restaurant.closes}`;
  const next = computeEarliestArrival(restaurant, now).slice(0, 10);
  return next === now.slice(0, 10) ? `from ${restaurant.opens}` : "closed today";
}

export const restaurantQueries = {
  search_restaurants: restaurants.list({
    summary:
      "Find restaurants that deliver, the best rated first, by name, cuisine, a dish, or whether they cook now.",
    filters: {
      name: contains(
        label("restaurant"),
        "Only restaurants whose name contains this",
        it => it.name,
      ),
      cuisine: contains(
        z.string().min(1).max(40).optional().meta({ examples: vocabulary.cuisines }),
        "Only cuisines that contain this",
        it => it.cuisine,
      ),
      dish: meets(
        z.string().min(2).max(60).optional().meta({ examples: vocabulary.dishes }),
        "Only restaurants with a dish whose name contains this",
        (_, withDish: ReadonlySet<string>, { id }) => withDish.has(id),
        ({ dishes }: Deliveries, dish: string) =>
          new Set(
            Object.values(dishes)
              .filter(it => it.status !== "gone" && containsText(it.name, dish))
              .map(it => it.restaurant_id),
          ),
      ),
      open_now: meets(
        z.boolean(),
        "True for only restaurants that cook now and take orders",
        (it, isOpen, { now }) => !isOpen || (!it.paused && checkKitchenHours(it, now).isOpen),
      ),
    },
    order: descending(computeRating),
    limit: 12,
    row: {
      ...restaurantRow,
      rating: [z.number(), computeRating],
      open: [z.string(), describeOpening],
    },
  }),
  get_restaurant: restaurants.get({
    summary:
      "Get one restaurant: address, hours, least order, delivery fee, how long it takes, and when it could be at the door.",
    row: {
      ...restaurantRow,
      address: z.string(),
      phone: z.string(),
      hours: [
        z.string(),
        it => `${it.opens} to ${it.closes}${it.closed_on ? `, not on ${it.closed_on}s` : ""}`,
      ],
      open: [z.string(), describeOpening],
      minimum: cents(),
      delivery_fee: cents(),
      takes_minutes: [z.int(), it => it.cooking + it.ride],
      earliest: [
        z.string().describe("When an order placed now could arrive"),
        (it, { now }) => computeEarliestArrival(it, now),
      ],
      rating: [z.number(), computeRating],
      ratings: z.int(),
    },
  }),
};

const tool = createToolFactory(Deliveries);

const dishRow = dishes.fields({
  dish: [label("dish"), it => it.name],
  dish_id: dishes.idField,
  price: cents(),
});

const mostPrice = z
  .number()
  .min(1)
  .max(200)
  .optional()
  .meta({ examples: [5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 18, 20] })
  .describe("Only dishes up to this price");

function requireNotPaused(deliveries: Deliveries, restaurantId: string): void {
  const { name, paused } = restaurants.find(deliveries, restaurantId);
  if (paused)
    refuse(
      "precondition_failed",
      `${name} takes no orders today`,
      "leave out restaurant_id to look everywhere",
    );
}

export const menuQueries = {
  get_menu: tool({
    effect: "read",
    summary:
      "Get a restaurant's menu: its dishes with their prices, in the order of the card, all of them or only those of a name, a section or a price.",
    input: {
      restaurant_id: restaurants.id,
      dish: label("dish").optional().describe("Only dishes whose name contains this"),
      section: z
        .string()
        .min(1)
        .max(40)
        .optional()
        .describe("Only sections that contain this")
        .meta({
          examples: vocabulary.sections,
        }),
      most_price: mostPrice,
    },
    returns: {
      restaurant: z.string(),
      total: rowTotal("dishes"),
      dishes: z.array(z.object({ ...getSchemas(dishRow), sold_out: z.boolean().optional() })),
    },
    run(deliveries, { restaurant_id, dish, section, most_price }) {
      const { name } = restaurants.find(deliveries, restaurant_id);
      const matches = Object.entries(deliveries.dishes).filter(
        ([, it]) =>
          it.restaurant_id === restaurant_id &&
          it.status !== "gone" &&
          (!dish || containsText(it.name, dish)) &&
          (!section || containsText(it.section, section)) &&
          (most_price === undefined || it.price <= most_price),
      );
      return {
        restaurant: name,
        total: matches.length,
        dishes: matches.slice(0, 50).map(([dish_id, it]) => ({
          dish: it.name,
          dish_id,
          price: it.price,
          ...(it.status ? { sold_out: true } : {}),
        })),
      };
    },
  }),
  get_menu_item: dishes.get({
    summary:
      "Get one dish in full: what is in it, its diets, and the choices it comes with and what they cost.",
    row: {
      ...dishRow,
      restaurant: [
        label("restaurant"),
        (it, { world }) => world.restaurants[it.restaurant_id]!.name,
      ],
      restaurant_id: id("restaurant"),
      section: z.string(),
      text: z.string(),
      diets: [
        z.string(),
        it => it.diets.map(diet => diet.replace("_", "-")).join(", ") || "none in particular",
      ],
      sold_out: [z.boolean(), it => it.status === "sold out"],
      choices: [
        z
          .array(
            z.object({
              choice: z.string(),
              group: z.string().describe("At most one of each group"),
              required: z.boolean(),
              extra: cents(),
            }),
          )
          .optional(),
        it =>
          it.options?.flatMap(({ name: group, required = false, choices }) =>
            Object.entries(choices).map(([choice, extra]) => ({ choice, group, required, extra })),
          ),
      ],
    },
  }),
  filter_by_dietary: tool({
    effect: "read",
    summary:
      "Find dishes that suit a diet and can be had today, the cheapest first, everywhere or in one restaurant.",
    input: {
      diet: z.enum(diets).describe("Diet that the dishes must suit"),
      restaurant_id: restaurants.id.optional().describe("Only dishes of this restaurant"),
      open_now: z
        .boolean()
        .optional()
        .describe("True for only restaurants that cook now and take orders"),
      most_price: mostPrice,
      limit: rowLimit(8),
    },
    returns: {
      total: rowTotal("dishes"),
      dishes: z.array(z.object({ ...getSchemas(dishRow), restaurant: z.string() })),
    },
    run(deliveries, { diet, restaurant_id, open_now, most_price, limit = 8 }, { now }) {
      if (restaurant_id !== undefined) requireNotPaused(deliveries, restaurant_id);
      const matches = Object.entries(deliveries.dishes).filter(([, it]) => {
        const restaurant = deliveries.restaurants[it.restaurant_id]!;
        return (
          it.status === undefined &&
          it.diets.includes(diet) &&
          (restaurant_id === undefined || it.restaurant_id === restaurant_id) &&
          !restaurant.paused &&
          (!open_now || checkKitchenHours(restaurant, now).isOpen) &&
          (most_price === undefined || it.price <= most_price)
        );
      });
      matches.sort(([a, x], [b, y]) => x.price - y.price || (a < b ? -1 : 1));
      return {
        total: matches.length,
        dishes: matches.slice(0, limit).map(([dish_id, { name, price, restaurant_id: at }]) => {
          return { dish: name, dish_id, price, restaurant: deliveries.restaurants[at]!.name };
        }),
      };
    },
  }),
};
