/** Tools that show, list, track, cancel and return orders. */
import { z } from "zod";
import { cents, day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import { limit } from "./parameters.ts";
import {
  deliveries,
  sumGoods,
  findOrderItem,
  findOrder,
  payments,
  reasons,
  ShoppingState,
  getLastReturnDay,
  getOrderStatus,
  computeTotal,
  type Order,
} from "./state.ts";

const orderId = id("order").describe("Order id, as shopping_list_orders gives it");
const status = z.enum(["processing", "shipped", "delivered", "cancelled"]);
const tool = createToolFactory(ShoppingState);

const formatOrder = (order: Order, orderId: string) => `order ${order.number} (${orderId})`;

/** The contents of an order in a few words. */
function summarizeContents({ products }: Pick<ShoppingState, "products">, order: Order): string {
  const names = Object.values(order.items).map(
    it => `${it.quantity > 1 ? `${it.quantity} × ` : ""}${products[it.product_id]!.name}`,
  );
  return names.length > 2 ? `${names[0]} and ${names.length - 1} more` : names.join(", ");
}

const countReturned = (returns: ShoppingState["returns"], itemId: string) =>
  Object.values(returns)
    .filter(it => it.item_id === itemId)
    .reduce((count, it) => count + it.quantity, 0);

/**
 * The refund for goods of this value, less their share of the discount. Rounded parts never add up
 * to more than was paid.
 */
function computeRefund({ returns }: ShoppingState, order: Order, value: number): number {
  const goods = sumGoods(Object.values(order.items));
  const refunded = Object.values(returns)
    .filter(it => Object.hasOwn(order.items, it.item_id))
    .map(it => it.refund);
  const remaining = roundToCents(goods - order.discount - sumAmounts(refunded));
  return Math.min(roundToCents(value * (1 - order.discount / goods)), remaining);
}

export const orderTools = {
  get_order: tool({
    effect: "read",
    summary:
      "Get one order in full: its items with their ids, what it cost and how it was paid, its status and until when things can be sent back.",
    input: { order_id: orderId },
    returns: {
      number: label("order"),
      order_id: id("order"),
      status,
      placed: minute(),
      items: z.array(
        z.object({
          product: label("order_item"),
          item_id: id("order_item"),
          product_id: id("product"),
          quantity: z.int(),
          price: cents(),
          sent_back: z.int().optional(),
        }),
      ),
      goods: cents(),
      discount: cents(),
      delivery_fee: cents(),
      total: cents(),
      pay_with: z.enum(payments),
      delivery: z.enum(deliveries),
      return_until: day().optional(),
    },
    run(state, { order_id }) {
      const order = findOrder(state, order_id);
      const items = Object.entries(order.items).map(([item_id, it]) => {
        const sent_back = countReturned(state.returns, item_id);
        return {
          product: state.products[it.product_id]!.name,
          item_id,
          product_id: it.product_id,
          quantity: it.quantity,
          price: it.price,
          ...(sent_back ? { sent_back } : {}),
        };
      });
      const until = getLastReturnDay(state, order);
      return {
        number: String(order.number),
        order_id,
        status: getOrderStatus(order),
        placed: order.placed,
        items,
        goods: sumGoods(items),
        discount: order.discount,
        delivery_fee: order.delivery_fee,
        total: computeTotal(order),
        pay_with: order.pay_with,
        delivery: order.delivery,
        ...(until ? { return_until: until } : {}),
      };
    },
  }),
  list_orders: tool({
    effect: "read",
    summary: "List the customer's orders, newest first, by number, status, day or what is in them.",
    input: {
      number: label("order").optional().describe("Only orders whose number contains this"),
      product: z
        .string()
        .min(1)
        .max(80)
        .optional()
        .describe("Only orders with a product whose name contains this")
        .meta({
          examples: [
            "lamp",
            "kettle",
            "tent",
            "coffee",
            "headphones",
            "notebook",
            "yoga",
            "pan",
            "backpack",
          ],
        }),
      status: status.optional().describe("Only orders that stand like this"),
      from_date: day().optional().describe("First day on which they were placed"),
      to_date: day().optional().describe("Last day on which they were placed"),
      limit,
    },
    returns: {
      orders: z.array(
        z.object({
          number: label("order"),
          order_id: id("order"),
          placed: day(),
          status,
          contents: z.string(),
          total: cents(),
        }),
      ),
    },
    run(state, { number, product, status: wanted, from_date, to_date, limit = 10 }) {
      if (from_date && to_date && from_date > to_date)
        refuse("invalid_params", `from_date ${from_date} is after to_date ${to_date}`);
      const matches = Object.entries(state.orders).filter(
        ([, it]) =>
          (!number || containsText(String(it.number), number)) &&
          (!wanted || getOrderStatus(it) === wanted) &&
          (!from_date || it.placed.slice(0, 10) >= from_date) &&
          (!to_date || it.placed.slice(0, 10) <= to_date) &&
          (!product ||
            Object.values(it.items).some(item =>
              containsText(state.products[item.product_id]!.name, product),
            )),
      );
      matches.sort(([, a], [, b]) => b.number - a.number);
      return {
        orders: matches.slice(0, limit).map(([order_id, it]) => ({
          number: String(it.number),
          order_id,
          placed: it.placed.slice(0, 10),
          status: getOrderStatus(it),
          contents: summarizeContents(state, it),
          total: computeTotal(it),
        })),
      };
    },
  }),
  cancel_order: tool({
    effect: "write",
    summary:
      "Call off an order that has not been shipped yet. Its goods go back into stock, its coupon can be used again, and what was paid comes back.",
    destructive: true,
    input: { order_id: orderId },
    returns: {
      number: label("order"),
      order_id: id("order"),
      status,
      refund: cents().optional().describe("What was paid and comes back"),
      refunded_to: z.enum(payments).optional(),
      store_credit: cents(),
    },
    run(state, { order_id }, { now }) {
      const order = findOrder(state, order_id);
      const currentStatus = getOrderStatus(order);
      if (currentStatus === "cancelled")
        refuse(
          "conflict",
          `${formatOrder(order, order_id)} was already cancelled on ${order.cancelled!.slice(0, 10)}`,
        );
      if (currentStatus === "shipped")
        refuse(
          "precondition_failed",
          `${formatOrder(order, order_id)} was shipped on ${order.shipped!.slice(0, 10)} and can no longer be cancelled`,
          "once it is delivered, shopping_request_return sends things back",
        );
      if (currentStatus === "delivered")
        refuse(
          "precondition_failed",
          `${formatOrder(order, order_id)} was delivered on ${order.delivered!.slice(0, 10)}`,
          "shopping_request_return sends things back",
        );
      order.cancelled = now;
      for (const it of Object.values(getOriginal(order).items))
        state.products[it.product_id]!.stock += it.quantity;
      if (order.coupon !== undefined) state.coupons[order.coupon]!.used = false;
      const isPaid = order.pay_with !== "on_delivery";
      const refund = computeTotal(order);
      if (order.pay_with === "store_credit")
        state.store_credit = roundToCents(state.store_credit + refund);
      return {
        number: String(order.number),
        order_id,
        status: "cancelled" as const,
        ...(isPaid ? { refund, refunded_to: order.pay_with } : {}),
        store_credit: state.store_credit,
      };
    },
  }),
  track_order: tool({
    effect: "read",
    summary:
      "See where an order is: what has happened to its parcel so far, the parcel's number and the day it is expected.",
    input: { order_id: orderId },
    returns: {
      number: label("order"),
      order_id: id("order"),
      status,
      expected: day().optional(),
      delivered: day().optional(),
      parcel: z.string().optional(),
      events: z.array(z.object({ at: minute(), what: z.string() })),
    },
    run(state, { order_id }) {
      const order = findOrder(state, order_id);
      if (order.cancelled)
        refuse(
          "precondition_failed",
          `${formatOrder(order, order_id)} was cancelled on ${order.cancelled.slice(0, 10)}, so nothing is on its way`,
          "shopping_list_orders shows the others",
        );
      const events = [{ at: order.placed, what: "ordered" }];
      if (order.shipped) events.push({ at: order.shipped, what: "left the warehouse" });
      if (order.delivered)
        events.push({ at: order.delivered, what: `delivered to ${state.address}` });
      return {
        number: String(order.number),
        order_id,
        status: getOrderStatus(order),
        ...(order.delivered
          ? { delivered: order.delivered.slice(0, 10) }
          : { expected: order.expected }),
        ...(order.parcel ? { parcel: order.parcel } : {}),
        events,
      };
    },
  }),
  request_return: tool({
    effect: "write",
    summary:
      "Ask to send an item of a delivered order back for a refund, while its return window is open.",
    input: {
      item_id: id("order_item").describe("Item id, as shopping_get_order gives it"),
      reason: z.enum(reasons).describe("Why it goes back"),
      quantity: z
        .int()
        .min(1)
        .max(99)
        .optional()
        .describe("How many of it, all that were not sent back yet if not given")
        .meta({ examples: [1, 1, 2, 3] }),
    },
    returns: {
      product: label("order_item"),
      item_id: id("order_item"),
      return_id: id("return"),
      quantity: z.int(),
      refund: cents(),
      refunded_to: z.string(),
    },
    run(state, { item_id, reason, quantity }, { now, newId }) {
      const { orderId: ofOrder, order, item } = findOrderItem(getOriginal(state).orders, item_id);
      const { name, returnable } = getOriginal(state).products[item.product_id]!;
      const until = getLastReturnDay(state, order);
      if (until === undefined)
        refuse(
          "precondition_failed",
          `${formatOrder(order, ofOrder)} is ${getOrderStatus(order)}, and only what was delivered can be sent back`,
          getOrderStatus(order) === "processing" ? "shopping_cancel_order calls it off" : undefined,
        );
      else if (now.slice(0, 10) > until)
        refuse(
          "precondition_failed",
          `${formatOrder(order, ofOrder)} could be sent back until ${until}, ${state.terms.return_days} days after it was delivered`,
        );
      const isFaulty = reason === "damaged" || reason === "wrong_item";
      if (!returnable && !isFaulty)
        refuse(
          "permission_denied",
          `${name} cannot be sent back for the reason ${reason}, for hygiene`,
          "only damaged or wrong items of this kind are taken back",
        );
      const returnableCount = item.quantity - countReturned(getOriginal(state).returns, item_id);
      if (returnableCount === 0)
        refuse("conflict", `all ${item.quantity} of ${name} (${item_id}) were sent back already`);
      const count = quantity ?? returnableCount;
      if (count > returnableCount)
        refuse(
          "limit_exceeded",
          `${returnableCount} of ${name} (${item_id}) can be sent back, ${count} is more`,
          `choose ${returnableCount} or fewer`,
        );
      const refund = computeRefund(getOriginal(state), order, item.price * count);
      const return_id = newId("ret");
      state.returns[return_id] = {
        item_id,
        quantity: count,
        reason,
        at: now,
        refund,
        status: "requested",
      };
      return {
        product: name,
        item_id,
        return_id,
        quantity: count,
        refund,
        refunded_to: order.pay_with === "on_delivery" ? "store_credit" : order.pay_with,
      };
    },
  }),
};
