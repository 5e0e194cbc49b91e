/** Look-ups, limits and result fields that the cart tools share. */
import { z } from "zod";
import { cents, id } from "../../environment/fieldSchemas.ts";
import { findEntity } from "../../environment/server.ts";
import { type ShoppingState, findCouponProblem } from "./state.ts";

export const maxLines = 20;

export const lineId = id("cart_line").describe("Line id, as shopping_get_cart gives it");

export const quantity = z.int().min(1).max(99);

export const totalFields = {
  goods: cents(),
  discount: cents(),
  delivery_fee: cents(),
  total: cents(),
};

export const findLine = (state: ShoppingState, lineId: string) =>
  findEntity(
    state.cart.lines,
    lineId,
    "cart line",
    "shopping_get_cart gives the ids of what is in the cart",
  );

/** Removes the coupon if the cart no longer qualifies for it, and returns the reason. */
export function removeInvalidCoupon(
  state: ShoppingState,
  now: string,
): { coupon_removed?: string } {
  const { coupon } = state.cart;
  const problem =
    coupon === undefined
      ? undefined
      : findCouponProblem(state, state.coupons[coupon]!, now.slice(0, 10));
  if (!problem) return {};
  delete state.cart.coupon;
  return { coupon_removed: problem[1] };
}
