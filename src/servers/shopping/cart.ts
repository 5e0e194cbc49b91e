/**
 * The tools for what is to be bought: the cart, coupons, the wish list, and checkout, which makes
 * an order of the cart.
 */
import { z } from "zod";
import { cents, day, id, label, spokenId } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import {
  findEntity,
  refuse,
  createToolFactory,
  type ToolContext,
} from "../../environment/server.ts";
import { addDays } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { productId } from "./browsing.ts";
import {
  deliveries,
  flawOf,
  payments,
  productOf,
  sellable,
  Shop,
  sumsOf,
  type Order,
} from "./state.ts";

const mostLines = 20;
const lineId = id("cart_line").describe("Line id, as shopping_get_cart gives it");
const quantity = z.int().min(1).max(99);
const sums = { goods: cents(), discount: cents(), delivery_fee: cents(), total: cents() };

const tool = createToolFactory(Shop);

const lineOf = (shop: Shop, line: string) =>
  findEntity(
    shop.cart.lines,
    line,
    "cart line",
    "shopping_get_cart gives the ids of what is in the cart",
  );

/** Takes the coupon off a cart that no longer earns it, and says why. */
function settleCoupon(shop: Shop, now: string): { coupon_removed?: string } {
  const { coupon } = shop.cart;
  const flaw =
    coupon === undefined ? undefined : flawOf(shop, shop.coupons[coupon]!, now.slice(0, 10));
  if (!flaw) return {};
  delete shop.cart.coupon;
  return { coupon_removed: flaw[1] };
}

const cartTools = {
  add_to_cart: tool({
    effect: "write",
    summary:
      "Put a quantity of a product into the cart, on top of what the cart has of it. It leaves the wish list.",
    input: {
      product_id: productId,
      quantity: quantity
        .optional()
        .describe("How many, 1 if not given")
        .meta({ examples: [1, 2, 2, 3, 4, 5, 6] }),
    },
    returns: {
      product: label("cart_line"),
      line_id: id("cart_line"),
      product_id: id("product"),
      quantity: z.int().describe("What the cart has of it now"),
      goods: cents().describe("All goods in the cart"),
    },
    run(shop, { product_id, quantity: more = 1 }, { newId }) {
      const product = productOf(shop, product_id);
      const known = Object.entries(shop.cart.lines).find(([, it]) => it.product_id === product_id);
      const all = more + (known?.[1].quantity ?? 0);
      sellable(product_id, product, all);
      if (!known && Object.keys(shop.cart.lines).length >= mostLines)
        refuse(
          "limit_exceeded",
          `the cart has ${mostLines} different products already, which is the most`,
          "check out first, or remove something",
        );
      const line_id = known?.[0] ?? newId("line");
      if (known) known[1].quantity = all;
      else shop.cart.lines[line_id] = { product_id, quantity: all };
      delete shop.wishes[product_id];
      return {
        product: product.name,
        line_id,
        product_id,
        quantity: all,
        goods: sumsOf(shop).goods,
      };
    },
  }),
  update_cart_item: tool({
    effect: "write",
    summary:
      "Set how many of a product the cart shall have. A coupon that the cart no longer earns comes off.",
    idempotent: true,
    input: {
      line_id: lineId,
      quantity: quantity.describe("The new quantity").meta({ examples: [1, 2, 3, 4, 5, 6] }),
    },
    returns: {
      product: label("cart_line"),
      line_id: id("cart_line"),
      quantity: z.int(),
      goods: cents(),
      coupon_removed: z.string().optional(),
    },
    run(shop, { line_id, quantity: wanted }, { now }) {
      const line = lineOf(shop, line_id);
      const product = shop.products[line.product_id]!;
      if (line.quantity === wanted)
        refuse(
          "conflict",
          `the cart has ${wanted} of ${product.name} (${line_id}) already`,
          "choose another quantity",
        );
      sellable(line.product_id, product, wanted);
      line.quantity = wanted;
      const settled = settleCoupon(shop, now);
      return {
        product: product.name,
        line_id,
        quantity: wanted,
        goods: sumsOf(shop).goods,
        ...settled,
      };
    },
  }),
  remove_from_cart: tool({
    effect: "write",
    summary: "Take one product out of the cart. A coupon that the cart no longer earns comes off.",
    destructive: true,
    input: { line_id: lineId },
    returns: {
      removed: z.string(),
      lines_left: z.int(),
      goods: cents(),
      coupon_removed: z.string().optional(),
    },
    run(shop, { line_id }, { now }) {
      const line = lineOf(shop, line_id);
      delete shop.cart.lines[line_id];
      const settled = settleCoupon(shop, now);
      return {
        removed: shop.products[line.product_id]!.name,
        lines_left: Object.keys(shop.cart.lines).length,
        goods: sumsOf(shop).goods,
        ...settled,
      };
    },
  }),
  get_cart: tool({
    effect: "read",
    summary:
      "Show the cart: its lines, its coupon, what goods and standard delivery come to, and the store credit that could pay for it.",
    input: {
      product: label("cart_line")
        .optional()
        .describe(
          "Only lines of products whose name contains this; the sums are still those of the whole cart",
        ),
    },
    returns: {
      lines: z.array(
        z.object({
          product: label("cart_line"),
          line_id: id("cart_line"),
          quantity: z.int(),
          price: cents(),
          amount: cents(),
          problem: z.string().optional(),
        }),
      ),
      coupon: z.string().optional(),
      ...sums,
      store_credit: cents(),
    },
    run(shop, { product }) {
      const rows = Object.entries(shop.cart.lines).map(([line_id, it]) => {
        const { name, price, stock, status } = shop.products[it.product_id]!;
        const problem =
          status === "discontinued"
            ? "no longer sold"
            : stock < it.quantity
              ? stock === 0
                ? "out of stock"
                : `only ${stock} in stock`
              : undefined;
        return {
          product: name,
          line_id,
          quantity: it.quantity,
          price,
          amount: roundToCents(it.quantity * price),
          ...(problem ? { problem } : {}),
        };
      });
      const coupon =
        shop.cart.coupon === undefined ? {} : { coupon: shop.coupons[shop.cart.coupon]!.code };
      return {
        lines: rows.filter(it => !product || containsText(it.product, product)),
        ...coupon,
        ...sumsOf(shop),
        store_credit: shop.store_credit,
      };
    },
  }),
  clear_cart: tool({
    effect: "write",
    summary: "Take everything out of the cart at once, its coupon too.",
    destructive: true,
    input: {},
    returns: { removed: z.int().describe("How many different products the cart had") },
    run(shop) {
      const removed = Object.keys(shop.cart.lines).length;
      if (removed === 0)
        refuse(
          "precondition_failed",
          "the cart is empty already",
          "shopping_add_to_cart puts something in",
        );
      shop.cart = { lines: {} };
      return { removed };
    },
  }),
};

