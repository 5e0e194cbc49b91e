/** Tests every shopping tool: results, changes to the state, and refusals. */
import { describe, expect, test } from "vitest";
import { server as shopping } from "../../src/servers/shopping/server.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkInvariants, checkAllTools } = createChecks(shopping);

const [kitchen, audio] = ["cat_101", "cat_104"] as const;
const [moka, kettle, pan, knife, grinder, headphones, earbuds, microphone, lamp, stand] = [
  "prd_101",
  "prd_104",
  "prd_107",
  "prd_110",
  "prd_113",
  "prd_116",
  "prd_119",
  "prd_122",
  "prd_125",
  "prd_134",
] as const;
const [old, recent, cancelled, shipped, processing] = [
  "ord_101",
  "ord_104",
  "ord_107",
  "ord_110",
  "ord_113",
] as const;
const [lampLine, mokaLine] = ["line_101", "line_104"] as const;

const refusedOrBadArguments = { kind: expect.stringMatching(/refused|bad-arguments/) as string };
const add = (product_id: string, quantity?: number): Call => [
  "add_to_cart",
  { product_id, ...(quantity === undefined ? {} : { quantity }) },
];
const cart: Call = ["get_cart", {}];
const coupon = (code: string): Call => ["apply_coupon", { code }];
const checkout = (pay_with: string, delivery?: string): Call => [
  "checkout",
  { pay_with, ...(delivery ? { delivery } : {}) },
];
const stockOf = (product_id: string): Call => ["check_stock", { product_id }];

describe("the catalog", () => {
  test("lists categories by name; what is no longer sold is not counted", () =>
    check(
      [["list_categories", { name: "aud" }]],
      returns({ categories: [{ category: "Audio", category_id: audio, products: 2 }] }),
    ));
  test("an unknown category is an empty list", () =>
    check([["list_categories", { name: "shoes" }]], returns({ categories: [] })));
  test("a name too long is refused", () =>
    check([["list_categories", { name: "x".repeat(201) }]], refuses("invalid_params", /name/)));
  test("finds by name or brand", () =>
    check(
      [["search_products", { name: "brunetti", sort: "price_high" }]],
      returns({
        products: [
          { product: "Ceramic coffee grinder", product_id: grinder, in_stock: false },
          { product: "Moka pot", rating: 4.5 },
        ],
      }),
    ));
  test("finds by category, price and stock, cheapest first", () =>
    check(
      [
        [
          "search_products",
          { category_id: kitchen, max_price: 64.5, in_stock: true, sort: "price_low" },
        ],
      ],
      returns({
        products: [
          { product_id: moka, price: 29.9 },
          { product_id: pan },
          { product_id: kettle, price: 64.5 },
        ],
      }),
    ));
  test("finds by rating", () =>
    check(
      [["search_products", { min_rating: 4 }]],
      returns({
        products: [
          { product: "Moka pot", rating: 4.5 },
          { product: "Laptop stand", rating: 4 },
        ],
      }),
    ));
  test("an unknown category is refused", () =>
    check(
      [["search_products", { category_id: "cat_999" }]],
      refuses("not_found", /no category cat_999/),
    ));
  test("a product shows its features, and that it was bought", () =>
    check(
      [["get_product", { product_id: moka }]],
      returns({
        product: "Moka pot",
        category: "Kitchen",
        category_id: kitchen,
        features: { cups: "6" },
        rating: 4.5,
        reviews: 2,
        most_per_order: 10,
        bought_before: true,
      }),
    ));
  test("__proto__ is just an unknown product", () =>
    check(
      [["get_product", { product_id: "__proto__" }]],
      refuses("not_found", /no product __proto__/),
    ));
  test("products are compared", () =>
    check(
      [["compare_products", { product_ids: [pan, moka] }]],
      returns({
        products: [{ product_id: pan, features: { weight: "2.6 kg" } }, { product_id: moka }],
        cheapest: "Moka pot",
        best_rated: "Moka pot",
      }),
    ));
  test("one product is not compared with itself", () =>
    check([["compare_products", { product_ids: [pan, pan] }]], refuses("invalid_params", /twice/)));
  test("one product alone is not compared", () =>
    check(
      [["compare_products", { product_ids: [pan] }]],
      refuses("invalid_params", /product_ids/),
    ));
  test("stock has the delivery days", () =>
    check(
      [["check_stock", { product_id: kettle, quantity: 2 }]],
      returns({ stock: 2, available: true, standard: "2026-03-13", express: "2026-03-10" }),
    ));
  test("a product that is out of stock has a restock day", () =>
    check([stockOf(grinder)], returns({ stock: 0, available: false, restock: "2026-03-26" })));
  test("a discontinued product has no stock", () =>
    check(
      [stockOf(microphone)],
      refuses("precondition_failed", /USB microphone .* no longer sold/),
    ));
  test("recommends what can be had of the same category", () =>
    check(
      [["get_recommendations", { product_id: grinder, max_price: 50 }]],
      returns({ products: [{ product_id: moka }, { product_id: pan }] }),
    ));
  test("a limit of 0 is refused", () =>
    check(
      [["get_recommendations", { product_id: moka, limit: 0 }]],
      refuses("invalid_params", /limit/),
    ));
});

