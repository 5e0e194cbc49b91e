/**
 * The tools for the basket, which belongs to one restaurant at a time: what goes in, comes out, is
 * taken off, and how it becomes an order.
 */
import { z } from "zod";
import { cents, day, id, label, minute, spokenId } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { sumAmounts } from "../../environment/amounts.ts";
import { dishId } from "./browsing.ts";
import {
  destinations,
  discountOf,
  dishOf,
  earliest,
  kitchenAt,
  orderOf,
  piecesIn,
  priceOf,
  restaurantOf,
  Deliveries,
  stageOf,
  stagesOf,
  subtotalOf,
  totalOf,
  type Dish,
  type Line,
  type Order,
} from "./state.ts";

const mostPieces = 30;
const mostAlike = 20;

const tool = createToolFactory(Deliveries);

/** Refuses where the basket is another restaurant's, or the restaurant takes no orders. */
function bound(deliveries: Deliveries, restaurant_id: string): void {
  const { name, paused } = restaurantOf(deliveries, restaurant_id);
  if (paused)
    refuse(
      "precondition_failed",
      `${name} (${restaurant_id}) takes no orders today`,
      "food_delivery_search_restaurants with open_now finds others",
    );
  const other = deliveries.basket.restaurant_id;
  if (other !== undefined && other !== restaurant_id)
    refuse(
      "conflict",
      `the basket holds ${piecesIn(deliveries.basket.lines)} dishes from ${deliveries.restaurants[other]!.name}, and an order comes from one restaurant`,
      "place that order first, or food_delivery_remove_from_basket without a dish empties the basket",
    );
}

/** The choices as the dish knows them, one of each group at most. */
function chosen(dish: Dish, dish_id: string, wanted: readonly string[]): string[] {
  const groups = dish.options ?? [];
  const all = groups.flatMap(it => Object.keys(it.choices));
  const choices = wanted.map(it => {
    const known = all.find(choice => choice.toLowerCase() === it.trim().toLowerCase());
    return (
      known ??
      refuse(
        "precondition_failed",
        `${dish.name} (${dish_id}) does not come with ${JSON.stringify(it)}`,
        all.length ? `choose from ${all.join(", ")}` : "it comes as it is: leave out choices",
      )
    );
  });
  for (const { name, required, choices: own } of groups) {
    const given = choices.filter(it => Object.hasOwn(own, it));
    if (given.length > 1)
      refuse(
        "conflict",
        `${given.join(" and ")} are both a ${name} of ${dish.name}`,
        "choose one of them",
      );
    if (required && given.length === 0)
      refuse(
        "precondition_failed",
        `${dish.name} (${dish_id}) needs a choice of ${name}`,
        `add one of ${Object.keys(own).join(", ")} to choices`,
      );
  }
  return choices.sort();
}

/** Puts a line into the basket; one like it grows. */
function put({ basket }: Deliveries, line: Line): void {
  const isAlike = (it: Line) =>
    it.dish_id === line.dish_id &&
    it.note === line.note &&
    JSON.stringify(it.choices) === JSON.stringify(line.choices);
  const same = basket.lines.find(it => isAlike(it) && it.quantity + line.quantity <= mostAlike);
  if (same) same.quantity += line.quantity;
  else basket.lines.push(line);
}

/** What the basket costs as it is. */
function billOf(deliveries: Deliveries) {
  const { basket, promos } = deliveries;
  const restaurant = deliveries.restaurants[basket.restaurant_id!]!;
  const subtotal = subtotalOf(deliveries, basket.lines);
  const discount = discountOf(
    basket.promo === undefined ? undefined : promos[basket.promo],
    subtotal,
    restaurant.delivery_fee,
  );
  return {
    restaurant,
    subtotal,
    discount,
    delivery_fee: restaurant.delivery_fee,
    total: sumAmounts([subtotal, restaurant.delivery_fee, -discount]),
  };
}

function lastDelivered(deliveries: Deliveries, now: string): string {
  const delivered = Object.entries(getOriginal(deliveries).orders).filter(
    ([, it]) => stageOf(it, now) === "delivered",
  );
  return (
    delivered.sort(([, a], [, b]) => b.number - a.number)[0]?.[0] ??
    refuse("not_found", "no order was delivered yet", "food_delivery_get_menu shows what there is")
  );
}

