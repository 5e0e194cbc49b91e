/** Rules of the servers that sell goods: carts and stock, stores, bids, and meals. */
import { defineRules, type CreateRules, isEqual, isSame, listChanges, sum } from "./rule.ts";

interface Cart {
  readonly lines: readonly {
    readonly product: string;
    readonly line_id: string;
    readonly quantity: number;
    readonly price: number;
    readonly amount: number;
  }[];
  readonly goods: number;
  readonly discount: number;
  readonly delivery_fee: number;
  readonly total: number;
  readonly coupon?: string;
  readonly store_credit: number;
}
interface ShopOrder {
  readonly status: string;
  readonly items: readonly {
    readonly item_id: string;
    readonly product_id: string;
    readonly quantity: number;
    readonly price: number;
    readonly sent_back?: number;
  }[];
  readonly total: number;
  readonly goods: number;
  readonly discount: number;
  readonly delivery_fee: number;
  readonly pay_with: string;
}

export const shopping: CreateRules = ({ read }) => {
  const { categories } = read<{ categories: { category_id: string }[] }>("list_categories");
  const products = categories.flatMap(
    ({ category_id }) =>
      read<{ products: { product_id: string; product: string }[] }>("search_products", {
        category_id,
        limit: 50,
      }).products,
  );
  const refunded = new Map<string, number>();
  const see = () => {
    const { orders } = read<{ orders: { order_id: string }[] }>("list_orders", { limit: 50 });
    const { coupons } = read<{ coupons: { code: string; status: string }[] }>("list_coupons");
    return {
      cart: read<Cart>("get_cart"),
      stock: new Map(
        products.map(({ product_id }) => [
          product_id,
          read<{ stock: number }>("check_stock", { product_id }).stock,
        ]),
      ),
      orders: new Map(
        orders.map(({ order_id }) => [order_id, read<ShopOrder>("get_order", { order_id })]),
      ),
      coupons: new Map(coupons.map(it => [it.code, it.status])),
    };
  };
  return defineRules(see, function* (before, after, { tool, args, value }) {
    const { cart } = after;
    const bill = cart.goods - cart.discount + cart.delivery_fee;
    if (!isSame(cart.goods, sum(cart.lines.map(it => it.quantity * it.price))))
      yield `the cart has goods for ${cart.goods}`;
    if (!isSame(cart.total, bill) || cart.discount > cart.goods || cart.total < 0)
      yield `the cart costs ${cart.total}`;
    const moved = new Map<string, number>();
    let credit = 0;
    if (tool === "checkout") {
      const order = after.orders.get(value["order_id"])!;
      for (const it of order.items) moved.set(it.product_id, -it.quantity);
      const [ordered, wanted] = [order.items, before.cart.lines].map(list =>
        list.map(it => it.quantity).sort((a, b) => a - b),
      );
      if (!isEqual(ordered, wanted) || cart.lines.length > 0) yield "not what the cart had";
      if (!isSame(order.goods, before.cart.goods)) yield `goods for ${order.goods}`;
      if (!isSame(order.discount, before.cart.discount)) yield `a discount of ${order.discount}`;
      const code = [...before.coupons.keys()].find(it => before.cart.coupon?.includes(it));
      if (code !== undefined && after.coupons.get(code) !== "used") yield `${code} is not used`;
      if (args["pay_with"] === "store_credit") credit = -order.total;
    } else if (tool === "cancel_order") {
      const order = before.orders.get(args["order_id"])!;
      if (order.status !== "processing") yield `it was ${order.status}`;
      for (const it of order.items) moved.set(it.product_id, it.quantity);
      if ((value["refund"] ?? 0) > order.total) yield `${value["refund"]} came back`;
      if (order.pay_with === "store_credit") credit = order.total;
    } else if (tool === "request_return") {
      const [id, order] = [...before.orders].find(([, it]) =>
        it.items.some(item => item.item_id === args["item_id"]),
      )!;
      const refunds = (refunded.get(id) ?? 0) + value["refund"];
      refunded.set(id, refunds);
      if (order.status !== "delivered") yield `it is ${order.status}`;
      if (refunds > order.total + 0.001) yield `${refunds} of ${order.total} was given back`;
      if (order.pay_with === "store_credit" && cart.store_credit !== before.cart.store_credit)
        credit = value["refund"];
    }
    if (!isSame(cart.store_credit, before.cart.store_credit + credit) || cart.store_credit < 0)
      yield `store credit went from ${before.cart.store_credit} to ${cart.store_credit}`;
    for (const [id, stock] of after.stock) {
      const was = before.stock.get(id)!;
      if (stock !== was + (moved.get(id) ?? 0) || stock < 0)
        yield `stock of ${id} went from ${was} to ${stock}`;
    }
    for (const [id, was, is] of listChanges(before.orders, after.orders)) {
      // the list of orders has the latest fifty
      if (!is) continue;
      if (!was && tool !== "checkout") yield `${id} is new`;
      if (was && !/cancel_order|request_return/.test(tool)) yield `${id} changed`;
      for (const { item_id, quantity, sent_back = 0 } of is.items)
        if (sent_back > quantity) yield `${sent_back} of ${item_id} went back`;
    }
    if (tool === "add_to_cart" || tool === "update_cart_item") {
      const line = cart.lines.find(it => it.line_id === value["line_id"])!;
      const { product_id } = products.find(it => it.product === line.product)!;
      const { most_per_order } = read<{ most_per_order: number }>("get_product", { product_id });
      if (line.quantity > most_per_order) yield `${line.quantity} of ${most_per_order}`;
      if (line.quantity > after.stock.get(product_id)!) yield `only ${after.stock.get(product_id)}`;
    }
  });
};