const couponTools = {
  list_coupons: tool({
    effect: "read",
    summary:
      "List the customer's coupons with what each takes off, from which amount, until when, and whether the cart as it is can use it.",
    input: {
      title: label("coupon").optional().describe("Only coupons whose title contains this"),
      usable: z.boolean().optional().describe("True for only those that the cart can use now"),
    },
    returns: {
      coupons: z.array(
        z.object({
          title: label("coupon"),
          code: spokenId("coupon"),
          minimum: cents(),
          expires: day(),
          status: z.enum(["usable", "used", "expired", "not_usable_yet"]),
        }),
      ),
    },
    run(shop, { title, usable }, { now }) {
      const today = now.slice(0, 10);
      const rows = Object.values(shop.coupons).map(it => {
        const status = it.used
          ? "used"
          : it.expires < today
            ? "expired"
            : flawOf(shop, it, today)
              ? "not_usable_yet"
              : "usable";
        return {
          title: it.title,
          code: it.code,
          minimum: it.minimum,
          expires: it.expires,
          status,
        } as const;
      });
      return {
        coupons: rows.filter(
          it =>
            (!title || containsText(it.title, title)) &&
            (usable === undefined || (it.status === "usable") === usable),
        ),
      };
    },
  }),
  apply_coupon: tool({
    effect: "write",
    summary:
      "Use a coupon for the cart, by its code. It takes the place of the one that the cart has.",
    idempotent: true,
    input: {
      code: spokenId("coupon").describe(
        "Code of the coupon, as it stands on it or as shopping_list_coupons gives it",
      ),
    },
    returns: {
      title: label("coupon"),
      code: spokenId("coupon"),
      ...sums,
      replaced: z.string().optional().describe("Code of the coupon that came off"),
    },
    run(shop, { code }, { now }) {
      const found = Object.entries(getOriginal(shop).coupons).find(
        ([, it]) => it.code === code.trim().toUpperCase(),
      );
      if (!found)
        return refuse(
          "not_found",
          `there is no coupon ${code}`,
          "shopping_list_coupons gives the codes",
        );
      const [key, coupon] = found;
      if (shop.cart.coupon === key)
        refuse(
          "conflict",
          `the cart has coupon ${coupon.code} already`,
          "shopping_get_cart shows what it takes off",
        );
      const flaw = flawOf(getOriginal(shop), coupon, now.slice(0, 10));
      if (flaw) refuse(...flaw);
      const replaced =
        shop.cart.coupon === undefined ? {} : { replaced: shop.coupons[shop.cart.coupon]!.code };
      shop.cart.coupon = key;
      return { title: coupon.title, code: coupon.code, ...sumsOf(shop), ...replaced };
    },
  }),
};