describe("reviews", () => {
  const review = (product_id: string, stars = 3): Call => [
    "add_review",
    { product_id, stars, title: "Does what it should" },
  ];
  test("are newest first", () =>
    check(
      [["get_reviews", { product_id: moka }]],
      returns({
        rating: 4.5,
        reviews: [
          { title: "Good value", author: "Marco Bianchi", stars: 4 },
          { stars: 5, date: "2026-01-28" },
        ],
      }),
    ));
  test("are found by stars", () =>
    check([["get_reviews", { product_id: moka, stars: 1 }]], returns({ reviews: [] })));
  test("of an unknown product are refused", () =>
    check(
      [["get_reviews", { product_id: "rev_101" }]],
      refuses("not_found", /no product rev_101/),
    ));
  test("count: (5 + 4 + 3) / 3", () =>
    check(
      [review(moka)],
      returns({ title: "Does what it should", product: "Moka pot", rating: 4 }),
    ));
  test("appear immediately", () =>
    check(
      [review(lamp, 5), ["get_reviews", { product_id: lamp }]],
      returns({ rating: 5, reviews: [{ author: "Ana Ruiz", date: "2026-03-09" }] }),
    ));
  test("need a delivered order", () =>
    check(
      [review(pan)],
      refuses("permission_denied", /Cast iron pan .* in none of your delivered orders/),
    ));
  test("are written once", () =>
    check(
      [review(stand)],
      refuses("conflict", /you have reviewed Laptop stand already, on 2026-01-08: Good value/),
    ));
  for (const stars of [0, 6, 2.5, Number.NaN])
    test(`${stars} stars are refused`, () => check([review(moka, stars)], refusedOrBadArguments));
});

