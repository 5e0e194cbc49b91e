/** Tests every trading tool: results, changes to the state, and refusals. */
import { describe, expect, test } from "vitest";
import { server as trading } from "../../src/servers/trading/server.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkAllTools } = createChecks(trading);

const [expired, cancelled, onHalted, selling, buying] = [
  "ord_110",
  "ord_116",
  "ord_119",
  "ord_122",
  "ord_125",
] as const;
const turnedDown = { kind: expect.stringMatching(/refused|bad-arguments/) as string };

describe("symbols", () => {
  test("are found by name", () =>
    check(
      [["search_symbols", { name: "ferr" }]],
      returns({
        symbols: [{ name: "Skipper Ferries", symbol: "SKPR", sector: "Transport", last: 31.4 }],
      }),
    ));
  test("are found by symbol and exchange", () =>
    check(
      [["search_symbols", { name: "optk", exchange: "nordic" }]],
      returns({ symbols: [{ symbol: "OPTK" }] }),
    ));
  test("that nobody lists are an empty list", () =>
    check([["search_symbols", { sector: "Space" }]], returns({ symbols: [] })));
  test("without a name to look for are refused", () =>
    check([["search_symbols", { name: "" }]], refuses("invalid_params", /name/)));
  test("are quoted: 11.95 after 11.91 is 0.34 % up", () =>
    check(
      [["get_quote", { symbol: " hlyn" }]],
      returns({
        symbol: "HLYN",
        last: 11.95,
        change_percent: 0.34,
        bid: 11.94,
        ask: 11.96,
        trading: "open",
        lot: 1,
        tick: 0.01,
        alerts: [{ alert_id: "alr_101", price: 12.55 }],
      }),
    ));
  test("say that they are halted", () =>
    check([["get_quote", { symbol: "FARO" }]], returns({ trading: "halted" })));
  test("say that their exchange is closed", () =>
    check(
      [["get_quote", { symbol: "NUBE" }]],
      returns({ trading: "closed", hours: "Atlantic Exchange, weekdays 15:30 to 22:00" }),
    ));
  test("given by company name are refused with a hint", () =>
    check([["get_quote", { symbol: "Helyan" }]], {
      ...refuses("not_found", /no symbol Helyan/),
      hint: "did you mean HLYN (Helyan Power)",
    }));
  test("__proto__ is no symbol", () =>
    check([["get_quote", { symbol: "__proto__" }]], refuses("not_found", /no symbol __proto__/)));
});

describe("book and candles", () => {
  test("the account's own orders stand in their places", () =>
    check(
      [["get_order_book", { symbol: "HLYN", depth: 4 }]],
      returns({
        bids: [
          { price: 11.94, shares: 404 },
          { price: 11.93 },
          { price: 11.91 },
          { price: 11.87, shares: 60, order_id: buying },
        ],
        asks: [
          { price: 11.96, shares: 101 },
          { price: 11.99 },
          { price: 12.01 },
          { price: 12.07, shares: 40, order_id: selling },
        ],
        spread: 0.02,
      }),
    ));
  test("at one price the earlier comes first", () =>
    check(
      [
        ["place_order", { symbol: "HLYN", side: "buy", shares: 7, price: 11.94 }],
        ["get_order_book", { symbol: "HLYN", depth: 2 }],
      ],
      returns({
        bids: [
          { price: 11.94, shares: 404 },
          { price: 11.94, shares: 7 },
        ],
      }),
    ));
  test("of a halted symbol is closed", () =>
    check(
      [["get_order_book", { symbol: "FARO" }]],
      refuses("precondition_failed", /FARO .* is halted/),
    ));
  test("a week is one candle: open of Monday, close of Friday, 120100 shares in all", () =>
    check(
      [["get_candles", { symbol: "HLYN", interval: "week", to_date: "2026-03-08", limit: 1 }]],
      returns({
        candles: [
          {
            date: "2026-03-02",
            open: 12.03,
            high: 12.07,
            low: 11.8,
            close: 11.91,
            volume: 120_100,
          },
        ],
      }),
    ));
  test("today has a candle if there were trades", () =>
    check(
      [["get_candles", { symbol: "HLYN", limit: 1 }]],
      returns({ candles: [{ date: "2026-03-09", open: 11.96, close: 11.95, volume: 198 }] }),
    ));
  test("today has no candle without trades", () =>
    check(
      [["get_candles", { symbol: "NUBE", limit: 1 }]],
      returns({ candles: [{ date: "2026-03-06", close: 127.75 }] }),
    ));
  test("in the future are refused", () =>
    check(
      [["get_candles", { symbol: "HLYN", from_date: "2026-03-10" }]],
      refuses("precondition_failed", /2026-03-10 is to come/),
    ));
  test("reversed dates are refused", () =>
    check(
      [["get_candles", { symbol: "HLYN", from_date: "2026-03-05", to_date: "2026-03-04" }]],
      refuses("invalid_params", /is after to_date/),
    ));
});

