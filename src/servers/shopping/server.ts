/**
 * The shopping server: an online shop, as one customer sees it. Also its rules, which hold
 * whichever tools are used.
 */
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import {
  defineRule,
  listAddedRows,
  listChangedFields,
  listChangedRows,
  listRemovedRows,
} from "../../environment/invariants.ts";
import { type Invariant, defineServer } from "../../environment/server.ts";
import { maxLines, cartTools, checkoutTools, couponTools } from "./cartTools.ts";
import { wasDelivered, reviewTools, productQueries, wishListTools } from "./productTools.ts";
import {
  computeTotal,
  findOrderItem,
  getLastReturnDay,
  sumGoods,
  type Order,
  ShoppingState,
  references,
} from "./state.ts";
import { orderTools } from "./orderTools.ts";

const rule = defineRule<ShoppingState>;

const listValidOrders = ({ orders }: ShoppingState): Order[] =>
  Object.values(orders).filter(it => it.cancelled === undefined);

/** The units of each product in the shop or in orders that were not cancelled. */
function countUnits(state: ShoppingState): ReadonlyMap<string, number> {
  const units = new Map(Object.entries(state.products).map(([id, it]) => [id, it.stock]));
  for (const order of listValidOrders(state))
    for (const { product_id, quantity } of Object.values(order.items))
      units.set(product_id, quantity + (units.get(product_id) ?? 0));
  return units;
}

/** The store credit together with what was paid with it. */
const sumCredit = (state: ShoppingState): number =>
  sumAmounts([
    state.store_credit,
    ...listValidOrders(state)
      .filter(it => it.pay_with === "store_credit")
      .map(computeTotal),
  ]);