const buyingTools = {
  checkout: tool({
    effect: "write",
    summary:
      "Order what is in the cart, to the customer's own address. Stock and store credit go down, the coupon is used up, the cart is empty afterwards.",
    input: {
      pay_with: z.enum(payments).describe("The card on file, store credit, or cash on delivery"),
      delivery: z
        .enum(deliveries)
        .optional()
        .describe(
          "standard (4 days, free from an amount) or express (next day); standard if not given",
        ),
    },
    returns: {
      number: label("order"),
      order_id: id("order"),
      ...sums,
      expected: day(),
      address: z.string(),
      store_credit: cents(),
    },
    run(shop, { pay_with, delivery = "standard" }, context) {
      const lines = Object.values(getOriginal(shop).cart.lines);
      if (lines.length === 0)
        refuse(
          "precondition_failed",
          "the cart is empty",
          "shopping_add_to_cart puts something in",
        );
      for (const it of lines)
        sellable(it.product_id, getOriginal(shop).products[it.product_id]!, it.quantity);
      const { goods, discount, delivery_fee, total } = sumsOf(getOriginal(shop), delivery);
      if (pay_with === "store_credit" && total > shop.store_credit)
        refuse(
          "precondition_failed",
          `the order comes to ${total}, store credit is ${shop.store_credit}`,
          "pay with card, or remove something from the cart",
        );
      if (pay_with === "on_delivery" && total > shop.terms.cash_limit)
        refuse(
          "limit_exceeded",
          `the order comes to ${total}, on delivery at most ${shop.terms.cash_limit} can be paid`,
          "pay with card",
        );
      const [order_id, order] = placed(
        shop,
        { pay_with, delivery, discount, delivery_fee },
        context,
      );
      if (pay_with === "store_credit") shop.store_credit = roundToCents(shop.store_credit - total);
      return {
        number: String(order.number),
        order_id,
        goods,
        discount,
        delivery_fee,
        total,
        expected: order.expected,
        address: shop.address,
        store_credit: shop.store_credit,
      };
    },
  }),
};

/** Makes an order of the cart and empties it. */
function placed(
  shop: Shop,
  terms: Pick<Order, "pay_with" | "delivery" | "discount" | "delivery_fee">,
  { now, newId }: ToolContext,
): [string, Order] {
  const { cart, products, orders } = getOriginal(shop);
  const number = 1 + Math.max(1000, ...Object.values(orders).map(it => it.number));
  const items = Object.fromEntries(
    Object.values(cart.lines).map(it => [
      newId("item"),
      { product_id: it.product_id, quantity: it.quantity, price: products[it.product_id]!.price },
    ]),
  );
  const coupon = cart.coupon === undefined ? {} : { coupon: cart.coupon };
  const order: Order = {
    number,
    placed: now,
    expected: addDays(now, terms.delivery === "express" ? 1 : 4),
    ...terms,
    items,
    ...coupon,
  };
  const order_id = newId("ord");
  shop.orders[order_id] = order;
  for (const it of Object.values(items)) shop.products[it.product_id]!.stock -= it.quantity;
  if (cart.coupon !== undefined) shop.coupons[cart.coupon]!.used = true;
  shop.cart = { lines: {} };
  return [order_id, order];
}

export const wishing = {
  add_to_wishlist: tool({
    effect: "write",
    summary:
      "Remember a product on the wish list, with what it costs today. Sold out ones can be kept there too.",
    input: { product_id: productId },
    returns: {
      product: label("product"),
      product_id: id("product"),
      price: cents(),
      wishes: z.int().describe("How many products the wish list has now"),
    },
    run(shop, { product_id }, { now }) {
      const { name, price, status } = productOf(shop, product_id);
      const n = Object.keys(shop.wishes).length;
      if (status === "discontinued")
        refuse(
          "precondition_failed",
          `${name} (${product_id}) is no longer sold`,
          "shopping_get_recommendations finds something like it",
        );
      if (Object.hasOwn(shop.wishes, product_id))
        refuse(
          "conflict",
          `${name} is on the wish list already, since ${shop.wishes[product_id]!.added}`,
        );
      if (n >= shop.terms.most_wishes)
        refuse(
          "limit_exceeded",
          `the wish list is full with ${n} products`,
          "shopping_add_to_cart takes a product off it",
        );
      shop.wishes[product_id] = { added: now.slice(0, 10), price };
      return { product: name, product_id, price, wishes: n + 1 };
    },
  }),
  get_wishlist: tool({
    effect: "read",
    summary:
      "Show the wish list, last added first: what each product costs now and when it was added, and whether it can be had.",
    input: {
      product: label("product").optional().describe("Only products whose name contains this"),
      cheaper: z
        .boolean()
        .optional()
        .describe("True for only those that cost less than when they were added"),
    },
    returns: {
      products: z.array(
        z.object({
          product: label("product"),
          product_id: id("product"),
          price: cents(),
          price_then: cents(),
          added: day(),
          in_stock: z.boolean(),
        }),
      ),
    },
    run({ wishes, products }, { product, cheaper }) {
      const rows = Object.entries(wishes).map(([product_id, it]) => {
        const { name, price, stock, status } = products[product_id]!;
        return {
          product: name,
          product_id,
          price,
          price_then: it.price,
          added: it.added,
          in_stock: stock > 0 && status === "active",
        };
      });
      const found = rows.filter(
        it =>
          (!product || containsText(it.product, product)) &&
          (cheaper === undefined || it.price < it.price_then === cheaper),
      );
      return {
        products: found.sort((a, b) =>
          a.added === b.added ? (a.product < b.product ? -1 : 1) : a.added < b.added ? 1 : -1,
        ),
      };
    },
  }),
};

export const buying = { ...cartTools, ...couponTools, ...buyingTools };
