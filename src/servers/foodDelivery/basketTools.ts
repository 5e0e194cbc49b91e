/**
 * The basket with its limits and its bill, and the tools that show and change it. All dishes in
 * it are from one restaurant.
 */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label, spokenId } from "../../environment/fieldSchemas.ts";
import { sumAmounts } from "../../environment/amounts.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import {
  Deliveries,
  computeDiscount,
  countPieces,
  computeSubtotal,
  restaurants,
  type Line,
  dishes,
  countDishes,
  computePrice,
  type Dish,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

export const maxPieces = 30;

export const maxPerDish = 20;

/** Refuses if the basket is from another restaurant, or the restaurant takes no orders today. */
export function requireSameRestaurant(deliveries: Deliveries, restaurant_id: string): void {
  const { name, paused } = restaurants.find(deliveries, restaurant_id);
  if (paused)
    refuse(
      "precondition_failed",
      `${name} (${restaurant_id}) takes no orders today`,
      "food_delivery_search_restaurants with open_now finds others",
    );
  const currentRestaurant = deliveries.basket.restaurant_id;
  if (currentRestaurant !== undefined && currentRestaurant !== restaurant_id)
    refuse(
      "conflict",
      `the basket holds ${countPieces(deliveries.basket.lines)} dishes from ${deliveries.restaurants[currentRestaurant]!.name}, and an order comes from one restaurant`,
      "place that order first, or food_delivery_remove_from_basket without a dish empties the basket",
    );
}

/** Adds a line to the basket, or adds its quantity to a line with the same choices and note. */
export function addLine({ basket }: Deliveries, line: Line): void {
  const isAlike = (it: Line) =>
    it.dish_id === line.dish_id &&
    it.note === line.note &&
    JSON.stringify(it.choices) === JSON.stringify(line.choices);
  const similarLine = basket.lines.find(
    it => isAlike(it) && it.quantity + line.quantity <= maxPerDish,
  );
  if (similarLine) similarLine.quantity += line.quantity;
  else basket.lines.push(line);
}

/** The arguments of `refuse`. */
type Problem = readonly ["conflict" | "precondition_failed", string, string | undefined];

/** Why a promo code cannot be used for the restaurant of the basket, whatever is in it. */
export function findPromoProblem(
  { restaurants, promos, basket, orders }: Deliveries,
  code: string,
  now: string,
): Problem | undefined {
  const promo = promos[code]!;
  if (promo.until < now.slice(0, 10))
    return [
      "precondition_failed",
      `${code} expired on ${promo.until}`,
      "food_delivery_get_basket with only_valid lists those that hold",
    ];
  const { name } = restaurants[basket.restaurant_id!]!;
  if (promo.restaurant_id !== undefined && promo.restaurant_id !== basket.restaurant_id)
    return [
      "precondition_failed",
      `${code} is for ${restaurants[promo.restaurant_id]!.name} only, and the basket is from ${name}`,
      undefined,
    ];
  const validOrders = Object.values(orders).filter(it => it.cancelled === undefined);
  const earlierOrder = validOrders.find(it => it.promo === code);
  if (earlierOrder)
    return [
      "conflict",
      `${code} was used for order ${earlierOrder.number}`,
      "each code is good for one order",
    ];
  if (promo.first_only && validOrders.some(it => it.restaurant_id === basket.restaurant_id))
    return [
      "precondition_failed",
      `${code} is for the first order from a restaurant, and ${name} has had one`,
      undefined,
    ];
  return undefined;
}

/** Computes what the basket costs, with its promo code if it can still be used. */
export function computeBill(deliveries: Deliveries, now: string) {
  const { basket, promos } = deliveries;
  const restaurant = deliveries.restaurants[basket.restaurant_id!]!;
  const subtotal = computeSubtotal(deliveries, basket.lines);
  const promo =
    basket.promo === undefined || findPromoProblem(deliveries, basket.promo, now)
      ? undefined
      : promos[basket.promo];
  const discount = computeDiscount(promo, subtotal, restaurant.delivery_fee);
  return {
    restaurant,
    subtotal,
    discount,
    delivery_fee: restaurant.delivery_fee,
    total: sumAmounts([subtotal, restaurant.delivery_fee, -discount]),
  };
}

