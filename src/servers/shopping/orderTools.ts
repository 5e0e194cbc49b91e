/** Tools that show, list, track, cancel and return orders. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import { contains, descending, equals, getSchemas, meets } from "../kit/table.ts";
import {
  orderRow,
  quantity,
  deliveries,
  sumGoods,
  findOrderItem,
  orders,
  payments,
  reasons,
  ShoppingState,
  getLastReturnDay,
  getOrderStatus,
  computeTotal,
  type Order,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(ShoppingState);

const status = z.enum(["processing", "shipped", "delivered", "cancelled"]);
const statusRow = orders.fields({ ...orderRow, status: [status, getOrderStatus] });

const getDay = (order: Order) => order.placed.slice(0, 10);

const formatOrder = (order: Order, orderId: string) => `order ${order.number} (${orderId})`;

/** The contents of an order in a few words. */
function summarizeContents({ products }: ShoppingState, order: Order): string {
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
  get_order: orders.get({
    summary:
      "Get one order in full: its items with their ids, what it cost and how it was paid, its status and until when things can be sent back.",
    row: {
      ...statusRow,
      placed: minute(),
      items: [
        z.array(
          z.object({
            product: label("order_item"),
            item_id: id("order_item"),
            product_id: id("product"),
            quantity: z.int(),
            price: cents(),
            sent_back: z.int().optional(),
          }),
        ),
        (order, { world }) =>
          Object.entries(order.items).map(([item_id, { product_id, quantity, price }]) =>
            omitUndefined({
              product: world.products[product_id]!.name,
              item_id,
              product_id,
              quantity,
              price,
              sent_back: countReturned(world.returns, item_id) || undefined,
            }),
          ),
      ],
      goods: [cents(), order => sumGoods(Object.values(order.items))],
      discount: cents(),
      delivery_fee: cents(),
      total: [cents(), computeTotal],
      pay_with: z.enum(payments),
      delivery: z.enum(deliveries),
      return_until: [day().optional(), (order, { world }) => getLastReturnDay(world, order)],
    },
  }),
  list_orders: orders.list({
    summary: "List the customer's orders, newest first, by number, status, day or what is in them.",
    filters: {
      number: contains(label("order"), "Only orders whose number contains this", it =>
        String(it.number),
      ),
      product: meets(
        z.string().min(1).max(80).optional().meta({ examples: vocabulary.products }),
        "Only orders with a product whose name contains this",
        (order, product, { world }) =>
          Object.values(order.items).some(it =>
            containsText(world.products[it.product_id]!.name, product),
          ),
      ),
      status: equals(status, "Only orders that stand like this", getOrderStatus),
      from_date: meets(
        day(),
        "First day on which they were placed",
        (it, date) => getDay(it) >= date,
      ),
      to_date: meets(day(), "Last day on which they were placed", (it, date) => getDay(it) <= date),
    },
    check({ from_date, to_date }) {
      if (from_date && to_date && from_date > to_date)
        refuse("invalid_params", `from_date ${from_date} is after to_date ${to_date}`);
    },
    order: descending(it => it.number),
    limit: 10,
    row: {
      ...orderRow,
      placed: [day(), getDay],
      status: [status, getOrderStatus],
      contents: [z.string(), (it, { world }) => summarizeContents(world, it)],
      total: [cents(), computeTotal],
    },
  }),
  cancel_order: tool({
    effect: "write",
    summary:
      "Call off an order that has not been shipped yet. Its goods go back into stock, its coupon can be used again, and what was paid comes back.",
    destructive: true,
    input: { order_id: orders.id },
    returns: {
      ...getSchemas(statusRow),
      refund: cents().optional().describe("What was paid and comes back"),
      refunded_to: z.enum(payments).optional(),
      store_credit: cents(),
    },
    run(state, { order_id }, { now }) {
      const order = orders.find(state, order_id);
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
        ...orders.show(statusRow, state, order_id, now),
        ...(isPaid ? { refund, refunded_to: order.pay_with } : {}),
        store_credit: state.store_credit,
      };
    },
  }),
  track_order: tool({
    effect: "read",
    summary:
      "See where an order is: what has happened to its parcel so far, the parcel's number and the day it is expected.",
    input: { order_id: orders.id },
    returns: {
      ...getSchemas(statusRow),
      expected: day().optional(),
      delivered: day().optional(),
      parcel: z.string().optional(),
      events: z.array(z.object({ at: minute(), what: z.string() })),
    },
    run(state, { order_id }, { now }) {
      const order = orders.find(state, order_id);
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
      return omitUndefined({
        ...orders.show(statusRow, state, order_id, now),
        expected: order.delivered ? undefined : order.expected,
        delivered: order.delivered?.slice(0, 10),
        parcel: order.parcel,
        events,
      });
    },
  }),
  request_return: tool({
    effect: "write",
    summary:
      "Ask to send an item of a delivered order back for a refund, while its return window is open.",
    input: {
      item_id: id("order_item").describe("Item id, as shopping_get_order gives it"),
      reason: z.enum(reasons).describe("Why it goes back"),
      quantity: quantity
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
    run(state, { item_id, reason, quantity: wanted }, { now, newId }) {
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
      const count = wanted ?? returnableCount;
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
