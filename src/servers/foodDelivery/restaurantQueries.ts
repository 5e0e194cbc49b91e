/** Tools that search and show restaurants. */
import { z } from "zod";
import { cents, label } from "../../environment/fieldSchemas.ts";
import { containsText } from "../../environment/textSearch.ts";
import { contains, descending, meets, type RowContext } from "../kit/table.ts";
import {
  computeEarliestArrival,
  checkKitchenHours,
  computeRating,
  restaurants,
  type Deliveries,
  type Restaurant,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const restaurantRow = restaurants.fields({
  name: label("restaurant"),
  restaurant_id: restaurants.idField,
  cuisine: z.string(),
});

/** Whether a restaurant is open, in a word or two. */
function describeOpening(restaurant: Restaurant, { now }: RowContext<Deliveries>): string {
  if (restaurant.paused) return "paused";
  if (checkKitchenHours(restaurant, now).isOpen) return `until ${restaurant.closes}`;
  const next = computeEarliestArrival(restaurant, now).slice(0, 10);
  return next === now.slice(0, 10) ? `from ${restaurant.opens}` : "closed today";
}

export const restaurantQueries = {
  search_restaurants: restaurants.list({
    summary:
      "Find restaurants that deliver, the best rated first, by name, cuisine, a dish, or whether they cook now.",
    filters: {
      name: contains(
        label("restaurant"),
        "Only restaurants whose name contains this",
        it => it.name,
      ),
      cuisine: contains(
        z.string().min(1).max(40).optional().meta({ examples: vocabulary.cuisines }),
        "Only cuisines that contain this",
        it => it.cuisine,
      ),
      dish: meets(
        z.string().min(2).max(60).optional().meta({ examples: vocabulary.dishes }),
        "Only restaurants with a dish whose name contains this",
        (_, withDish: ReadonlySet<string>, { id }) => withDish.has(id),
        ({ dishes }: Deliveries, dish: string) =>
          new Set(
            Object.values(dishes)
              .filter(it => it.status !== "gone" && containsText(it.name, dish))
              .map(it => it.restaurant_id),
          ),
      ),
      open_now: meets(
        z.boolean(),
        "True for only restaurants that cook now and take orders",
        (it, isOpen, { now }) => !isOpen || (!it.paused && checkKitchenHours(it, now).isOpen),
      ),
    },
    order: descending(computeRating),
    limit: 12,
    row: {
      ...restaurantRow,
      rating: [z.number(), computeRating],
      open: [z.string(), describeOpening],
    },
  }),
  get_restaurant: restaurants.get({
    summary:
      "Get one restaurant: address, hours, least order, delivery fee, how long it takes, and when it could be at the door.",
    row: {
      ...restaurantRow,
      address: z.string(),
      phone: z.string(),
      hours: [
        z.string(),
        it => `${it.opens} to ${it.closes}${it.closed_on ? `, not on ${it.closed_on}s` : ""}`,
      ],
      open: [z.string(), describeOpening],
      minimum: cents(),
      delivery_fee: cents(),
      takes_minutes: [z.int(), it => it.cooking + it.ride],
      earliest: [
        z.string().describe("When an order placed now could arrive"),
        (it, { now }) => computeEarliestArrival(it, now),
      ],
      rating: [z.number(), computeRating],
      ratings: z.int(),
    },
  }),
};
