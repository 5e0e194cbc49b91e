/** Tools that show menus and dishes. */
import { z } from "zod";
import { cents, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { dishId, dishRow, limit, mostPrice, restaurantId } from "./parameters.ts";
import { diets, findDish, checkKitchenHours, findRestaurant, Deliveries } from "./state.ts";

const tool = createToolFactory(Deliveries);

export const menuQueries = {
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
      const { name } = findRestaurant(deliveries, restaurant_id);
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
        dishes: matches.slice(0, 50).map(([dish_id, it]) => ({
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
      const it = findDish(deliveries, dish_id);
      const choices = (it.options ?? []).flatMap(
        ({ name, required = false, choices: groupChoices }) =>
          Object.entries(groupChoices).map(([choice, extra]) => ({
            choice,
            group: name,
            required,
            extra,
          })),
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
    run(deliveries, { diet, restaurant_id, open_now, most_price, limit: maxRows = 8 }, { now }) {
      if (restaurant_id !== undefined && findRestaurant(deliveries, restaurant_id).paused)
        refuse(
          "precondition_failed",
          `${deliveries.restaurants[restaurant_id]!.name} takes no orders today`,
          "leave out restaurant_id to look everywhere",
        );
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
      const rows = matches
        .sort(([a, x], [b, y]) => x.price - y.price || (a < b ? -1 : 1))
        .slice(0, maxRows);
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