describe("the cart", () => {
  const set = (line_id: string, quantity: number): Call => [
    "update_cart_item",
    { line_id, quantity },
  ];
  const remove = (line_id: string): Call => ["remove_from_cart", { line_id }];
  test("adds up: 45.90 + 2 × 29.90 + nothing for delivery from 60 on", () =>
    check(
      [cart],
      returns({
        lines: [
          { product: "LED desk lamp", line_id: lampLine, amount: 45.9 },
          { quantity: 2, amount: 59.8 },
        ],
        goods: 105.7,
        discount: 0,
        delivery_fee: 0,
        total: 105.7,
        store_credit: 42.5,
      }),
    ));
  test("finds a line by product", () =>
    check(
      [["get_cart", { product: "moka" }]],
      returns({ lines: [{ line_id: mokaLine }], goods: 105.7 }),
    ));
  test("requires text to search for", () =>
    check([["get_cart", { product: 7 }]], rejectsArguments(/product must be a string/)));
  test("adds to a line: 2 + 3", () =>
    check(
      [add(moka, 3)],
      returns({ product: "Moka pot", line_id: mokaLine, quantity: 5, goods: 195.4 }),
    ));
  test("removes a product from the wish list", () =>
    check([add(knife), ["get_wishlist", {}]], returns({ products: [{ product_id: grinder }] })));
  test("refuses what is out of stock", () =>
    check([add(grinder)], refuses("precondition_failed", /out of stock until 2026-03-26/)));
  test("refuses a discontinued product", () =>
    check([add(microphone)], refuses("precondition_failed", /no longer sold/)));
  test("refuses more than is in stock", () =>
    check(
      [add(kettle, 3)],
      refuses("precondition_failed", /only 2 of Gooseneck kettle .* 3 wanted/),
    ));
  test("refuses more than an order may have, counting what it has: 2 + 9 > 10", () =>
    check([add(moka, 9)], refuses("limit_exceeded", /at most 10 of Moka pot .* 11 is more/)));
  for (const quantity of [0, -1, 1.5, 100, 1e308])
    test(`a quantity of ${quantity} is refused`, () =>
      check([add(moka, quantity)], refusedOrBadArguments));
  test("sets a quantity", () =>
    check([set(mokaLine, 1)], returns({ product: "Moka pot", quantity: 1, goods: 75.8 })));
  test("refuses the quantity that it has", () =>
    check([set(mokaLine, 2)], refuses("conflict", /has 2 of Moka pot .* already/)));
  test("refuses a line it does not have", () =>
    check([set("line_999", 2)], refuses("not_found", /no cart line line_999/)));
  test("removes a line, and below 60 delivery costs 4.90", () =>
    check(
      [remove(mokaLine), cart],
      returns({ lines: [{ line_id: lampLine }], goods: 45.9, delivery_fee: 4.9, total: 50.8 }),
    ));
  test("removes a line once", () =>
    check([remove(mokaLine), remove(mokaLine)], refuses("not_found", /no cart line line_104/)));
  test("removes a coupon that is no longer valid", () =>
    check(
      [coupon("SPRING10"), remove(lampLine), set(mokaLine, 1)],
      returns({
        goods: 29.9,
        coupon_removed: expect.stringMatching(
          /SPRING10 needs goods for 40, the cart has 29.9/,
        ) as string,
      }),
    ));
  test("is emptied", () =>
    check([["clear_cart", {}], cart], returns({ lines: [], goods: 0, delivery_fee: 0, total: 0 })));
  test("is emptied once", () =>
    check(
      [
        ["clear_cart", {}],
        ["clear_cart", {}],
      ],
      refuses("precondition_failed", /empty already/),
    ));
});

describe("coupons", () => {
  test("say whether the cart can use them", () =>
    check(
      [["list_coupons", {}]],
      returns({
        coupons: [
          { code: "SPRING10", status: "usable" },
          { code: "WINTER15", status: "expired" },
          { code: "BIG25", status: "not_usable_yet" },
          { code: "THANKS8", status: "used" },
          { code: "EASTER20" },
        ],
      }),
    ));
  test("are found by title", () =>
    check(
      [["list_coupons", { title: "spring", usable: true }]],
      returns({
        coupons: [
          { title: "Spring welcome", code: "SPRING10", minimum: 40, expires: "2026-03-31" },
        ],
      }),
    ));
  test("require text to search for", () =>
    check([["list_coupons", { usable: "yes" }]], rejectsArguments(/usable must be a boolean/)));
  test("take off: 10 % of 105.70", () =>
    check(
      [coupon("spring10")],
      returns({ title: "Spring welcome", code: "SPRING10", discount: 10.57, total: 95.13 }),
    ));
  test("take the place of one another", () =>
    check(
      [coupon("SPRING10"), add(headphones), coupon("BIG25")],
      returns({ replaced: "SPRING10", discount: 25, total: 229.7 }),
    ));
  test("that have expired are refused", () =>
    check([coupon("WINTER15")], refuses("precondition_failed", /WINTER15 expired on 2026-02-28/)));
  test("that are not valid yet are refused", () =>
    check(
      [coupon("EASTER20")],
      refuses("precondition_failed", /valid from 2026-03-29 on, today is 2026-03-09/),
    ));
  test("with a higher minimum are refused", () =>
    check(
      [coupon("BIG25")],
      refuses("precondition_failed", /BIG25 needs goods for 250, the cart has 105.7/),
    ));
  test("that were used are refused", () =>
    check([coupon("THANKS8")], refuses("conflict", /THANKS8 was already used/)));
  test("that the cart has are refused", () =>
    check(
      [coupon("SPRING10"), coupon("SPRING10")],
      refuses("conflict", /has coupon SPRING10 already/),
    ));
  test("that are unknown are refused", () =>
    check([coupon("FREE99")], refuses("not_found", /no coupon FREE99/)));
});

