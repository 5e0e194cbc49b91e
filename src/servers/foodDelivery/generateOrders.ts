/** Generates the past orders and the promo codes of the full fixture. */
import { addMinutes } from "../../environment/time.ts";
import { kitchens } from "./generateMenus.ts";
import { kitchenHoursAt, stagesOf } from "./server.ts";
import { type TownBuilder, onDay } from "./townBuilder.ts";

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

export function addPromos(town: TownBuilder): void {
  town.promo("BREAKFAST20", {
    title: "20 % off breakfast",
    kind: "percent",
    value: 20,
    minimum: 12,
    until: "2026-03-31",
  });
  town.promo("MARCH15", {
    title: "15 % off in March",
    kind: "percent",
    value: 15,
    minimum: 20,
    until: "2026-03-31",
  });
  town.promo("WINTER5", {
    title: "5 off in winter",
    kind: "amount",
    value: 5,
    minimum: 15,
    until: "2026-02-28",
  });
  town.promo("HELLO10", {
    title: "10 % off the first order from a restaurant",
    kind: "percent",
    value: 10,
    minimum: 0,
    until: "2026-06-30",
    first_only: true,
  });
  town.promo("SPRING2", {
    title: "2 off in spring",
    kind: "amount",
    value: 2,
    minimum: 5,
    until: "2026-05-31",
  });
  town.promo("FREERIDE", {
    title: "Free delivery over 25",
    kind: "free delivery",
    value: 0,
    minimum: 25,
    until: "2026-04-30",
  });
  town.promo("GREENWEEK", {
    title: "3 off vegan food",
    kind: "amount",
    value: 3,
    minimum: 10,
    until: "2026-03-15",
    restaurant_id: town.restaurant("vegan"),
  });
  town.promo("TACODAY", {
    title: "4 off tacos",
    kind: "amount",
    value: 4,
    minimum: 18,
    until: "2026-05-31",
    restaurant_id: town.restaurant("tacos"),
  });
  town.promo("TEAMLUNCH", {
    title: "10 off a big order",
    kind: "amount",
    value: 10,
    minimum: 60,
    until: "2026-12-31",
  });
  town.promo("VALENTINE", {
    title: "14 % off for two",
    kind: "percent",
    value: 14,
    minimum: 28,
    until: "2026-02-15",
  });
}

/** An order of some days ago, from a kitchen that worked then. */
export function addPastOrders(town: TownBuilder, back: number): void {
  const { cast, random } = town.context;
  const isMorning = random.boolean(0.35);
  const hour = isMorning ? 9 + random.integer(2) : 18 + random.integer(3);
  const placed = onDay(
    cast.now,
    back,
    `${String(hour).padStart(2, "0")}:${String(random.integer(60)).padStart(2, "0")}`,
  );
  const roles = (isMorning ? mornings : evenings).filter(
    it => kitchenHoursAt(town.state.restaurants[town.restaurant(it)]!, placed).isOpen,
  );
  const role = random.pick(roles);
  // a few weeks ago most things cost a little less
  const lines = town
    .lines(role)
    .map(it =>
      back > 25 && random.boolean(0.6)
        ? { ...it, price: Math.round((it.price - 0.3) * 100) / 100 }
        : it,
    );
  if (random.boolean(0.1))
    return town.order(role, placed, { lines, cancelled: addMinutes(placed, 2) });
  const { delivered } = stagesOf({
    placed,
    cooking: kitchens[role]!.cooking,
    ride: kitchens[role]!.ride,
  });
  const isRated = random.boolean(back > 14 ? 0.6 : 0.25);
  const rating = {
    stars: random.pick([3, 4, 4, 5, 5, 5, 2]),
    at: addMinutes(delivered, 60 + random.integer(600)),
  };
  town.order(role, placed, {
    lines,
    destination: isMorning && random.boolean(0.5) ? "studio" : "home",
    tip: random.boolean(back > 7 ? 0.4 : 0.2) ? 1 + random.integer(4) : 0,
    ...(isRated ? { rating } : {}),
  });
}
