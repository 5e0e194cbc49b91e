/**
 * Generates the food deliveries of a fixture set: the cast's restaurants with their menus, ten
 * weeks of past orders, and orders in progress. Some prices have risen since, and a few dishes are
 * gone.
 */
import type { SharedCast } from "../shared/cast.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import { addPastOrders } from "./generateOrders.ts";
import {
  dishesTotal,
  kitchenHoursAt,
  server,
  stageOf,
  stagesOf,
  type Deliveries,
} from "./server.ts";
import { DeliveriesBuilder, getTimeDaysAgo, type Line } from "./deliveriesBuilder.ts";

function generateSmall(context: GeneratorContext): Deliveries {
  const { now } = context.cast;
  const builder = new DeliveriesBuilder(context);
  const { state } = builder;
  const line = (name: string, quantity: number, price: number, choices: string[] = []): Line => ({
    dish_id: builder.findDishId(name),
    quantity,
    choices,
    price,
  });
  builder.addOrder("curry", getTimeDaysAgo(now, 40, "19:10"), {
    lines: [line("Butter chicken", 1, 12.9, ["mild"]), line("Chana masala", 1, 10.9, ["hot"])],
    tip: 2,
  });
  builder.addOrder("curry", getTimeDaysAgo(now, 2, "19:30"), {
    lines: [line("Butter chicken", 2, 13.6, ["medium"]), line("Prawn biryani", 1, 16.2)],
  });
  builder.addOrder("bakery", getTimeDaysAgo(now, 5, "08:05"), {
    lines: [line("Sourdough loaf", 2, 4.8)],
    cancelled: getTimeDaysAgo(now, 5, "08:06"),
  });
  builder.addOrder("cafe", getTimeDaysAgo(now, 0, "08:38"), {
    lines: [line("Avocado toast", 1, 7.8), line("Granola bowl", 1, 6.5)],
    destination: "studio",
  });
  builder.addOrder("bakery", getTimeDaysAgo(now, 0, "08:50"), {
    lines: [line("Cinnamon knot", 6, 2.4)],
    destination: "studio",
  });
  builder.addOrder("cafe", getTimeDaysAgo(now, 0, "08:58"), {
    lines: [line("Porridge with pears", 2, 5.9)],
  });
  state.dishes[builder.findDishId("Almond croissant")]!.status = "sold out";
  state.dishes[builder.findDishId("Chana masala")]!.status = "gone";
  state.basket = {
    restaurant_id: builder.getRestaurantId("bakery"),
    lines: [{ dish_id: builder.findDishId("Butter croissant"), quantity: 3, choices: [] }],
  };
  return builder.finish();
}

function generateFull(context: GeneratorContext): Deliveries {
  const { now } = context.cast;
  const builder = new DeliveriesBuilder(context);
  const { state } = builder;
  for (let daysAgo = 72; daysAgo > 0; daysAgo -= daysAgo > 14 ? 3 : 1)
    addPastOrders(builder, daysAgo);
  const plates = [{ ...builder.createLines("falafel", 1)[0]!, quantity: 4 }];
  builder.addOrder("falafel", getTimeDaysAgo(now, 2, "13:15"), {
    lines: plates,
    destination: "studio",
    discount: Math.round(15 * dishesTotal({ lines: plates })) / 100,
    promo: "MARCH15",
  });
  const gyros = builder.findDishId("Seitan gyros");
  builder.addOrder("vegan", getTimeDaysAgo(now, 44, "12:30"), {
    lines: [builder.createLine(gyros, state.dishes[gyros]!, 2)],
  });
  builder.addOrder("vegan", getTimeDaysAgo(now, 0, "08:21"), {});
  builder.addOrder("falafel", getTimeDaysAgo(now, 0, "08:40"), { destination: "studio" });
  builder.addOrder("cafe", getTimeDaysAgo(now, 0, "08:49"), { destination: "studio" });
  builder.addOrder("bakery", getTimeDaysAgo(now, 0, "08:58"), { destination: "studio" });
  builder.addOrder("trattoria", getTimeDaysAgo(now, 0, "08:30"), {
    wanted: getTimeDaysAgo(now, 0, "13:00"),
    destination: "studio",
  });
  builder.addOrder("sushi", getTimeDaysAgo(now, 1, "20:15"), {
    wanted: getTimeDaysAgo(now, -1, "19:30"),
  });
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
    state.dishes[builder.findDishId(name)]!.status = "sold out";
  for (const name of ["Vitello tonnato", "Breakfast burrito", "Seitan gyros", "Calzone with ham"])
    state.dishes[builder.findDishId(name)]!.status = "gone";
  state.restaurants[builder.getRestaurantId("burger")]!.paused = true;
  return builder.finish();
}

function* findInconsistencies(state: Deliveries, cast: SharedCast): Generator<string> {
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
      !kitchenHoursAt(restaurant, it.wanted === undefined ? it.placed : stagesOf(it).preparing)
        .isOpen
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

export const generator = defineGenerator<Deliveries>({
  server,
  generate: context => (context.size === "full" ? generateFull(context) : generateSmall(context)),
  findInconsistencies: (state, _states, cast) => [...findInconsistencies(state, cast)],
});