export const basketFields = {
  restaurant: z.string(),
  pieces: z.int(),
  subtotal: cents(),
  missing: cents().optional().describe("Still to come to the least order"),
};

export function describeBasket(deliveries: Deliveries) {
  const restaurant = deliveries.restaurants[deliveries.basket.restaurant_id!]!;
  const subtotal = computeSubtotal(deliveries, deliveries.basket.lines);
  const missing = sumAmounts([restaurant.minimum, -subtotal]);
  return omitUndefined({
    restaurant: restaurant.name,
    pieces: countPieces(deliveries.basket.lines),
    subtotal,
    missing: missing > 0 ? missing : undefined,
  });
}

const tool = createToolFactory(Deliveries);

const quantity = z.int().min(1).max(20).optional();

/**
 * Returns the choices as the dish spells them. Refuses unknown choices, several of one group, and a
 * missing choice of a required group.
 */
function validateChoices(
  dish: Dish,
  dish_id: string,
  requestedChoices: readonly string[],
): string[] {
  const groups = dish.options ?? [];
  const allChoices = groups.flatMap(it => Object.keys(it.choices));
  const choices = requestedChoices.map(it => {
    const choice = allChoices.find(name => name.toLowerCase() === it.trim().toLowerCase());
    return (
      choice ??
      refuse(
        "precondition_failed",
        `${dish.name} (${dish_id}) does not come with ${JSON.stringify(it)}`,
        allChoices.length
          ? `choose from ${allChoices.join(", ")}`
          : "it comes as it is: leave out choices",
      )
    );
  });
  for (const { name, required, choices: groupChoices } of groups) {
    const groupSelection = choices.filter(it => Object.hasOwn(groupChoices, it));
    if (groupSelection.length > 1)
      refuse(
        "conflict",
        `${groupSelection.join(" and ")} are both a ${name} of ${dish.name}`,
        "choose one of them",
      );
    if (required && groupSelection.length === 0)
      refuse(
        "precondition_failed",
        `${dish.name} (${dish_id}) needs a choice of ${name}`,
        `add one of ${Object.keys(groupChoices).join(", ")} to choices`,
      );
  }
  return choices.sort();
}

