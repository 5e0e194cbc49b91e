/** Tools that list, show, track, cancel, tip and rate orders. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label, minute, money } from "../../environment/fieldSchemas.ts";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { minutesBetween, addMinutes } from "../../environment/time.ts";
import { contains, descending, getSchemas, meets, type RowContext } from "../kit/table.ts";
import {
  computeDishesTotal,
  orderRow,
  orders,
  stages,
  getStage,
  computeStages,
  Deliveries,
  computeTotal,
  type Order,
  type Stage,
  computeRating,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(Deliveries);

const status = (it: Order, { now }: RowContext<Deliveries>) => getStage(it, now);
const restaurantName = (it: Order, { world }: RowContext<Deliveries>) =>
  world.restaurants[it.restaurant_id]!.name;

export const orderQueries = {
  get_order: orders.get({
    summary:
      "Get one order in full: its dishes and prices, fee, discount, tip, rating and where it went.",
    row: {
      ...orderRow,
      restaurant: [label("restaurant"), restaurantName],
      restaurant_id: id("restaurant"),
      status: [z.enum(stages), status],
      placed: minute(),
      destination: [z.string(), (it, { world }) => world.addresses[it.destination]],
      lines: [
        z.array(
          z.object({
            dish: label("dish"),
            dish_id: id("dish"),
            quantity: z.int(),
            price: cents(),
            choices: z.array(z.string()),
          }),
        ),
        (it, { world }) =>
          it.lines.map(({ dish_id, quantity, price, choices }) => {
            return { dish: world.dishes[dish_id]!.name, dish_id, quantity, price, choices };
          }),
      ],
      dishes: [cents(), computeDishesTotal],
      delivery_fee: cents(),
      discount: cents(),
      tip: cents(),
      total: [cents(), computeTotal],
      stars: [z.int().optional(), it => it.rating?.stars],
    },
  }),
  list_orders: orders.list({
    summary: "List the customer's orders, the newest first, by number, restaurant, status or day.",
    filters: {
      number: meets(
        label("order"),
        "Only the order of this number",
        (it, number) => String(it.number) === number.replace(/^#/, ""),
      ),
      restaurant: contains(
        z.string().min(1).max(80),
        "Only orders from restaurants whose name contains this",
        (it, { restaurants }) => restaurants[it.restaurant_id]!.name,
      ),
      status: meets(
        z.enum(stages),
        "Only orders of this status",
        (it, stage, { now }) => getStage(it, now) === stage,
      ),
      from_date: meets(day(), "First day", (it, date) => it.placed.slice(0, 10) >= date),
      unrated: meets(
        z.boolean(),
        "True for only delivered orders without a rating",
        (it, isUnrated, { now }) =>
          !isUnrated || (it.rating === undefined && getStage(it, now) === "delivered"),
      ),
    },
    order: descending(it => it.number),
    limit: 10,
    row: {
      ...orderRow,
      restaurant: [z.string(), restaurantName],
      status: [z.string(), status],
      total: [cents(), computeTotal],
      date: [day(), it => it.placed.slice(0, 10)],
    },
  }),
  track_order: tool({
    effect: "read",
    summary:
      "See how far an order has come, the newest one if none is named: its stage, when it arrives or arrived, and whether it can still be cancelled.",
    input: {
      order_id: orders.id
        .optional()
        .describe("Order id, as food_delivery_list_orders gives it; the newest order if not given"),
    },
    returns: {
      ...getSchemas(orderRow),
      restaurant: z.string(),
      status: z.enum(stages),
      arrives: minute().optional(),
      minutes_left: z.int().optional(),
      can_cancel: z.boolean(),
      stages: z
        .array(z.object({ stage: z.string(), at: minute() }))
        .describe("Those reached so far"),
    },
    run(deliveries, { order_id: requestedId }, { now }) {
      const order_id = requestedId ?? findNewestOrder(deliveries);
      const it = orders.find(deliveries, order_id);
      const { preparing, onTheWay, delivered } = computeStages(it);
      const stage = getStage(it, now);
      const allStages: [Stage, string][] = [
        ["placed", it.placed],
        ["preparing", preparing],
        ["on the way", onTheWay],
        ["delivered", delivered],
      ];
      const reachedStages: [Stage, string][] =
        it.cancelled === undefined
          ? allStages.filter(([, at]) => at <= now)
          : [
              ["placed", it.placed],
              ["cancelled", it.cancelled],
            ];
      const minutesLeft = minutesBetween(now, delivered);
      const isComing = stage !== "cancelled";
      return omitUndefined({
        number: String(it.number),
        order_id,
        restaurant: deliveries.restaurants[it.restaurant_id]!.name,
        status: stage,
        arrives: isComing ? delivered : undefined,
        minutes_left: isComing && minutesLeft > 0 ? minutesLeft : undefined,
        can_cancel: stage === "placed",
        stages: reachedStages.map(([name, at]) => ({ stage: name, at })),
      });
    },
  }),
};

const daysToTip = 7;

const daysToRate = 30;

export const maxTip = 30;

const isTooLate = (delivered: string, days: number, now: string) =>
  addMinutes(delivered, days * 1440) < now;

/** The id of the newest order that was not cancelled. */
function findNewestOrder({ orders }: Deliveries): string {
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
