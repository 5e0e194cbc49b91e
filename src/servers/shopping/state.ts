/**
 * The state of an online shop for one customer: products with stock and reviews, a cart, coupons, a
 * wish list, orders and returns. The status of an order follows from its times.
 */
import { z } from "zod";
import { cents, day, minute, money, label, rowLimit } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse } from "../../environment/server.ts";
import { createTableFactory } from "../kit/table.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import { addDays } from "../../environment/time.ts";

export const payments = ["card", "store_credit", "on_delivery"] as const;
export const deliveries = ["standard", "express"] as const;
export const reasons = [
  "damaged",
  "wrong_item",
  "not_as_described",
  "does_not_fit",
  "changed_mind",
] as const;

export const quantity = z.int().min(1).max(99);

const Product = z.strictObject({
  name: z.string().min(1).max(80),
  brand: z.string(),
  category_id: z.string(),
  price: money(),
  stock: z.int().min(0).max(9999),
  /** The largest quantity in one order. */
  limit: quantity,
  status: z.enum(["active", "discontinued"]),
  /** False for hygiene articles and food. */
  returnable: z.boolean(),
  /** The day on which new stock arrives, if it is known. */
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
  /** Percent or euros; 0 for free delivery. */
  value: z.number().min(0).max(500),
  /** The smallest value of the cart. */
  minimum: z.number().min(0).max(10_000),
  /** The only category for which it is valid, if it is restricted. */
  category_id: z.string().optional(),
  starts: day(),
  expires: day(),
  used: z.boolean(),
});
export type Coupon = z.infer<typeof Coupon>;

const Line = z.strictObject({ product_id: z.string(), quantity });