interface StockRow {
  readonly on_hand: number;
  readonly reserved: number;
  readonly available: number;
}

export const retailChain: CreateRules = ({ read }) => {
  const { stores } = read<{ stores: { store_id: string }[] }>("list_stores", { limit: 50 });
  const see = () => ({
    stock: new Map(
      stores.flatMap(({ store_id }) => {
        const args = { store_id, limit: 50 };
        const { items } = read<{ items: (StockRow & { item_id: string })[] }>(
          "get_inventory",
          args,
        );
        return items.map(it => [`${store_id} ${it.item_id}`, it] as const);
      }),
    ),
    stores: new Map(
      stores.map(({ store_id }) => [
        store_id,
        read<{ looked_after: boolean; shipments?: { shipment_id: string; units: number }[] }>(
          "get_store",
          { store_id },
        ),
      ]),
    ),
    reservations: new Map(
      ["held", "cancelled"].flatMap(status => {
        const args = { status, limit: 50 };
        return read<{ reservations: { reservation_id: string; quantity: number }[] }>(
          "list_reservations",
          args,
        ).reservations.map(it => [it.reservation_id, it] as const);
      }),
    ),
  });
  const listShipments = ({ stores }: ReturnType<typeof see>) =>
    new Map(
      [...stores.values()].flatMap(it => it.shipments ?? []).map(it => [it.shipment_id, it.units]),
    );
  return defineRules(see, function* (before, after, { tool, args, value }) {
    const moved = new Map<string, readonly [onHand: number, reserved: number]>();
    const [coming, comes] = [listShipments(before), listShipments(after)];
    const keeper = args["from_store_id"] ?? args["store_id"] ?? value["store_id"];
    if (/transfer|receive|adjust/.test(tool) && !before.stores.get(keeper)!.looked_after)
      yield `the user does not look after ${keeper}`;
    if (tool === "reserve_item")
      moved.set(`${args["store_id"]} ${args["item_id"]}`, [0, args["quantity"] ?? 1]);
    else if (tool === "transfer_stock") {
      moved.set(`${args["from_store_id"]} ${args["item_id"]}`, [-args["quantity"], 0]);
      if (args["from_store_id"] === args["to_store_id"]) yield "sent to itself";
      if (comes.get(value["shipment_id"]) !== args["quantity"]) yield "not on its way";
    } else if (tool === "receive_shipment") {
      const items = value["items"] as { item_id: string; added: number }[];
      for (const { item_id, added } of items)
        moved.set(`${value["store_id"]} ${item_id}`, [added, 0]);
      const units = coming.get(args["shipment_id"]);
      if (units !== sum(items.map(it => it.added))) yield `${units} units had been sent`;
      if (comes.has(args["shipment_id"])) yield "still on its way";
    } else if (tool === "adjust_stock") {
      moved.set(`${args["store_id"]} ${args["item_id"]}`, [args["change"], 0]);
      const [change, reason] = [args["change"], args["reason"]];
      if (/damaged|stolen/.test(reason) ? change > 0 : reason !== "counted" && change < 0)
        yield `${change} were ${reason}`;
    } else if (tool === "cancel_reservation") {
      const { quantity } = before.reservations.get(args["reservation_id"])!;
      const freed = [...after.stock].filter(
        ([id, it]) => it.reserved !== (before.stock.get(id)?.reserved ?? 0),
      );
      if (freed.length === 1) moved.set(freed[0]![0], [0, -quantity]);
      else yield `${freed.length} rows of stock changed`;
    }
    if (!/transfer|receive/.test(tool) && !isEqual([...coming], [...comes]))
      yield "shipments changed";
    for (const [id, is] of after.stock) {
      const was = before.stock.get(id) ?? { on_hand: 0, reserved: 0 };
      const [onHand, reserved] = moved.get(id) ?? [0, 0];
      if (is.available !== is.on_hand - is.reserved || is.available < 0 || is.reserved < 0)
        yield `${id} has ${is.on_hand}, ${is.reserved} reserved and ${is.available} available`;
      if (is.on_hand !== was.on_hand + onHand || is.reserved !== was.reserved + reserved)
        yield `${id} went from ${JSON.stringify(was)} to ${JSON.stringify(is)}`;
    }
  });
};