export const basketTools = {
  add_to_basket: tool({
    effect: "write",
    summary:
      "Put a dish into the basket, with its choices. All dishes in the basket come from one restaurant.",
    input: {
      dish_id: dishes.id,
      quantity: quantity
        .describe("How many, 1 if not given")
        .meta({ examples: [1, 2, 3, 4, 5, 6, 8, 10] }),
      choices: z
        .array(z.string().min(1).max(40))
        .min(1)
        .max(4)
        .optional()
        .describe("Choices as food_delivery_get_menu_item lists them")
        .meta({
          examples: vocabulary.choices,
        }),
      note: z.string().min(1).max(120).optional().describe("A wish to the kitchen").meta({
        examples: vocabulary.notes,
      }),
    },
    returns: {
      dish: label("dish"),
      dish_id: id("dish"),
      price: cents().describe("Of one, with its choices"),
      ...basketFields,
    },
    run(deliveries, { dish_id, quantity: added = 1, choices = [], note }) {
      const dish = dishes.find(deliveries, dish_id);
      if (dish.status === "sold out")
        refuse(
          "precondition_failed",
          `${dish.name} (${dish_id}) is sold out today`,
          "food_delivery_get_menu shows what else there is",
        );
      requireSameRestaurant(deliveries, dish.restaurant_id);
      const line: Line = omitUndefined({
        dish_id,
        quantity: added,
        choices: validateChoices(dish, dish_id, choices),
        note,
      });
      const pieces = countPieces(deliveries.basket.lines);
      const dishPieces = countDishes(deliveries.basket.lines, dish_id);
      if (pieces + added > maxPieces)
        refuse(
          "limit_exceeded",
          `an order has at most ${maxPieces} dishes, and ${pieces} are in the basket`,
          `add at most ${maxPieces - pieces}`,
        );
      if (dishPieces + added > maxPerDish)
        refuse(
          "limit_exceeded",
          `an order has at most ${maxPerDish} of one dish, and ${dishPieces} ${dish.name} are in the basket`,
          `add at most ${maxPerDish - dishPieces}`,
        );
      deliveries.basket.restaurant_id = dish.restaurant_id;
      addLine(deliveries, line);
      return {
        dish: dish.name,
        dish_id,
        price: computePrice(dish, line.choices),
        ...describeBasket(deliveries),
      };
    },
  }),
  remove_from_basket: tool({
    effect: "write",
    summary:
      "Take a dish out of the basket, all of it or some; without a dish, empty the basket, which is then free for another restaurant.",
    requires: ["add_to_basket", "reorder"],
    input: {
      dish_id: dishes.id
        .optional()
        .describe("Dish id, as food_delivery_get_basket gives it; every dish if not given"),
      quantity: quantity
        .describe("How many of the dish, all of them if not given")
        .meta({ examples: [1, 2, 3, 4, 5] }),
    },
    returns: {
      removed: z.int(),
      pieces: z.int().describe("Left in the basket"),
      subtotal: cents(),
    },
    run(deliveries, { dish_id, quantity: requested }) {
      const { basket } = deliveries;
      if (basket.lines.length === 0) refuse("precondition_failed", "the basket is empty already");
      if (dish_id === undefined && requested !== undefined)
        refuse(
          "invalid_params",
          "quantity is of a dish, and no dish_id is given",
          "give dish_id, or leave out quantity to empty the basket",
        );
      const dishLines = basket.lines.filter(it => dish_id === undefined || it.dish_id === dish_id);
      const n = countPieces(dishLines);
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
      if (requested !== undefined && requested > n)
        refuse(
          "precondition_failed",
          `there are ${n} ${name} (${dish_id}) in the basket, not ${requested}`,
          `remove at most ${n}`,
        );
      let remaining = requested ?? n;
      for (const it of dishLines.toReversed()) {
        const count = Math.min(remaining, it.quantity);
        remaining -= count;
        it.quantity -= count;
      }
      basket.lines = basket.lines.filter(it => it.quantity > 0);
      if (basket.lines.length === 0) {
        delete basket.restaurant_id;
        delete basket.promo;
      }
      return {
        removed: requested ?? n,
        pieces: countPieces(basket.lines),
        subtotal: computeSubtotal(deliveries, basket.lines),
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
      const { basket } = deliveries;
      const promos = Object.entries(deliveries.promos).filter(
        ([, it]) => !only_valid || it.until >= now.slice(0, 10),
      );
      const bill = basket.restaurant_id === undefined ? undefined : computeBill(deliveries, now);
      const missing = bill ? sumAmounts([bill.restaurant.minimum, -bill.subtotal]) : 0;
      return omitUndefined({
        lines: basket.lines.map(({ dish_id, quantity: count, choices, note }) => {
          const dish = deliveries.dishes[dish_id]!;
          const price = computePrice(dish, choices);
          return omitUndefined({ dish: dish.name, dish_id, quantity: count, price, choices, note });
        }),
        restaurant: bill?.restaurant.name,
        restaurant_id: basket.restaurant_id,
        subtotal: bill?.subtotal ?? 0,
        delivery_fee: bill?.delivery_fee ?? 0,
        discount: bill?.discount ?? 0,
        total: bill?.total ?? 0,
        missing: missing > 0 ? missing : undefined,
        promo: basket.promo,
        promos: promos.map(([code, it]) => ({ title: it.title, code, until: it.until })),
      });
    },
  }),
};