const Order = z.strictObject({
  /** The number on the invoice. */
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

export const references = {
  "products.*.category_id": "categories",
  "reviews.*.product_id": "products",
  "coupons.*.category_id": "categories",
  "cart.lines.*.product_id": "products",
  "cart.coupon": "coupons",
  "wishes.@": "products",
  "orders.*.items.*.product_id": "products",
  "orders.*.coupon": "coupons",
  "returns.*.item_id": "orders.*.items",
} satisfies References;

export const ShoppingState = z.strictObject({
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
  /** By product, with its price when it was added. */
  wishes: z.record(z.string(), z.strictObject({ added: day(), price: money() })),
  orders: z.record(z.string(), Order),
  returns: z.record(z.string(), Return),
});
export type ShoppingState = z.infer<typeof ShoppingState>;

const table = createTableFactory(ShoppingState);
export const categories = table("categories", {
  entity: "category",
  idsFrom: "shopping_list_categories",
});
export const products = table("products", {
  entity: "product",
  idsFrom: "shopping_search_products",
});
export const coupons = table("coupons", { entity: "coupon", idsFrom: "shopping_list_coupons" });
export const orders = table("orders", { entity: "order", idsFrom: "shopping_list_orders" });

export const getOrderStatus = (
  order: Order,
): "processing" | "shipped" | "delivered" | "cancelled" =>
  order.cancelled
    ? "cancelled"
    : order.delivered
      ? "delivered"
      : order.shipped
        ? "shipped"
        : "processing";

/** The last day on which the items of a delivered order can be returned. */
export const getLastReturnDay = ({ terms }: ShoppingState, order: Order) =>
  order.delivered ? addDays(order.delivered, terms.return_days) : undefined;

/** Creates a look-up of mean ratings, rounded to tenths; undefined without reviews. */
export function createRatingLookup(
  reviews: ShoppingState["reviews"],
): (productId: string) => number | undefined {
  const stars = new Map<string, number[]>();
  for (const it of Object.values(reviews))
    stars.set(it.product_id, [...(stars.get(it.product_id) ?? []), it.stars]);
  return productId => {
    const all = stars.get(productId);
    return all && Math.round((10 * all.reduce((a, b) => a + b, 0)) / all.length) / 10;
  };
}

/** The value of the goods of an order or cart. */
export const sumGoods = (items: readonly { readonly quantity: number; readonly price: number }[]) =>
  sumAmounts(items.map(it => it.quantity * it.price));
export const computeTotal = (order: Order) =>
  roundToCents(sumGoods(Object.values(order.items)) - order.discount + order.delivery_fee);

/** The value of the goods in the cart, or of those of one category. */
export const sumCartGoods = ({ products, cart }: ShoppingState, categoryId?: string): number =>
  sumGoods(
    Object.values(cart.lines).flatMap(({ product_id, quantity }) => {
      const { price, category_id } = products[product_id]!;
      return categoryId === undefined || category_id === categoryId ? [{ quantity, price }] : [];
    }),
  );

/** The totals of the cart, with its coupon if it can be used this day, for a way of delivery. */
export function computeCartTotals(
  state: ShoppingState,
  today: string,
  delivery: Order["delivery"] = "standard",
) {
  const { cart, terms } = state;
  const goods = sumCartGoods(state);
  const cartCoupon = cart.coupon === undefined ? undefined : state.coupons[cart.coupon]!;
  const isUsable =
    cartCoupon && !findValidityProblem(cartCoupon, today) && !findMinimumProblem(state, cartCoupon);
  const coupon = isUsable ? cartCoupon : undefined;
  const discount = coupon ? computeDiscount(state, coupon) : 0;
  const isFree =
    Object.keys(cart.lines).length === 0 ||
    (delivery === "standard" &&
      (goods >= terms.free_delivery_from || coupon?.kind === "free_delivery"));
  const delivery_fee = isFree ? 0 : delivery === "express" ? terms.express_fee : terms.delivery_fee;
  return { goods, discount, delivery_fee, total: roundToCents(goods - discount + delivery_fee) };
}

/** What a coupon takes off the goods in the cart. */
function computeDiscount(state: ShoppingState, { kind, value, category_id }: Coupon): number {
  if (kind === "free_delivery") return 0;
  const eligible = sumCartGoods(state, category_id);
  return kind === "percent"
    ? roundToCents((eligible * Math.min(value, 100)) / 100)
    : Math.min(value, eligible);
}

/** The arguments of `refuse`. */
type Problem = readonly ["conflict" | "precondition_failed", string, string];

/** Why a coupon cannot be used on this day, whatever the cart has. */
export function findValidityProblem(
  coupon: Coupon,
  today: string,
  hint = "shopping_list_coupons shows which ones can be used now",
): Problem | undefined {
  if (coupon.used) return ["conflict", `coupon ${coupon.code} was already used`, hint];
  if (coupon.expires < today)
    return ["precondition_failed", `coupon ${coupon.code} expired on ${coupon.expires}`, hint];
  if (coupon.starts > today)
    return [
      "precondition_failed",
      `coupon ${coupon.code} is valid from ${coupon.starts} on, today is ${today}`,
      hint,
    ];
  return undefined;
}

/** Why the cart has not enough goods for a coupon. */
export function findMinimumProblem(state: ShoppingState, coupon: Coupon): Problem | undefined {
  const goods = sumCartGoods(state, coupon.category_id);
  // every product costs something
  if (goods >= coupon.minimum && goods > 0) return undefined;
  const where = coupon.category_id ? ` in ${state.categories[coupon.category_id]!.name}` : "";
  return [
    "precondition_failed",
    `coupon ${coupon.code} needs goods for ${coupon.minimum || "some amount"}${where}, the cart has ${goods}`,
    "shopping_add_to_cart can add more",
  ];
}

/** Why a coupon cannot be used for the cart on this day. */
export function findCouponProblem(
  state: ShoppingState,
  coupon: Coupon,
  today: string,
): Problem | undefined {
  const problem = findValidityProblem(coupon, today) ?? findMinimumProblem(state, coupon);
  if (problem) return problem;
  const goods = sumCartGoods(state, coupon.category_id);
  const { free_delivery_from } = state.terms;
  if (coupon.kind === "free_delivery" && goods >= free_delivery_from)
    return [
      "precondition_failed",
      `coupon ${coupon.code} would take nothing off: delivery costs nothing from ${free_delivery_from} on, the cart has ${goods}`,
      "shopping_list_coupons shows which ones can be used now",
    ];
  return undefined;
}

/** Refuses a discontinued product. */
export function requireActive(productId: string, { name, status }: Product): void {
  if (status === "discontinued")
    refuse(
      "precondition_failed",
      `${name} (${productId}) is no longer sold`,
      "shopping_get_recommendations finds something like it",
    );
}

/** Refuses a quantity of a product that the shop cannot sell. */
export function requireSellable(productId: string, product: Product, quantity: number): void {
  const description = `${product.name} (${productId})`;
  requireActive(productId, product);
  if (product.stock === 0)
    refuse(
      "precondition_failed",
      `${description} is out of stock${product.restock ? ` until ${product.restock}` : ""}`,
      "shopping_add_to_wishlist keeps it in mind, shopping_get_recommendations finds something like it",
    );
  if (quantity > product.limit)
    refuse(
      "limit_exceeded",
      `an order may have at most ${product.limit} of ${description}, ${quantity} is more`,
      `choose ${product.limit} or fewer`,
    );
  if (quantity > product.stock)
    refuse(
      "precondition_failed",
      `only ${product.stock} of ${description} are in stock, ${quantity} wanted`,
      `choose ${product.stock} or fewer`,
    );
}

/** The order item with that id, and its order. */
export function findOrderItem(
  orders: ShoppingState["orders"],
  itemId: string,
): { readonly orderId: string; readonly order: Order; readonly item: Order["items"][string] } {
  const match = Object.entries(orders).find(([, it]) => Object.hasOwn(it.items, itemId));
  if (!match)
    return refuse(
      "not_found",
      `there is no order item ${itemId}`,
      "shopping_get_order lists an order's items with their ids",
    );
  return { orderId: match[0], order: match[1], item: match[1].items[itemId]! };
}

export const limit = rowLimit(10);

export const totalFields = {
  goods: cents(),
  discount: cents(),
  delivery_fee: cents(),
  total: cents(),
};

export const orderRow = orders.fields({
  number: [label("order"), it => String(it.number)],
  order_id: orders.idField,
});