interface Listing {
  readonly title: string;
  readonly status: string;
  readonly ends: string;
  readonly start_price: number;
  readonly step: number;
  readonly highest_bid?: number;
  readonly next_bid?: number;
  readonly buy_now?: number;
  readonly bids: number;
}

export const marketplace: CreateRules = ({ read }) => {
  const see = () => {
    const mine = read<{ listings: { listing_id: string }[]; earned: number }>("list_my_listings", {
      limit: 50,
    });
    const own = new Set(mine.listings.map(it => it.listing_id));
    const others = [{}, { involving: "bid_on" }, { involving: "bought" }].flatMap(
      args =>
        read<{ listings: { listing_id: string }[] }>("search_listings", { ...args, limit: 50 })
          .listings,
    );
    const ids = new Set([...own, ...others.map(it => it.listing_id)]);
    return {
      earned: mine.earned,
      own,
      listings: new Map(
        [...ids].map(listing_id => [listing_id, read<Listing>("get_listing", { listing_id })]),
      ),
    };
  };
  return defineRules(see, function* (before, after, { tool, args, value }) {
    const id: string = args["listing_id"] ?? value["listing_id"];
    const [was, is] = [before.listings.get(id), after.listings.get(id)];
    let earned = 0;
    if (tool === "place_bid" && was && is) {
      const amount: number = args["amount"];
      if (before.own.has(id)) yield "it is the customer's own listing";
      if (was.next_bid === undefined || amount < was.next_bid) yield `${was.next_bid} was asked`;
      const isBought = was.buy_now !== undefined && amount >= was.buy_now;
      if ((value["status"] === "won") !== isBought) yield `${value["status"]}`;
      if (is.bids !== was.bids + 1) yield `${is.bids} bids`;
      if (!isBought && !isSame(is.highest_bid, amount)) yield `${is.highest_bid} is the highest`;
      if (!isBought && !isSame(is.next_bid, amount + is.step)) yield `${is.next_bid} is next`;
    } else if (tool === "retract_bid" && was && is) {
      if (!isSame(was.highest_bid, value["retracted"])) yield `${was.highest_bid} was higher`;
      if (!isSame(is.highest_bid, value["highest_bid"])) yield `${is.highest_bid} leads`;
      if ((is.highest_bid ?? 0) >= was.highest_bid!) yield `${is.highest_bid} leads`;
    } else if (tool === "accept_bid") {
      earned = value["price"];
      if (!before.own.has(id)) yield "it is somebody else's listing";
      if (was?.highest_bid !== undefined && !isSame(was.highest_bid, earned))
        yield `${was.highest_bid} was the highest bid`;
    } else if (tool === "close_listing" || tool === "update_listing") {
      if (!before.own.has(id)) yield "it is somebody else's listing";
      if (tool === "close_listing" && was && was.bids > 0) yield `it had ${was.bids} bids`;
      const terms = ({ title, start_price, buy_now }: Listing) => [title, start_price, buy_now];
      if (was && is && was.bids > 0 && (!isEqual(terms(was), terms(is)) || is.ends < was.ends))
        yield "it changed, and had bids";
    } else if (tool === "create_listing") {
      if (!isSame(value["next_bid"], args["start_price"])) yield `${value["next_bid"]} is next`;
    }
    if (!isSame(after.earned, before.earned + earned))
      yield `${before.earned} became ${after.earned}`;
    for (const [other, then, now] of listChanges(before.listings, after.listings)) {
      if (!then || !now) continue;
      const standing = (it: Listing) => [it.highest_bid, it.bids, it.start_price, it.buy_now];
      if (isEqual(standing(then), standing(now)) && then.status === now.status) continue;
      if (/sold|withdrawn/.test(then.status)) yield `${other} was ${then.status} and changed`;
      if (other !== id && then.status === now.status) yield `${other} changed`;
    }
  });
};

