/**
 * A service that brings food: restaurants with hours and menus, one basket for one restaurant,
 * promo codes, orders that come nearer as the session's clock moves, tips and ratings.
 */
import { defineServer } from "../../environment/server.ts";
import { basketTools } from "./basket.ts";
import { browsing } from "./browsing.ts";
import { orderTools } from "./orders.ts";
import { Deliveries } from "./state.ts";

export {
  dishesTotal,
  kitchenAt,
  priceOf,
  stageOf,
  stagesOf,
  type Deliveries as FoodDeliveryWorld,
} from "./state.ts";

const { reorder, ...basket } = basketTools;

export const server = defineServer({
  name: "food_delivery",
  category: "Lifestyle",
  summary:
    "restaurants and their menus, a basket, promo codes, orders on their way, tips and ratings",
  schema: Deliveries,
  tools: { ...browsing, ...basket, ...orderTools, reorder },
});
