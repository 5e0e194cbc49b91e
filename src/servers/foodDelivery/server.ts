/**
 * The food delivery server: restaurants with hours and menus, a basket for one restaurant at a
 * time, promo codes, orders that progress with the session's clock, tips and ratings.
 */
import { defineServer } from "../../environment/server.ts";
import { basketTools } from "./basketTools.ts";
import { checkoutTools } from "./checkoutTools.ts";
import { invariants } from "./invariants.ts";
import { menuQueries } from "./menuQueries.ts";
import { orderCommands } from "./orderCommands.ts";
import { orderQueries } from "./orderQueries.ts";
import { restaurantQueries } from "./restaurantQueries.ts";
import { Deliveries, references } from "./state.ts";

const { apply_promo, place_order, reorder } = checkoutTools;

export const server = defineServer({
  name: "food_delivery",
  category: "Lifestyle",
  summary:
    "restaurants and their menus, a basket, promo codes, orders on their way, tips and ratings",
  schema: Deliveries,
  references,
  tools: {
    ...restaurantQueries,
    ...menuQueries,
    ...basketTools,
    apply_promo,
    place_order,
    ...orderQueries,
    ...orderCommands,
    reorder,
  },
  invariants,
});
