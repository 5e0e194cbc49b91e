/** Builds products, reviews, orders and the cart of a generated shop. */
import { addDays } from "../../environment/time.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import {
  type couponPlans,
  productPlans,
  reviewTexts,
  type ProductPlan,
  type Quirk,
} from "./generateValues.ts";
import { sumGoods, type ShoppingState } from "./state.ts";

type Order = ShoppingState["orders"][string];

type Stage = "processing" | "shipped" | "delivered" | "cancelled";

const smallGoods: Readonly<Record<string, number>> = { Kitchen: 5, Audio: 3, Desk: 4 };

export const smallCoupons = ["SPRING10", "WINTER15", "BIG25", "THANKS8", "EASTER20"];

/** Builds the state row by row. */
export class ShoppingBuilder {
  readonly context: GeneratorContext;
  readonly state: ShoppingState;
  readonly #byName = new Map<string, string>();
  #number = 4103;

  constructor(context: GeneratorContext) {
    const { cast } = context;
    this.context = context;
    this.state = {
      customer: cast.user.name,
      address: cast.getPlace("home").address,
      store_credit: 42.5,
      terms: {
        delivery_fee: 4.9,
        express_fee: 9.9,
        free_delivery_from: 60,
        cash_limit: 150,
        return_days: 30,
        most_wishes: context.size === "full" ? 12 : 3,
      },
      categories: {},
      products: {},
      reviews: {},
      coupons: {},
      cart: { lines: {} },
      wishes: {},
      orders: {},
      returns: {},
    };
  }

  get today(): string {
    return this.context.cast.now.slice(0, 10);
  }

  getProductId(name: string): string {
    return this.#byName.get(name)!;
  }

  /** Adds the products; in the full fixture, the categories are mixed. */
  addProducts(): void {
    const { context, state } = this;
    const selected = Object.entries(productPlans).filter(
      ([category]) => context.size === "full" || category in smallGoods,
    );
    const ids = new Map(selected.map(([category]) => [category, context.nextId("cat")]));
    for (const [category, key] of ids) state.categories[key] = { name: category };
    const all = selected.flatMap(([category, list]) =>
      list
        .slice(0, context.size === "full" ? list.length : smallGoods[category])
        .map(it => [ids.get(category)!, it] as const),
    );
    for (const [category, it] of context.size === "full" ? context.random.shuffle(all) : all)
      this.#addProduct(category, it);
  }

  #addProduct(category_id: string, [name, brand, price, features, quirk]: ProductPlan): void {
    const { context, state } = this;
    const hasQuirk = (it: Quirk) => quirk === it;
    const key = context.nextId("prd");
    this.#byName.set(name, key);
    state.products[key] = {
      name,
      brand,
      category_id,
      price,
      stock:
        hasQuirk("out") || hasQuirk("gone")
          ? 0
          : hasQuirk("low")
            ? 2
            : 6 + context.random.integer(40),
      limit: hasQuirk("few") ? 2 : price > 60 ? 5 : 10,
      status: hasQuirk("gone") ? "discontinued" : "active",
      returnable: !hasQuirk("kept"),
      ...(hasQuirk("out") ? { restock: addDays(this.today, 6 + context.random.integer(12)) } : {}),
      features: { ...features },
    };
  }

  addCoupon({
    code,
    title,
    kind,
    value,
    minimum,
    category,
    starts,
    expires,
  }: (typeof couponPlans)[number]): string {
    const key = this.context.nextId("cpn");
    const categoryId =
      category === undefined
        ? undefined
        : Object.entries(this.state.categories).find(([, it]) => it.name === category)![0];
    this.state.coupons[key] = {
      code,
      title,
      kind,
      value,
      minimum,
      ...(categoryId ? { category_id: categoryId } : {}),
      starts: addDays(this.today, starts),
      expires: addDays(this.today, expires),
      used: false,
    };
    return key;
  }

  addOrder(
    daysAgo: number,
    stage: Stage,
    lines: readonly (readonly [name: string, quantity: number, price?: number | undefined])[],
    more: { pay_with?: Order["pay_with"]; express?: boolean; coupon?: string } = {},
  ): string {
    const { context, state } = this;
    const { random } = context;
    const placed = `${addDays(this.today, -daysAgo)}T${String(7 + random.integer(daysAgo === 0 ? 1 : 15)).padStart(2, "0")}:${String(random.integer(60)).padStart(2, "0")}`;
    const items = Object.fromEntries(
      lines.map(([name, quantity, price]) => [
        context.nextId("item"),
        {
          product_id: this.getProductId(name),
          quantity,
          price: price ?? state.products[this.getProductId(name)]!.price,
        },
      ]),
    );
    const total = sumGoods(Object.values(items));
    const coupon = more.coupon === undefined ? undefined : state.coupons[more.coupon]!;
    const discount = !coupon
      ? 0
      : coupon.kind === "percent"
        ? Math.round(total * coupon.value) / 100
        : coupon.value;
    if (coupon && stage !== "cancelled") coupon.used = true;
    const shippedOn = addDays(placed, 1);
    const days = more.express ? 1 : 4;
    const isShipped = stage === "shipped" || stage === "delivered";
    const key = context.nextId("ord");
    this.#number += 1 + random.integer(7);
    state.orders[key] = {
      number: this.#number,
      placed,
      ...(isShipped ? { shipped: `${shippedOn}T06:30` } : {}),
      ...(stage === "delivered"
        ? { delivered: `${addDays(placed, days)}T${10 + random.integer(8)}:15` }
        : {}),
      ...(stage === "cancelled" ? { cancelled: `${placed.slice(0, 10)}T23:10` } : {}),
      expected: addDays(placed, days),
      delivery: more.express ? "express" : "standard",
      pay_with: more.pay_with ?? "card",
      items,
      ...(more.coupon === undefined ? {} : { coupon: more.coupon }),
      discount,
      delivery_fee: more.express
        ? state.terms.express_fee
        : total >= state.terms.free_delivery_from
          ? 0
          : state.terms.delivery_fee,
      ...(isShipped ? { parcel: `PK${70_000_000 + random.integer(9_999_999)}` } : {}),
    };
    return key;
  }

  addReview(name: string, author: string, stars: number, daysAgo: number): void {
    const [title, text] = this.context.random.pick(reviewTexts[stars]!);
    this.state.reviews[this.context.nextId("rev")] = {
      product_id: this.getProductId(name),
      author,
      stars,
      title,
      text,
      date: addDays(this.today, -daysAgo),
    };
  }

  addWish(name: string, daysAgo: number, price?: number): void {
    const key = this.getProductId(name);
    this.state.wishes[key] = {
      added: addDays(this.today, -daysAgo),
      price: price ?? this.state.products[key]!.price,
    };
  }

  addCartLine(name: string, quantity: number): void {
    this.state.cart.lines[this.context.nextId("line")] = {
      product_id: this.getProductId(name),
      quantity,
    };
  }

  addReturn(
    order: string,
    at: number,
    reason: ShoppingState["returns"][string]["reason"],
    status: "requested" | "refunded",
  ): void {
    const { items, discount } = this.state.orders[order]!;
    const [item_id, it] = Object.entries(items)[0]!;
    const refund =
      Math.round(it.price * 100 * (1 - discount / sumGoods(Object.values(items)))) / 100;
    this.state.returns[this.context.nextId("ret")] = {
      item_id,
      quantity: 1,
      reason,
      at: `${addDays(this.today, -at)}T18:20`,
      refund,
      status,
    };
  }
}
