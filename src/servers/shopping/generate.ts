/**
 * Generates the online shop of a fixture set: products, reviews, coupons, and the user's orders,
 * wish list and cart.
 */
import type { SharedCast } from "../shared/cast.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import { couponPlans } from "./generateValues.ts";
import { server } from "./server.ts";
import { findCouponProblem, sumGoods, getOrderStatus, type ShoppingState } from "./state.ts";
import { ShoppingBuilder, smallCoupons } from "./shopBuilder.ts";

function generate(context: GeneratorContext): ShoppingState {
  const builder = new ShoppingBuilder(context);
  builder.addProducts();
  if (context.size === "small") addSmallFixture(builder);
  else addFullFixture(builder);
  return builder.state;
}

function addSmallFixture(builder: ShoppingBuilder): void {
  const { user, friends } = builder.context.cast;
  const coupons = new Map(
    couponPlans
      .filter(it => smallCoupons.includes(it.code))
      .map(it => [it.code, builder.addCoupon(it)]),
  );
  builder.addOrder(75, "delivered", [
    ["Laptop stand", 1, 36],
    ["Earbuds", 1],
  ]);
  const recent = builder.addOrder(
    20,
    "delivered",
    [
      ["Moka pot", 2],
      ["LED desk lamp", 1],
    ],
    { coupon: coupons.get("THANKS8")! },
  );
  builder.addOrder(12, "cancelled", [["Cast iron pan", 1]]);
  builder.addOrder(3, "shipped", [["Mechanical keyboard", 1]]);
  builder.addOrder(
    1,
    "processing",
    [
      ["Cast iron pan", 1],
      ["Earbuds", 1],
    ],
    { pay_with: "store_credit" },
  );
  builder.addReturn(recent, 5, "damaged", "requested");
  builder.addReview("Moka pot", friends[2]!.name, 5, 40);
  builder.addReview("Moka pot", friends[3]!.name, 4, 9);
  builder.addReview("Laptop stand", user.name, 4, 60);
  builder.addReview("Cast iron pan", friends[4]!.name, 2, 30);
  builder.addWish("Ceramic coffee grinder", 25, 42);
  builder.addWish("Chef's knife", 4);
  builder.addCartLine("LED desk lamp", 1);
  builder.addCartLine("Moka pot", 2);
}

function addFullFixture(builder: ShoppingBuilder): void {
  const { state } = builder;
  const coupons = new Map(couponPlans.map(it => [it.code, builder.addCoupon(it)]));
  const productNames = Object.values(state.products).map(it => it.name);
  addPastOrders(builder, productNames, coupons);
  addOpenOrders(builder, productNames);
  addReviews(builder, productNames);
  addWishes(builder, productNames);
  for (const [name, quantity] of [
    ["Insulated bottle", 2],
    ["Dotted notebook", 3],
    ["Bamboo cutting board", 1],
    ["Head torch", 1],
  ] as const)
    builder.addCartLine(name, quantity);
  state.cart.coupon = coupons.get("SPRING10")!;
}

/** Some products with quantities; a quarter of them cost more when they were ordered. */
const pickItems = (builder: ShoppingBuilder, productNames: readonly string[], n: number) => {
  const { random } = builder.context;
  return random
    .shuffle(productNames)
    .slice(0, n)
    .map(name => {
      const quantity = random.pickWeighted([1, 2, 3], it => [0, 8, 3, 1][it]!);
      const price = random.boolean(0.25) ? getEarlierPrice(builder, name) : undefined;
      return [name, quantity, price] as const;
    });
};

/** Adds delivered and cancelled orders, some with coupons and returns. */
function addPastOrders(
  builder: ShoppingBuilder,
  productNames: readonly string[],
  coupons: ReadonlyMap<string, string>,
): void {
  const { random } = builder.context;
  const days = [
    214, 201, 188, 176, 163, 155, 147, 139, 128, 117, 108, 99, 90, 83, 76, 68, 61, 54, 47, 40, 33,
    29, 26, 22, 19, 16, 13, 10, 8,
  ];
  for (const [i, daysAgo] of days.entries()) {
    const coupon =
      daysAgo === 188
        ? "APP5"
        : daysAgo === 54
          ? "NEWYEAR20"
          : daysAgo === 22
            ? "BDAY15"
            : undefined;
    const stage = i % 7 === 5 ? "cancelled" : "delivered";
    const bought = coupon
      ? ([
          ["Record player", 1],
          ["Moka pot", 1],
        ] as const)
      : pickItems(builder, productNames, 1 + random.integer(4));
    const key = builder.addOrder(daysAgo, stage, bought, {
      express: random.boolean(0.2),
      ...(coupon ? { coupon: coupons.get(coupon)! } : {}),
      pay_with: random.pickWeighted(["card", "store_credit", "on_delivery"] as const, it =>
        it === "card" ? 6 : 1,
      ),
    });
    if (stage === "delivered" && i % 6 === 2)
      builder.addReturn(
        key,
        Math.max(1, daysAgo - 9),
        random.pick(["damaged", "does_not_fit", "not_as_described"] as const),
        daysAgo > 30 ? "refunded" : "requested",
      );
  }
}

