/**
 * The tools for orders that were placed: where they are, and what can still be done about them at
 * each stage.
 */
import { z } from "zod";
import { cents, day, id, label, minute, money } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes, minutesBetween } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  dishesTotal,
  orderOf,
  ratingOf,
  Deliveries,
  stageOf,
  stagesOf,
  totalOf,
  type Stage,
} from "./state.ts";

const orderId = id("order").describe("Order id, as food_delivery_list_orders gives it");
const stages = ["placed", "preparing", "on the way", "delivered", "cancelled"] as const;
const daysToTip = 7;
const daysToRate = 30;
const mostTip = 30;

const tool = createToolFactory(Deliveries);

const isOver = (delivered: string, days: number, now: string) =>
  addMinutes(delivered, days * 1440) < now;

/** Of the orders that were not cancelled. */
function newestOf({ orders }: Deliveries): string {
  const standing = Object.entries(orders).filter(([, it]) => it.cancelled === undefined);
  return (
    standing.sort(([, a], [, b]) => b.number - a.number)[0]?.[0] ??
    refuse("not_found", "there is no order to track", "food_delivery_place_order makes one")
  );
}

export const orderTools = {
  get_order: tool({
    effect: "read",
    summary:
      "Get one order in full: its dishes and prices, fee, discount, tip, rating and where it went.",
    input: { order_id: orderId },
    returns: {
      number: label("order"),
      order_id: id("order"),
      restaurant: label("restaurant"),
      restaurant_id: id("restaurant"),
      status: z.enum(stages),
      placed: minute(),
      destination: z.string(),
      lines: z.array(
        z.object({
          dish: label("dish"),
          dish_id: id("dish"),
          quantity: z.int(),
          price: cents(),
          choices: z.array(z.string()),
        }),
      ),
      dishes: cents(),
      delivery_fee: cents(),
      discount: cents(),
      tip: cents(),
      total: cents(),
      stars: z.int().optional(),
    },
    run(deliveries, { order_id }, { now }) {
      const it = orderOf(deliveries, order_id);
      return {
        number: String(it.number),
        order_id,
        restaurant: deliveries.restaurants[it.restaurant_id]!.name,
        restaurant_id: it.restaurant_id,
        status: stageOf(it, now),
        placed: it.placed,
        destination: deliveries.addresses[it.destination],
        lines: it.lines.map(line => ({
          dish: deliveries.dishes[line.dish_id]!.name,
          dish_id: line.dish_id,
          quantity: line.quantity,
          price: line.price,
          choices: line.choices,
        })),
        dishes: dishesTotal(it),
        delivery_fee: it.delivery_fee,
        discount: it.discount,
        tip: it.tip,
        total: totalOf(it),
        ...(it.rating ? { stars: it.rating.stars } : {}),
      };
    },
  }),
  list_orders: tool({
    effect: "read",
    summary: "List the customer's orders, the newest first, by number, restaurant, status or day.",
    input: {
      number: label("order").optional().describe("Only the order of this number"),
      restaurant: z
        .string()
        .min(1)
        .max(80)
        .optional()
        .describe("Only orders from restaurants whose name contains this"),
      status: z.enum(stages).optional().describe("Only orders of this status"),
      from_date: day().optional().describe("First day"),
      unrated: z.boolean().optional().describe("True for only delivered orders without a rating"),
      limit: z.int().min(1).max(50).optional().describe("At most this many, 10 if not given"),
    },
    returns: {
      orders: z.array(
        z.object({
          number: label("order"),
          order_id: id("order"),
          restaurant: z.string(),
          status: z.string(),
          total: cents(),
          date: day(),
        }),
      ),
    },
    run(
      { orders, restaurants },
      { number, restaurant, status, from_date, unrated, limit = 10 },
      { now },
    ) {
      const found = Object.entries(orders).filter(
        ([, it]) =>
          (number === undefined || String(it.number) === number.replace(/^#/, "")) &&
          (!restaurant || containsText(restaurants[it.restaurant_id]!.name, restaurant)) &&
          (!status || stageOf(it, now) === status) &&
          (!from_date || it.placed.slice(0, 10) >= from_date) &&
          (!unrated || (it.rating === undefined && stageOf(it, now) === "delivered")),
      );
      const rows = found.sort(([, a], [, b]) => b.number - a.number).slice(0, limit);
      return {
        orders: rows.map(([order_id, it]) => ({
          number: String(it.number),
          order_id,
          restaurant: restaurants[it.restaurant_id]!.name,
          status: stageOf(it, now),
          total: totalOf(it),
          date: it.placed.slice(0, 10),
        })),
      };
    },
  }),
  track_order: tool({
    effect: "read",
    summary:
      "See how far an order has come, the newest one if none is named: its stage, when it arrives or arrived, and whether it can still be cancelled.",
    input: {
      order_id: orderId
        .optional()
        .describe("Order id, as food_delivery_list_orders gives it; the newest order if not given"),
    },
    returns: {
      number: label("order"),
      order_id: id("order"),
      restaurant: z.string(),
      status: z.enum(stages),
      arrives: minute().optional(),
      minutes_left: z.int().optional(),
      can_cancel: z.boolean(),
      stages: z
        .array(z.object({ stage: z.string(), at: minute() }))
        .describe("Those reached so far"),
    },
    run(deliveries, { order_id: named }, { now }) {
      const order_id = named ?? newestOf(deliveries);
      const it = orderOf(deliveries, order_id);
      const { preparing, onTheWay, delivered } = stagesOf(it);
      const status = stageOf(it, now);
      const reached: [Stage, string][] = [
        ["placed", it.placed],
        ["preparing", preparing],
        ["on the way", onTheWay],
        ["delivered", delivered],
      ];
      const ended: [Stage, string][] =
        it.cancelled === undefined
          ? reached.filter(([, at]) => at <= now)
          : [
              ["placed", it.placed],
              ["cancelled", it.cancelled],
            ];
      const left = minutesBetween(now, delivered);
      return {
        number: String(it.number),
        order_id,
        restaurant: deliveries.restaurants[it.restaurant_id]!.name,
        status,
        ...(status === "cancelled" ? {} : { arrives: delivered }),
        ...(left > 0 && status !== "cancelled" ? { minutes_left: left } : {}),
        can_cancel: status === "placed",
        stages: ended.map(([stage, at]) => ({ stage, at })),
      };
    },
  }),
  cancel_order: tool({
    effect: "write",
    summary:
      "Cancel an order that the kitchen has not begun. A promo code used for it can be used again.",
    destructive: true,
    input: { order_id: orderId },
    returns: {
      number: label("order"),
      order_id: id("order"),
      restaurant: z.string(),
      status: z.string(),
      refunded: cents(),
    },
    run(deliveries, { order_id }, { now }) {
      const it = orderOf(deliveries, order_id);
      const { name, phone } = deliveries.restaurants[it.restaurant_id]!;
      const status = stageOf(it, now);
      if (status === "cancelled")
        refuse("conflict", `order ${it.number} (${order_id}) was cancelled at ${it.cancelled}`);
      if (status === "delivered")
        refuse(
          "precondition_failed",
          `order ${it.number} (${order_id}) was delivered at ${stagesOf(it).delivered}`,
          "food_delivery_rate_order tells what was wrong with it",
        );
      if (status !== "placed")
        refuse(
          "precondition_failed",
          `${name} began order ${it.number} (${order_id}) at ${stagesOf(it).preparing}: it is ${status}`,
          `only the restaurant can help now, ${phone}`,
        );
      it.cancelled = now;
      return {
        number: String(it.number),
        order_id,
        restaurant: name,
        status: "cancelled",
        refunded: totalOf(it),
      };
    },
  }),
  add_tip: tool({
    effect: "write",
    summary: `Give the courier a tip for an order that is on the way, or was delivered in the last ${daysToTip} days; once an order.`,
    input: {
      order_id: orderId,
      amount: money()
        .describe("Tip in euros")
        .meta({ examples: [1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 8, 10] }),
    },
    returns: { number: label("order"), order_id: id("order"), tip: cents(), total: cents() },
    run(deliveries, { order_id, amount }, { now }) {
      const it = orderOf(deliveries, order_id);
      const status = stageOf(it, now);
      const called = `order ${it.number} (${order_id})`;
      if (status === "cancelled")
        refuse("precondition_failed", `${called} was cancelled: nobody brought it`);
      if (status === "placed" || status === "preparing")
        refuse(
          "precondition_failed",
          `${called} is ${status}: no courier has it yet`,
          `it is on the way from ${stagesOf(it).onTheWay}`,
        );
      if (isOver(stagesOf(it).delivered, daysToTip, now))
        refuse(
          "precondition_failed",
          `${called} was delivered at ${stagesOf(it).delivered}, more than ${daysToTip} days ago`,
          "tips are for newer orders",
        );
      if (it.tip > 0) refuse("conflict", `${called} has a tip of ${it.tip} already`);
      if (amount > mostTip)
        refuse(
          "limit_exceeded",
          `a tip is at most ${mostTip}, and ${amount} is more`,
          `give at most ${mostTip}`,
        );
      it.tip = amount;
      return { number: String(it.number), order_id, tip: it.tip, total: totalOf(it) };
    },
  }),
  rate_order: tool({
    effect: "write",
    summary: `Rate an order with one to five stars, within ${daysToRate} days of its delivery and once. Counts towards the restaurant's rating.`,
    input: {
      order_id: orderId,
      stars: z
        .int()
        .min(1)
        .max(5)
        .describe("From 1, bad, to 5, excellent")
        .meta({ examples: [1, 2, 3, 4, 5] }),
      comment: z
        .string()
        .min(1)
        .max(300)
        .optional()
        .describe("What others should know")
        .meta({
          examples: [
            "still warm and very good",
            "too salty",
            "came early",
            "portions are small",
            "best in town",
            "a drink was missing",
            "friendly courier",
            "cold when it came",
          ],
        }),
    },
    returns: {
      number: label("order"),
      order_id: id("order"),
      stars: z.int(),
      restaurant: z.string(),
      restaurant_rating: z.number(),
      ratings: z.int(),
    },
    run(deliveries, { order_id, stars, comment }, { now }) {
      const it = orderOf(deliveries, order_id);
      const status = stageOf(it, now);
      const called = `order ${it.number} (${order_id})`;
      const { delivered } = stagesOf(it);
      if (status === "cancelled")
        refuse("precondition_failed", `${called} was cancelled: there is nothing to rate`);
      if (status !== "delivered")
        refuse(
          "precondition_failed",
          `${called} is ${status}`,
          `it can be rated once it is delivered, at ${delivered}`,
        );
      if (it.rating)
        refuse(
          "conflict",
          `${called} has ${it.rating.stars} stars already, given at ${it.rating.at}`,
        );
      if (isOver(delivered, daysToRate, now))
        refuse(
          "precondition_failed",
          `${called} was delivered at ${delivered}, more than ${daysToRate} days ago`,
          "food_delivery_list_orders with unrated finds newer ones",
        );
      const restaurant = deliveries.restaurants[it.restaurant_id]!;
      it.rating = { stars, ...(comment === undefined ? {} : { comment }), at: now };
      restaurant.stars += stars;
      restaurant.ratings++;
      return {
        number: String(it.number),
        order_id,
        stars,
        restaurant: restaurant.name,
        restaurant_rating: ratingOf(restaurant),
        ratings: restaurant.ratings,
      };
    },
  }),
};
