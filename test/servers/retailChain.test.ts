/** Tests every retail chain tool: results, changes to the state, and refusals. */
import { describe, expect, test } from "vitest";
import { server as retailChain } from "../../src/servers/retailChain/server.ts";
import { weekdays } from "../../src/servers/retailChain/state.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkInvariants, checkAllTools } = createChecks(retailChain);

const [quay, market, station, hamburg, lyon, porto] = [
  "sto_101",
  "sto_104",
  "sto_107",
  "sto_110",
  "sto_113",
  "sto_116",
] as const;
const [tent, shell, runners, rope, burner, pack, lantern, filter] = [
  "itm_101",
  "itm_104",
  "itm_107",
  "itm_110",
  "itm_113",
  "itm_116",
  "itm_119",
  "itm_122",
] as const;

const refusedOrBadArguments = { kind: expect.stringMatching(/refused|bad-arguments/) as string };
const shelf = (store_id: string, name: string): Call => ["get_inventory", { store_id, name }];

describe("stores", () => {
  test("are found by city", () =>
    check(
      [["list_stores", { city: "hamburg" }]],
      returns({
        stores: [
          {
            store: "Hamburg Altstadt",
            store_id: hamburg,
            address: "Steinstraße 40, Hamburg",
            open: false,
          },
        ],
      }),
    ));
  test("are found by who looks after them, and by name", () =>
    check(
      [["list_stores", { mine: true, name: "square" }]],
      returns({ stores: [{ store: "Market Square", store_id: market }] }),
    ));
  test("on a Monday at nine: Hamburg is closed, Porto is being renovated", () =>
    check(
      [["list_stores", { open_now: false }]],
      returns({ stores: [{ store_id: hamburg }, { store_id: porto }] }),
    ));
  test("in an unknown city are an empty list", () =>
    check([["list_stores", { city: "Oslo" }]], returns({ stores: [] })));
  test("require text to search for", () =>
    check([["list_stores", { mine: "yes" }]], rejectsArguments(/mine must be a boolean/)));
  test("have their next opening", () =>
    check(
      [["get_store", { store_id: hamburg }]],
      returns({
        hours: "09:00 to 20:00",
        closed_on: "sunday, monday",
        open: false,
        opens_next: "2026-03-10T09:00",
        looked_after: false,
      }),
    ));
  test("have the day on which they reopen", () =>
    check(
      [["get_store", { store_id: porto }]],
      returns({ open: false, reopens: "2026-03-23", opens_next: "2026-03-23T09:00" }),
    ));
  test("list expected shipments, but not received ones", () =>
    check(
      [["get_store", { store_id: quay }]],
      returns({
        open: true,
        pickup: true,
        looked_after: true,
        shipments: [
          {
            number: "20401",
            shipment_id: "shp_101",
            sender: "Stoneway",
            expected: "2026-03-09",
            units: 8,
          },
        ],
      }),
    ));
  test("__proto__ is just an unknown store", () =>
    check([["get_store", { store_id: "__proto__" }]], refuses("not_found", /no store __proto__/)));
});

describe("items", () => {
  test("count what all stores can sell: 6 + 2 + 4 + 9 + 3 + 5 less 2 reserved", () =>
    check(
      [["search_items", { name: "dome" }]],
      returns({
        items: [{ item: "Alpine dome tent", item_id: tent, price: 289, available: 27, stores: 6 }],
      }),
    ));
  test("are found by category and price", () =>
    check([["search_items", { category: "clothing", max_price: 138.99 }]], returns({ items: [] })));
  test("are found by brand", () =>
    check(
      [["search_items", { name: "norrun", limit: 1 }]],
      returns({ items: [{ brand: "Norrun" }] }),
    ));
  test("of no known category are refused", () =>
    check([["search_items", { category: "boats" }]], refuses("invalid_params", /category/)));
  test("are in stock, some of them reserved", () =>
    check(
      [shelf(quay, "tent")],
      returns({
        store: "Quay Street",
        items: [{ item_id: tent, on_hand: 6, reserved: 2, available: 4 }],
      }),
    ));
  test("that are sold out stand first", () =>
    check(
      [["get_inventory", { store_id: quay, at_most: 1 }]],
      returns({
        items: [
          { item_id: runners, available: 0 },
          { item_id: pack, available: 1 },
        ],
      }),
    ));
  test("of no store are refused", () =>
    check([["get_inventory", { store_id: tent }]], refuses("not_found", /no store itm_101/)));
  test("are found nearby, nearest first", () =>
    check(
      [["find_item_nearby", { item_id: rope, max_km: 500 }]],
      returns({
        item: "Climbing rope 60 m",
        stores: [
          { store_id: quay, km: 0, available: 3 },
          { store_id: station, km: 1, available: 2 },
        ],
      }),
    ));
  test("are found near another store; not in one that is renovated", () =>
    check(
      [["find_item_nearby", { item_id: filter, near_store_id: lyon, quantity: 5 }]],
      returns({
        stores: [
          { store: "Market Square" },
          { store: "Quay Street" },
          { store: "Hamburg Altstadt", available: 10 },
        ],
      }),
    ));
  test("that no store has are an empty list", () =>
    check([["find_item_nearby", { item_id: rope, quantity: 99 }]], returns({ stores: [] })));
  test("that are unknown are refused", () =>
    check([["find_item_nearby", { item_id: "itm_999" }]], refuses("not_found", /no item itm_999/)));
});

