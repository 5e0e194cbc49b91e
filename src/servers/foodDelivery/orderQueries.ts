/** Tools that list, show and track orders. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { minutesBetween } from "../../environment/time.ts";
import { contains, descending, getSchemas, meets, type RowContext } from "../kit/table.ts";
import { findNewestOrder } from "./orderCommands.ts";
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
} from "./state.ts";

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
