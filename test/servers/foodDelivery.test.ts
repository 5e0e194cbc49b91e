/** The tools of the food delivery server: what they return, change and refuse. */
import { describe, expect, test } from "vitest";
import { server as foodDelivery } from "../../src/servers/foodDelivery/server.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkAllTools } = createChecks(foodDelivery);

const [bakery, cafe, curry] = ["rst_101", "rst_104", "rst_107"] as const;
const [croissant, almond, knot, sourdough] = ["dsh_101", "dsh_104", "dsh_107", "dsh_110"] as const;
const [toast, eggs, chicken, chana] = ["dsh_119", "dsh_122", "dsh_131", "dsh_137"] as const;
const [old, cancelled, saturday, onTheWay, preparing, placed] = [
  "ord_101",
  "ord_104",
  "ord_107",
  "ord_110",
  "ord_113",
  "ord_116",
] as const;

const add = (dish_id: string, quantity = 1, more: Record<string, string | string[]> = {}): Call => [
  "add_to_basket",
  { dish_id, quantity, ...more },
];
const emptied: Call = ["remove_from_basket", {}];

describe("restaurants and menus", () => {
  test("the best rated come first", () =>
    check(
      [["search_restaurants", {}]],
      returns({
        restaurants: [
          { name: "Saffron House", rating: 4.2, open: "from 12:00" },
          { name: "Corner Bakery", rating: 3.7 },
          { name: "Café Lumen", open: "until 18:00" },
        ],
      }),
    ));
  test("are found by a dish", () =>
    check(
      [["search_restaurants", { dish: "croissant" }]],
      returns({ restaurants: [{ restaurant_id: bakery }] }),
    ));
  test("that cook now leave out the curry", () =>
    check(
      [["search_restaurants", { open_now: true, name: "house" }]],
      returns({ restaurants: [] }),
    ));
  test("a dish to look for has two letters", () =>
    check([["search_restaurants", { dish: "x" }]], refuses("invalid_params", /dish/)));
  test("show what an order takes: open at 12:00, 22 + 18 minutes", () =>
    check(
      [["get_restaurant", { restaurant_id: curry }]],
      returns({
        address: "44 Bridge Street, Port Alder",
        hours: "12:00 to 22:30",
        minimum: 18,
        takes_minutes: 40,
        earliest: "2026-03-09T12:40",
        ratings: 155,
      }),
    ));
  test("unknown ones are refused", () =>
    check(
      [["get_restaurant", { restaurant_id: "__proto__" }]],
      refuses("not_found", /no restaurant __proto__/),
    ));
  test("a menu leaves out what is gone and marks what is sold out", () =>
    check(
      [["get_menu", { restaurant_id: bakery, dish: "croissant" }]],
      returns({
        restaurant: "Corner Bakery",
        dishes: [
          { dish_id: croissant, price: 1.9 },
          { dish_id: almond, sold_out: true },
        ],
      }),
    ));
  test("a menu is found by section and price", () =>
    check(
      [["get_menu", { restaurant_id: curry, section: "mains", most_price: 12 }]],
      returns({ dishes: [{ dish: "Palak paneer" }] }),
    ));
  test("of no restaurant there is no menu", () =>
    check(
      [["get_menu", { restaurant_id: croissant }]],
      refuses("not_found", /no restaurant dsh_101/),
    ));
  test("a dish tells its choices", () =>
    check(
      [["get_menu_item", { dish_id: eggs }]],
      returns({
        restaurant_id: cafe,
        diets: "vegetarian, gluten-free",
        choices: [
          { choice: "extra cheese", group: "extra", required: false, extra: 1.5 },
          { choice: "extra vegetables" },
        ],
      }),
    ));
  test("a dish that is gone is refused", () =>
    check(
      [["get_menu_item", { dish_id: chana }]],
      refuses("not_found", /Chana masala .* no longer on the menu/),
    ));
  test("diets are met by what can be had, the cheapest first", () =>
    check(
      [["filter_by_dietary", { diet: "vegan", limit: 2 }]],
      returns({
        dishes: [
          { dish: "Sourdough loaf", restaurant: "Corner Bakery", price: 4.8 },
          { dish: "Seeded rye bread" },
        ],
      }),
    ));
  test("in one restaurant, up to a price", () =>
    check(
      [["filter_by_dietary", { diet: "halal", restaurant_id: curry, most_price: 13 }]],
      returns({ dishes: [{ dish: "Palak paneer" }] }),
    ));
  test("a diet that is none is refused", () =>
    check([["filter_by_dietary", { diet: "paleo" }]], refuses("invalid_params", /diet/)));
});

