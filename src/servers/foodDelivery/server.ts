/**
 * The food delivery server: restaurants with hours and menus, a basket for one restaurant at a
 * time, promo codes, orders that progress with the session's clock, tips and ratings. / Also its
 * rules, which hold whichever tools are used.
 */
import { roundToCents } from "../../environment/amounts.ts";
import {
  defineStateRule,
  defineWriteRule,
  isSameJson,
  listAddedRows,
  listChangedFields,
  listChanges,
} from "../../environment/invariants.ts";
import { maxPerDish, maxPieces, basketTools } from "./basketTools.ts";
import { maxTip, orderCommands, orderQueries } from "./orderTools.ts";
import {
  checkKitchenHours,
  computeDiscount,
  computeDishesTotal,
  computePrice,
  computeStages,
  countDishes,
  countPieces,
  Deliveries,
  type Line,
  references,
} from "./state.ts";
import { defineServer } from "../../environment/server.ts";
import { checkoutTools } from "./checkoutTools.ts";
import { menuQueries, restaurantQueries } from "./menuQueries.ts";

/** The basket and the orders, each with its id, restaurant and lines. */
const listLineGroups = ({ basket, orders }: Deliveries) =>
  [["basket", basket] as const, ...Object.entries(orders)].map(
    ([id, it]) => [id, it.restaurant_id, it.lines as readonly Line[]] as const,
  );

const fewPieces = defineStateRule<Deliveries>(
  `An order or a basket has at most ${maxPieces} dishes, and at most ${maxPerDish} of one dish.`,
  function* (deliveries) {
    for (const [id, , lines] of listLineGroups(deliveries)) {
      if (countPieces(lines) > maxPieces) yield `${id} has ${countPieces(lines)} dishes`;
      for (const { dish_id } of lines) {
        const count = countDishes(lines, dish_id);
        if (count > maxPerDish) yield `${id} has ${count} of ${dish_id}`;
      }
    }
  },
);

const oneRestaurant = defineStateRule<Deliveries>(
  "All dishes of an order or a basket are from its restaurant.",
  function* (deliveries) {
    for (const [id, restaurantId, lines] of listLineGroups(deliveries))
      for (const { dish_id } of lines)
        if (deliveries.dishes[dish_id]!.restaurant_id !== restaurantId)
          yield `${dish_id} in ${id} is not from ${restaurantId}`;
  },
);

const promosAreUsedOnce = defineStateRule<Deliveries>(
  "A promo code is used for at most one order that is not cancelled.",
  function* ({ orders }) {
    const used = new Set<string>();
    for (const [id, { promo, cancelled }] of Object.entries(orders)) {
      if (promo === undefined || cancelled !== undefined) continue;
      if (used.has(promo)) yield `${id} uses ${promo} again`;
      used.add(promo);
    }
  },
);

const discountsFollowPromos = defineWriteRule<Deliveries>(
  "An order's discount is what its promo code gives for these dishes on the day of the order.",
  function* ({ orders, promos }, before) {
    for (const [id, it] of listAddedRows(before.orders, orders)) {
      const promo = it.promo === undefined ? undefined : promos[it.promo];
      const discount = computeDiscount(promo, computeDishesTotal(it), it.delivery_fee);
      if (it.discount !== discount) yield `${id} has ${it.discount} off instead of ${discount}`;
      if (!promo) continue;
      if (promo.until < it.placed.slice(0, 10)) yield `${it.promo} expired on ${promo.until}`;
      if (promo.restaurant_id !== undefined && promo.restaurant_id !== it.restaurant_id)
        yield `${it.promo} is not for ${it.restaurant_id}`;
      const isRegular = Object.values(before.orders).some(
        other => other.restaurant_id === it.restaurant_id && other.cancelled === undefined,
      );
      if (promo.first_only && isRegular) yield `${id} is not the first order from its restaurant`;
    }
  },
);