describe("the account", () => {
  test("adds up: 3956 in cash and 4223 in shares, 179 above the 8000 paid in", () =>
    check(
      [["get_portfolio", {}]],
      returns({
        value: 8179,
        cash: 3956,
        invested: 4223,
        gain: 179,
        gain_percent: 2.24,
        positions: 3,
        spread: [
          { part: "Technology", value: 1533, percent: 18.74 },
          { part: "Energy" },
          { part: "Transport" },
        ],
      }),
    ));
  test("can be grouped by exchange", () =>
    check(
      [["get_portfolio", { by: "exchange" }]],
      returns({
        spread: [
          { part: "Port Alder Exchange", value: 2690 },
          { part: "Atlantic Exchange", value: 1533 },
        ],
      }),
    ));
  test("refuses other ways to group", () =>
    check([["get_portfolio", { by: "size" }]], refuses("invalid_params", /by/)));
  test("40 of the 120 HLYN are offered: 80 are free", () =>
    check(
      [["list_positions", { sector: "energy" }]],
      returns({ positions: [{ symbol: "HLYN", shares: 120, free: 80, value: 1434, gain: 62.4 }] }),
    ));
  test("no position loses money", () =>
    check([["list_positions", { losing: true }]], returns({ positions: [] })));
  test("a list has at least one row", () =>
    check([["list_positions", { limit: 0 }]], refuses("invalid_params", /limit/)));
  test("60 × 11.87 and 100 × 7.49 and two fees are reserved", () =>
    check(
      [["get_cash_balance", {}]],
      returns({ cash: 3956, reserved: 1464.2, free: 2491.8, open_buy_orders: 2 }),
    ));
  test("cash is asked for without arguments", () =>
    check([["get_cash_balance", { currency: "EUR" }]], refuses("invalid_params", /currency/i)));
});