describe("the basket", () => {
  test("costs: 3 × 1.90 and 1.90 for the way, 2.30 short of the least order", () =>
    check(
      [["get_basket", {}]],
      returns({
        restaurant_id: bakery,
        lines: [{ dish_id: croissant, quantity: 3, price: 1.9 }],
        subtotal: 5.7,
        delivery_fee: 1.9,
        total: 7.6,
        missing: 2.3,
      }),
    ));
  test("shows the codes that hold", () =>
    check(
      [["get_basket", { only_valid: true }]],
      returns({
        promos: [
          { code: "BREAKFAST20" },
          { code: "HELLO10" },
          { code: "SPRING2" },
          { code: "FREERIDE", until: "2026-04-30" },
        ],
      }),
    ));
  test("is asked for without a restaurant", () =>
    check([["get_basket", { restaurant_id: bakery }]], refuses("invalid_params", /restaurant_id/)));
  test("takes more of the same: 5.70 + 2 × 2.40", () =>
    check([add(knot, 2)], returns({ dish: "Cinnamon knot", pieces: 5, subtotal: 10.5 })));
  test("adds a dish to its line", () =>
    check(
      [add(croissant, 2), ["get_basket", {}]],
      returns({ lines: [{ dish_id: croissant, quantity: 5 }] }),
    ));
  test("belongs to one restaurant", () =>
    check([add(toast)], refuses("conflict", /holds 3 dishes from Corner Bakery/)));
  test("is free for another once it is empty", () =>
    check(
      [emptied, add(toast)],
      returns({ restaurant: "Café Lumen", subtotal: 7.8, missing: 2.2 }),
    ));
  test("takes nothing that is sold out", () =>
    check([add(almond)], refuses("precondition_failed", /Almond croissant .* sold out/)));
  test("takes nothing that is gone", () =>
    check([emptied, add(chana)], refuses("not_found", /no longer on the menu/)));
  test("requires the choices that a dish needs", () =>
    check([emptied, add(chicken)], {
      ...refuses("precondition_failed", /Butter chicken .* needs a choice of heat/),
      hint: "add one of mild, medium, hot to choices",
    }));
  test("counts what choices cost: 8.20 + 1.50", () =>
    check(
      [emptied, add(eggs, 1, { choices: ["Extra Cheese"], note: "well done" })],
      returns({ price: 9.7, subtotal: 9.7 }),
    ));
  test("does not take two choices of a kind", () =>
    check(
      [emptied, add(chicken, 1, { choices: ["mild", "hot"] })],
      refuses("conflict", /mild and hot are both a heat/),
    ));
  test("does not take choices that a dish lacks", () =>
    check(
      [add(sourdough, 1, { choices: ["large"] })],
      refuses("precondition_failed", /Sourdough loaf .* does not come with "large"/),
    ));
  test("holds at most thirty dishes", () =>
    check(
      [add(knot, 20), add(sourdough, 8)],
      refuses("limit_exceeded", /at most 30 dishes, and 23/),
    ));
  test("holds at most twenty of one", () =>
    check(
      [add(croissant, 18)],
      refuses("limit_exceeded", /at most 20 of one dish, and 3 Butter croissant/),
    ));
  test("removes some of a dish", () =>
    check(
      [["remove_from_basket", { dish_id: croissant, quantity: 2 }]],
      returns({ removed: 2, pieces: 1, subtotal: 1.9 }),
    ));
  test("is emptied at once", () =>
    check([add(knot), emptied], returns({ removed: 4, pieces: 0, subtotal: 0 })));
  test("is not emptied twice", () =>
    check([emptied, emptied], refuses("precondition_failed", /empty already/)));
  test("does not remove a quantity without a dish", () =>
    check(
      [["remove_from_basket", { quantity: 3 }]],
      refuses("invalid_params", /no dish_id is given/),
    ));
  test("does not remove more than it has", () =>
    check(
      [["remove_from_basket", { dish_id: croissant, quantity: 4 }]],
      refuses("precondition_failed", /there are 3 Butter croissant/),
    ));
  test("does not remove a dish that is not in it", () =>
    check(
      [["remove_from_basket", { dish_id: knot }]],
      refuses("not_found", /Cinnamon knot .* is not in the basket/),
    ));
  for (const quantity of [0, -1, -0, 1.5, 1e308, Number.NaN])
    test(`does not take ${quantity} of a dish`, () =>
      check([add(knot, quantity)], {
        kind: expect.stringMatching(/refused|bad-arguments/) as string,
      }));
  test("needs a dish", () =>
    check([["add_to_basket", { quantity: 1 }]], rejectsArguments(/dish_id/)));
});

