/** Builds restaurants, dishes and orders of a generated food delivery state. */
import { addMinutes } from "../../environment/time.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { dietLetters, kitchens, optionGroups, type Kitchen } from "./generateMenus.ts";
import { promoPlans } from "./promoPlans.ts";
import { dishesTotal, priceOf, type FoodDeliveryWorld } from "./server.ts";

type Dish = FoodDeliveryWorld["dishes"][string];

type Order = FoodDeliveryWorld["orders"][string];

export type Line = Order["lines"][number];

const firstNumber = 4102;

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
export class TownBuilder {
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
    for (const { code, restaurant, isInSmall, ...promo } of promoPlans)
      if (isInSmall || size === "full")
        this.state.promos[code] = restaurant
          ? { ...promo, restaurant_id: this.restaurant(restaurant) }
          : promo;
  }

  restaurant(role: string): string {
    return this.#ids.get(role)!;
  }

  dish(name: string): string {
    const found = Object.keys(this.state.dishes).find(key => this.state.dishes[key]!.name === name);
    if (found === undefined) throw new Error(`no dish is called ${name}`);
    return found;
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

export const onDay = (now: string, daysAgo: number, time: string) =>
  `${addMinutes(now, -daysAgo * 1440).slice(0, 10)}T${time}`;

export const inSmall = ["bakery", "cafe", "curry"];
