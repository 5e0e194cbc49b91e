/** Tools that cancel, tip and rate orders. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, money } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { getSchemas } from "../kit/table.ts";
import {
  Deliveries,
  orderRow,
  orders,
  computeRating,
  getStage,
  computeStages,
  computeTotal,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(Deliveries);

const daysToTip = 7;

const daysToRate = 30;

export const maxTip = 30;

const isTooLate = (delivered: string, days: number, now: string) =>
  addMinutes(delivered, days * 1440) < now;

/** The id of the newest order that was not cancelled. */
export function findNewestOrder({ orders }: Deliveries): string {
  const activeOrders = Object.entries(orders).filter(([, it]) => it.cancelled === undefined);
  return (
    activeOrders.sort(([, a], [, b]) => b.number - a.number)[0]?.[0] ??
    refuse("not_found", "there is no order to track", "food_delivery_place_order makes one")
  );
}

export const orderCommands = {
  cancel_order: tool({
    effect: "write",
    summary:
      "Cancel an order that the kitchen has not begun. A promo code used for it can be used again.",
    destructive: true,
    input: { order_id: orders.id },
    returns: {
      ...getSchemas(orderRow),
      restaurant: z.string(),
      status: z.string(),
      refunded: cents(),
    },
    run(deliveries, { order_id }, { now }) {
      const it = orders.find(deliveries, order_id);
      const { name, phone } = deliveries.restaurants[it.restaurant_id]!;
      const status = getStage(it, now);
      if (status === "cancelled")
        refuse("conflict", `order ${it.number} (${order_id}) was cancelled at ${it.cancelled}`);
      if (status === "delivered")
        refuse(
          "precondition_failed",
          `order ${it.number} (${order_id}) was delivered at ${computeStages(it).delivered}`,
          "food_delivery_rate_order tells what was wrong with it",
        );
      if (status !== "placed")
        refuse(
          "precondition_failed",
          `${name} began order ${it.number} (${order_id}) at ${computeStages(it).preparing}: it is ${status}`,
          `only the restaurant can help now, ${phone}`,
        );
      it.cancelled = now;
      return {
        number: String(it.number),
        order_id,
        restaurant: name,
        status: "cancelled",
        refunded: computeTotal(it),
      };
    },
  }),
  add_tip: tool({
    effect: "write",
    summary: `Give the courier a tip for an order that is on the way, or was delivered in the last ${daysToTip} days; once an order.`,
    input: {
      order_id: orders.id,
      amount: money()
        .describe("Tip in euros")
        .meta({ examples: [1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 8, 10] }),
    },
    returns: { ...getSchemas(orderRow), tip: cents(), total: cents() },
    run(deliveries, { order_id, amount }, { now }) {
      const it = orders.find(deliveries, order_id);
      const status = getStage(it, now);
      const orderName = `order ${it.number} (${order_id})`;
      if (status === "cancelled")
        refuse("precondition_failed", `${orderName} was cancelled: nobody brought it`);
      if (status === "placed" || status === "preparing")
        refuse(
          "precondition_failed",
          `${orderName} is ${status}: no courier has it yet`,
          `it is on the way from ${computeStages(it).onTheWay}`,
        );
      if (isTooLate(computeStages(it).delivered, daysToTip, now))
        refuse(
          "precondition_failed",
          `${orderName} was delivered at ${computeStages(it).delivered}, more than ${daysToTip} days ago`,
          "tips are for newer orders",
        );
      if (it.tip > 0) refuse("conflict", `${orderName} has a tip of ${it.tip} already`);
      if (amount > maxTip)
        refuse(
          "limit_exceeded",
          `a tip is at most ${maxTip}, and ${amount} is more`,
          `give at most ${maxTip}`,
        );
      it.tip = amount;
      return { number: String(it.number), order_id, tip: it.tip, total: computeTotal(it) };
    },
  }),
  rate_order: tool({
    effect: "write",
    summary: `Rate an order with one to five stars, within ${daysToRate} days of its delivery and once. Counts towards the restaurant's rating.`,
    input: {
      order_id: orders.id,
      stars: z
        .int()
        .min(1)
        .max(5)
        .describe("From 1, bad, to 5, excellent")
        .meta({ examples: [1, 2, 3, 4, 5] }),
      comment: z.string().min(1).max(300).optional().describe("What others should know").meta({
        examples: vocabulary.comments,
      }),
    },
    returns: {
      ...getSchemas(orderRow),
      stars: z.int(),
      restaurant: z.string(),
      restaurant_rating: z.number(),
      ratings: z.int(),
    },
    run(deliveries, { order_id, stars, comment }, { now }) {
      const it = orders.find(deliveries, order_id);
      const status = getStage(it, now);
      const orderName = `order ${it.number} (${order_id})`;
      const { delivered } = computeStages(it);
      if (status === "cancelled")
        refuse("precondition_failed", `${orderName} was cancelled: there is nothing to rate`);
      if (status !== "delivered")
        refuse(
          "precondition_failed",
          `${orderName} is ${status}`,
          `it can be rated once it is delivered, at ${delivered}`,
        );
      if (it.rating)
        refuse(
          "conflict",
          `${orderName} has ${it.rating.stars} stars already, given at ${it.rating.at}`,
        );
      if (isTooLate(delivered, daysToRate, now))
        refuse(
          "precondition_failed",
          `${orderName} was delivered at ${delivered}, more than ${daysToRate} days ago`,
          "food_delivery_list_orders with unrated finds newer ones",
        );
      const restaurant = deliveries.restaurants[it.restaurant_id]!;
      it.rating = omitUndefined({ stars, comment, at: now });
      restaurant.stars += stars;
      restaurant.ratings++;
      return {
        number: String(it.number),
        order_id,
        stars,
        restaurant: restaurant.name,
        restaurant_rating: computeRating(restaurant),
        ratings: restaurant.ratings,
      };
    },
  }),
};