const ordersAreFair = defineWriteRule<Deliveries>(
  "An order has the prices of the menu, reaches the restaurant's minimum, and is cooked while the kitchen is open.",
  function* ({ orders, dishes, restaurants }, before) {
    for (const [id, order] of listAddedRows(before.orders, orders)) {
      const restaurant = restaurants[order.restaurant_id]!;
      for (const { dish_id, choices, price } of order.lines) {
        const dish = dishes[dish_id]!;
        if (price !== computePrice(dish, choices)) yield `${dish_id} costs ${price} in ${id}`;
        if (dish.status !== undefined) yield `${dish_id} in ${id} is ${dish.status}`;
      }
      if (computeDishesTotal(order) < restaurant.minimum) yield `${id} is below the minimum`;
      if (order.delivery_fee !== restaurant.delivery_fee) yield `${id} has another delivery fee`;
      if (order.tip !== 0 || order.rating || order.cancelled) yield `${id} has begun already`;
      const start = order.wanted === undefined ? order.placed : computeStages(order).preparing;
      const { isOpen, why } = checkKitchenHours(restaurant, start);
      if (!isOpen) yield `${id} begins at ${start}, but ${why}`;
    }
  },
);

const ordersAreFinal = defineWriteRule<Deliveries>(
  "An order is never removed or changed, except that it is cancelled, tipped or rated, each once.",
  function* (deliveries, before) {
    for (const it of listChanges(before.orders, deliveries.orders)) {
      if (!it.before) continue;
      if (!it.after) {
        yield `${it.id} is gone`;
        continue;
      }
      const fields = listChangedFields(it.before, it.after);
      if (fields.length > 1 || !["cancelled", "tip", "rating"].includes(fields[0] ?? "tip"))
        yield `${fields.join()} of ${it.id} changed`;
      if (fields.includes("tip") && it.before.tip !== 0) yield `${it.id} is tipped twice`;
      if (it.after.tip > maxTip) yield `${it.id} has a tip of ${it.after.tip}`;
      if (fields.includes("rating") && it.before.rating) yield `${it.id} is rated twice`;
      if (it.before.cancelled !== undefined) yield `${it.id} was cancelled and changed`;
    }
  },
);

const cancelledBeforeCooking = defineWriteRule<Deliveries>(
  "An order is cancelled before the kitchen begins, and tipped and rated only after.",
  function* (deliveries, before) {
    for (const { id, before: old, after } of listChanges(before.orders, deliveries.orders)) {
      if (!old || !after) continue;
      const { preparing, delivered } = computeStages(after);
      if (after.cancelled !== old.cancelled && (after.cancelled ?? "9999") >= preparing)
        yield `${id} was begun at ${preparing} and cancelled at ${after.cancelled}`;
      if (after.rating && !old.rating && after.rating.at < delivered)
        yield `${id} is delivered at ${delivered} and rated at ${after.rating.at}`;
    }
  },
);

const ratingsAreCounted = defineWriteRule<Deliveries>(
  "A restaurant's stars grow by those of new ratings, and nothing else about restaurants, dishes and promo codes changes.",
  function* (deliveries, before) {
    for (const table of ["dishes", "promos"] as const)
      if (!isSameJson(deliveries[table], before[table])) yield `${table} changed`;
    const newRatings = listChanges(before.orders, deliveries.orders).flatMap(it =>
      it.after?.rating && !it.before?.rating
        ? [{ restaurant: it.after.restaurant_id, stars: it.after.rating.stars }]
        : [],
    );
    for (const [id, old] of Object.entries(before.restaurants)) {
      const own = newRatings.filter(it => it.restaurant === id);
      const expected = {
        ...old,
        stars: own.reduce((sum, it) => sum + it.stars, old.stars),
        ratings: old.ratings + own.length,
      };
      if (!isSameJson(deliveries.restaurants[id], expected)) yield `${id} changed otherwise`;
    }
  },
);

const nothingBelowZero = defineStateRule<Deliveries>(
  "Nobody is paid for an order: the discount is at most the price of the dishes and the delivery.",
  function* ({ orders }) {
    for (const [id, it] of Object.entries(orders))
      if (it.discount > roundToCents(computeDishesTotal(it) + it.delivery_fee))
        yield `${id} has a discount of ${it.discount}`;
  },
);

const invariants = [
  fewPieces,
  oneRestaurant,
  promosAreUsedOnce,
  discountsFollowPromos,
  ordersAreFair,
  ordersAreFinal,
  cancelledBeforeCooking,
  ratingsAreCounted,
  nothingBelowZero,
];

const { apply_promo, place_order, reorder } = checkoutTools;

export const server = defineServer({
  name: "food_delivery",
  category: "Lifestyle",
  summary:
    "restaurants and their menus, a basket, promo codes, orders on their way, tips and ratings",
  schema: Deliveries,
  references,
  tools: {
    ...restaurantQueries,
    ...menuQueries,
    ...basketTools,
    apply_promo,
    place_order,
    ...orderQueries,
    ...orderCommands,
    reorder,
  },
  invariants,
});
