/**
 * An online shop as one customer sees it: a catalog with stock and reviews, a cart with coupons,
 * orders on their way, and returns. Money is in euros and cents.
 */
import { defineServer } from "../../environment/server.ts";
import { browsing } from "./browsing.ts";
import { buying, wishing } from "./cart.ts";
import { ordering } from "./orders.ts";
import { Shop } from "./state.ts";

export { flawOf, goodsOf, statusOf, type Shop as ShoppingWorld } from "./state.ts";

export const server = defineServer({
  name: "shopping",
  category: "Commerce",
  summary: "products with stock and reviews, a cart with coupons, a wish list, orders and returns",
  schema: Shop,
  tools: { ...browsing, ...buying, ...ordering, ...wishing },
});
