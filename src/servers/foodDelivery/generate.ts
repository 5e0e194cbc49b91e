/**
 * Food for the flat and the studio: the canon's restaurants with their menus, ten weeks of orders,
 * and those that are under way this morning. Prices went up since some were placed, and a few
 * dishes are gone.
 */
import { addMinutes } from "../../environment/time.ts";
import {
  dishesTotal,
  server,
  kitchenAt,
  priceOf,
  stageOf,
  stagesOf,
  type FoodDeliveryWorld,
} from "./server.ts";
import type { SharedCast } from "../shared/cast.ts";
import { dietLetters, kitchens, optionGroups, type Kitchen } from "./generateMenus.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";

type Dish = FoodDeliveryWorld["dishes"][string];
type Order = FoodDeliveryWorld["orders"][string];
type Line = Order["lines"][number];

const firstNumber = 4102;
const inSmall = ["bakery", "cafe", "curry"];

function dietsOf(letters: string): Dish["diets"] {
  const told = letters.includes("v") ? `${letters}el` : letters;
  return (["v", "e", "g", "l", "n", "h"] as const)
    .filter(it => told.includes(it))
    .map(it => dietLetters[it]);
}

function dishOf(
  restaurant_id: string,
  [name, section, price, letters, text, group]: Kitchen["card"][number],
): Dish {
  return {
    restaurant_id,
    name,
    section,
    text,
    price,
    diets: dietsOf(letters),
    ...(group === undefined ? {} : { options: [structuredClone(optionGroups[group]!)] }),
  };
}

/** Fills a service with restaurants, dishes and orders, one after the other. */
class Town {
  readonly context: GeneratorContext;
  readonly state: FoodDeliveryWorld;
  readonly #ids = new Map<string, string>();
  readonly #orders: Omit<Order, "number">[] = [];

  constructor(context: GeneratorContext) {
    const { cast, random, size } = context;
    this.context = context;
    this.state = {
      customer: cast.user.name,
      addresses: { home: cast.getPlace("home").address, studio: cast.getPlace("studio").address },
      restaurants: {},
      dishes: {},
      promos: {},
      basket: { lines: [] },
      orders: {},
    };
    const roles = size === "full" ? Object.keys(kitchens) : inSmall;
    for (const role of roles) {
      const [place, kitchen] = [cast.getPlace(role), kitchens[role]!];
      const ratings = 40 + random.integer(300);
      const key = context.nextId("rst");
      this.#ids.set(role, key);
      this.state.restaurants[key] = {
        name: place.name,
        cuisine: kitchen.cuisine,
        address: place.address,
        phone: place.phone,
        opens: kitchen.opens,
        closes: kitchen.closes,
        ...(kitchen.closedOn ? { closed_on: kitchen.closedOn } : {}),
        minimum: kitchen.minimum,
        delivery_fee: kitchen.fee,
        cooking: kitchen.cooking,
        ride: kitchen.ride,
        stars: Math.round(ratings * (3.7 + random.next() * 1.2)),
        ratings,
      };
      for (const it of kitchen.card.slice(0, size === "full" ? 9 : 5))
        this.state.dishes[context.nextId("dsh")] = dishOf(key, it);
    }
  }

  restaurant(role: string): string {
    return this.#ids.get(role)!;
  }

  dish(name: string): string {
    const found = Object.keys(this.state.dishes).find(key => this.state.dishes[key]!.name === name);
    if (found === undefined) throw new Error(`no dish is called ${name}`);
    return found;
  }

  promo(code: string, promo: FoodDeliveryWorld["promos"][string]): void {
    this.state.promos[code] = promo;
  }

  /** Dishes of one restaurant for at least its least order. */
  lines(role: string, want = 1 + this.context.random.integer(3)): Line[] {
    const { random } = this.context;
    const own = random.shuffle(
      Object.entries(this.state.dishes).filter(
        ([, it]) => it.restaurant_id === this.restaurant(role),
      ),
    );
    const lines: Line[] = own
      .slice(0, want)
      .map(([dish_id, dish]) => this.line(dish_id, dish, random.boolean(0.3) ? 2 : 1));
    for (let i = 0; dishesTotal({ lines }) < kitchens[role]!.minimum; i++)
      lines[i % lines.length]!.quantity++;
    return lines;
  }

