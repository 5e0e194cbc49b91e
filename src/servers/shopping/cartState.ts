/** The lines of the cart, their limits and their coupon. */
import { z } from "zod";
import { cents, id } from "../../environment/fieldSchemas.ts";
import { findEntity } from "../../environment/server.ts";
import { type Shop, flawOf } from "./state.ts";

export const mostLines = 20;

export const lineId = id("cart_line").describe("Line id, as shopping_get_cart gives it");

export const quantity = z.int().min(1).max(99);

export const sums = { goods: cents(), discount: cents(), delivery_fee: cents(), total: cents() };

export const lineOf = (shop: Shop, line: string) =>
  findEntity(
    shop.cart.lines,
    line,
    "cart line",
    "shopping_get_cart gives the ids of what is in the cart",
  );

/** Takes the coupon off a cart that no longer earns it, and says why. */
export function settleCoupon(shop: Shop, now: string): { coupon_removed?: string } {
  const { coupon } = shop.cart;
  const flaw =
    coupon === undefined ? undefined : flawOf(shop, shop.coupons[coupon]!, now.slice(0, 10));
  if (!flaw) return {};
  delete shop.cart.coupon;
  return { coupon_removed: flaw[1] };
}
