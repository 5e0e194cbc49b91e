/** Tools that list, show and track orders. */
import { z } from "zod";
import { cents, day, id, label, minute, rowLimit } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { minutesBetween } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import { findNewestOrder } from "./orderCommands.ts";
import { orderId, stages } from "./orderParameters.ts";
import {
  computeDishesTotal,
  findOrder,
  getStage,
  computeStages,
  Deliveries,
  computeTotal,
  type Stage,
} from "./state.ts";

const tool = createToolFactory(Deliveries);

export const orderQueries = {
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
      const it = findOrder(deliveries, order_id);
      return {
        number: String(it.number),
        order_id,
        restaurant: deliveries.restaurants[it.restaurant_id]!.name,
        restaurant_id: it.restaurant_id,
        status: getStage(it, now),
        placed: it.placed,
        destination: deliveries.addresses[it.destination],
        lines: it.lines.map(line => ({
          dish: deliveries.dishes[line.dish_id]!.name,
          dish_id: line.dish_id,
          quantity: line.quantity,
          price: line.price,
          choices: line.choices,
        })),
        dishes: computeDishesTotal(it),
        delivery_fee: it.delivery_fee,
        discount: it.discount,
        tip: it.tip,
        total: computeTotal(it),
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
      limit: rowLimit(10),
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
      const matches = Object.entries(orders).filter(
        ([, it]) =>
          (number === undefined || String(it.number) === number.replace(/^#/, "")) &&
          (!restaurant || containsText(restaurants[it.restaurant_id]!.name, restaurant)) &&
          (!status || getStage(it, now) === status) &&
          (!from_date || it.placed.slice(0, 10) >= from_date) &&
          (!unrated || (it.rating === undefined && getStage(it, now) === "delivered")),
      );
      const rows = matches.sort(([, a], [, b]) => b.number - a.number).slice(0, limit);
      return {
        orders: rows.map(([order_id, it]) => ({
          number: String(it.number),
          order_id,
          restaurant: restaurants[it.restaurant_id]!.name,
          status: getStage(it, now),
          total: computeTotal(it),
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
    run(deliveries, { order_id: requestedId }, { now }) {
      const order_id = requestedId ?? findNewestOrder(deliveries);
      const it = findOrder(deliveries, order_id);
      const { preparing, onTheWay, delivered } = computeStages(it);
      const status = getStage(it, now);
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
      return {
        number: String(it.number),
        order_id,
        restaurant: deliveries.restaurants[it.restaurant_id]!.name,
        status,
        ...(status === "cancelled" ? {} : { arrives: delivered }),
        ...(minutesLeft > 0 && status !== "cancelled" ? { minutes_left: minutesLeft } : {}),
        can_cancel: status === "placed",
        stages: reachedStages.map(([stage, at]) => ({ stage, at })),
      };
    },
  }),
};
