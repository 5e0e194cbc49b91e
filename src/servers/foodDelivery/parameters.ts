/** Parameters and result fields that several tools share. */
import { z } from "zod";
import { cents, id, label } from "../../environment/fieldSchemas.ts";

export const restaurantId = id("restaurant").describe(
  "Restaurant id, as food_delivery_search_restaurants gives it",
);

export const dishId = id("dish").describe("Dish id, as food_delivery_get_menu gives it");

export const limit = z.int().min(1).max(50).optional();

export const mostPrice = z
  .number()
  .min(1)
  .max(200)
  .optional()
  .meta({ examples: [5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 18, 20] });

export const dishRow = { dish: label("dish"), dish_id: id("dish"), price: cents() };