describe("reservations", () => {
  const reserve = (item_id: string, store_id: string, quantity = 1): Call => [
    "reserve_item",
    { item_id, store_id, quantity },
  ];
  const cancel = (reservation_id: string): Call => ["cancel_reservation", { reservation_id }];
  test("hold until the second opening day closes", () =>
    check(
      [reserve(rope, quay, 2)],
      returns({
        item: "Climbing rope 60 m",
        store: "Quay Street",
        quantity: 2,
        until: "2026-03-11T20:00",
        available: 1,
      }),
    ));
  test("count a store's own days", () =>
    check([reserve(shell, hamburg)], returns({ until: "2026-03-11T20:00" })));
  test("take from what can be sold, not from what lies there", () =>
    check(
      [reserve(rope, quay, 2), shelf(quay, "rope")],
      returns({ items: [{ on_hand: 3, reserved: 2, available: 1 }] }),
    ));
  test("beyond what can be sold are refused: 1 < 2", () =>
    check(
      [reserve(pack, quay, 2)],
      refuses("precondition_failed", /Quay Street .* can sell 1 of Trekking pack 50 l .* 2 wanted/),
    ));
  test("of what is sold out are refused", () =>
    check([reserve(runners, quay)], refuses("precondition_failed", /can sell 0 of Trail runners/)));
  test("beyond four of an item are refused", () =>
    check([reserve(lantern, quay, 5)], refuses("limit_exceeded", /at most 4 of an item/)));
  test("beyond three are refused", () =>
    check(
      [reserve(rope, quay), reserve(shell, quay)],
      refuses("limit_exceeded", /3 reservations are held already/),
    ));
  test("of the same item in the same store are refused", () =>
    check(
      [reserve(tent, quay)],
      refuses(
        "conflict",
        /2 of Alpine dome tent are reserved in Quay Street already \(res_101\), until 2026-03-11T20:00/,
      ),
    ));
  test("in a store without a counter for them are refused", () =>
    check(
      [reserve(tent, lyon)],
      refuses("precondition_failed", /Lyon Bellecour .* keeps no reservations/),
    ));
  test("during a renovation are refused", () =>
    check(
      [reserve(tent, porto)],
      refuses("precondition_failed", /Porto Baixa .* closed for renovation until 2026-03-23/),
    ));
  test("of what a store does not sell are refused", () =>
    check(
      [reserve(lantern, station)],
      refuses("precondition_failed", /Station Road .* does not sell Storm lantern/),
    ));
  for (const quantity of [0, -1, 1.5, 1e308])
    test(`of ${quantity} are refused`, () =>
      check([reserve(rope, quay, quantity)], refusedOrBadArguments));
  test("are listed while they are held", () =>
    check(
      [["list_reservations", {}]],
      returns({
        reservations: [
          { reservation_id: "res_101", until: "2026-03-11T20:00" },
          { item: "Trail runners", store: "Market Square", status: "held" },
        ],
        held: 2,
      }),
    ));
  test("expire by the clock", () =>
    check(
      [["list_reservations", { status: "expired" }]],
      returns({
        reservations: [
          {
            item: "Storm lantern",
            reservation_id: "res_107",
            store: "Station Road",
            until: "2026-03-03T20:00",
            status: "expired",
          },
        ],
      }),
    ));
  test("are found by item and store", () =>
    check(
      [["list_reservations", { item: "filter", store_id: market }]],
      returns({ reservations: [{ reservation_id: "res_113", status: "cancelled" }] }),
    ));
  test("in no store are refused", () =>
    check(
      [["list_reservations", { store_id: "sto_999" }]],
      refuses("not_found", /no store sto_999/),
    ));
  test("are cancelled: 6 can be sold", () =>
    check(
      [cancel("res_101")],
      returns({
        item: "Alpine dome tent",
        store: "Quay Street",
        status: "cancelled",
        available: 6,
      }),
    ));
  test("make room for others", () =>
    check([cancel("res_101"), reserve(tent, quay, 4)], returns({ available: 2 })));
  test("are cancelled once", () =>
    check(
      [cancel("res_101"), cancel("res_101")],
      refuses("conflict", /Alpine dome tent .* already cancelled/),
    ));
  test("that were collected are not cancelled", () =>
    check([cancel("res_110")], refuses("precondition_failed", /was collected/)));
  test("that have expired are not cancelled", () =>
    check([cancel("res_107")], refuses("precondition_failed", /lapsed at 2026-03-03T20:00/)));
  test("that are unknown are refused", () =>
    check([cancel("itm_101")], refuses("not_found", /no reservation itm_101/)));
});