describe("checkout", () => {
  test("makes an order at the customer's address", () =>
    check(
      [checkout("card")],
      returns({
        number: "4125",
        goods: 105.7,
        delivery_fee: 0,
        total: 105.7,
        expected: "2026-03-13",
        address: "27 Alder Avenue, Port Alder",
        store_credit: 42.5,
      }),
    ));
  test("by express costs 9.90 and comes the next day", () =>
    check(
      [checkout("card", "express")],
      returns({ delivery_fee: 9.9, total: 115.6, expected: "2026-03-10" }),
    ));
  test("takes from stock: 24 − 2", () =>
    check([checkout("card"), stockOf(moka)], returns({ stock: 22 })));
  test("empties the cart", () => check([checkout("card"), cart], returns({ lines: [] })));
  test("uses the coupon up", () =>
    check(
      [coupon("SPRING10"), checkout("card"), add(pan), coupon("SPRING10")],
      refuses("conflict", /already used/),
    ));
  test("shows among the orders", () =>
    check(
      [checkout("card"), ["list_orders", { limit: 1 }]],
      returns({
        orders: [
          {
            number: "4125",
            status: "processing",
            contents: "LED desk lamp, 2 × Moka pot",
            total: 105.7,
          },
        ],
      }),
    ));
  test("of an empty cart is refused", () =>
    check([checkout("card"), checkout("card")], refuses("precondition_failed", /cart is empty/)));
  test("beyond the store credit is refused", () =>
    check(
      [checkout("store_credit")],
      refuses("precondition_failed", /comes to 105.7, store credit is 42.5/),
    ));
  test("takes from store credit: 42.50 − 29.90 − 4.90", () =>
    check(
      [
        ["remove_from_cart", { line_id: lampLine }],
        ["update_cart_item", { line_id: mokaLine, quantity: 1 }],
        checkout("store_credit"),
      ],
      returns({ total: 34.8, store_credit: 7.7 }),
    ));
  test("on delivery has a limit: 254.70 > 150", () =>
    check(
      [add(headphones), checkout("on_delivery")],
      refuses("limit_exceeded", /254.7, on delivery at most 150/),
    ));
  test("in another way is refused", () =>
    check([checkout("bitcoin")], refuses("invalid_params", /pay_with/)));
});

