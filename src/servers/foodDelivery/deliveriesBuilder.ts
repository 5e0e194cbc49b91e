/** Builds restaurants, dishes and orders of a generated food delivery state. */
import { addMinutes } from "../../environment/time.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { dietLetters, kitchens, optionGroups, type Kitchen } from "./generateMenus.ts";
import { promoPlans } from "./promoPlans.ts";
import { dishesTotal, priceOf, type Deliveries } from "./server.ts";

type Dish = Deliveries["dishes"][string];

type Order = Deliveries["orders"][string];

export type Line = Order["lines"][number];

const firstNumber = 4102;

function parseDiets(letters: string): Dish["diets"] {
  const allLetters = letters.includes("v") ? `${letters}el` : letters;
  return (["v", "e", "g", "l", "n", "h"] as const)
    .filter(it => allLetters.includes(it))
    .map(it => dietLetters[it]);
}

function createDish(
  restaurant_id: string,
  [name, section, price, letters, text, group]: Kitchen["card"][number],
): Dish {
  return {
    restaurant_id,
    name,
    section,
    text,
    price,
    diets: parseDiets(letters),
    ...(group === undefined ? {} : { options: [structuredClone(optionGroups[group]!)] }),
  };
}

/** Creates the restaurants, dishes and promo codes, and adds orders. */
export class DeliveriesBuilder {
  readonly context: GeneratorContext;
  readonly state: Deliveries;
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
    const roles = size === "full" ? Object.keys(kitchens) : smallRoles;
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
        this.state.dishes[context.nextId("dsh")] = createDish(key, it);
    }
    for (const { code, restaurant, isInSmall, ...promo } of promoPlans)
      if (isInSmall || size === "full")
        this.state.promos[code] = restaurant
          ? { ...promo, restaurant_id: this.getRestaurantId(restaurant) }
          : promo;
  }

  getRestaurantId(role: string): string {
    return this.#ids.get(role)!;
  }

  findDishId(name: string): string {
    const dishId = Object.keys(this.state.dishes).find(
      key => this.state.dishes[key]!.name === name,
    );
    if (dishId === undefined) throw new Error(`no dish is called ${name}`);
    return dishId;
  }

  /** Creates lines with dishes of one restaurant that reach its smallest order. */
  createLines(role: string, count = 1 + this.context.random.integer(3)): Line[] {
    const { random } = this.context;
    const restaurantDishes = random.shuffle(
      Object.entries(this.state.dishes).filter(
        ([, it]) => it.restaurant_id === this.getRestaurantId(role),
      ),
    );
    const lines: Line[] = restaurantDishes
      .slice(0, count)
      .map(([dish_id, dish]) => this.createLine(dish_id, dish, random.boolean(0.3) ? 2 : 1));
    for (let i = 0; dishesTotal({ lines }) < kitchens[role]!.minimum; i++)
      lines[i % lines.length]!.quantity++;
    return lines;
  }

  createLine(dish_id: string, dish: Dish, quantity: number): Line {
    const { random } = this.context;
    const choices = (dish.options ?? []).flatMap(it =>
      it.required || random.boolean(0.4) ? [random.pick(Object.keys(it.choices))] : [],
    );
    return { dish_id, quantity, choices, price: priceOf(dish, choices) };
  }

  addOrder(role: string, placed: string, fields: Partial<Order> = {}): void {
    const { cooking, ride, fee } = kitchens[role]!;
    const lines = fields.lines ?? this.createLines(role);
    this.#orders.push({
      restaurant_id: this.getRestaurantId(role),
      placed,
      cooking,
      ride,
      destination: "home",
      lines,
      delivery_fee: fee,
      discount: 0,
      tip: 0,
      ...fields,
    });
  }

  /** Adds the orders, numbered by the time at which they were placed, and returns the state. */
  finish(): Deliveries {
    const orders = this.#orders.sort((a, b) => (a.placed < b.placed ? -1 : 1));
    for (const [i, it] of orders.entries())
      this.state.orders[this.context.nextId("ord")] = { number: firstNumber + 3 * i, ...it };
    return this.state;
  }
}

export const getTimeDaysAgo = (now: string, daysAgo: number, time: string) =>
  `${addMinutes(now, -daysAgo * 1440).slice(0, 10)}T${time}`;

export const smallRoles = ["bakery", "cafe", "curry"];
