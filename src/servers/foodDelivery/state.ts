/**
 * The state of the food delivery: restaurants with hours and menus, a basket, promo codes, orders.
 * The stage of an order follows from its times.
 */
import { z } from "zod";
import { cents, day, label, minute, money } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse } from "../../environment/server.ts";
import { addMinutes, getWeekdayName, weekdays } from "../../environment/time.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import { createTableFactory } from "../kit/table.ts";

export const diets = [
  "vegan",
  "vegetarian",
  "gluten_free",
  "lactose_free",
  "nut_free",
  "halal",
] as const;
export const destinations = ["home", "studio"] as const;

const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);
const minutes = z.int().min(1).max(180);

const Restaurant = z.strictObject({
  name: z.string().min(1),
  cuisine: z.string().min(1),
  address: z.string().min(1),
  phone: z.string().min(1),
  opens: clockTime,
  closes: clockTime,
  closed_on: z.enum(weekdays).optional(),
  /** Too busy to take orders today. */
  paused: z.literal(true).optional(),
  /** The smallest total of an order's dishes. */
  minimum: cents(),
  delivery_fee: cents(),
  cooking: minutes,
  ride: minutes,
  /** The sum of all stars, and the number of ratings. */
  stars: z.int().min(0),
  ratings: z.int().min(0),
});
export type Restaurant = z.infer<typeof Restaurant>;

const Group = z.strictObject({
  name: z.string().min(1),
  /** Whether one of the choices must be made. */
  required: z.literal(true).optional(),
  /** The extra price of each choice. */
  choices: z.record(z.string(), cents()),
});

const Dish = z.strictObject({
  restaurant_id: z.string(),
  name: z.string().min(1),
  section: z.string().min(1),
  text: z.string().min(1),
  price: money(),
  diets: z.array(z.enum(diets)),
  /** Sold out today, or no longer on the menu. */
  status: z.enum(["sold out", "gone"]).optional(),
  options: z.array(Group).optional(),
});
export type Dish = z.infer<typeof Dish>;

const Line = z.strictObject({
  dish_id: z.string(),
  quantity: z.int().min(1).max(20),
  choices: z.array(z.string()),
  note: z.string().max(120).optional(),
});
export type Line = z.infer<typeof Line>;

const Promo = z.strictObject({
  title: z.string().min(1),
  kind: z.enum(["percent", "amount", "free delivery"]),
  value: z.number().min(0).max(100),
  /** The smallest total of the dishes. */
  minimum: cents(),
  until: day(),
  /** Only for the first order from a restaurant. */
  first_only: z.literal(true).optional(),
  /** Only for this restaurant. */
  restaurant_id: z.string().optional(),
});
type Promo = z.infer<typeof Promo>;

const Order = z.strictObject({
  number: z.int().min(1),
  restaurant_id: z.string(),
  placed: minute(),
  /** The requested time of arrival; as soon as possible if absent. */
  wanted: minute().optional(),
  cooking: minutes,
  ride: minutes,
  destination: z.enum(destinations),
  /** Each with the price of one dish at that time. */
  lines: z.array(Line.extend({ price: money() })).min(1),
  delivery_fee: cents(),
  discount: cents(),
  promo: z.string().optional(),
  tip: cents(),
  cancelled: minute().optional(),
  rating: z
    .strictObject({
      stars: z.int().min(1).max(5),
      comment: z.string().max(300).optional(),
      at: minute(),
    })
    .optional(),
});
export type Order = z.infer<typeof Order>;

export const references = {
  "dishes.*.restaurant_id": "restaurants",
  "promos.*.restaurant_id": "restaurants",
  "basket.restaurant_id": "restaurants",
  "basket.lines.*.dish_id": "dishes",
  "basket.promo": "promos",
  "orders.*.restaurant_id": "restaurants",
  "orders.*.lines.*.dish_id": "dishes",
  "orders.*.promo": "promos",
} satisfies References;

export const Deliveries = z
  .strictObject({
    customer: z.string().min(1),
    addresses: z.strictObject({ home: z.string().min(1), studio: z.string().min(1) }),
    restaurants: z.record(z.string(), Restaurant),
    dishes: z.record(z.string(), Dish),
    promos: z.record(z.string().regex(/^[A-Z0-9]{4,16}$/), Promo),
    basket: z.strictObject({
      restaurant_id: z.string().optional(),
      lines: z.array(Line),
      promo: z.string().optional(),
    }),
    orders: z.record(z.string(), Order),
  })
  .refine(({ basket }) => (basket.restaurant_id === undefined) === (basket.lines.length === 0), {
    path: ["basket", "restaurant_id"],
    message: "must be there exactly if the basket has lines",
  });