describe("market orders", () => {
  const order = (side: string, shares: number, symbol = "HLYN"): Call => [
    "place_order",
    { symbol, side, shares },
  ];
  test("take the best prices first: 101 × 11.96 + 49 × 11.99 + 1.50", () =>
    check(
      [order("buy", 150)],
      returns({
        order: "buy 150 HLYN at market",
        status: "filled",
        filled: 150,
        average_price: 11.97,
        cash: 2159.03,
      }),
    ));
  test("leave less in the book and move the last price", () =>
    check(
      [order("buy", 150), ["get_order_book", { symbol: "HLYN", depth: 1 }]],
      returns({ asks: [{ price: 11.99, shares: 52 }] }),
    ));
  test("move the last price, the high and the volume", () =>
    check(
      [order("buy", 150), ["get_quote", { symbol: "HLYN" }]],
      returns({ last: 11.99, high: 11.99, volume: 348, ask: 11.99 }),
    ));
  test("move the position: 120 + 150", () =>
    check(
      [order("buy", 150), ["list_positions", { limit: 1 }]],
      returns({ positions: [{ symbol: "HLYN", shares: 270, free: 230 }] }),
    ));
  test("sell to the best bid: 3956 + 80 × 11.94 − 1.50", () =>
    check([order("sell", 80)], returns({ status: "filled", average_price: 11.94, cash: 4909.7 })));
  test("sell a whole position away", () =>
    check(
      [order("sell", 40, "SKPR"), ["list_positions", { sector: "Transport" }]],
      returns({ positions: [] }),
    ));
  test("shares that another order offers are not free: 81 > 120 − 40", () =>
    check(
      [order("sell", 81)],
      refuses(
        "precondition_failed",
        /120 HLYN are held, 40 of them offered in other orders: 81 are too many/,
      ),
    ));
  test("shares that are not held cannot be sold", () =>
    check([order("sell", 5, "OPTK")], refuses("precondition_failed", /0 OPTK are held/)));
  test("cash that other orders reserve is not free", () =>
    check(
      [order("buy", 80, "SKPR")],
      refuses(
        "precondition_failed",
        /2517.5 is needed, fees included, and 2491.8 is free: 1464.2 of the cash is reserved/,
      ),
    ));
  test("cancelling an order frees its cash", () =>
    check(
      [["cancel_order", { order_id: onHalted }], order("buy", 80, "SKPR")],
      returns({ status: "filled", cash: 1438.5 }),
    ));
  test("where nobody sells are refused", () =>
    check([order("buy", 10, "OPTK")], refuses("precondition_failed", /nobody sells OPTK/)));
  test("on a closed exchange are refused", () =>
    check(
      [order("buy", 1, "NUBE")],
      refuses(
        "precondition_failed",
        /Atlantic Exchange trades from 15:30 to 22:00, and it is 09:00/,
      ),
    ));
  test("of a halted symbol are refused", () =>
    check([order("buy", 10, "FARO")], refuses("precondition_failed", /FARO .* is halted/)));
  test("of part of a lot are refused", () =>
    check([order("buy", 15, "SKPR")], {
      ...refuses("precondition_failed", /lots of 10, and 15/),
      hint: "choose 10 or 20",
    }));
  test("beyond the largest order are refused: 1000 × 11.95 > 10000", () =>
    check([order("buy", 1000)], refuses("limit_exceeded", /are 11950/)));
  test("do not rest", () =>
    check(
      [["place_order", { symbol: "HLYN", side: "buy", shares: 5, good_until: "2026-03-20" }]],
      refuses("invalid_params", /good_until needs a price/),
    ));
  for (const shares of [0, -5, 1.5, 1e308, Number.NaN])
    test(`of ${shares} shares are refused`, () =>
      check([["place_order", { symbol: "HLYN", side: "buy", shares }]], turnedDown));
  test("require a side", () =>
    check([["place_order", { symbol: "HLYN", shares: 5 }]], rejectsArguments(/side/)));
});

describe("limit orders", () => {
  const order = (side: string, shares: number, price: number, symbol = "HLYN"): Call => [
    "place_order",
    { symbol, side, shares, price },
  ];
  test("rest and reserve cash: 1464.20 + 10 × 11.80 + 1.50", () =>
    check(
      [order("buy", 10, 11.8), ["get_cash_balance", {}]],
      returns({ reserved: 1583.7, open_buy_orders: 3 }),
    ));
  test("trade what they can and rest with the rest", () =>
    check(
      [order("buy", 110, 11.96)],
      returns({
        order: "buy 110 HLYN at 11.96",
        status: "partly filled",
        filled: 101,
        average_price: 11.96,
      }),
    ));
  test("wait for a closed exchange", () =>
    check([order("sell", 5, 127.5, "NUBE")], returns({ status: "open", filled: 0, cash: 3956 })));
  test("between two ticks are refused", () =>
    check([order("sell", 10, 31.42, "SKPR")], {
      ...refuses("precondition_failed", /steps of 0.05/),
      hint: "choose 31.4",
    }));
  test("far from the last price are refused", () =>
    check(
      [order("buy", 10, 9)],
      refuses("precondition_failed", /9 is more than 20 % away from the last price of HLYN, 11.95/),
    ));
  test("against an order of one's own are refused", () =>
    check(
      [
        ["cancel_order", { order_id: buying }],
        ["cancel_order", { order_id: onHalted }],
        order("buy", 305, 12.1),
      ],
      refuses("conflict", /own order ord_122 \(sell 40 HLYN at 12.07\)/),
    ));
  test("until a day that has passed are refused", () =>
    check(
      [
        [
          "place_order",
          { symbol: "HLYN", side: "buy", shares: 5, price: 11.8, good_until: "2026-03-08" },
        ],
      ],
      refuses("precondition_failed", /good_until 2026-03-08 is before today/),
    ));
  test("trigger alerts that their trades reach", () =>
    check(
      [
        ["set_price_alert", { symbol: "HLYN", direction: "below", price: 11.94 }],
        ["place_order", { symbol: "HLYN", side: "sell", shares: 5 }],
      ],
      returns({ alerts_reached: [{ at: 11.94 }] }),
    ));
});