describe("orders", () => {
  const cancel = (order_id: string): Call => ["cancel_order", { order_id }];
  const sendBack = (item_id: string, reason = "changed_mind", quantity?: number): Call => [
    "request_return",
    { item_id, reason, ...(quantity === undefined ? {} : { quantity }) },
  ];
  test("show their items: 2 × 29.90 + 45.90 − 8", () =>
    check(
      [["get_order", { order_id: recent }]],
      returns({
        number: "4105",
        status: "delivered",
        items: [
          { product: "Moka pot", item_id: "item_107", product_id: moka, quantity: 2, sent_back: 1 },
          { item_id: "item_110" },
        ],
        goods: 105.7,
        discount: 8,
        total: 97.7,
        return_until: "2026-03-23",
      }),
    ));
  test("that are unknown are refused", () =>
    check([["get_order", { order_id: "4105" }]], refuses("not_found", /no order 4105/)));
  test("are found by number", () =>
    check(
      [["list_orders", { number: "4112" }]],
      returns({
        orders: [{ order_id: cancelled, status: "cancelled", contents: "Cast iron pan" }],
      }),
    ));
  test("are found by product, status and day", () =>
    check(
      [
        [
          "list_orders",
          {
            product: "earbuds",
            status: "delivered",
            from_date: "2025-12-01",
            to_date: "2025-12-24",
          },
        ],
      ],
      returns({ orders: [{ order_id: old, placed: "2025-12-24", total: 125.95 }] }),
    ));
  test("days the wrong way round are refused", () =>
    check(
      [["list_orders", { from_date: "2026-03-02", to_date: "2026-03-01" }]],
      refuses("invalid_params", /from_date 2026-03-02 is after/),
    ));
  test("a day that does not exist is refused", () =>
    check([["list_orders", { from_date: "2026-02-30" }]], refuses("invalid_params", /from_date/)));
  test("on their way are tracked", () =>
    check(
      [["track_order", { order_id: shipped }]],
      returns({
        status: "shipped",
        expected: "2026-03-10",
        events: [{ what: "ordered" }, { at: "2026-03-07T06:30", what: "left the warehouse" }],
      }),
    ));
  test("that were cancelled are not tracked", () =>
    check(
      [["track_order", { order_id: cancelled }]],
      refuses("precondition_failed", /4112 .* cancelled on 2026-02-25/),
    ));
  test("are cancelled before they are shipped: 42.50 + 137.95 of store credit", () =>
    check(
      [cancel(processing)],
      returns({
        number: "4124",
        status: "cancelled",
        refund: 137.95,
        refunded_to: "store_credit",
        store_credit: 180.45,
      }),
    ));
  test("return to stock when cancelled: 12 + 1", () =>
    check([cancel(processing), stockOf(earbuds)], returns({ stock: 13 })));
  test("give their coupon back", () =>
    check(
      [coupon("SPRING10"), checkout("card"), cancel("ord_7662"), add(pan), coupon("SPRING10")],
      returns({ discount: 4.8 }),
    ));
  test("are cancelled once", () =>
    check([cancel(cancelled)], refuses("conflict", /4112 .* already cancelled on 2026-02-25/)));
  test("are not cancelled once shipped", () =>
    check([cancel(shipped)], refuses("precondition_failed", /4118 .* shipped on 2026-03-07/)));
  test("are not cancelled once delivered", () =>
    check([cancel(recent)], refuses("precondition_failed", /delivered on 2026-02-21/)));
  test("are sent back less their share of the discount: 45.90 × (1 − 8 / 105.70)", () =>
    check(
      [sendBack("item_110")],
      returns({ product: "LED desk lamp", quantity: 1, refund: 42.43, refunded_to: "card" }),
    ));
  test("are sent back in part", () =>
    check(
      [sendBack("item_107"), ["get_order", { order_id: recent }]],
      returns({ items: [{ sent_back: 2 }, {}] }),
    ));
  test("are sent back once", () =>
    check(
      [sendBack("item_110"), sendBack("item_110")],
      refuses("conflict", /all 1 of LED desk lamp .* sent back already/),
    ));
  test("no more is sent back than is left", () =>
    check(
      [sendBack("item_107", "damaged", 2)],
      refuses("limit_exceeded", /1 of Moka pot .* 2 is more/),
    ));
  test("are not returned after the return window", () =>
    check(
      [sendBack("item_101")],
      refuses("precondition_failed", /4104 .* until 2026-01-27, 30 days after/),
    ));
  test("are not returned before delivery", () =>
    check(
      [sendBack("item_116")],
      refuses("precondition_failed", /4118 .* is shipped, and only what was delivered/),
    ));
  test("an unknown item is refused", () =>
    check([sendBack("prd_101")], refuses("not_found", /no order item prd_101/)));
});