  line(dish_id: string, dish: Dish, quantity: number): Line {
    const { random } = this.context;
    const choices = (dish.options ?? []).flatMap(it =>
      it.required || random.boolean(0.4) ? [random.pick(Object.keys(it.choices))] : [],
    );
    return { dish_id, quantity, choices, price: priceOf(dish, choices) };
  }

  order(role: string, placed: string, more: Partial<Order> = {}): void {
    const { cooking, ride, fee } = kitchens[role]!;
    const lines = more.lines ?? this.lines(role);
    this.#orders.push({
      restaurant_id: this.restaurant(role),
      placed,
      cooking,
      ride,
      destination: "home",
      lines,
      delivery_fee: fee,
      discount: 0,
      tip: 0,
      ...more,
    });
  }

  /** Numbers the orders in the order in which they were placed. */
  done(): FoodDeliveryWorld {
    const sorted = this.#orders.sort((a, b) => (a.placed < b.placed ? -1 : 1));
    for (const [i, it] of sorted.entries())
      this.state.orders[this.context.nextId("ord")] = { number: firstNumber + 3 * i, ...it };
    return this.state;
  }
}

const onDay = (now: string, daysAgo: number, time: string) =>
  `${addMinutes(now, -daysAgo * 1440).slice(0, 10)}T${time}`;