const invariants: readonly Invariant<ShoppingState>[] = [
  rule(
    "Units leave the stock for orders only, and come back from cancelled ones only.",
    function* (state, before) {
      if (!before) return;
      const unitsBefore = countUnits(before);
      for (const [id, units] of countUnits(state))
        if (units !== unitsBefore.get(id))
          yield `${id} had ${unitsBefore.get(id)} units in stock and orders, and has ${units}`;
    },
  ),
  rule(
    "Store credit pays for orders, and comes back from cancelled ones only.",
    function* (state, before) {
      if (before && sumCredit(state) !== sumCredit(before))
        yield `credit and the orders paid with it were ${sumCredit(before)}, are ${sumCredit(state)}`;
      if (state.store_credit < 0) yield `the store credit is ${state.store_credit}`;
    },
  ),
  rule(
    "An order has at most the limit of each product, and never a negative total.",
    function* (state, before) {
      for (const [id, order] of listAddedRows(before?.orders ?? {}, state.orders)) {
        const counts = new Map<string, number>();
        for (const { product_id, quantity } of Object.values(order.items))
          counts.set(product_id, quantity + (counts.get(product_id) ?? 0));
        for (const [product_id, count] of counts)
          if (count > state.products[product_id]!.limit)
            yield `${id} has ${count} of ${product_id}`;
        if (computeTotal(order) < 0) yield `${id} comes to ${computeTotal(order)}`;
      }
    },
  ),
  rule(
    "An order uses a coupon on a day on which it is valid and from its minimum on.",
    function* ({ orders, coupons, products }, before) {
      for (const [id, order] of before ? listAddedRows(before.orders, orders) : []) {
        if (order.coupon === undefined) continue;
        const { starts, expires, minimum, category_id } = coupons[order.coupon]!;
        const day = order.placed.slice(0, 10);
        if (day < starts || day > expires) yield `${id} of ${day}: valid ${starts} to ${expires}`;
        const items = Object.values(order.items).filter(
          it => !category_id || products[it.product_id]!.category_id === category_id,
        );
        if (sumGoods(items) < minimum) yield `${id} has ${sumGoods(items)} of at least ${minimum}`;
      }
    },
  ),
  rule("A coupon is used in at most one order that was not cancelled.", function* (state) {
    const used = new Set<string>();
    for (const { number, coupon } of listValidOrders(state)) {
      if (coupon === undefined) continue;
      if (used.has(coupon)) yield `${coupon} is used again in order ${number}`;
      if (!state.coupons[coupon]!.used) yield `${coupon} of order ${number} can be used again`;
      used.add(coupon);
    }
  }),
  rule(
    "An order changes only by being cancelled before it is shipped.",
    function* ({ orders }, before) {
      if (!before) return;
      for (const [id] of listRemovedRows(before.orders, orders)) yield `${id} is gone`;
      for (const [id, order, previous] of listChangedRows(before.orders, orders)) {
        const fields = listChangedFields(previous, order);
        if (fields.join() !== "cancelled" || previous.shipped || previous.cancelled)
          yield `${id} has changed in ${fields.join()}`;
      }
    },
  ),
  rule(
    "At most what was delivered is sent back, and at most what was paid comes back.",
    function* ({ orders, returns }) {
      const counts = new Map<string, number>();
      const refunds = new Map<string, number>();
      for (const { item_id, quantity, refund } of Object.values(returns)) {
        const { orderId, item } = findOrderItem(orders, item_id);
        counts.set(item_id, quantity + (counts.get(item_id) ?? 0));
        refunds.set(orderId, roundToCents(refund + (refunds.get(orderId) ?? 0)));
        if (counts.get(item_id)! > item.quantity) yield `${counts.get(item_id)} of ${item_id}`;
      }
      for (const [id, refund] of refunds) {
        const { items, discount, delivered } = orders[id]!;
        const paid = roundToCents(sumGoods(Object.values(items)) - discount);
        if (refund > paid) yield `${refund} comes back for ${id}, ${paid} was paid`;
        if (delivered === undefined) yield `${id} was not delivered`;
      }
    },
  ),
  rule(
    "A return is requested by the last day of its order, and stays as it is.",
    function* (state, before) {
      if (!before) return;
      for (const [id, it] of listAddedRows(before.returns, state.returns)) {
        const until = getLastReturnDay(state, findOrderItem(state.orders, it.item_id).order);
        if (until === undefined || it.at.slice(0, 10) > until) yield `${id} of ${it.at}: ${until}`;
      }
      for (const [id] of listChangedRows(before.returns, state.returns)) yield `${id} has changed`;
      for (const [id] of listRemovedRows(before.returns, state.returns)) yield `${id} is gone`;
    },
  ),
  rule("The cart has one line for each product and at most 20 lines.", function* ({ cart }) {
    const products = Object.values(cart.lines).map(it => it.product_id);
    if (new Set(products).size < products.length) yield `lines of ${products.join()}`;
    if (products.length > maxLines) yield `${products.length} lines`;
  }),
  rule("The wish list is never longer than its limit.", function* ({ wishes, terms }) {
    const count = Object.keys(wishes).length;
    if (count > terms.most_wishes) yield `${count} of at most ${terms.most_wishes}`;
  }),
  rule(
    "The customer reviews only what was delivered, once for each product.",
    function* (state, before) {
      const reviewed = new Set<string>();
      for (const [id, { author, product_id }] of Object.entries(state.reviews)) {
        if (author !== state.customer) continue;
        if (reviewed.has(product_id)) yield `${id} reviews ${product_id} again`;
        if (!wasDelivered(state, product_id)) yield `${id} reviews ${product_id}`;
        reviewed.add(product_id);
      }
      if (!before) return;
      for (const [id] of listChangedRows(before.reviews, state.reviews)) yield `${id} has changed`;
      for (const [id] of listRemovedRows(before.reviews, state.reviews)) yield `${id} is gone`;
    },
  ),
  rule(
    "Calls change neither the terms nor prices, limits and conditions.",
    function* ({ terms, products, coupons }, before) {
      if (!before) return;
      if (terms !== before.terms) yield "the terms have changed";
      for (const [id, it, previous] of listChangedRows(before.products, products))
        if (listChangedFields(previous, it).join() !== "stock") yield `${id} has changed`;
      for (const [id, it, previous] of listChangedRows(before.coupons, coupons))
        if (listChangedFields(previous, it).join() !== "used") yield `${id} has changed`;
    },
  ),
];

const { get_recommendations, check_stock, ...browsing } = productQueries;

export const server = defineServer({
  name: "shopping",
  category: "Commerce",
  summary: "products with stock and reviews, a cart with coupons, a wish list, orders and returns",
  schema: ShoppingState,
  references,
  invariants,
  tools: {
    ...browsing,
    ...reviewTools,
    get_recommendations,
    check_stock,
    ...cartTools,
    ...couponTools,
    ...checkoutTools,
    ...orderTools,
    ...wishListTools,
  },
});