describe("orders that stand", () => {
  test("are listed, working ones first", () =>
    check(
      [["list_orders", { limit: 4 }]],
      returns({
        orders: [
          { order_id: buying },
          { order_id: selling },
          { order_id: onHalted },
          { order_id: cancelled, status: "cancelled" },
        ],
      }),
    ));
  test("are found by their words", () =>
    check(
      [["list_orders", { order: "sell 40 hlyn" }]],
      returns({ orders: [{ order: "sell 40 HLYN at 12.07", order_id: selling }] }),
    ));
  test("past their last day are expired", () =>
    check([["list_orders", { status: "expired" }]], returns({ orders: [{ order_id: expired }] })));
  test("of an unknown symbol cannot be listed", () =>
    check([["list_orders", { symbol: "ABCD" }]], refuses("not_found", /no symbol ABCD/)));
  test("are shown with their fills", () =>
    check(
      [["get_order", { order_id: "ord_107" }]],
      returns({
        symbol: "NUBE",
        status: "filled",
        filled: 12,
        average_price: 119.7,
        fees: 1.5,
        fills: [{ at: "2026-02-11T21:33", shares: 12, price: 119.7 }],
      }),
    ));
  test("that are unknown are refused", () =>
    check([["get_order", { order_id: "alr_101" }]], refuses("not_found", /no order alr_101/)));
  test("trade at once at a better price: 60 × 11.96 + 1.50", () =>
    check(
      [["modify_order", { order_id: buying, price: 11.96 }]],
      returns({ status: "filled", filled: 60, cash: 3236.9 }),
    ));
  test("can get smaller and last longer", () =>
    check(
      [
        ["modify_order", { order_id: selling, shares: 25, good_until: "2026-03-31" }],
        ["list_positions", { sector: "Energy" }],
      ],
      returns({ positions: [{ free: 95 }] }),
    ));
  test("are not changed to the same values", () =>
    check(
      [["modify_order", { order_id: selling, price: 12.07 }]],
      refuses("conflict", /like that already/),
    ));
  test("are not changed without values", () =>
    check(
      [["modify_order", { order_id: selling }]],
      refuses("invalid_params", /nothing to change/),
    ));
  test("cannot get smaller than what is traded", () =>
    check(
      [
        ["modify_order", { order_id: buying, price: 11.96, shares: 150 }],
        ["modify_order", { order_id: buying, shares: 101 }],
      ],
      refuses(
        "precondition_failed",
        /101 shares of the order to buy 150 HLYN at 11.96 .* are traded/,
      ),
    ));
  test("on a halted symbol are not changed", () =>
    check(
      [["modify_order", { order_id: onHalted, price: 7.4 }]],
      refuses("precondition_failed", /halted/),
    ));
  test("on a halted symbol can be cancelled", () =>
    check(
      [["cancel_order", { order_id: onHalted }]],
      returns({ order: "buy 100 FARO at 7.49", status: "cancelled", cancelled: 100, filled: 0 }),
    ));
  test("are cancelled once", () =>
    check([["cancel_order", { order_id: cancelled }]], refuses("conflict", /is cancelled/)));
  test("are not cancelled when filled or expired", () =>
    check(
      [["cancel_order", { order_id: expired }]],
      refuses("precondition_failed", /buy 5 NUBE at 126.25 .* is expired/),
    ));
});

