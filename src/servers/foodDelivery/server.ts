/**
 * A service that brings food: restaurants with hours and menus, one basket for one restaurant,
 * promo codes, orders that come nearer as the session's clock moves, tips and ratings.
 */
import { defineServer } from "../../environment/server.ts";
import { basketTools } from "./basketTools.ts";
import { checkoutTools } from "./checkoutTools.ts";
import { menuQueries } from "./menuQueries.ts";
import { orderCommands } from "./orderCommands.ts";
import { orderQueries } from "./orderQueries.ts";
import { restaurantQueries } from "./restaurantQueries.ts";

import { Deliveries } from "./state.ts";

export {
  dishesTotal,
  kitchenHoursAt,
  priceOf,
  stageOf,
  stagesOf,
  type Deliveries as FoodDeliveryWorld,
} from "./state.ts";

const { apply_promo, place_order, reorder } = checkoutTools;

export const server = defineServer({
  name: "food_delivery",
  category: "Lifestyle",
  summary:
    "restaurants and their menus, a basket, promo codes, orders on their way, tips and ratings",
  schema: Deliveries,
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
});
