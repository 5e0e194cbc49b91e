/** Tools that turn the basket into an order: promo codes, placing an order, and ordering again. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, label, minute, spokenId } from "../../environment/fieldSchemas.ts";
import { sumAmounts } from "../../environment/amounts.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { getSchemas } from "../kit/table.ts";
import {
  basketFields,
  describeBasket,
  computeBill,
  findPromoProblem,
  requireSameRestaurant,
  maxPerDish,
  maxPieces,
  addLine,
} from "./basketTools.ts";
import {
  Deliveries,
  destinations,
  computeDiscount,
  computeEarliestArrival,
  checkKitchenHours,
  orderRow,
  orders,
  countDishes,
  countPieces,
  computePrice,
  computeSubtotal,
  getStage,
  computeStages,
  computeTotal,
  type Order,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(Deliveries);

function findLastDelivered(deliveries: Deliveries, now: string): string {
  const delivered = Object.entries(getOriginal(deliveries).orders).filter(
    ([, it]) => getStage(it, now) === "delivered",
  );
  return (
    delivered.sort(([, a], [, b]) => b.number - a.number)[0]?.[0] ??
    refuse("not_found", "no order was delivered yet", "food_delivery_get_menu shows what there is")
  );
}

/** Refuses a promo code of the basket that cannot be used any more. */
function requireValidPromo(deliveries: Deliveries, now: string): void {
  const { basket, promos, restaurants } = deliveries;
  if (basket.promo === undefined) return;
  const subtotal = computeSubtotal(deliveries, basket.lines);
  const { delivery_fee } = restaurants[basket.restaurant_id!]!;
  if (computeDiscount(promos[basket.promo], subtotal, delivery_fee) === 0) return;
  const problem = findPromoProblem(deliveries, basket.promo, now);
  if (problem)
    refuse(
      problem[0],
      problem[1],
      "food_delivery_apply_promo with another code takes its place; food_delivery_remove_from_basket without a dish empties the basket",
    );
}