function small(context: GeneratorContext): FoodDeliveryWorld {
  const { now } = context.cast;
  const town = new Town(context);
  const { state } = town;
  town.promo("BREAKFAST20", {
    title: "20 % off breakfast",
    kind: "percent",
    value: 20,
    minimum: 12,
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
  const line = (name: string, quantity: number, price: number, choices: string[] = []): Line => ({
    dish_id: town.dish(name),
    quantity,
    choices,
    price,
  });
  town.order("curry", onDay(now, 40, "19:10"), {
    lines: [line("Butter chicken", 1, 12.9, ["mild"]), line("Chana masala", 1, 10.9, ["hot"])],
    tip: 2,
  });
  town.order("curry", onDay(now, 2, "19:30"), {
    lines: [line("Butter chicken", 2, 13.6, ["medium"]), line("Prawn biryani", 1, 16.2)],
  });
  town.order("bakery", onDay(now, 5, "08:05"), {
    lines: [line("Sourdough loaf", 2, 4.8)],
    cancelled: onDay(now, 5, "08:06"),
  });
  town.order("cafe", onDay(now, 0, "08:38"), {
    lines: [line("Avocado toast", 1, 7.8), line("Granola bowl", 1, 6.5)],
    destination: "studio",
  });
  town.order("bakery", onDay(now, 0, "08:50"), {
    lines: [line("Cinnamon knot", 6, 2.4)],
    destination: "studio",
  });
  town.order("cafe", onDay(now, 0, "08:58"), { lines: [line("Porridge with pears", 2, 5.9)] });
  state.dishes[town.dish("Almond croissant")]!.status = "sold out";
  state.dishes[town.dish("Chana masala")]!.status = "gone";
  state.basket = {
    restaurant_id: town.restaurant("bakery"),
    lines: [{ dish_id: town.dish("Butter croissant"), quantity: 3, choices: [] }],
  };
  return town.done();
}

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

function promos(town: Town): void {
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

function full(context: GeneratorContext): FoodDeliveryWorld {
  const { now } = context.cast;
  const town = new Town(context);
  const { state } = town;
  promos(town);
  for (let back = 72; back > 0; back -= back > 14 ? 3 : 1) past(town, back);
  const plates = [{ ...town.lines("falafel", 1)[0]!, quantity: 4 }];
  town.order("falafel", onDay(now, 2, "13:15"), {
    lines: plates,
    destination: "studio",
    discount: Math.round(15 * dishesTotal({ lines: plates })) / 100,
    promo: "MARCH15",
  });
  const gyros = town.dish("Seitan gyros");
  town.order("vegan", onDay(now, 44, "12:30"), {
    lines: [town.line(gyros, state.dishes[gyros]!, 2)],
  });
  town.order("vegan", onDay(now, 0, "08:21"), {});
  town.order("falafel", onDay(now, 0, "08:40"), { destination: "studio" });
  town.order("cafe", onDay(now, 0, "08:49"), { destination: "studio" });
  town.order("bakery", onDay(now, 0, "08:58"), { destination: "studio" });
  town.order("trattoria", onDay(now, 0, "08:30"), {
    wanted: onDay(now, 0, "13:00"),
    destination: "studio",
  });
  town.order("sushi", onDay(now, 1, "20:15"), { wanted: onDay(now, -1, "19:30") });
  for (const name of [
    "Almond croissant",
    "Carrot cake",
    "Spaghetti with clams",
    "Prawn biryani",
    "Fish in a bun",
    "Papaya salad",
    "Banana pancakes",
    "Lamb kofta",
    "Rainbow roll",
  ])
    state.dishes[town.dish(name)]!.status = "sold out";
  for (const name of ["Vitello tonnato", "Breakfast burrito", "Seitan gyros", "Calzone with ham"])
    state.dishes[town.dish(name)]!.status = "gone";
  state.restaurants[town.restaurant("burger")]!.paused = true;
  return town.done();
}

/** An order of some days ago, from a kitchen that worked then. */
function past(town: Town, back: number): void {
  const { cast, random } = town.context;
  const isMorning = random.boolean(0.35);
  const hour = isMorning ? 9 + random.integer(2) : 18 + random.integer(3);
  const placed = onDay(
    cast.now,
    back,
    `${String(hour).padStart(2, "0")}:${String(random.integer(60)).padStart(2, "0")}`,
  );
  const roles = (isMorning ? mornings : evenings).filter(
    it => kitchenAt(town.state.restaurants[town.restaurant(it)]!, placed).isOpen,
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

function* contradictions(state: FoodDeliveryWorld, cast: SharedCast): Generator<string> {
  if (state.customer !== cast.user.name)
    yield `the customer ${state.customer} is not ${cast.user.name}`;
  if (
    state.addresses.home !== cast.getPlace("home").address ||
    state.addresses.studio !== cast.getPlace("studio").address
  )
    yield "the customer's addresses are not those of the town";
  const places = new Map(cast.places.map(it => [it.name, it]));
  for (const [key, it] of Object.entries(state.restaurants)) {
    const place = places.get(it.name);
    if (place?.address !== it.address || !["restaurant", "bakery", "cafe"].includes(place.category))
      yield `restaurant ${key} (${it.name}, ${it.address}) is not in the town`;
  }
  const names = Object.values(state.dishes).map(it => it.name);
  if (new Set(names).size < names.length) yield "two dishes have one name";
  for (const [key, it] of Object.entries(state.dishes))
    if (!Object.hasOwn(state.restaurants, it.restaurant_id))
      yield `dish ${key} is of ${it.restaurant_id}, which is no restaurant`;
  for (const [key, it] of Object.entries(state.orders)) {
    const restaurant = state.restaurants[it.restaurant_id];
    if (!restaurant) yield `order ${key} is from ${it.restaurant_id}, which is no restaurant`;
    else if (
      !kitchenAt(restaurant, it.wanted === undefined ? it.placed : stagesOf(it).preparing).isOpen
    )
      yield `order ${it.number} was begun while ${restaurant.name} was closed`;
    for (const line of it.lines)
      if (state.dishes[line.dish_id]?.restaurant_id !== it.restaurant_id)
        yield `order ${it.number} has ${line.dish_id}, which ${restaurant?.name} does not cook`;
    if (it.placed > cast.now) yield `order ${it.number} is to come`;
    if (it.promo !== undefined && !Object.hasOwn(state.promos, it.promo))
      yield `order ${it.number} used ${it.promo}, which is no promo code`;
    if (
      it.rating &&
      (stageOf(it, cast.now) !== "delivered" ||
        it.rating.at < stagesOf(it).delivered ||
        it.rating.at > cast.now)
    )
      yield `order ${it.number} was rated at the wrong time`;
    if (it.tip > 0 && it.cancelled !== undefined)
      yield `order ${it.number} was cancelled and has a tip`;
  }
  for (const it of state.basket.lines)
    if (state.dishes[it.dish_id]?.restaurant_id !== state.basket.restaurant_id)
      yield `the basket holds ${it.dish_id} of another restaurant`;
}

export const generator = defineGenerator<FoodDeliveryWorld>({
  server,
  generate: context => (context.size === "full" ? full(context) : small(context)),
  findInconsistencies: (state, _world, cast) => [...contradictions(state, cast)],
});
