/**
 * The online shop of a world: its goods, what people wrote of them, and what the user of the canon
 * has ordered, wished for and put into the cart. Orders go to the user's own home.
 */
import type { SharedCast } from "../shared/cast.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import { couponPlans } from "./generateValues.ts";
import { flawOf, goodsOf, server, statusOf, type ShoppingWorld } from "./server.ts";
import { ShopBuilder, smallCoupons } from "./shopBuilder.ts";

function generate(context: GeneratorContext): ShoppingWorld {
  const shelves = new ShopBuilder(context);
  shelves.stock();
  if (context.size === "small") smallHistory(shelves);
  else fullHistory(shelves);
  return shelves.state;
}

function smallHistory(shelves: ShopBuilder): void {
  const { user, friends } = shelves.context.cast;
  const coupons = new Map(
    couponPlans
      .filter(it => smallCoupons.includes(it.code))
      .map(it => [it.code, shelves.coupon(it)]),
  );
  shelves.order(75, "delivered", [
    ["Laptop stand", 1, 36],
    ["Earbuds", 1],
  ]);
  const recent = shelves.order(
    20,
    "delivered",
    [
      ["Moka pot", 2],
      ["LED desk lamp", 1],
    ],
    { coupon: coupons.get("THANKS8")! },
  );
  shelves.order(12, "cancelled", [["Cast iron pan", 1]]);
  shelves.order(3, "shipped", [["Mechanical keyboard", 1]]);
  shelves.order(
    1,
    "processing",
    [
      ["Cast iron pan", 1],
      ["Earbuds", 1],
    ],
    { pay_with: "store_credit" },
  );
  shelves.return(recent, 5, "damaged", "requested");
  shelves.review("Moka pot", friends[2]!.name, 5, 40);
  shelves.review("Moka pot", friends[3]!.name, 4, 9);
  shelves.review("Laptop stand", user.name, 4, 60);
  shelves.review("Cast iron pan", friends[4]!.name, 2, 30);
  shelves.wish("Ceramic coffee grinder", 25, 42);
  shelves.wish("Chef's knife", 4);
  shelves.inCart("LED desk lamp", 1);
  shelves.inCart("Moka pot", 2);
}

function fullHistory(shelves: ShopBuilder): void {
  const { context, state } = shelves;
  const { random, cast } = context;
  const coupons = new Map(couponPlans.map(it => [it.code, shelves.coupon(it)]));
  const sold = Object.values(state.products).map(it => it.name);
  const some = (n: number) =>
    random
      .shuffle(sold)
      .slice(0, n)
      .map(
        name =>
          [
            name,
            random.pickWeighted([1, 2, 3], it => [0, 8, 3, 1][it]!),
            random.boolean(0.25) ? older(state.products[shelves.product(name)]!.price) : undefined,
          ] as const,
      );
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
      : some(1 + random.integer(4));
    const key = shelves.order(daysAgo, stage, bought, {
      express: random.boolean(0.2),
      ...(coupon ? { coupon: coupons.get(coupon)! } : {}),
      pay_with: random.pickWeighted(["card", "store_credit", "on_delivery"] as const, it =>
        it === "card" ? 6 : 1,
      ),
    });
    if (stage === "delivered" && i % 6 === 2)
      shelves.return(
        key,
        Math.max(1, daysAgo - 9),
        random.pick(["damaged", "does_not_fit", "not_as_described"] as const),
        daysAgo > 30 ? "refunded" : "requested",
      );
  }
  for (const [daysAgo, express] of [
    [3, false],
    [3, false],
    [2, false],
    [1, true],
  ] as const)
    shelves.order(daysAgo, "shipped", some(1 + random.integer(3)), { express });
  for (const [daysAgo, pay_with] of [
    [1, "card"],
    [1, "store_credit"],
    [0, "on_delivery"],
    [0, "card"],
  ] as const)
    shelves.order(daysAgo, "processing", some(1 + random.integer(3)), { pay_with });
  const authors = [...cast.friends, ...cast.colleagues].map(it => it.name);
  for (const name of random.shuffle(sold).slice(0, 26))
    for (const author of random.shuffle(authors).slice(0, 1 + random.integer(4)))
      shelves.review(
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
    shelves.review(name, cast.user.name, 3 + random.integer(3), 2 + random.integer(90));
  const wished = random
    .shuffle(sold.filter(it => state.products[shelves.product(it)]!.status === "active"))
    .slice(0, 7);
  for (const [i, name] of wished.entries())
    shelves.wish(
      name,
      3 + 9 * i,
      i % 3 === 1 ? older(state.products[shelves.product(name)]!.price) : undefined,
    );
  for (const [name, quantity] of [
    ["Insulated bottle", 2],
    ["Dotted notebook", 3],
    ["Bamboo cutting board", 1],
    ["Head torch", 1],
  ] as const)
    shelves.inCart(name, quantity);
  state.cart.coupon = coupons.get("SPRING10")!;
}

/** What something cost before it was made cheaper. */
const older = (price: number) => Math.round(price * 11) / 10;

function* contradictions(state: ShoppingWorld, cast: SharedCast): Generator<string> {
  if (state.customer !== cast.user.name || state.address !== cast.getPlace("home").address)
    yield `${state.customer} at ${state.address} is not whom the world is about`;
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
    flawOf(state, coupons[state.cart.coupon]!, cast.now.slice(0, 10))
  )
    yield "the cart's coupon does not count";
  for (const [key, it] of Object.entries(coupons))
    if (it.used !== Object.values(orders).some(order => order.coupon === key && !order.cancelled))
      yield `coupon ${it.code} ${it.used ? "was used by no order" : "is in an order and not used"}`;
  yield* badOrders(state, cast);
}

function* badOrders(
  { orders, products, returns, reviews, customer }: ShoppingWorld,
  cast: SharedCast,
): Generator<string> {
  const delivered = new Set<string>();
  for (const [key, it] of Object.entries(orders)) {
    if (it.placed > cast.now) yield `order ${key} is to come`;
    const times = [it.placed, it.shipped, it.delivered].filter(time => time !== undefined);
    if (times.some((time, i) => time > (times[i + 1] ?? cast.now)))
      yield `order ${key} has its times in the wrong order`;
    if (it.discount > goodsOf(Object.values(it.items)))
      yield `order ${key} takes off more than it comes to`;
    for (const item of Object.values(it.items)) {
      if (!Object.hasOwn(products, item.product_id))
        yield `order ${key} has ${item.product_id}, which is no product`;
      if (statusOf(it) === "delivered") delivered.add(item.product_id);
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

export const generator = defineGenerator<ShoppingWorld>({
  server,
  generate,
  findInconsistencies: (state, _world, cast) => [...contradictions(state, cast)],
});