/** Adds orders that were shipped or are being processed. */
function addOpenOrders(builder: ShoppingBuilder, productNames: readonly string[]): void {
  const { random } = builder.context;
  for (const [daysAgo, express] of [
    [3, false],
    [3, false],
    [2, false],
    [1, true],
  ] as const)
    builder.addOrder(daysAgo, "shipped", pickItems(builder, productNames, 1 + random.integer(3)), {
      express,
    });
  for (const [daysAgo, pay_with] of [
    [1, "card"],
    [1, "store_credit"],
    [0, "on_delivery"],
    [0, "card"],
  ] as const)
    builder.addOrder(
      daysAgo,
      "processing",
      pickItems(builder, productNames, 1 + random.integer(3)),
      { pay_with },
    );
}

/** Adds reviews by friends and colleagues, and by the user of delivered products. */
function addReviews(builder: ShoppingBuilder, productNames: readonly string[]): void {
  const { context, state } = builder;
  const { random, cast } = context;
  const authors = [...cast.friends, ...cast.colleagues].map(it => it.name);
  for (const name of random.shuffle(productNames).slice(0, 26))
    for (const author of random.shuffle(authors).slice(0, 1 + random.integer(4)))
      builder.addReview(
        name,
        author,
        random.pickWeighted([1, 2, 3, 4, 5], it => [0, 1, 2, 3, 6, 7][it]!),
        3 + random.integer(300),
      );
  const bought = new Set(
    Object.values(state.orders)
      .filter(it => it.delivered)
      .flatMap(it => Object.values(it.items).map(item => state.products[item.product_id]!.name)),
  );
  for (const name of random.shuffle([...bought]).slice(0, 7))
    builder.addReview(name, cast.user.name, 3 + random.integer(3), 2 + random.integer(90));
}

/** Adds products to the wish list; a third of them cost more when they were added. */
function addWishes(builder: ShoppingBuilder, productNames: readonly string[]): void {
  const { context, state } = builder;
  const wishedNames = context.random
    .shuffle(
      productNames.filter(it => state.products[builder.getProductId(it)]!.status === "active"),
    )
    .slice(0, 7);
  for (const [i, name] of wishedNames.entries())
    builder.addWish(name, 3 + 9 * i, i % 3 === 1 ? getEarlierPrice(builder, name) : undefined);
}

/** The price of a product before it was reduced. */
const getEarlierPrice = (builder: ShoppingBuilder, name: string) =>
  Math.round(builder.state.products[builder.getProductId(name)]!.price * 11) / 10;

function* findContradictions(state: ShoppingState, cast: SharedCast): Generator<string> {
  if (state.customer !== cast.user.name || state.address !== cast.getPlace("home").address)
    yield `${state.customer} at ${state.address} is not the user of the shared cast`;
  const { products, orders, coupons } = state;
  const names = Object.values(products).map(it => it.name);
  for (const it of names)
    if (names.some(other => other !== it && other.toLowerCase().includes(it.toLowerCase())))
      yield `the name ${it} is part of another product's`;
  for (const [key, it] of Object.entries(products))
    if (!Object.hasOwn(state.categories, it.category_id))
      yield `product ${key} is of category ${it.category_id}, which does not exist`;
  for (const product of [
    ...Object.values(state.reviews).map(it => it.product_id),
    ...Object.values(state.cart.lines).map(it => it.product_id),
    ...Object.keys(state.wishes),
  ])
    if (!Object.hasOwn(products, product)) yield `there is no product ${product}`;
  if (Object.keys(state.wishes).length > state.terms.most_wishes) yield "the wish list is too long";
  for (const [key, it] of Object.entries(state.cart.lines))
    if (it.quantity > products[it.product_id]!.stock)
      yield `there is not enough for cart line ${key}`;
  if (
    state.cart.coupon !== undefined &&
    findCouponProblem(state, coupons[state.cart.coupon]!, cast.now.slice(0, 10))
  )
    yield "the cart's coupon does not count";
  for (const [key, it] of Object.entries(coupons))
    if (it.used !== Object.values(orders).some(order => order.coupon === key && !order.cancelled))
      yield `coupon ${it.code} ${it.used ? "was used by no order" : "is in an order and not used"}`;
  yield* findOrderContradictions(state, cast);
}

function* findOrderContradictions(
  { orders, products, returns, reviews, customer }: ShoppingState,
  cast: SharedCast,
): Generator<string> {
  const delivered = new Set<string>();
  for (const [key, it] of Object.entries(orders)) {
    if (it.placed > cast.now) yield `order ${key} is to come`;
    const times = [it.placed, it.shipped, it.delivered].filter(time => time !== undefined);
    if (times.some((time, i) => time > (times[i + 1] ?? cast.now)))
      yield `order ${key} has its times in the wrong order`;
    if (it.discount > sumGoods(Object.values(it.items)))
      yield `order ${key} takes off more than it comes to`;
    for (const item of Object.values(it.items)) {
      if (!Object.hasOwn(products, item.product_id))
        yield `order ${key} has ${item.product_id}, which is no product`;
      if (getOrderStatus(it) === "delivered") delivered.add(item.product_id);
    }
  }
  for (const [key, it] of Object.entries(returns)) {
    const order = Object.values(orders).find(row => Object.hasOwn(row.items, it.item_id));
    if (!order?.delivered || it.at < order.delivered || it.at > cast.now)
      yield `return ${key} is of something that was not delivered by then`;
  }
  for (const it of Object.values(reviews))
    if (it.author === customer && !delivered.has(it.product_id))
      yield `${customer} reviews ${it.product_id}, which was never delivered`;
}

export const generator = defineGenerator<ShoppingState>({
  server,
  generate,
  findInconsistencies: (state, _states, cast) => [...findContradictions(state, cast)],
});
