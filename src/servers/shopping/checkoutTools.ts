/** The tool that turns the cart into an order. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { getOriginal } from "../../environment/draft.ts";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { addDays } from "../../environment/time.ts";
import { getSchemas } from "../kit/table.ts";
import { orderRow, totalFields } from "./parameters.ts";
import {
  ShoppingState,
  deliveries,
  payments,
  findMinimumProblem,
  findValidityProblem,
  requireSellable,
  computeCartTotals,
  type Order,
} from "./state.ts";

const tool = createToolFactory(ShoppingState);

export const checkoutTools = {
  checkout: tool({
    effect: "write",
    summary:
      "Order what is in the cart, to the customer's own address. Stock and store credit go down, the coupon is used up, the cart is empty afterwards.",
    input: {
      pay_with: z.enum(payments).describe("The card on file, store credit, or cash on delivery"),
      delivery: z
        .enum(deliveries)
        .optional()
        .describe(
          "standard (4 days, free from an amount) or express (next day); standard if not given",
        ),
    },
    returns: {
      ...getSchemas(orderRow),
      ...totalFields,
      expected: day(),
      address: z.string(),
      store_credit: cents(),
    },
    run(state, { pay_with, delivery = "standard" }, context) {
      const lines = Object.values(getOriginal(state).cart.lines);
      if (lines.length === 0)
        refuse(
          "precondition_failed",
          "the cart is empty",
          "shopping_add_to_cart puts something in",
        );
      for (const it of lines)
        requireSellable(it.product_id, getOriginal(state).products[it.product_id]!, it.quantity);
      requireValidCoupon(getOriginal(state), context.now);
      const today = context.now.slice(0, 10);
      const totals = computeCartTotals(getOriginal(state), today, delivery);
      const { discount, delivery_fee, total } = totals;
      if (pay_with === "store_credit" && total > state.store_credit)
        refuse(
          "precondition_failed",
          `the order comes to ${total}, store credit is ${state.store_credit}`,
          "pay with card, or remove something from the cart",
        );
      if (pay_with === "on_delivery" && total > state.terms.cash_limit)
        refuse(
          "limit_exceeded",
          `the order comes to ${total}, on delivery at most ${state.terms.cash_limit} can be paid`,
          "pay with card",
        );
      const [order_id, order] = placeOrder(
        state,
        { pay_with, delivery, discount, delivery_fee },
        context,
      );
      if (pay_with === "store_credit")
        state.store_credit = roundToCents(state.store_credit - total);
      return {
        number: String(order.number),
        order_id,
        ...totals,
        expected: order.expected,
        address: state.address,
        store_credit: state.store_credit,
      };
    },
  }),
};

/** Refuses the call if the coupon of the cart cannot be used any more, or not for this cart. */
function requireValidCoupon(state: ShoppingState, now: string): void {
  if (state.cart.coupon === undefined) return;
  const coupon = state.coupons[state.cart.coupon]!;
  const problem =
    findValidityProblem(
      coupon,
      now.slice(0, 10),
      "shopping_apply_coupon puts another in its place, shopping_update_cart_item with another quantity takes it off",
    ) ?? findMinimumProblem(state, coupon);
  if (problem) refuse(...problem);
}

/** Turns the cart into an order and empties it. */
function placeOrder(
  state: ShoppingState,
  terms: Pick<Order, "pay_with" | "delivery" | "discount" | "delivery_fee">,
  { now, newId }: ToolContext,
): [string, Order] {
  const { cart, products, orders } = getOriginal(state);
  const number = 1 + Math.max(1000, ...Object.values(orders).map(it => it.number));
  const items = Object.fromEntries(
    Object.values(cart.lines).map(it => [
      newId("item"),
      { product_id: it.product_id, quantity: it.quantity, price: products[it.product_id]!.price },
    ]),
  );
  const order: Order = {
    number,
    placed: now,
    expected: addDays(now, terms.delivery === "express" ? 1 : 4),
    ...terms,
    items,
    ...omitUndefined({ coupon: cart.coupon }),
  };
  const order_id = newId("ord");
  state.orders[order_id] = order;
  for (const it of Object.values(items)) state.products[it.product_id]!.stock -= it.quantity;
  if (cart.coupon !== undefined) state.coupons[cart.coupon]!.used = true;
  state.cart = { lines: {} };
  return [order_id, order];
}