describe("alerts", () => {
  const alert = (direction: string, price: number): Call => [
    "set_price_alert",
    { symbol: "OPTK", direction, price },
  ];
  test("show in the quote", () =>
    check(
      [alert("above", 50), ["get_quote", { symbol: "OPTK" }]],
      returns({ alerts: [{ direction: "above", price: 50, status: "waiting" }] }),
    ));
  test("at a price that is reached are refused", () =>
    check(
      [alert("below", 45.2)],
      refuses("precondition_failed", /OPTK is at 45.2, which is that price already/),
    ));
  test("far away are refused", () =>
    check(
      [alert("above", 70)],
      refuses("precondition_failed", /70 is more than 50 % away from the last price of OPTK, 45.2/),
    ));
  test("are set once", () =>
    check(
      [alert("above", 50), alert("above", 50)],
      refuses("conflict", /an alert for OPTK above 50 already/),
    ));
  test("are at most twelve", () =>
    check(
      [51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62].map(price => alert("above", price)),
      refuses("limit_exceeded", /12 alerts wait/),
    ));
});

describe("loopholes", () => {
  const place = (symbol: string, side: string, shares: number, price?: number): Call => [
    "place_order",
    { symbol, side, shares, ...(price === undefined ? {} : { price }) },
  ];
  test("a price off the tick by less than a cent does not go ahead of the others", () =>
    check([place("HLYN", "buy", 10, 11.9401)], {
      ...refuses("precondition_failed", /priced in steps of 0.01, and 11.9401 is between two/),
      hint: "choose 11.94",
    }));
  test("nor does an order that is changed to one", () =>
    check(
      [["modify_order", { order_id: buying, price: 11.8704 }]],
      refuses("precondition_failed", /11.8704 is between two/),
    ));
  test("an alert is not set for a price between two ticks, which is never reached", () =>
    check([["set_price_alert", { symbol: "SKPR", direction: "above", price: 31.43 }]], {
      ...refuses(
        "precondition_failed",
        /SKPR is priced in steps of 0.05, and 31.43 is between two/,
      ),
      hint: "choose 31.45",
    }));
  test("a market order does not exceed the largest order in an expensive book", () =>
    check(
      [place("HLYN", "buy", 200)],
      refuses(
        "limit_exceeded",
        /an order may be worth 2390, and 200 HLYN at the prices in the book are 2394.97/,
      ),
      { edits: { most_per_order: 2390 } },
    ));
  test("a sale with a low limit does not exceed the largest order: 80 × 30", () =>
    check(
      [place("HLYN", "sell", 80, 10)],
      refuses("limit_exceeded", /80 HLYN at the prices in the book are 2400/),
      { edits: { most_per_order: 1560, "symbols.HLYN.bids.0.price": 30 } },
    ));
  test("an order does not exceed the largest order together with what it has traded", () =>
    check(
      [
        place("HLYN", "buy", 320, 12.05),
        ["modify_order", { order_id: "ord_4357", price: 11.5, shares: 330 }],
      ],
      refuses("limit_exceeded", /with what is traded/),
      { edits: { cash: 50_000, paid_in: 54_044, most_per_order: 3860 } },
    ));
  test("a sale worth less than its fee does not overdraw the account", () =>
    check(
      [place("HLYN", "sell", 1)],
      refuses(
        "precondition_failed",
        /the sale brings 11.94 and costs a fee of 1000, and 494.8 of the cash is free/,
      ),
      { edits: { fee: 1000 } },
    ));
  test("orders placed while the exchange is closed do not trade with each other later", () =>
    check(
      [place("NUBE", "buy", 1, 127), place("NUBE", "sell", 1, 126.9)],
      refuses("conflict", /would trade with the account's own order ord_4357/),
    ));
});

checkAllTools();