describe("promo codes", () => {
  const apply = (code: string): Call => ["apply_promo", { code }];
  test("take off their share: 20 % of 15.30", () =>
    check(
      [add(knot, 4), apply("breakfast20")],
      returns({ code: "BREAKFAST20", discount: 3.06, total: 14.14 }),
    ));
  test("need their minimum", () =>
    check(
      [apply("BREAKFAST20")],
      refuses("precondition_failed", /wants dishes for 12, and the basket has 5.7/),
    ));
  test("no longer count below it", () =>
    check(
      [
        add(knot, 4),
        apply("BREAKFAST20"),
        ["remove_from_basket", { dish_id: knot }],
        ["get_basket", {}],
      ],
      returns({ promo: "BREAKFAST20", discount: 0, total: 7.6 }),
    ));
  test("expire", () =>
    check([apply("WINTER5")], refuses("precondition_failed", /WINTER5 expired on 2026-02-28/)));
  test("for the first order are refused later", () =>
    check(
      [emptied, add(toast, 2), apply("HELLO10")],
      refuses("precondition_failed", /first order from a restaurant, and Café Lumen has had one/),
    ));
  test("are not applied twice", () =>
    check(
      [add(knot, 4), apply("BREAKFAST20"), apply("BREAKFAST20")],
      refuses("conflict", /applied already/),
    ));
  test("replace one another: delivery is 1.90", () =>
    check(
      [add(knot, 10), apply("BREAKFAST20"), apply("FREERIDE")],
      returns({ discount: 1.9, total: 29.7, instead_of: "BREAKFAST20" }),
    ));
  test("are not used twice", () =>
    check(
      [add(knot, 4), apply("BREAKFAST20"), ["place_order", {}], add(knot, 6), apply("BREAKFAST20")],
      refuses("conflict", /BREAKFAST20 was used for order 4118/),
    ));
  test("need a basket", () =>
    check([emptied, apply("BREAKFAST20")], refuses("precondition_failed", /the basket is empty/)));
  test("unknown ones are refused", () =>
    check([apply("FREEPIZZA")], refuses("not_found", /no promo code FREEPIZZA/)));
});

describe("placing orders", () => {
  const order = (more: Record<string, string> = {}): Call => ["place_order", more];
  test("costs dishes and way: 5.70 + 4.80 + 1.90, at the door in 3 + 8 + 10 minutes", () =>
    check(
      [add(sourdough), order({ destination: "studio" })],
      returns({
        number: "4118",
        restaurant: "Corner Bakery",
        total: 12.4,
        arrives: "2026-03-09T09:22",
        cancel_until: "2026-03-09T09:04",
      }),
    ));
  test("empties the basket and stands in the list", () =>
    check(
      [add(sourdough), order(), ["list_orders", { limit: 1 }]],
      returns({ orders: [{ number: "4118", status: "placed", total: 12.4, date: "2026-03-09" }] }),
    ));
  test("leaves an empty basket", () =>
    check(
      [add(sourdough), order(), order()],
      refuses("precondition_failed", /the basket is empty/),
    ));
  test("below the least order is refused", () =>
    check([order()], refuses("precondition_failed", /delivers from 8 on, and the basket has 5.7/)));
  test("while the kitchen is closed is refused", () =>
    check([emptied, add(chicken, 2, { choices: ["hot"] }), order()], {
      ...refuses("precondition_failed", /Saffron House cooks from 12:00 to 22:30/),
      hint: "the earliest it can arrive is 2026-03-09T12:40",
    }));
  test("for later goes through", () =>
    check(
      [emptied, add(chicken, 2, { choices: ["hot"] }), order({ at: "2026-03-09T13:00" })],
      returns({ total: 30.1, arrives: "2026-03-09T13:00", cancel_until: "2026-03-09T12:20" }),
    ));
  test("sooner than it can be cooked is refused", () =>
    check(
      [add(sourdough), order({ at: "2026-03-09T09:10" })],
      refuses("precondition_failed", /too soon: Corner Bakery takes 18 minutes/),
    ));
  test("more than a week ahead is refused", () =>
    check(
      [add(sourdough), order({ at: "2026-03-17T09:10" })],
      refuses("limit_exceeded", /more than 7 days ahead/),
    ));
  test("for a minute that does not exist is refused", () =>
    check([add(sourdough), order({ at: "2026-02-30T09:10" })], refuses("invalid_params", /at/)));
});