describe("stock", () => {
  const move = (
    item_id: string,
    from_store_id: string,
    to_store_id: string,
    quantity: number,
  ): Call => ["transfer_stock", { item_id, from_store_id, to_store_id, quantity }];
  const receive = (shipment_id: string): Call => ["receive_shipment", { shipment_id }];
  const adjust = (
    item_id: string,
    change: number,
    reason = "counted",
    store_id: string = quay,
  ): Call => ["adjust_stock", { store_id, item_id, change, reason }];
  test("goes to another store as a shipment, within the city today", () =>
    check(
      [move(tent, quay, station, 3)],
      returns({ number: "20408", expected: "2026-03-09", from_available: 1 }),
    ));
  test("is expected there, tomorrow if in another city", () =>
    check(
      [move(tent, quay, hamburg, 3), ["get_store", { store_id: hamburg }]],
      returns({
        shipments: [{ number: "20408", sender: "Quay Street", expected: "2026-03-10", units: 3 }],
      }),
    ));
  test("leaves the shelf: 6 − 3", () =>
    check(
      [move(tent, quay, hamburg, 3), shelf(quay, "tent")],
      returns({ items: [{ on_hand: 3, reserved: 2, available: 1 }] }),
    ));
  test("that is reserved stays", () =>
    check(
      [move(tent, quay, market, 5)],
      refuses(
        "precondition_failed",
        /Quay Street has 6 of Alpine dome tent .* 2 of them are reserved: 4 can be moved, 5 wanted/,
      ),
    ));
  test("is transferred only by the manager of the store", () =>
    check(
      [move(tent, hamburg, quay, 1)],
      refuses(
        "permission_denied",
        /you do not look after the store Hamburg Altstadt .* only after Quay Street \(sto_101\), Market Square/,
      ),
    ));
  test("is not transferred to the same store", () =>
    check([move(tent, quay, quay, 1)], refuses("invalid_params", /same store/)));
  test("is not transferred to a store that is being renovated", () =>
    check([move(tent, quay, porto, 1)], refuses("precondition_failed", /closed for renovation/)));
  test("is received: 0 + 8", () =>
    check(
      [receive("shp_101")],
      returns({
        number: "20401",
        store: "Quay Street",
        items: [{ item: "Trail runners", item_id: runners, added: 8, on_hand: 8 }],
      }),
    ));
  test("can be reserved after it is received", () =>
    check(
      [receive("shp_101"), ["reserve_item", { item_id: runners, store_id: quay }]],
      returns({ available: 7 }),
    ));
  test("is no longer expected after it is received", () =>
    check([receive("shp_101"), ["get_store", { store_id: quay }]], {
      value: expect.not.objectContaining({ shipments: expect.anything() as unknown }) as unknown,
    }));
  test("is received once", () =>
    check(
      [receive("shp_101"), receive("shp_101")],
      refuses("conflict", /shipment 20401 .* already taken in at 2026-03-09T09:00/),
    ));
  test("is not received before its day", () =>
    check(
      [receive("shp_107")],
      refuses("precondition_failed", /20404 .* expected on 2026-03-12 and has not arrived/),
    ));
  test("is not received beyond the shelf space: 38 + 6 > 40", () =>
    check(
      [receive("shp_104")],
      refuses("limit_exceeded", /room for 40 of Gas burner .* 44 would lie there/),
    ));
  test("is received when there is room", () =>
    check(
      [move(burner, market, station, 4), receive("shp_104")],
      returns({ items: [{ on_hand: 40 }] }),
    ));
  test("is received only by the manager of the store", () =>
    check(
      [receive("shp_110")],
      refuses("permission_denied", /do not look after the store Lyon Bellecour/),
    ));
  test("of an unknown shipment is not received", () =>
    check([receive("shp_999")], refuses("not_found", /no shipment shp_999/)));
  test("is corrected: 6 − 1, of which 2 are reserved", () =>
    check(
      [adjust(tent, -1, "damaged")],
      returns({ item: "Alpine dome tent", store: "Quay Street", on_hand: 5, available: 3 }),
    ));
  test("is not corrected below what is reserved", () =>
    check(
      [adjust(tent, -5)],
      refuses(
        "precondition_failed",
        /2 of Alpine dome tent .* reserved in Quay Street, and 1 would be left/,
      ),
    ));
  test("is not corrected below zero", () =>
    check(
      [adjust(rope, -4, "stolen")],
      refuses("precondition_failed", /only 3 of Climbing rope 60 m .* cannot become -1/),
    ));
  test("is not corrected beyond the shelf space", () =>
    check([adjust(burner, 3, "found", market)], refuses("limit_exceeded", /room for 40/)));
  test("is corrected with a matching reason only", () =>
    check([adjust(tent, 2, "stolen")], refuses("invalid_params", /what is stolen makes less/)));
  test("is corrected only by the manager of the store", () =>
    check([adjust(tent, 1, "found", hamburg)], refuses("permission_denied", /Hamburg Altstadt/)));
  for (const change of [0, -0, 100, 0.5, Number.NaN])
    test(`a correction by ${change} is refused`, () =>
      check([adjust(tent, change)], refusedOrBadArguments));
});