const basketNow = {
  restaurant: z.string(),
  pieces: z.int(),
  subtotal: cents(),
  missing: cents().optional().describe("Still to come to the least order"),
};

function basketState(deliveries: Deliveries) {
  const { restaurant, subtotal } = billOf(deliveries);
  const missing = sumAmounts([restaurant.minimum, -subtotal]);
  return {
    restaurant: restaurant.name,
    pieces: piecesIn(deliveries.basket.lines),
    subtotal,
    ...(missing > 0 ? { missing } : {}),
  };
}

export const basketTools = {
  add_to_basket: tool({
    effect: "write",
    summary:
      "Put a dish into the basket, with its choices. All dishes in the basket come from one restaurant.",
    input: {
      dish_id: dishId,
      quantity: z
        .int()
        .min(1)
        .max(20)
        .optional()
        .describe("How many, 1 if not given")
        .meta({ examples: [1, 2, 3, 4, 5, 6, 8, 10] }),
      choices: z
        .array(z.string().min(1).max(40))
        .min(1)
        .max(4)
        .optional()
        .describe("Choices as food_delivery_get_menu_item lists them")
        .meta({
          examples: [
            ["large"],
            ["small"],
            ["mild"],
            ["medium"],
            ["hot"],
            ["extra cheese"],
            ["large", "extra cheese"],
            ["oat milk"],
          ],
        }),
      note: z
        .string()
        .min(1)
        .max(120)
        .optional()
        .describe("A wish to the kitchen")
        .meta({
          examples: [
            "no onions",
            "sauce on the side",
            "well done",
            "no coriander",
            "extra napkins",
            "cut in half",
            "not too salty",
            "no ice",
          ],
        }),
    },
    returns: {
      dish: label("dish"),
      dish_id: id("dish"),
      price: cents().describe("Of one, with its choices"),
      ...basketNow,
    },
    run(deliveries, { dish_id, quantity = 1, choices = [], note }) {
      const dish = dishOf(deliveries, dish_id);
      if (dish.status === "sold out")
        refuse(
          "precondition_failed",
          `${dish.name} (${dish_id}) is sold out today`,
          "food_delivery_get_menu shows what else there is",
        );
      bound(deliveries, dish.restaurant_id);
      const line: Line = {
        dish_id,
        quantity,
        choices: chosen(dish, dish_id, choices),
        ...(note === undefined ? {} : { note }),
      };
      const pieces = piecesIn(deliveries.basket.lines);
      const own = piecesIn(deliveries.basket.lines.filter(it => it.dish_id === dish_id));
      if (pieces + quantity > mostPieces)
        refuse(
          "limit_exceeded",
          `an order has at most ${mostPieces} dishes, and ${pieces} are in the basket`,
          `add at most ${mostPieces - pieces}`,
        );
      if (own + quantity > mostAlike)
        refuse(
          "limit_exceeded",
          `an order has at most ${mostAlike} of one dish, and ${own} ${dish.name} are in the basket`,
          `add at most ${mostAlike - own}`,
        );
      deliveries.basket.restaurant_id = dish.restaurant_id;
      put(deliveries, line);
      return {
        dish: dish.name,
        dish_id,
        price: priceOf(dish, line.choices),
        ...basketState(deliveries),
      };
    },
  }),
  remove_from_basket: tool({
    effect: "write",
    summary:
      "Take a dish out of the basket, all of it or some; without a dish, empty the basket, which is then free for another restaurant.",
    requires: ["add_to_basket", "reorder"],
    input: {
      dish_id: dishId
        .optional()
        .describe("Dish id, as food_delivery_get_basket gives it; every dish if not given"),
      quantity: z
        .int()
        .min(1)
        .max(20)
        .optional()
        .describe("How many of the dish, all of them if not given")
        .meta({ examples: [1, 2, 3, 4, 5] }),
    },
    returns: {
      removed: z.int(),
      pieces: z.int().describe("Left in the basket"),
      subtotal: cents(),
    },
    run(deliveries, { dish_id, quantity }) {
      const { basket } = deliveries;
      if (basket.lines.length === 0) refuse("precondition_failed", "the basket is empty already");
      if (dish_id === undefined && quantity !== undefined)
        refuse(
          "invalid_params",
          "quantity is of a dish, and no dish_id is given",
          "give dish_id, or leave out quantity to empty the basket",
        );
      const own = basket.lines.filter(it => dish_id === undefined || it.dish_id === dish_id);
      const n = piecesIn(own);
      const name =
        dish_id !== undefined && Object.hasOwn(deliveries.dishes, dish_id)
          ? deliveries.dishes[dish_id]!.name
          : "the dish";
      if (n === 0)
        refuse(
          "not_found",
          `${name} (${dish_id}) is not in the basket`,
          "food_delivery_get_basket lists what is",
        );
      if (quantity !== undefined && quantity > n)
        refuse(
          "precondition_failed",
          `there are ${n} ${name} (${dish_id}) in the basket, not ${quantity}`,
          `remove at most ${n}`,
        );
      let left = quantity ?? n;
      for (const it of own.toReversed()) {
        const taken = Math.min(left, it.quantity);
        left -= taken;
        it.quantity -= taken;
      }
      basket.lines = basket.lines.filter(it => it.quantity > 0);
      if (basket.lines.length === 0) {
        delete basket.restaurant_id;
        delete basket.promo;
      }
      return {
        removed: quantity ?? n,
        pieces: piecesIn(basket.lines),
        subtotal: subtotalOf(deliveries, basket.lines),
      };
    },
  }),
  get_basket: tool({
    effect: "read",
    summary:
      "Get the basket with what it costs and what is missing to the least order, and the promo codes that the customer has.",
    input: {
      only_valid: z
        .boolean()
        .optional()
        .describe("True for only promo codes that have not expired"),
    },
    returns: {
      lines: z.array(
        z.object({
          dish: label("dish"),
          dish_id: id("dish"),
          quantity: z.int(),
          price: cents(),
          choices: z.array(z.string()),
          note: z.string().optional(),
        }),
      ),
      restaurant: label("restaurant").optional(),
      restaurant_id: id("restaurant").optional(),
      subtotal: cents(),
      delivery_fee: cents(),
      discount: cents(),
      total: cents(),
      missing: cents().optional(),
      promo: z.string().optional(),
      promos: z.array(z.object({ title: label("promo"), code: spokenId("promo"), until: day() })),
    },
    run(deliveries, { only_valid }, { now }) {
      const { basket, dishes } = deliveries;
      const promos = Object.entries(deliveries.promos).filter(
        ([, it]) => !only_valid || it.until >= now.slice(0, 10),
      );
      const bill =
        basket.restaurant_id === undefined
          ? { subtotal: 0, delivery_fee: 0, discount: 0, total: 0 }
          : billOf(deliveries);
      const missing =
        "restaurant" in bill ? sumAmounts([bill.restaurant.minimum, -bill.subtotal]) : 0;
      return {
        lines: basket.lines.map(it => ({
          dish: dishes[it.dish_id]!.name,
          dish_id: it.dish_id,
          quantity: it.quantity,
          price: priceOf(dishes[it.dish_id]!, it.choices),
          choices: it.choices,
          ...(it.note === undefined ? {} : { note: it.note }),
        })),
        ...("restaurant" in bill
          ? { restaurant: bill.restaurant.name, restaurant_id: basket.restaurant_id! }
          : {}),
        subtotal: bill.subtotal,
        delivery_fee: bill.delivery_fee,
        discount: bill.discount,
        total: bill.total,
        ...(missing > 0 ? { missing } : {}),
        ...(basket.promo === undefined ? {} : { promo: basket.promo }),
        promos: promos.map(([code, it]) => ({ title: it.title, code, until: it.until })),
      };
    },
  }),
  apply_promo: tool({
    effect: "write",
    summary:
      "Use a promo code for the basket; it takes the place of one applied before. Each code can be used for one order.",
    requires: ["add_to_basket", "reorder"],
    input: {
      code: spokenId("promo").describe("Promo code, such as food_delivery_get_basket lists"),
    },
    returns: {
      title: label("promo"),
      code: spokenId("promo"),
      discount: cents(),
      total: cents(),
      instead_of: z.string().optional(),
    },
    run(deliveries, { code: called }, { now }) {
      const { basket } = deliveries;
      const code = called.trim().toUpperCase();
      const promo = Object.hasOwn(deliveries.promos, code)
        ? deliveries.promos[code]!
        : refuse(
            "not_found",
            `there is no promo code ${called}`,
            "food_delivery_get_basket lists the codes",
          );
      if (basket.restaurant_id === undefined)
        refuse("precondition_failed", "the basket is empty", "food_delivery_add_to_basket first");
      if (basket.promo === code) refuse("conflict", `${code} is applied already`);
      if (promo.until < now.slice(0, 10))
        refuse(
          "precondition_failed",
          `${code} expired on ${promo.until}`,
          "food_delivery_get_basket with only_valid lists those that hold",
        );
      const { name } = deliveries.restaurants[basket.restaurant_id]!;
      if (promo.restaurant_id !== undefined && promo.restaurant_id !== basket.restaurant_id)
        refuse(
          "precondition_failed",
          `${code} is for ${deliveries.restaurants[promo.restaurant_id]!.name} only, and the basket is from ${name}`,
        );
      const orders = Object.values(getOriginal(deliveries).orders).filter(
        it => it.cancelled === undefined,
      );
      const used = orders.find(it => it.promo === code);
      if (used)
        refuse(
          "conflict",
          `${code} was used for order ${used.number}`,
          "each code is good for one order",
        );
      if (promo.first_only && orders.some(it => it.restaurant_id === basket.restaurant_id))
        refuse(
          "precondition_failed",
          `${code} is for the first order from a restaurant, and ${name} has had one`,
        );
      const { subtotal } = billOf(deliveries);
      if (subtotal < promo.minimum)
        refuse(
          "precondition_failed",
          `${code} wants dishes for ${promo.minimum}, and the basket has ${subtotal}`,
          `add dishes for ${sumAmounts([promo.minimum, -subtotal])} more`,
        );
      const instead_of = basket.promo;
      basket.promo = code;
      const { discount, total } = billOf(deliveries);
      return {
        title: promo.title,
        code,
        discount,
        total,
        ...(instead_of === undefined ? {} : { instead_of }),
      };
    },
  }),
  place_order: tool({
    effect: "write",
    summary:
      "Order what is in the basket, for as soon as possible or for a later time, to the flat or to the studio. Empties the basket.",
    requires: ["add_to_basket", "reorder"],
    input: {
      destination: z.enum(destinations).optional().describe("Where it goes, home if not given"),
      at: minute()
        .optional()
        .describe("When it should arrive, as soon as possible if not given")
        .meta({
          examples: [
            "2026-03-09T12:45",
            "2026-03-09T13:00",
            "2026-03-09T13:30",
            "2026-03-09T18:30",
            "2026-03-09T19:00",
            "2026-03-09T20:00",
            "2026-03-10T12:30",
            "2026-03-10T13:15",
            "2026-03-10T19:30",
            "2026-03-11T13:00",
            "2026-03-11T19:15",
            "2026-03-12T12:45",
            "2026-03-12T20:00",
            "2026-03-13T19:30",
          ],
        }),
    },
    returns: {
      number: label("order"),
      order_id: id("order"),
      restaurant: z.string(),
      total: cents(),
      arrives: minute(),
      cancel_until: minute().describe("The kitchen begins then"),
    },
    run(deliveries, { destination = "home", at }, { now, newId }) {
      const { basket } = deliveries;
      if (basket.restaurant_id === undefined)
        refuse("precondition_failed", "the basket is empty", "food_delivery_add_to_basket first");
      const { restaurant, subtotal, discount, delivery_fee } = billOf(deliveries);
      if (subtotal < restaurant.minimum)
        refuse(
          "precondition_failed",
          `${restaurant.name} delivers from ${restaurant.minimum} on, and the basket has ${subtotal}`,
          `add dishes for ${sumAmounts([restaurant.minimum, -subtotal])} more`,
        );
      const out = basket.lines.find(it => deliveries.dishes[it.dish_id]!.status !== undefined);
      if (out)
        refuse(
          "precondition_failed",
          `${deliveries.dishes[out.dish_id]!.name} (${out.dish_id}) is ${deliveries.dishes[out.dish_id]!.status} today`,
          "food_delivery_remove_from_basket takes it out",
        );
      const { cooking, ride } = restaurant;
      const soonest = earliest(restaurant, now);
      const start = at === undefined ? now : addMinutes(at, -cooking - ride);
      const { isOpen, why } = kitchenAt(restaurant, start);
      if (!isOpen)
        refuse(
          "precondition_failed",
          `${why}, and the order would have to be begun at ${start}`,
          `the earliest it can arrive is ${soonest}`,
        );
      if (at !== undefined && at < soonest)
        refuse(
          "precondition_failed",
          `${at} is too soon: ${restaurant.name} takes ${cooking + ride} minutes`,
          `the earliest it can arrive is ${soonest}`,
        );
      if (at !== undefined && at > addMinutes(now, 7 * 1440))
        refuse("limit_exceeded", `${at} is more than 7 days ahead`, "choose an earlier time");
      const order: Order = {
        number:
          1 + Math.max(0, ...Object.values(getOriginal(deliveries).orders).map(it => it.number)),
        restaurant_id: basket.restaurant_id,
        placed: now,
        ...(at === undefined ? {} : { wanted: at }),
        cooking,
        ride,
        destination,
        lines: basket.lines.map(it => ({
          ...it,
          choices: [...it.choices],
          price: priceOf(deliveries.dishes[it.dish_id]!, it.choices),
        })),
        delivery_fee,
        discount,
        ...(discount > 0 ? { promo: basket.promo! } : {}),
        tip: 0,
      };
      const order_id = newId("ord");
      deliveries.orders[order_id] = order;
      deliveries.basket = { lines: [] };
      const { preparing, delivered } = stagesOf(order);
      return {
        number: String(order.number),
        order_id,
        restaurant: restaurant.name,
        total: totalOf(order),
        arrives: delivered,
        cancel_until: preparing,
      };
    },
  }),
  reorder: tool({
    effect: "write",
    summary:
      "Put the dishes of an earlier order into the basket again, the last one delivered if none is named, as far as they can be had; tells which cost something else now.",
    input: {
      order_id: id("order")
        .optional()
        .describe(
          "Order id, as food_delivery_list_orders gives it; the last order delivered if not given",
        ),
    },
    returns: {
      number: label("order"),
      order_id: id("order"),
      ...basketNow,
      changed: z.array(z.object({ dish: z.string(), was: cents(), now: cents() })),
      left_out: z.array(z.object({ dish: z.string(), why: z.string() })),
    },
    run(deliveries, { order_id: named }, { now }) {
      const order_id = named ?? lastDelivered(deliveries, now);
      const order = orderOf(deliveries, order_id);
      const { lines, restaurant_id, number } = order;
      const stage = stageOf(order, now);
      if (stage === "placed" || stage === "preparing")
        refuse(
          "precondition_failed",
          `order ${number} (${order_id}) is ${stage} still`,
          "wait until it is on the way, or reorder an earlier one",
        );
      bound(deliveries, restaurant_id);
      const dishes = getOriginal(deliveries).dishes;
      const fitting = lines.filter(it => dishes[it.dish_id]!.status === undefined);
      const left_out = lines
        .filter(it => !fitting.includes(it))
        .map(it => ({
          dish: dishes[it.dish_id]!.name,
          why: dishes[it.dish_id]!.status === "gone" ? "no longer on the menu" : "sold out today",
        }));
      if (fitting.length === 0)
        refuse(
          "precondition_failed",
          `nothing of order ${number} (${order_id}) can be had: ${left_out.map(it => `${it.dish} is ${it.why}`).join(", ")}`,
          "food_delivery_get_menu shows what there is",
        );
      if (piecesIn(deliveries.basket.lines) + piecesIn(fitting) > mostPieces)
        refuse(
          "limit_exceeded",
          `an order has at most ${mostPieces} dishes`,
          "food_delivery_remove_from_basket makes room",
        );
      deliveries.basket.restaurant_id = restaurant_id;
      for (const { price: _, choices, ...it } of fitting)
        put(deliveries, { ...it, choices: [...choices] });
      const changed = fitting.flatMap(it => {
        const price = priceOf(dishes[it.dish_id]!, it.choices);
        return price === it.price
          ? []
          : [{ dish: dishes[it.dish_id]!.name, was: it.price, now: price }];
      });
      return { number: String(number), order_id, ...basketState(deliveries), changed, left_out };
    },
  }),
};