describe("orders under way", () => {
  test("are tracked: cooked from 08:41 to 08:53, 12 minutes by bicycle", () =>
    check(
      [["track_order", { order_id: onTheWay }]],
      returns({
        status: "on the way",
        arrives: "2026-03-09T09:05",
        minutes_left: 5,
        can_cancel: false,
        stages: [
          { stage: "placed" },
          { stage: "preparing", at: "2026-03-09T08:41" },
          { stage: "on the way" },
        ],
      }),
    ));
  test("progress with the clock", () => {
    const later: Call[] = [1, 2, 3, 4, 5].map(() => add(knot));
    check([...later, ["track_order", { order_id: onTheWay }]], returns({ status: "delivered" }));
  });
  test("the newest is tracked where none is named", () =>
    check([["track_order", {}]], returns({ number: "4117", status: "placed", can_cancel: true })));
  test("unknown ones are not tracked", () =>
    check([["track_order", { order_id: "ord_999" }]], refuses("not_found", /no order ord_999/)));
  test("show what was paid for: 27.20 + 16.20 + 2.90", () =>
    check(
      [["get_order", { order_id: saturday }]],
      returns({
        number: "4108",
        restaurant_id: curry,
        status: "delivered",
        destination: "27 Alder Avenue, Port Alder",
        dishes: 43.4,
        total: 46.3,
        lines: [{ dish_id: chicken, quantity: 2, price: 13.6, choices: ["medium"] }, {}],
      }),
    ));
  test("a restaurant's id is no order", () =>
    check([["get_order", { order_id: curry }]], refuses("not_found", /no order rst_107/)));
  test("are listed by status and restaurant", () =>
    check(
      [
        [
          "list_orders",
          { status: "delivered", restaurant: "saffron", unrated: true, from_date: "2026-03-01" },
        ],
      ],
      returns({ orders: [{ number: "4108", order_id: saturday }] }),
    ));
  test("are found by number", () =>
    check(
      [["list_orders", { number: "4114" }]],
      returns({ orders: [{ order_id: preparing, status: "preparing" }] }),
    ));
  test("have no other status", () =>
    check([["list_orders", { status: "eaten" }]], refuses("invalid_params", /status/)));
  test("are cancelled before the kitchen begins: 2 × 5.90 + 2.20", () =>
    check(
      [["cancel_order", { order_id: placed }]],
      returns({ number: "4117", status: "cancelled", refunded: 14 }),
    ));
  test("are not cancelled once the kitchen began", () =>
    check(
      [add(knot), ["cancel_order", { order_id: placed }]],
      refuses("precondition_failed", /Café Lumen began order 4117 .* at 2026-03-09T09:01/),
    ));
  test("are not cancelled during preparation", () =>
    check(
      [["cancel_order", { order_id: preparing }]],
      refuses("precondition_failed", /it is preparing/),
    ));
  test("are not cancelled after delivery", () =>
    check(
      [["cancel_order", { order_id: old }]],
      refuses("precondition_failed", /was delivered at 2026-01-28T19:53/),
    ));
  test("are not cancelled twice", () =>
    check(
      [["cancel_order", { order_id: cancelled }]],
      refuses("conflict", /was cancelled at 2026-03-04T08:06/),
    ));
});

describe("tips and ratings", () => {
  const tip = (order_id: string, amount = 2.5): Call => ["add_tip", { order_id, amount }];
  const rate = (order_id: string, stars = 5): Call => ["rate_order", { order_id, stars }];
  test("a tip is added to the total: 7.80 + 6.50 + 2.20 + 2.50", () =>
    check([tip(onTheWay)], returns({ tip: 2.5, total: 19 })));
  test("a tip for what came on Saturday shows in the order", () =>
    check(
      [tip(saturday), ["get_order", { order_id: saturday }]],
      returns({ tip: 2.5, total: 48.8 }),
    ));
  test("no tip before there is a courier", () =>
    check([tip(preparing)], refuses("precondition_failed", /is preparing: no courier has it yet/)));
  test("no tip for what was cancelled", () =>
    check([tip(cancelled)], refuses("precondition_failed", /nobody brought it/)));
  test("no tip after a week", () =>
    check([tip(old)], refuses("precondition_failed", /more than 7 days ago/)));
  test("no second tip", () =>
    check([tip(onTheWay), tip(onTheWay)], refuses("conflict", /has a tip of 2.5 already/)));
  test("no tip above thirty", () =>
    check([tip(onTheWay, 31)], refuses("limit_exceeded", /at most 30/)));
  test("stars move the restaurant's rating: (645 + 1) / 156", () =>
    check(
      [rate(saturday, 1)],
      returns({ stars: 1, restaurant: "Saffron House", restaurant_rating: 4.1, ratings: 156 }),
    ));
  test("an order is not rated twice", () =>
    check([rate(saturday), rate(saturday)], refuses("conflict", /has 5 stars already/)));
  test("no rating before delivery", () =>
    check([rate(onTheWay)], {
      ...refuses("precondition_failed", /is on the way/),
      hint: "it can be rated once it is delivered, at 2026-03-09T09:05",
    }));
  test("no rating of a cancelled order", () =>
    check([rate(cancelled)], refuses("precondition_failed", /nothing to rate/)));
  test("no rating after a month", () =>
    check(
      [rate(old)],
      refuses("precondition_failed", /was delivered at 2026-01-28T19:53, more than 30 days ago/),
    ));
  test("no more than five stars", () =>
    check([rate(saturday, 6)], refuses("invalid_params", /stars/)));
});