describe("loopholes", () => {
  test("a store that has sold nothing yet receives its first shipment", () =>
    check(
      [["receive_shipment", { shipment_id: "shp_101" }]],
      returns({ items: [{ item_id: runners, added: 8, on_hand: 8 }] }),
      { edits: { "stock.sto_101": undefined } },
    ));
  test("a state with a store that never opens, where reserving would take forever, is refused", () => {
    const closedOn = retailChain.schema.safeParse({
      stores: { [quay]: { closed_on: [...weekdays] } },
    });
    expect(closedOn.error?.message).toMatch(/must leave a day on which the store is open/);
  });
  test("what is reserved is not sent away, in one transfer or in two", () => {
    const send = (quantity: number): Call => [
      "transfer_stock",
      { item_id: tent, from_store_id: quay, to_store_id: market, quantity },
    ];
    check([send(3), send(2)], refuses("precondition_failed", /has 3 of .* 2 of them are reserved/));
  });
});

describe("every rule can be broken", () => {
  const reservation = {
    item_id: rope,
    store_id: quay,
    quantity: 4,
    made: "2026-03-09T09:00",
    until: "2026-03-11T20:00",
    status: "held",
  };
  const shipment = {
    number: 20500,
    store_id: market,
    sender: "Quay Street",
    expected: "2026-03-09",
  };
  checkInvariants({
    "Moving stock creates and loses nothing; an adjustment changes one item in one store.": {
      "shipments.shp_900": { ...shipment, lines: { [tent]: 1 } },
    },
    "Stock changes only in stores that the user looks after, and only up to the shelf space.": {
      "stock.sto_107.itm_101": 5,
    },
    "What is reserved is in the store, and at most the allowed number of units.": {
      "reservations.res_900": reservation,
    },
    "A transfer leaves what is reserved in the store that sends it.": {
      "stock.sto_101.itm_101": 1,
      "shipments.shp_900": { ...shipment, lines: { [tent]: 5 } },
    },
    "There are at most the allowed reservations, one for an item in a store.": {
      "reservations.res_900": { ...reservation, item_id: tent, quantity: 1 },
    },
    "A reservation changes only by being cancelled while it is held.": {
      "reservations.res_113.status": "held",
    },
    "A shipment is received once, from its day on, in a store that the user looks after.": {
      "shipments.shp_107.received": "2026-03-11T09:00",
    },
    "Each delivery note has its own number.": { "shipments.shp_101.number": 20403 },
    "Calls change neither the stores, items and terms nor what the user looks after.": {
      "user.looks_after": [quay, market, station],
    },
  });
});

checkAllTools();
