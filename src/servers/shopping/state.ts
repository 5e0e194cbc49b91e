/**
 * What an online shop keeps for one customer: products with stock and reviews, a cart, coupons, a
 * wish list, orders and returns; and what a cart comes to. How an order stands follows from the
 * times it has.
 */
import { z } from "zod";
import { cents, day, minute, money } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse } from "../../environment/server.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";

export const payments = ["card", "store_credit", "on_delivery"] as const;
export const deliveries = ["standard", "express"] as const;
export const reasons = [
  "damaged",
  "wrong_item",
  "not_as_described",
  "does_not_fit",
  "changed_mind",
] as const;

const quantity = z.int().min(1).max(99);

const Product = z.strictObject({
  name: z.string().min(1).max(80),
  brand: z.string(),
  category_id: z.string(),
  price: money(),
  stock: z.int().min(0).max(9999),
  /** The most that one order may have of it. */
  limit: quantity,
  status: z.enum(["active", "discontinued"]),
  /** Hygiene articles and food cannot be sent back. */
  returnable: z.boolean(),
  /** Day on which new stock comes in, where that is known. */
  restock: day().optional(),
  features: z.record(z.string(), z.string()),
});
export type Product = z.infer<typeof Product>;

const Review = z.strictObject({
  product_id: z.string(),
  author: z.string(),
  stars: z.int().min(1).max(5),
  title: z.string(),
  text: z.string(),
  date: day(),
});

const Coupon = z.strictObject({
  code: z.string().regex(/^[A-Z0-9]{4,16}$/),
  title: z.string(),
  kind: z.enum(["percent", "amount", "free_delivery"]),
  /** Per cent or euros; nothing for free delivery. */
  value: z.number().min(0).max(500),
  /** What the cart has to come to. */
  minimum: z.number().min(0).max(10_000),
  /** Where it counts for one category alone. */
  category_id: z.string().optional(),
  starts: day(),
  expires: day(),
  used: z.boolean(),
});
export type Coupon = z.infer<typeof Coupon>;

const Line = z.strictObject({ product_id: z.string(), quantity });

const Order = z.strictObject({
  /** As it stands on the invoice. */
  number: z.int().min(1),
  placed: minute(),
  shipped: minute().optional(),
  delivered: minute().optional(),
  cancelled: minute().optional(),
  expected: day(),
  delivery: z.enum(deliveries),
  pay_with: z.enum(payments),
  items: z.record(z.string(), z.strictObject({ product_id: z.string(), quantity, price: money() })),
  coupon: z.string().optional(),
  discount: cents(),
  delivery_fee: cents(),
  parcel: z.string().optional(),
});
export type Order = z.infer<typeof Order>;

const Return = z.strictObject({
  item_id: z.string(),
  quantity,
  reason: z.enum(reasons),
  at: minute(),
  refund: cents(),
  status: z.enum(["requested", "refunded"]),
});

export const Shop = z.strictObject({
  customer: z.string(),
  address: z.string(),
  store_credit: cents(),
  terms: z.strictObject({
    delivery_fee: money(),
    express_fee: money(),
    free_delivery_from: money(),
    cash_limit: money(),
    return_days: z.int().min(1).max(365),
    most_wishes: z.int().min(1).max(99),
  }),
  categories: z.record(z.string(), z.strictObject({ name: z.string() })),
  products: z.record(z.string(), Product),
  reviews: z.record(z.string(), Review),
  coupons: z.record(z.string(), Coupon),
  cart: z.strictObject({ lines: z.record(z.string(), Line), coupon: z.string().optional() }),
  /** By product: what it cost when it was put there. */
  wishes: z.record(z.string(), z.strictObject({ added: day(), price: money() })),
  orders: z.record(z.string(), Order),
  returns: z.record(z.string(), Return),
});
export type Shop = z.infer<typeof Shop>;

export const productOf = (shop: Pick<Shop, "products">, productId: string) =>
  findEntity(shop.products, productId, "product", "shopping_search_products gives the ids");
export const orderOf = (shop: Pick<Shop, "orders">, orderId: string) =>
  findEntity(shop.orders, orderId, "order", "shopping_list_orders gives the ids");

export const statusOf = (order: Order): "processing" | "shipped" | "delivered" | "cancelled" =>
  order.cancelled
    ? "cancelled"
    : order.delivered
      ? "delivered"
      : order.shipped
        ? "shipped"
        : "processing";

/** A product's mean rating in tenths, or nothing where nobody has reviewed it. */
export function ratingsOf(reviews: Shop["reviews"]): (productId: string) => number | undefined {
  const stars = new Map<string, number[]>();
  for (const it of Object.values(reviews))
    stars.set(it.product_id, [...(stars.get(it.product_id) ?? []), it.stars]);
  return productId => {
    const all = stars.get(productId);
    return all && Math.round((10 * all.reduce((a, b) => a + b, 0)) / all.length) / 10;
  };
}

/** What the goods of an order or a cart come to. */
export const goodsOf = (items: readonly { readonly quantity: number; readonly price: number }[]) =>
  sumAmounts(items.map(it => it.quantity * it.price));