interface Basket {
  readonly lines: readonly { readonly dish_id: string; quantity: number; price: number }[];
  readonly restaurant_id?: string;
  readonly subtotal: number;
  readonly delivery_fee: number;
  readonly discount: number;
  readonly total: number;
  readonly missing?: number;
  readonly promo?: string;
}
interface Meal {
  readonly status: string;
  readonly restaurant_id: string;
  readonly lines: readonly { readonly dish_id: string; quantity: number; price: number }[];
  readonly dishes: number;
  readonly delivery_fee: number;
  readonly discount: number;
  readonly tip: number;
  readonly total: number;
  readonly stars?: number;
}

export const foodDelivery: CreateRules = ({ read }) => {
  const see = () => {
    const { orders } = read<{ orders: { order_id: string }[] }>("list_orders", { limit: 50 });
    const { restaurants } = read<{ restaurants: { restaurant_id: string }[] }>(
      "search_restaurants",
      { limit: 50 },
    );
    return {
      basket: read<Basket>("get_basket"),
      orders: new Map(
        orders.map(({ order_id }) => [order_id, read<Meal>("get_order", { order_id })]),
      ),
      ratings: new Map(
        restaurants.map(({ restaurant_id }) => [
          restaurant_id,
          read<{ ratings: number }>("get_restaurant", { restaurant_id }).ratings,
        ]),
      ),
    };
  };
  /** The promo codes of orders that were made here and not cancelled. */
  const promos = new Map<string, string>();
  const price = (lines: Basket["lines"]) => sum(lines.map(it => it.quantity * it.price));
  return defineRules(see, function* (before, after, { tool, args, value }) {
    const { basket } = after;
    if (!isSame(basket.subtotal, price(basket.lines))) yield `a subtotal of ${basket.subtotal}`;
    const bill = basket.subtotal + basket.delivery_fee - basket.discount;
    if (!isSame(basket.total, bill) || basket.discount > basket.subtotal + basket.delivery_fee)
      yield `the basket costs ${basket.total}`;
    const cooks = basket.lines.map(
      ({ dish_id }) => read<{ restaurant_id: string }>("get_menu_item", { dish_id }).restaurant_id,
    );
    if (new Set(cooks).size > 1) yield "dishes of two restaurants";
    if (tool === "place_order") {
      const order = after.orders.get(value["order_id"])!;
      if (before.basket.missing !== undefined) yield `${before.basket.missing} was missing`;
      if (!isSame(order.total, before.basket.total)) yield `it cost ${order.total}`;
      if (!isSame(order.dishes, before.basket.subtotal)) yield `dishes for ${order.dishes}`;
      if (basket.lines.length > 0 || before.basket.lines.length === 0) yield "the basket is full";
      const { promo } = before.basket;
      if (promo !== undefined && order.discount > 0) {
        if ([...promos.values()].includes(promo)) yield `${promo} was used before`;
        promos.set(value["order_id"], promo);
      }
    } else if (tool === "cancel_order") {
      const order = before.orders.get(args["order_id"])!;
      promos.delete(args["order_id"]);
      if (order.status !== "placed") yield `it was ${order.status}`;
      if (!isSame(value["refunded"], order.total)) yield `${value["refunded"]} came back`;
    }
    for (const [id, was, is] of listChanges(before.orders, after.orders)) {
      if (!is) continue;
      if (!isSame(is.dishes, price(is.lines))) yield `${id} has dishes for ${is.dishes}`;
      const total = is.dishes + is.delivery_fee - is.discount + is.tip;
      if (!isSame(is.total, total)) yield `${id} cost ${is.total}`;
      if (!was) {
        if (tool !== "place_order") yield `${id} is new`;
        continue;
      }
      if (was.status === "cancelled") yield `${id} was cancelled and changed`;
      if (was.tip !== is.tip && (tool !== "add_tip" || was.tip !== 0 || is.tip !== args["amount"]))
        yield `${id} was tipped ${is.tip}`;
      if (was.stars !== is.stars && (tool !== "rate_order" || was.stars !== undefined))
        yield `${id} was rated ${is.stars}`;
    }
    for (const [id, ratings] of after.ratings) {
      const order = before.orders.get(args["order_id"]);
      const more = tool === "rate_order" && order?.restaurant_id === id ? 1 : 0;
      if (ratings !== before.ratings.get(id)! + more) yield `${id} has ${ratings} ratings`;
    }
  });
};
