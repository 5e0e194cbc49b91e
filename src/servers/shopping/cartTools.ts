/** Tools that change and show the cart. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { omitUndefined } from "../../environment/json.ts";
import { cents, id, label } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { quantity, totalFields } from "./parameters.ts";
import {
  products,
  requireSellable,
  computeCartTotals,
  findCouponProblem,
  sumCartGoods,
  ShoppingState,
} from "./state.ts";

const tool = createToolFactory(ShoppingState);

export const maxLines = 20;

const lineId = id("cart_line").describe("Line id, as shopping_get_cart gives it");
const goodsFields = { goods: cents(), coupon_removed: z.string().optional() };

const findLine = (state: ShoppingState, lineId: string) =>
  findEntity(
    state.cart.lines,
    lineId,
    "cart line",
    "shopping_get_cart gives the ids of what is in the cart",
  );

/** Removes the coupon if the cart no longer qualifies for it. Returns `goodsFields`. */
function removeInvalidCoupon(state: ShoppingState, now: string) {
  const { coupon } = state.cart;
  const goods = sumCartGoods(state);
  const problem =
    coupon === undefined
      ? undefined
      : findCouponProblem(state, state.coupons[coupon]!, now.slice(0, 10));
  if (!problem) return { goods };
  delete state.cart.coupon;
  return { goods, coupon_removed: problem[1] };
}

export const cartTools = {
  add_to_cart: tool({
    effect: "write",
    summary:
      "Put a quantity of a product into the cart, on top of what the cart has of it. It leaves the wish list.",
    input: {
      product_id: products.id,
      quantity: quantity
        .optional()
        .describe("How many, 1 if not given")
        .meta({ examples: [1, 2, 2, 3, 4, 5, 6] }),
    },
    returns: {
      product: label("cart_line"),
      line_id: id("cart_line"),
      product_id: id("product"),
      quantity: z.int().describe("What the cart has of it now"),
      goods: cents().describe("All goods in the cart"),
    },
    run(state, { product_id, quantity: added = 1 }, { newId }) {
      const product = products.find(state, product_id);
      const line = Object.entries(state.cart.lines).find(([, it]) => it.product_id === product_id);
      const total = added + (line?.[1].quantity ?? 0);
      requireSellable(product_id, product, total);
      if (!line && Object.keys(state.cart.lines).length >= maxLines)
        refuse(
          "limit_exceeded",
          `the cart has ${maxLines} different products already, which is the most`,
          "check out first, or remove something",
        );
      const line_id = line?.[0] ?? newId("line");
      if (line) line[1].quantity = total;
      else state.cart.lines[line_id] = { product_id, quantity: total };
      delete state.wishes[product_id];
      return {
        product: product.name,
        line_id,
        product_id,
        quantity: total,
        goods: sumCartGoods(state),
      };
    },
  }),
  update_cart_item: tool({
    effect: "write",
    summary:
      "Set how many of a product the cart shall have. A coupon that the cart no longer earns comes off.",
    idempotent: true,
    input: {
      line_id: lineId,
      quantity: quantity.describe("The new quantity").meta({ examples: [1, 2, 3, 4, 5, 6] }),
    },
    returns: {
      product: label("cart_line"),
      line_id: id("cart_line"),
      quantity: z.int(),
      ...goodsFields,
    },
    run(state, { line_id, quantity: newQuantity }, { now }) {
      const line = findLine(state, line_id);
      const product = state.products[line.product_id]!;
      if (line.quantity === newQuantity)
        refuse(
          "conflict",
          `the cart has ${newQuantity} of ${product.name} (${line_id}) already`,
          "choose another quantity",
        );
      requireSellable(line.product_id, product, newQuantity);
      line.quantity = newQuantity;
      return {
        product: product.name,
        line_id,
        quantity: newQuantity,
        ...removeInvalidCoupon(state, now),
      };
    },
  }),
  remove_from_cart: tool({
    effect: "write",
    summary: "Take one product out of the cart. A coupon that the cart no longer earns comes off.",
    destructive: true,
    input: { line_id: lineId },
    returns: {
      removed: z.string(),
      lines_left: z.int(),
      ...goodsFields,
    },
    run(state, { line_id }, { now }) {
      const line = findLine(state, line_id);
      delete state.cart.lines[line_id];
      return {
        removed: state.products[line.product_id]!.name,
        lines_left: Object.keys(state.cart.lines).length,
        ...removeInvalidCoupon(state, now),
      };
    },
  }),
  get_cart: tool({
    effect: "read",
    summary:
      "Show the cart: its lines, its coupon, what goods and standard delivery come to, and the store credit that could pay for it.",
    input: {
      product: label("cart_line")
        .optional()
        .describe(
          "Only lines of products whose name contains this; the sums are still those of the whole cart",
        ),
    },
    returns: {
      lines: z.array(
        z.object({
          product: label("cart_line"),
          line_id: id("cart_line"),
          quantity: z.int(),
          price: cents(),
          amount: cents(),
          problem: z.string().optional(),
        }),
      ),
      coupon: z.string().optional(),
      ...totalFields,
      store_credit: cents(),
    },
    run(state, { product }, { now }) {
      const rows = Object.entries(state.cart.lines).map(([line_id, it]) => {
        const { name, price, stock, status } = state.products[it.product_id]!;
        const problem =
          status === "discontinued"
            ? "no longer sold"
            : stock < it.quantity
              ? stock === 0
                ? "out of stock"
                : `only ${stock} in stock`
              : undefined;
        return omitUndefined({
          product: name,
          line_id,
          quantity: it.quantity,
          price,
          amount: roundToCents(it.quantity * price),
          problem,
        });
      });
      const { coupon } = state.cart;
      return omitUndefined({
        lines: rows.filter(it => !product || containsText(it.product, product)),
        coupon: coupon === undefined ? undefined : state.coupons[coupon]!.code,
        ...computeCartTotals(state, now.slice(0, 10)),
        store_credit: state.store_credit,
      });
    },
  }),
  clear_cart: tool({
    effect: "write",
    summary: "Take everything out of the cart at once, its coupon too.",
    destructive: true,
    input: {},
    returns: { removed: z.int().describe("How many different products the cart had") },
    run(state) {
      const removed = Object.keys(state.cart.lines).length;
      if (removed === 0)
        refuse(
          "precondition_failed",
          "the cart is empty already",
          "shopping_add_to_cart puts something in",
        );
      state.cart = { lines: {} };
      return { removed };
    },
  }),
};
