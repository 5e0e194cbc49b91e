/** Generates the past orders of the full fixture. */
import { addMinutes } from "../../environment/time.ts";
import { kitchens } from "./generateMenus.ts";
import { kitchenHoursAt, stagesOf } from "./server.ts";
import { type DeliveriesBuilder, getTimeDaysAgo } from "./deliveriesBuilder.ts";

const evenings: readonly string[] = [
  "pasta",
  "trattoria",
  "sushi",
  "curry",
  "tacos",
  "burger",
  "thai",
  "vegan",
  "falafel",
  "pizza",
];

const mornings: readonly string[] = ["bakery", "cafe", "vegan", "tacos", "falafel"];

/** Adds an order of some days ago, from a restaurant that was open then. */
export function addPastOrders(builder: DeliveriesBuilder, daysAgo: number): void {
  const { cast, random } = builder.context;
  const isMorning = random.boolean(0.35);
  const hour = isMorning ? 9 + random.integer(2) : 18 + random.integer(3);
  const placed = getTimeDaysAgo(
    cast.now,
    daysAgo,
    `${String(hour).padStart(2, "0")}:${String(random.integer(60)).padStart(2, "0")}`,
  );
  const roles = (isMorning ? mornings : evenings).filter(
    it => kitchenHoursAt(builder.state.restaurants[builder.getRestaurantId(it)]!, placed).isOpen,
  );
  const role = random.pick(roles);
  // a few weeks ago most things cost a little less
  const lines = builder
    .createLines(role)
    .map(it =>
      daysAgo > 25 && random.boolean(0.6)
        ? { ...it, price: Math.round((it.price - 0.3) * 100) / 100 }
        : it,
    );
  if (random.boolean(0.1))
    return builder.addOrder(role, placed, { lines, cancelled: addMinutes(placed, 2) });
  const { delivered } = stagesOf({
    placed,
    cooking: kitchens[role]!.cooking,
    ride: kitchens[role]!.ride,
  });
  const isRated = random.boolean(daysAgo > 14 ? 0.6 : 0.25);
  const rating = {
    stars: random.pick([3, 4, 4, 5, 5, 5, 2]),
    at: addMinutes(delivered, 60 + random.integer(600)),
  };
  builder.addOrder(role, placed, {
    lines,
    destination: isMorning && random.boolean(0.5) ? "studio" : "home",
    tip: random.boolean(daysAgo > 7 ? 0.4 : 0.2) ? 1 + random.integer(4) : 0,
    ...(isRated ? { rating } : {}),
  });
}
