/**
 * The tools for what was bought: orders, where they are, calling them off and sending things back.
 */
import { z } from "zod";
import { cents, day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addDays } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { limit } from "./parameters.ts";
import {
  deliveries,
  goodsOf,
  itemOf,
  orderOf,
  payments,
  reasons,
  Shop,
  statusOf,
  totalOf,
  type Order,
} from "./state.ts";

const orderId = id("order").describe("Order id, as shopping_list_orders gives it");
const status = z.enum(["processing", "shipped", "delivered", "cancelled"]);
const tool = createToolFactory(Shop);

const called = (order: Order, orderId: string) => `order ${order.number} (${orderId})`;

/** What was bought, in a few words. */
function contentsOf({ products }: Pick<Shop, "products">, order: Order): string {
  const names = Object.values(order.items).map(
    it => `${it.quantity > 1 ? `${it.quantity} × ` : ""}${products[it.product_id]!.name}`,
  );
  return names.length > 2 ? `${names[0]} and ${names.length - 1} more` : names.join(", ");
}

const sentBack = (returns: Shop["returns"], itemId: string) =>
  Object.values(returns)
    .filter(it => it.item_id === itemId)
    .reduce((n, it) => n + it.quantity, 0);

/** The last day on which an order's items can be sent back, once it has been delivered. */
const lastReturn = ({ terms }: Pick<Shop, "terms">, order: Order) =>
  order.delivered ? addDays(order.delivered, terms.return_days) : undefined;

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
    run(shop, { order_id }) {
      const order = orderOf(shop, order_id);
      const items = Object.entries(order.items).map(([item_id, it]) => {
        const sent_back = sentBack(shop.returns, item_id);
        return {
          product: shop.products[it.product_id]!.name,
          item_id,
          product_id: it.product_id,
          quantity: it.quantity,
          price: it.price,
          ...(sent_back ? { sent_back } : {}),
        };
      });
      const until = lastReturn(shop, order);
      return {
        number: String(order.number),
        order_id,
        status: statusOf(order),
        placed: order.placed,
        items,
        goods: goodsOf(items),
        discount: order.discount,
        delivery_fee: order.delivery_fee,
        total: totalOf(order),
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
    run(shop, { number, product, status: wanted, from_date, to_date, limit: most = 10 }) {
      if (from_date && to_date && from_date > to_date)
        refuse("invalid_params", `from_date ${from_date} is after to_date ${to_date}`);
      const found = Object.entries(shop.orders).filter(
        ([, it]) =>
          (!number || containsText(String(it.number), number)) &&
          (!wanted || statusOf(it) === wanted) &&
          (!from_date || it.placed.slice(0, 10) >= from_date) &&
          (!to_date || it.placed.slice(0, 10) <= to_date) &&
          (!product ||
            Object.values(it.items).some(item =>
              containsText(shop.products[item.product_id]!.name, product),
            )),
      );
      found.sort(([, a], [, b]) => b.number - a.number);
      return {
        orders: found.slice(0, most).map(([order_id, it]) => ({
          number: String(it.number),
          order_id,
          placed: it.placed.slice(0, 10),
          status: statusOf(it),
          contents: contentsOf(shop, it),
          total: totalOf(it),
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
    run(shop, { order_id }, { now }) {
      const order = orderOf(shop, order_id);
      const stands = statusOf(order);
      if (stands === "cancelled")
        refuse(
          "conflict",
          `${called(order, order_id)} was already cancelled on ${order.cancelled!.slice(0, 10)}`,
        );
      if (stands === "shipped")
        refuse(
          "precondition_failed",
          `${called(order, order_id)} was shipped on ${order.shipped!.slice(0, 10)} and can no longer be cancelled`,
          "once it is delivered, shopping_request_return sends things back",
        );
      if (stands === "delivered")
        refuse(
          "precondition_failed",
          `${called(order, order_id)} was delivered on ${order.delivered!.slice(0, 10)}`,
          "shopping_request_return sends things back",
        );
      order.cancelled = now;
      for (const it of Object.values(getOriginal(order).items))
        shop.products[it.product_id]!.stock += it.quantity;
      if (order.coupon !== undefined) shop.coupons[order.coupon]!.used = false;
      const isPaid = order.pay_with !== "on_delivery";
      const refund = totalOf(order);
      if (order.pay_with === "store_credit")
        shop.store_credit = roundToCents(shop.store_credit + refund);
      return {
        number: String(order.number),
        order_id,
        status: "cancelled" as const,
        ...(isPaid ? { refund, refunded_to: order.pay_with } : {}),
        store_credit: shop.store_credit,
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
    run(shop, { order_id }) {
      const order = orderOf(shop, order_id);
      if (order.cancelled)
        refuse(
          "precondition_failed",
          `${called(order, order_id)} was cancelled on ${order.cancelled.slice(0, 10)}, so nothing is on its way`,
          "shopping_list_orders shows the others",
        );
      const events = [{ at: order.placed, what: "ordered" }];
      if (order.shipped) events.push({ at: order.shipped, what: "left the warehouse" });
      if (order.delivered)
        events.push({ at: order.delivered, what: `delivered to ${shop.address}` });
      return {
        number: String(order.number),
        order_id,
        status: statusOf(order),
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
    run(shop, { item_id, reason, quantity }, { now, newId }) {
      const { orderId: ofOrder, order, item } = itemOf(getOriginal(shop).orders, item_id);
      const { name, returnable } = getOriginal(shop).products[item.product_id]!;
      const until = lastReturn(shop, order);
      if (until === undefined)
        refuse(
          "precondition_failed",
          `${called(order, ofOrder)} is ${statusOf(order)}, and only what was delivered can be sent back`,
          statusOf(order) === "processing" ? "shopping_cancel_order calls it off" : undefined,
        );
      else if (now.slice(0, 10) > until)
        refuse(
          "precondition_failed",
          `${called(order, ofOrder)} could be sent back until ${until}, ${shop.terms.return_days} days after it was delivered`,
        );
      const faulty = reason === "damaged" || reason === "wrong_item";
      if (!returnable && !faulty)
        refuse(
          "permission_denied",
          `${name} cannot be sent back for the reason ${reason}, for hygiene`,
          "only damaged or wrong items of this kind are taken back",
        );
      const left = item.quantity - sentBack(getOriginal(shop).returns, item_id);
      if (left === 0)
        refuse("conflict", `all ${item.quantity} of ${name} (${item_id}) were sent back already`);
      const n = quantity ?? left;
      if (n > left)
        refuse(
          "limit_exceeded",
          `${left} of ${name} (${item_id}) can be sent back, ${n} is more`,
          `choose ${left} or fewer`,
        );
      const share = order.discount / goodsOf(Object.values(order.items));
      const refund = roundToCents(item.price * n * (1 - share));
      const return_id = newId("ret");
      shop.returns[return_id] = {
        item_id,
        quantity: n,
        reason,
        at: now,
        refund,
        status: "requested",
      };
      return {
        product: name,
        item_id,
        return_id,
        quantity: n,
        refund,
        refunded_to: order.pay_with === "on_delivery" ? "store_credit" : order.pay_with,
      };
    },
  }),
};