export const totalOf = (order: Order) =>
  roundToCents(goodsOf(Object.values(order.items)) - order.discount + order.delivery_fee);

export interface Sums {
  readonly goods: number;
  readonly discount: number;
  readonly delivery_fee: number;
  readonly total: number;
}

/** What a cart comes to, with its coupon, at a way of delivery. */
export function sumsOf(
  { products, coupons, cart, terms }: Pick<Shop, "products" | "coupons" | "cart" | "terms">,
  delivery: Order["delivery"] = "standard",
): Sums {
  const lines = Object.values(cart.lines);
  const priced = lines.map(it => ({
    quantity: it.quantity,
    price: products[it.product_id]!.price,
    category_id: products[it.product_id]!.category_id,
  }));
  const goods = goodsOf(priced);
  const coupon = cart.coupon === undefined ? undefined : coupons[cart.coupon];
  const counting = goodsOf(
    priced.filter(it => !coupon?.category_id || it.category_id === coupon.category_id),
  );
  const discount = !coupon
    ? 0
    : coupon.kind === "percent"
      ? roundToCents((counting * coupon.value) / 100)
      : coupon.kind === "amount"
        ? Math.min(coupon.value, counting)
        : 0;
  const isFree =
    lines.length === 0 ||
    (delivery === "standard" &&
      (goods >= terms.free_delivery_from || coupon?.kind === "free_delivery"));
  const delivery_fee = isFree ? 0 : delivery === "express" ? terms.express_fee : terms.delivery_fee;
  return { goods, discount, delivery_fee, total: roundToCents(goods - discount + delivery_fee) };
}

/**
 * What keeps a coupon from counting for this cart on this day: an error type and the words for it.
 */
export function flawOf(
  shop: Pick<Shop, "products" | "categories" | "cart" | "terms">,
  coupon: Coupon,
  today: string,
): readonly ["conflict" | "precondition_failed", string, string] | undefined {
  const choose = "shopping_list_coupons shows which ones can be used now";
  if (coupon.used) return ["conflict", `coupon ${coupon.code} was already used`, choose];
  if (coupon.expires < today)
    return ["precondition_failed", `coupon ${coupon.code} expired on ${coupon.expires}`, choose];
  if (coupon.starts > today)
    return [
      "precondition_failed",
      `coupon ${coupon.code} is valid from ${coupon.starts} on, today is ${today}`,
      choose,
    ];
  const lines = Object.values(shop.cart.lines).map(it => ({
    ...shop.products[it.product_id]!,
    quantity: it.quantity,
  }));
  const counting = lines.filter(it => !coupon.category_id || it.category_id === coupon.category_id);
  const goods = goodsOf(counting);
  const where = coupon.category_id ? ` in ${shop.categories[coupon.category_id]!.name}` : "";
  if (goods < coupon.minimum || counting.length === 0)
    return [
      "precondition_failed",
      `coupon ${coupon.code} needs goods for ${coupon.minimum || "some amount"}${where}, the cart has ${goods}`,
      "shopping_add_to_cart can add more",
    ];
  const { free_delivery_from } = shop.terms;
  if (coupon.kind === "free_delivery" && goods >= free_delivery_from)
    return [
      "precondition_failed",
      `coupon ${coupon.code} would take nothing off: delivery costs nothing from ${free_delivery_from} on, the cart has ${goods}`,
      choose,
    ];
  return undefined;
}

/** Turns down a quantity of a product that the shop would not sell. */
export function sellable(productId: string, product: Product, wanted: number): void {
  const called = `${product.name} (${productId})`;
  if (product.status === "discontinued")
    refuse(
      "precondition_failed",
      `${called} is no longer sold`,
      "shopping_get_recommendations finds something like it",
    );
  if (product.stock === 0)
    refuse(
      "precondition_failed",
      `${called} is out of stock${product.restock ? ` until ${product.restock}` : ""}`,
      "shopping_add_to_wishlist keeps it in mind, shopping_get_recommendations finds something like it",
    );
  if (wanted > product.limit)
    refuse(
      "limit_exceeded",
      `an order may have at most ${product.limit} of ${called}, ${wanted} is more`,
      `choose ${product.limit} or fewer`,
    );
  if (wanted > product.stock)
    refuse(
      "precondition_failed",
      `only ${product.stock} of ${called} are in stock, ${wanted} wanted`,
      `choose ${product.stock} or fewer`,
    );
}

/** The order that holds an item, by the item's id. */
export function itemOf(
  orders: Shop["orders"],
  itemId: string,
): { readonly orderId: string; readonly order: Order; readonly item: Order["items"][string] } {
  const found = Object.entries(orders).find(([, it]) => Object.hasOwn(it.items, itemId));
  if (!found)
    return refuse(
      "not_found",
      `there is no order item ${itemId}`,
      "shopping_get_order lists an order's items with their ids",
    );
  return { orderId: found[0], order: found[1], item: found[1].items[itemId]! };
}
