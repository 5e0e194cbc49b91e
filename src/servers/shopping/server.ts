/** The shopping server: an online shop, as one customer sees it. */
import { defineServer } from "../../environment/server.ts";
import { cartTools } from "./cartTools.ts";
import { checkoutTools } from "./checkoutTools.ts";
import { couponTools } from "./couponTools.ts";
import { invariants } from "./invariants.ts";
import { orderTools } from "./orderTools.ts";
import { productQueries } from "./productQueries.ts";
import { reviewTools } from "./reviewTools.ts";
import { wishListTools } from "./wishListTools.ts";
import { ShoppingState, references } from "./state.ts";

const { get_recommendations, check_stock, ...browsing } = productQueries;

export const server = defineServer({
  name: "shopping",
  category: "Commerce",
  summary: "products with stock and reviews, a cart with coupons, a wish list, orders and returns",
  schema: ShoppingState,
  references,
  invariants,
  tools: {
    ...browsing,
    ...reviewTools,
    get_recommendations,
    check_stock,
    ...cartTools,
    ...couponTools,
    ...checkoutTools,
    ...orderTools,
    ...wishListTools,
  },
});
