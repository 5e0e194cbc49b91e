/** Tools that change and show the cart, apply coupons to it, and turn it into an order. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { omitUndefined } from "../../environment/json.ts";
import { cents, id, label, day, spokenId } from "../../environment/fieldSchemas.ts";
import {
  findEntity,
  refuse,
  createToolFactory,
  type ToolContext,
} from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  quantity,
  totalFields,
  orderRow,
  products,
  requireSellable,
  computeCartTotals,
  findCouponProblem,
  sumCartGoods,
  ShoppingState,
  coupons,
  type Coupon,
  deliveries,
  payments,
  findMinimumProblem,
  findValidityProblem,
  type Order,
} from "./state.ts";
import { getOriginal } from "../../environment/draft.ts";
import { contains, meets, type RowContext, getSchemas } from "../kit/table.ts";
import { addDays } from "../../environment/time.ts";

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

function getStatus(coupon: Coupon, { world, now }: RowContext<ShoppingState>) {
  const today = now.slice(0, 10);
  if (coupon.used) return "used";
  if (coupon.expires < today) return "expired";
  return findCouponProblem(world, coupon, today) ? "not_usable_yet" : "usable";
}

export const couponTools = {
  list_coupons: coupons.list({
    summary:
      "List the customer's coupons with what each takes off, from which amount, until when, and whether the cart as it is can use it.",
    filters: {
      title: contains(label("coupon"), "Only coupons whose title contains this", it => it.title),
      usable: meets(
        z.boolean(),
        "True for only those that the cart can use now",
        (it, usable, context) => (getStatus(it, context) === "usable") === usable,
      ),
    },
    row: {
      title: label("coupon"),
      code: spokenId("coupon"),
      minimum: cents(),
      expires: day(),
      status: [z.enum(["usable", "used", "expired", "not_usable_yet"]), getStatus],
    },
  }),
  apply_coupon: tool({
    effect: "write",
    summary:
      "Use a coupon for the cart, by its code. It takes the place of the one that the cart has.",
    idempotent: true,
    input: {
      code: spokenId("coupon").describe(
        "Code of the coupon, as it stands on it or as shopping_list_coupons gives it",
      ),
    },
    returns: {
      title: label("coupon"),
      code: spokenId("coupon"),
      ...totalFields,
      replaced: z.string().optional().describe("Code of the coupon that came off"),
    },
    run(state, { code }, { now }) {
      const match = Object.entries(getOriginal(state).coupons).find(
        ([, it]) => it.code === code.trim().toUpperCase(),
      );
      if (!match)
        return refuse(
          "not_found",
          `there is no coupon ${code}`,
          "shopping_list_coupons gives the codes",
        );
      const [key, coupon] = match;
      if (state.cart.coupon === key)
        refuse(
          "conflict",
          `the cart has coupon ${coupon.code} already`,
          "shopping_get_cart shows what it takes off",
        );
      const problem = findCouponProblem(getOriginal(state), coupon, now.slice(0, 10));
      if (problem) refuse(...problem);
      const previous = state.cart.coupon;
      state.cart.coupon = key;
      return omitUndefined({
        title: coupon.title,
        code: coupon.code,
        ...computeCartTotals(state, now.slice(0, 10)),
        replaced: previous === undefined ? undefined : state.coupons[previous]!.code,
      });
    },
  }),
};

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