describe("the wish list", () => {
  const wish = (product_id: string): Call => ["add_to_wishlist", { product_id }];
  test("shows what became cheaper", () =>
    check(
      [["get_wishlist", { cheaper: true }]],
      returns({
        products: [
          {
            product: "Ceramic coffee grinder",
            product_id: grinder,
            price: 38.75,
            price_then: 42,
            in_stock: false,
          },
        ],
      }),
    ));
  test("finds by name", () =>
    check(
      [["get_wishlist", { product: "knife" }]],
      returns({ products: [{ product_id: knife, added: "2026-03-05" }] }),
    ));
  test("requires text to search for", () =>
    check([["get_wishlist", { cheaper: 1 }]], rejectsArguments(/cheaper must be a boolean/)));
  test("gets a product", () =>
    check([wish(pan)], returns({ product: "Cast iron pan", price: 48, wishes: 3 })));
  test("has a product once", () =>
    check(
      [wish(knife)],
      refuses("conflict", /Chef's knife is on the wish list already, since 2026-03-05/),
    ));
  test("has a maximum length", () =>
    check([wish(pan), wish(stand)], refuses("limit_exceeded", /full with 3 products/)));
  test("refuses a discontinued product", () =>
    check([wish(microphone)], refuses("precondition_failed", /no longer sold/)));
});

describe("loopholes", () => {
  const inCart = (edits: object) => ({ edits: { "cart.coupon": "cpn_101", ...edits } });
  test("a coupon that expires between cart and checkout takes nothing off", () =>
    check([coupon("SPRING10"), checkout("card")], refuses("precondition_failed", /expired on/), {
      now: "2026-03-31T23:59",
    }));
  test("the cart shows what checkout charges, not the discount of a coupon that has expired", () =>
    check(
      [cart],
      returns({ coupon: "SPRING10", discount: 0, total: 105.7 }),
      inCart({ "coupons.cpn_101.expires": "2026-03-08" }),
    ));
  test("a used coupon of a restored cart takes nothing off again", () =>
    check(
      [checkout("card")],
      refuses("conflict", /coupon SPRING10 was already used/),
      inCart({ "coupons.cpn_101.used": true }),
    ));
  test("a restored cart below the minimum of its coupon pays in full", () =>
    check(
      [checkout("card")],
      refuses("precondition_failed", /coupon SPRING10 needs goods for 500, the cart has 105.7/),
      inCart({ "coupons.cpn_101.minimum": 500 }),
    ));
  test("a coupon of more than 100 % does not pay the customer", () =>
    check(
      [cart],
      returns({ discount: 105.7, total: 0 }),
      inCart({ "coupons.cpn_101.value": 500 }),
    ));
  test("items sent back one by one bring no more than they cost: 3 × 0.99 − 1.48", () => {
    const sendOneBack: Call = [
      "request_return",
      { item_id: "item_107", reason: "damaged", quantity: 1 },
    ];
    check([sendOneBack, sendOneBack, sendOneBack], returns({ refund: 0.49 }), {
      edits: {
        returns: {},
        "orders.ord_104.items": {
          item_107: { product_id: moka, quantity: 3, price: 0.99 },
        },
        "orders.ord_104.discount": 1.48,
      },
    });
  });
});

describe("every rule can be broken", () => {
  const line = { product_id: moka, quantity: 1 };
  const order = {
    number: 4200,
    placed: "2026-03-09T09:00",
    expected: "2026-03-13",
    delivery: "standard",
    pay_with: "card",
    items: { item_900: { product_id: moka, quantity: 1, price: 29.9 } },
    discount: 0,
    delivery_fee: 0,
  };
  checkInvariants({
    "Units leave the stock for orders only, and come back from cancelled ones only.": {
      "products.prd_101.stock": 25,
    },
    "Store credit pays for orders, and comes back from cancelled ones only.": { store_credit: 99 },
    "An order has at most the limit of each product, and never a negative total.": {
      "orders.ord_900": { ...order, discount: 29.91 },
    },
    "An order uses a coupon on a day on which it is valid and from its minimum on.": {
      "orders.ord_900": { ...order, coupon: "cpn_104" },
    },
    "A coupon is used in at most one order that was not cancelled.": {
      "coupons.cpn_110.used": false,
    },
    "An order changes only by being cancelled before it is shipped.": {
      "orders.ord_110.cancelled": "2026-03-09T09:00",
    },
    "At most what was delivered is sent back, and at most what was paid comes back.": {
      "returns.ret_101.refund": 97.71,
    },
    "A return is requested by the last day of its order, and stays as it is.": {
      "returns.ret_900": {
        item_id: "item_101",
        quantity: 1,
        reason: "damaged",
        at: "2026-03-09T09:00",
        refund: 36,
        status: "requested",
      },
    },
    "The cart has one line for each product and at most 20 lines.": {
      "cart.lines.line_900": line,
    },
    "The wish list is never longer than its limit.": { "terms.most_wishes": 1 },
    "The customer reviews only what was delivered, once for each product.": {
      "reviews.rev_900": {
        product_id: kettle,
        author: "Ana Ruiz",
        stars: 5,
        title: "Fine",
        text: "",
        date: "2026-03-09",
      },
    },
    "Calls change neither the terms nor prices, limits and conditions.": {
      "products.prd_101.price": 0.01,
    },
  });
});

checkAllTools();
