/** Tools that put dishes into the basket, take them out and show the basket. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label, spokenId } from "../../environment/fieldSchemas.ts";
import { sumAmounts } from "../../environment/amounts.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import {
  basketFields,
  describeBasket,
  computeBill,
  requireSameRestaurant,
  maxPerDish,
  maxPieces,
  addLine,
} from "./basket.ts";
import {
  dishes,
  countDishes,
  countPieces,
  computePrice,
  computeSubtotal,
  Deliveries,
  type Dish,
  type Line,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

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