describe("ordering again", () => {
  const again = (order_id: string): Call => ["reorder", { order_id }];
  test("shows new prices and missing dishes: butter chicken was 12.90", () =>
    check(
      [emptied, again(old)],
      returns({
        restaurant: "Saffron House",
        pieces: 1,
        subtotal: 13.6,
        missing: 4.4,
        changed: [{ dish: "Butter chicken", was: 12.9, now: 13.6 }],
        left_out: [{ dish: "Chana masala", why: "no longer on the menu" }],
      }),
    ));
  test("keeps the choices", () =>
    check(
      [emptied, again(saturday), ["get_basket", {}]],
      returns({
        lines: [{ dish_id: chicken, quantity: 2, choices: ["medium"] }, { quantity: 1 }],
        subtotal: 43.4,
      }),
    ));
  test("takes the last order delivered where none is named", () =>
    check(
      [emptied, ["reorder", {}]],
      returns({ number: "4108", order_id: saturday, subtotal: 43.4 }),
    ));
  test("does not mix restaurants", () =>
    check([again(old)], refuses("conflict", /holds 3 dishes from Corner Bakery/)));
  test("adds to a basket of the same restaurant", () =>
    check([again(cancelled)], returns({ pieces: 5, subtotal: 15.3, changed: [], left_out: [] })));
  test("is refused during preparation", () =>
    check([again(preparing)], refuses("precondition_failed", /order 4114 .* is preparing still/)));
});

describe("loopholes", () => {
  const again: Call = ["reorder", { order_id: cancelled }];
  test("ordering again does not put more than 20 of one dish into the basket", () =>
    check([emptied, add(sourdough, 20), again], {
      ...refuses(
        "limit_exceeded",
        /at most 20 of one dish, and 20 Sourdough loaf are in the basket/,
      ),
      hint: "food_delivery_remove_from_basket makes room",
    }));
  test("ordering again twice does not either: 18 + 2 + 2", () =>
    check([emptied, add(sourdough, 18), again, again], refuses("limit_exceeded", /at most 20/)));
  test("a promo code in the basket is worth nothing once it has expired", () =>
    check(
      [
        emptied,
        add(eggs, 2),
        ["apply_promo", { code: "BREAKFAST20" }],
        ["place_order", { at: "2026-04-01T12:00" }],
      ],
      {
        ...refuses("precondition_failed", /BREAKFAST20 expired on 2026-03-31/),
        hint: "food_delivery_apply_promo with another code takes its place; food_delivery_remove_from_basket without a dish empties the basket",
      },
      { now: "2026-03-31T23:57" },
    ));
  const withPromo = (edits: object) => ({
    edits: {
      basket: {
        restaurant_id: cafe,
        lines: [{ dish_id: eggs, quantity: 3, choices: [] }],
        promo: "BREAKFAST20",
      },
      ...edits,
    },
  });
  test("the basket does not show a discount of a promo code that has expired: 3 × 9.4 + 2", () =>
    check(
      [["get_basket", {}]],
      returns({ discount: 0, promo: "BREAKFAST20" }),
      withPromo({ "promos.BREAKFAST20.until": "2026-03-08" }),
    ));
  test("a used promo code of a restored basket takes nothing off again", () =>
    check(
      [["place_order", {}]],
      refuses("conflict", /BREAKFAST20 was used for order/),
      withPromo({ [`orders.${old}.promo`]: "BREAKFAST20" }),
    ));
  test("a basket below the promo code's minimum is ordered at the full price", () =>
    check(
      [
        emptied,
        add(eggs),
        add(toast),
        ["apply_promo", { code: "BREAKFAST20" }],
        ["remove_from_basket", { dish_id: toast }],
        add("dsh_125"),
        ["remove_from_basket", { dish_id: eggs }],
        add("dsh_125"),
        ["place_order", {}],
      ],
      returns({ total: 14 }),
    ));
});

checkAllTools();
