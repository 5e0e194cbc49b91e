/**
 * What a delivery service knows: restaurants with hours and menus, one basket, promo codes, orders
 * and how far each has come.
 */
import { z } from "zod";
import { cents, day, minute, money } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse } from "../../environment/server.ts";
import { addMinutes, getWeekdayName, weekdays } from "../../environment/time.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";

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
  /** The least that an order's dishes must come to. */
  minimum: cents(),
  delivery_fee: cents(),
  cooking: minutes,
  ride: minutes,
  /** All stars given, and by how many. */
  stars: z.int().min(0),
  ratings: z.int().min(0),
});
export type Restaurant = z.infer<typeof Restaurant>;

const Group = z.strictObject({
  name: z.string().min(1),
  /** Without a choice the dish cannot be cooked; otherwise nothing is added. */
  required: z.literal(true).optional(),
  /** What each choice costs more. */
  choices: z.record(z.string(), cents()),
});

const Dish = z.strictObject({
  restaurant_id: z.string(),
  name: z.string().min(1),
  section: z.string().min(1),
  text: z.string().min(1),
  price: money(),
  diets: z.array(z.enum(diets)),
  /** Sold out for today, or taken off the menu for good. */
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
  /** The least that the dishes must come to. */
  minimum: cents(),
  until: day(),
  /** Only for the first order from a restaurant. */
  first_only: z.literal(true).optional(),
  /** Only here. */
  restaurant_id: z.string().optional(),
});
export type Promo = z.infer<typeof Promo>;

const Order = z.strictObject({
  number: z.int().min(1),
  restaurant_id: z.string(),
  placed: minute(),
  /** When it is wanted; as soon as possible where absent. */
  wanted: minute().optional(),
  cooking: minutes,
  ride: minutes,
  destination: z.enum(destinations),
  /** Each with the price of one, as it was then. */
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

export const Deliveries = z.strictObject({
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
});
export type Deliveries = z.infer<typeof Deliveries>;

export const restaurantOf = ({ restaurants }: Deliveries, key: string): Restaurant =>
  findEntity(restaurants, key, "restaurant", "food_delivery_search_restaurants gives the ids");
export const orderOf = ({ orders }: Deliveries, key: string): Order =>
  findEntity(orders, key, "order", "food_delivery_list_orders gives the ids");

/** The dish, if it is on a menu still. */
export function dishOf({ dishes }: Deliveries, key: string): Dish {
  const dish = findEntity(dishes, key, "dish", "food_delivery_get_menu gives the ids");
  return dish.status === "gone"
    ? refuse(
        "not_found",
        `${dish.name} (${key}) is no longer on the menu`,
        "food_delivery_get_menu shows what is",
      )
    : dish;
}

/** Whether the kitchen works at a minute, and if not, in words why. */
export function kitchenHoursAt(
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

/** The first minute from `from` on at which an order could be at the door. */
export function earliest(restaurant: Restaurant, from: string): string {
  for (let days = 0; ; days++) {
    const date = addMinutes(from, days * 1440).slice(0, 10);
    const start =
      days === 0 && from.slice(11) > restaurant.opens ? from : `${date}T${restaurant.opens}`;
    if (kitchenHoursAt(restaurant, start).isOpen)
      return addMinutes(start, restaurant.cooking + restaurant.ride);
  }
}

/** One of the dish with what was chosen. */
export const priceOf = (dish: Dish, choices: readonly string[]): number =>
  sumAmounts([
    dish.price,
    ...(dish.options ?? []).flatMap(group =>
      choices.map(it => (Object.hasOwn(group.choices, it) ? group.choices[it]! : 0)),
    ),
  ]);

export const subtotalOf = ({ dishes }: Deliveries, lines: readonly Line[]): number =>
  sumAmounts(lines.map(it => it.quantity * priceOf(dishes[it.dish_id]!, it.choices)));

/** What a promo takes off, once the dishes come to its minimum. */
export function discountOf(
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

/** Minutes after which a kitchen begins with an order that is wanted at once. */
const grace = 3;

/** When each stage of an order begins. */
export function stagesOf({
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
    wanted === undefined ? addMinutes(placed, grace) : addMinutes(wanted, -cooking - ride);
  return {
    preparing,
    onTheWay: addMinutes(preparing, cooking),
    delivered: addMinutes(preparing, cooking + ride),
  };
}

export type Stage = "placed" | "preparing" | "on the way" | "delivered" | "cancelled";

export function stageOf(order: Order, now: string): Stage {
  if (order.cancelled !== undefined) return "cancelled";
  const { preparing, onTheWay, delivered } = stagesOf(order);
  return now < preparing
    ? "placed"
    : now < onTheWay
      ? "preparing"
      : now < delivered
        ? "on the way"
        : "delivered";
}

export const dishesTotal = ({ lines }: Pick<Order, "lines">): number =>
  sumAmounts(lines.map(it => it.quantity * it.price));
export const totalOf = (order: Order): number =>
  sumAmounts([dishesTotal(order), order.delivery_fee, -order.discount, order.tip]);
export const ratingOf = ({ stars, ratings }: Restaurant): number =>
  ratings === 0 ? 0 : Math.round((stars / ratings) * 10) / 10;
export const piecesIn = (lines: readonly Pick<Line, "quantity">[]): number =>
  lines.reduce((n, it) => n + it.quantity, 0);