export type Deliveries = z.infer<typeof Deliveries>;

const table = createTableFactory(Deliveries);
export const restaurants = table("restaurants", {
  entity: "restaurant",
  idsFrom: "food_delivery_search_restaurants",
});
export const orders = table("orders", { entity: "order", idsFrom: "food_delivery_list_orders" });
export const orderRow = orders.fields({
  number: [label("order"), it => String(it.number)],
  order_id: orders.idField,
});
export const dishes = table("dishes", {
  entity: "dish",
  idsFrom: "food_delivery_get_menu",
  check(dish, dishId) {
    if (dish.status === "gone")
      refuse(
        "not_found",
        `${dish.name} (${dishId}) is no longer on the menu`,
        "food_delivery_get_menu shows what is",
      );
  },
});

/** Whether the kitchen is open at a minute, and the reason if it is not. */
export function checkKitchenHours(
  { name, opens, closes, closed_on }: Restaurant,
  at: string,
): { isOpen: boolean; why: string } {
  const weekday = getWeekdayName(at);
  if (weekday === closed_on) return { isOpen: false, why: `${name} is closed on ${weekday}s` };
  return {
    isOpen: at.slice(11) >= opens && at.slice(11) < closes,
    why: `${name} cooks from ${opens} to ${closes}`,
  };
}

/** The earliest minute at which an order placed at `from` or later can arrive. */
export function computeEarliestArrival(restaurant: Restaurant, from: string): string {
  for (let days = 0; ; days++) {
    const date = addMinutes(from, days * 1440).slice(0, 10);
    const start =
      days === 0 && from.slice(11) > restaurant.opens ? from : `${date}T${restaurant.opens}`;
    if (checkKitchenHours(restaurant, start).isOpen)
      return addMinutes(start, restaurant.cooking + restaurant.ride);
  }
}

/** The price of one dish with its choices. */
export const computePrice = (dish: Dish, choices: readonly string[]): number =>
  sumAmounts([
    dish.price,
    ...(dish.options ?? []).flatMap(group =>
      choices.map(it => (Object.hasOwn(group.choices, it) ? group.choices[it]! : 0)),
    ),
  ]);

export const computeSubtotal = ({ dishes }: Deliveries, lines: readonly Line[]): number =>
  sumAmounts(lines.map(it => it.quantity * computePrice(dishes[it.dish_id]!, it.choices)));

/** The discount of a promo code; 0 if the dishes are below its minimum. */
export function computeDiscount(
  promo: Promo | undefined,
  subtotal: number,
  delivery_fee: number,
): number {
  if (!promo || subtotal < promo.minimum) return 0;
  if (promo.kind === "free delivery") return delivery_fee;
  return promo.kind === "percent"
    ? roundToCents((subtotal * promo.value) / 100)
    : Math.min(promo.value, subtotal);
}

/** Minutes from placing an order without a requested time until its preparation starts. */
const startDelay = 3;

/** The times at which the stages of an order begin. */
export function computeStages({
  placed,
  wanted,
  cooking,
  ride,
}: Pick<Order, "placed" | "wanted" | "cooking" | "ride">): {
  preparing: string;
  onTheWay: string;
  delivered: string;
} {
  const preparing =
    wanted === undefined ? addMinutes(placed, startDelay) : addMinutes(wanted, -cooking - ride);
  return {
    preparing,
    onTheWay: addMinutes(preparing, cooking),
    delivered: addMinutes(preparing, cooking + ride),
  };
}

export const stages = ["placed", "preparing", "on the way", "delivered", "cancelled"] as const;
export type Stage = (typeof stages)[number];

export function getStage(order: Order, now: string): Stage {
  if (order.cancelled !== undefined) return "cancelled";
  const { preparing, onTheWay, delivered } = computeStages(order);
  return now < preparing
    ? "placed"
    : now < onTheWay
      ? "preparing"
      : now < delivered
        ? "on the way"
        : "delivered";
}

export const computeDishesTotal = ({ lines }: Pick<Order, "lines">): number =>
  sumAmounts(lines.map(it => it.quantity * it.price));
export const computeTotal = (order: Order): number =>
  sumAmounts([computeDishesTotal(order), order.delivery_fee, -order.discount, order.tip]);
export const computeRating = ({ stars, ratings }: Restaurant): number =>
  ratings === 0 ? 0 : Math.round((stars / ratings) * 10) / 10;
export const countDishes = (lines: readonly Line[], dishId: string): number =>
  countPieces(lines.filter(it => it.dish_id === dishId));
export const countPieces = (lines: readonly Pick<Line, "quantity">[]): number =>
  lines.reduce((n, it) => n + it.quantity, 0);