export const checkoutTools = {
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
    run(deliveries, { code: codeText }, { now }) {
      const { basket } = deliveries;
      const code = codeText.trim().toUpperCase();
      const promo = Object.hasOwn(deliveries.promos, code)
        ? deliveries.promos[code]!
        : refuse(
            "not_found",
            `there is no promo code ${codeText}`,
            "food_delivery_get_basket lists the codes",
          );
      if (basket.restaurant_id === undefined)
        refuse("precondition_failed", "the basket is empty", "food_delivery_add_to_basket first");
      if (basket.promo === code) refuse("conflict", `${code} is applied already`);
      const problem = findPromoProblem(getOriginal(deliveries), code, now);
      if (problem) refuse(...problem);
      const { subtotal } = computeBill(deliveries, now);
      if (subtotal < promo.minimum)
        refuse(
          "precondition_failed",
          `${code} wants dishes for ${promo.minimum}, and the basket has ${subtotal}`,
          `add dishes for ${sumAmounts([promo.minimum, -subtotal])} more`,
        );
      const instead_of = basket.promo;
      basket.promo = code;
      const { discount, total } = computeBill(deliveries, now);
      return omitUndefined({ title: promo.title, code, discount, total, instead_of });
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
          examples: vocabulary.arrivals,
        }),
    },
    returns: {
      ...getSchemas(orderRow),
      restaurant: z.string(),
      total: cents(),
      arrives: minute(),
      cancel_until: minute().describe("The kitchen begins then"),
    },
    run(deliveries, { destination = "home", at }, { now, newId }) {
      const { basket } = deliveries;
      if (basket.restaurant_id === undefined)
        refuse("precondition_failed", "the basket is empty", "food_delivery_add_to_basket first");
      const { restaurant, subtotal, discount, delivery_fee } = computeBill(deliveries, now);
      if (subtotal < restaurant.minimum)
        refuse(
          "precondition_failed",
          `${restaurant.name} delivers from ${restaurant.minimum} on, and the basket has ${subtotal}`,
          `add dishes for ${sumAmounts([restaurant.minimum, -subtotal])} more`,
        );
      const unavailableLine = basket.lines.find(
        it => deliveries.dishes[it.dish_id]!.status !== undefined,
      );
      if (unavailableLine)
        refuse(
          "precondition_failed",
          `${deliveries.dishes[unavailableLine.dish_id]!.name} (${unavailableLine.dish_id}) is ${deliveries.dishes[unavailableLine.dish_id]!.status} today`,
          "food_delivery_remove_from_basket takes it out",
        );
      requireValidPromo(getOriginal(deliveries), now);
      const { cooking, ride } = restaurant;
      const soonest = computeEarliestArrival(restaurant, now);
      const start = at === undefined ? now : addMinutes(at, -cooking - ride);
      const { isOpen, why } = checkKitchenHours(restaurant, start);
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
      const order: Order = omitUndefined({
        number:
          1 + Math.max(0, ...Object.values(getOriginal(deliveries).orders).map(it => it.number)),
        restaurant_id: basket.restaurant_id,
        placed: now,
        wanted: at,
        cooking,
        ride,
        destination,
        lines: basket.lines.map(it => ({
          ...it,
          choices: [...it.choices],
          price: computePrice(deliveries.dishes[it.dish_id]!, it.choices),
        })),
        delivery_fee,
        discount,
        promo: discount > 0 ? basket.promo : undefined,
        tip: 0,
      });
      const order_id = newId("ord");
      deliveries.orders[order_id] = order;
      deliveries.basket = { lines: [] };
      const { preparing, delivered } = computeStages(order);
      return {
        number: String(order.number),
        order_id,
        restaurant: restaurant.name,
        total: computeTotal(order),
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
      order_id: orders.id
        .optional()
        .describe(
          "Order id, as food_delivery_list_orders gives it; the last order delivered if not given",
        ),
    },
    returns: {
      ...getSchemas(orderRow),
      ...basketFields,
      changed: z.array(z.object({ dish: z.string(), was: cents(), now: cents() })),
      left_out: z.array(z.object({ dish: z.string(), why: z.string() })),
    },
    run(deliveries, { order_id: requestedId }, { now }) {
      const order_id = requestedId ?? findLastDelivered(deliveries, now);
      const order = orders.find(deliveries, order_id);
      const { lines, restaurant_id, number } = order;
      const stage = getStage(order, now);
      if (stage === "placed" || stage === "preparing")
        refuse(
          "precondition_failed",
          `order ${number} (${order_id}) is ${stage} still`,
          "wait until it is on the way, or reorder an earlier one",
        );
      requireSameRestaurant(deliveries, restaurant_id);
      const dishes = getOriginal(deliveries).dishes;
      const availableLines = lines.filter(it => dishes[it.dish_id]!.status === undefined);
      const left_out = lines
        .filter(it => !availableLines.includes(it))
        .map(it => ({
          dish: dishes[it.dish_id]!.name,
          why: dishes[it.dish_id]!.status === "gone" ? "no longer on the menu" : "sold out today",
        }));
      if (availableLines.length === 0)
        refuse(
          "precondition_failed",
          `nothing of order ${number} (${order_id}) can be had: ${left_out.map(it => `${it.dish} is ${it.why}`).join(", ")}`,
          "food_delivery_get_menu shows what there is",
        );
      if (countPieces(deliveries.basket.lines) + countPieces(availableLines) > maxPieces)
        refuse(
          "limit_exceeded",
          `an order has at most ${maxPieces} dishes`,
          "food_delivery_remove_from_basket makes room",
        );
      const exceedingLine = availableLines.find(
        it => countDishes([...deliveries.basket.lines, ...availableLines], it.dish_id) > maxPerDish,
      );
      if (exceedingLine)
        refuse(
          "limit_exceeded",
          `an order has at most ${maxPerDish} of one dish, and ${countDishes(deliveries.basket.lines, exceedingLine.dish_id)} ${dishes[exceedingLine.dish_id]!.name} are in the basket`,
          "food_delivery_remove_from_basket makes room",
        );
      deliveries.basket.restaurant_id = restaurant_id;
      for (const { price: _, choices, ...it } of availableLines)
        addLine(deliveries, { ...it, choices: [...choices] });
      const priceChanges = availableLines.flatMap(it => {
        const price = computePrice(dishes[it.dish_id]!, it.choices);
        return price === it.price
          ? []
          : [{ dish: dishes[it.dish_id]!.name, was: it.price, now: price }];
      });
      return {
        number: String(number),
        order_id,
        ...describeBasket(deliveries),
        changed: priceChanges,
        left_out,
      };
    },
  }),
};
