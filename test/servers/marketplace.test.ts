/** Tests every marketplace tool: results, changes to the state, and refusals. */
import { describe, expect, test } from "vitest";
import { server as marketplace } from "../../src/servers/marketplace/server.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkInvariants, checkAllTools } = createChecks(marketplace);

const [sideboard, camera, bicycle, amplifier, atlas, headset] = [
  "lst_101",
  "lst_104",
  "lst_107",
  "lst_110",
  "lst_113",
  "lst_116",
] as const;
const [scanner, lamp, flash, bike, magazines] = [
  "lst_119",
  "lst_122",
  "lst_125",
  "lst_128",
  "lst_131",
] as const;
const [clara, marco] = ["mem_104", "mem_107"] as const;

const refusedOrBadArguments = { kind: expect.stringMatching(/refused|bad-arguments/) as string };
const bid = (listing_id: string, amount: number): Call => ["place_bid", { listing_id, amount }];
const search = (args: Record<string, string | number>): Call => ["search_listings", args];
const look = (listing_id: string): Call => ["get_listing", { listing_id }];

describe("looking around", () => {
  test("lists the listings of others, the earliest end first", () =>
    check(
      [search({})],
      returns({
        listings: [
          { title: "Medium format camera", next_bid: 280 },
          { listing_id: sideboard },
          { listing_id: bicycle },
          { title: "Tube amplifier", bids: 0, next_bid: 95 },
        ],
        sellers: [{ seller: "Marco Bianchi", seller_id: marco }, {}, {}, {}],
      }),
    ));
  test("finds by category and by what the next bid may be: 190 + 5", () =>
    check(
      [search({ category: "furniture", max_price: 195 })],
      returns({
        listings: [{ listing_id: sideboard, next_bid: 195, bids: 2, seller_name: "Clara Mendes" }],
      }),
    ));
  test("finds nothing one cent below", () =>
    check(
      [search({ category: "furniture", max_price: 194.99 })],
      returns({ listings: [], sellers: [] }),
    ));
  test("finds ended listings by title", () =>
    check(
      [search({ title: "atlas" })],
      returns({ listings: [{ listing_id: atlas, status: "ended" }] }),
    ));
  test("finds by seller", () =>
    check(
      [search({ seller: "clara" })],
      returns({
        listings: [{ listing_id: sideboard }],
        sellers: [{ seller: "Clara Mendes", seller_id: clara, city: "Port Alder" }],
      }),
    ));
  test("finds what was bought", () =>
    check(
      [search({ involving: "bought" })],
      returns({ listings: [{ listing_id: headset, status: "sold" }] }),
    ));
  test("finds what was bid on", () =>
    check(
      [search({ involving: "bid_on", limit: 2 })],
      returns({ listings: [{ listing_id: headset }, { listing_id: atlas }] }),
    ));
  test("refuses an unknown category", () =>
    check([search({ category: "cars" })], refuses("invalid_params", /category/)));
  test("a listing has its bids and messages", () =>
    check(
      [look(sideboard)],
      returns({
        seller: "Clara Mendes",
        status: "open",
        highest_bid: 190,
        next_bid: 195,
        buy_now: 320,
        bids: 2,
        messages: [{ from: "Ana Ruiz", text: "Is it still available?" }, { from: "Clara Mendes" }],
      }),
    ));
  test("a listing shows the own bids", () =>
    check(
      [look(camera)],
      returns({
        highest_bid: 270,
        own_bids: [{ bid_id: "bid_107", amount: 260, at: "2026-03-07T23:40", standing: "outbid" }],
      }),
    ));
  test("__proto__ is just an unknown listing", () =>
    check([look("__proto__")], refuses("not_found", /no listing __proto__/)));
});

describe("sellers", () => {
  const write = (listing_id: string, text = "Would you ship it?"): Call => [
    "message_seller",
    { listing_id, text },
  ];
  const rate = (listing_id: string, stars = 4): Call => [
    "rate_seller",
    { listing_id, stars, text: "Well packed." },
  ];
  test("have a profile with what they offer and what was bought from them", () =>
    check(
      [["get_seller_profile", { seller_id: marco }]],
      returns({
        seller: "Marco Bianchi",
        offers: [{ title: "Medium format camera", listing_id: camera }],
        bought: [{ listing_id: headset, price: 47, rated: false }],
      }),
    ));
  test("that are unknown are refused", () =>
    check(
      [["get_seller_profile", { seller_id: "lst_101" }]],
      refuses("not_found", /no seller lst_101/),
    ));
  test("receive messages", () =>
    check([write(sideboard)], returns({ seller: "Clara Mendes", seller_id: clara, left: 2 })));
  test("have messages in their listing", () =>
    check(
      [write(camera), look(camera)],
      returns({
        messages: [{ from: "Ana Ruiz", text: "Would you ship it?", at: "2026-03-09T09:00" }],
      }),
    ));
  test("have to answer after three messages", () =>
    check(
      [write(camera, "One"), write(camera, "Two"), write(camera, "Three"), write(camera, "Four")],
      refuses("limit_exceeded", /Marco Bianchi has not answered the last 3 messages/),
    ));
  test("do not receive the same message twice", () =>
    check([write(camera), write(camera)], refuses("conflict", /says just that/)));
  test("are not the customer", () =>
    check([write(scanner)], refuses("precondition_failed", /Flatbed scanner .* own listing/)));
  test("may have blocked the customer", () =>
    check([write(amplifier)], refuses("permission_denied", /Oskar Lind does not deal with you/)));
  test("are rated after a purchase", () =>
    check([rate(headset)], returns({ seller: "Marco Bianchi", rating: 4, ratings: 1 })));
  test("show the rating", () =>
    check(
      [rate(headset), ["get_seller_profile", { seller_id: marco }]],
      returns({
        rating: 4,
        ratings: [{ by: "Ana Ruiz", stars: 4, text: "Well packed." }],
        bought: [{ rated: true }],
      }),
    ));
  test("are rated once for each purchase", () =>
    check(
      [rate(headset), rate(headset, 5)],
      refuses("conflict", /Noise-reducing headset .* already, with 4 stars/),
    ));
  test("are not rated for what was not bought", () =>
    check(
      [rate(atlas)],
      refuses("permission_denied", /you have not bought First edition atlas .* which is ended/),
    ));
  test("do not rate themselves", () =>
    check([rate(bike)], refuses("permission_denied", /own listing/)));
  for (const stars of [0, 6, -1, 3.5])
    test(`${stars} stars are refused`, () => check([rate(headset, stars)], refusedOrBadArguments));
});

describe("bids", () => {
  const retract = (bid_id: string): Call => ["retract_bid", { bid_id }];
  test("lead when they beat the highest by the step: 190 + 5", () =>
    check(
      [bid(sideboard, 195)],
      returns({
        title: "Walnut sideboard",
        listing_id: sideboard,
        amount: 195,
        status: "leading",
        retract_until: "2026-03-09T10:00",
      }),
    ));
  test("raise what the next has to be", () =>
    check(
      [bid(sideboard, 200), look(sideboard)],
      returns({
        highest_bid: 200,
        next_bid: 205,
        own_bids: [{ amount: 200, standing: "leading" }],
        bids: 3,
      }),
    ));
  test("below the step are refused", () =>
    check(
      [bid(sideboard, 194.99)],
      refuses("precondition_failed", /194.99 is too little .* at least 195/),
    ));
  test("of buy_now win at once", () =>
    check(
      [bid(sideboard, 320), search({ title: "sideboard" })],
      returns({ listings: [{ status: "sold", bids: 3 }] }),
    ));
  test("beyond buy_now pay buy_now", () =>
    check([bid(sideboard, 320)], returns({ amount: 320, status: "won" })));
  test("on what is sold are refused", () =>
    check([bid(headset, 60)], refuses("conflict", /Noise-reducing headset .* already sold/)));
  test("after the end are refused", () =>
    check(
      [bid(atlas, 70)],
      refuses("precondition_failed", /First edition atlas .* ended at 2026-03-05T/),
    ));
  test("on the user's own listing are refused", () =>
    check([bid(scanner, 60)], refuses("permission_denied", /own listing, and nobody bids/)));
  test("while leading are refused", () =>
    check(
      [bid(bicycle, 150)],
      refuses("conflict", /you lead Folding bicycle .* already with 125/),
    ));
  test("far above the highest bid are refused: 2 × 280", () =>
    check(
      [bid(camera, 560.01)],
      refuses("limit_exceeded", /280 is enough, and more than 560 is not taken/),
    ));
  test("beyond what all may come to are refused: 125 + 60 + 420 > 600", () =>
    check(
      [bid(camera, 420)],
      refuses("limit_exceeded", /come to 185 and may come to 600: another 420/),
    ));
  test("on listings of a seller who blocks the user are refused", () =>
    check([bid(amplifier, 100)], refuses("permission_denied", /Oskar Lind does not deal/)));
  for (const amount of [0, -5, -0, Number.NaN, 1e308, 195.001])
    test(`of ${amount} are refused`, () => check([bid(sideboard, amount)], refusedOrBadArguments));
  test("are listed, highest first", () =>
    check(
      [["list_bids", { listing_id: scanner }]],
      returns({
        title: "Flatbed scanner",
        bids: [
          { bid_id: "bid_128", bidder: "Marco Bianchi", amount: 46, standing: "leading" },
          { bidder: "Clara Mendes", standing: "outbid" },
        ],
      }),
    ));
  test("are shown to the seller alone", () =>
    check(
      [["list_bids", { listing_id: camera }]],
      refuses(
        "permission_denied",
        /Medium format camera .* belongs to Marco Bianchi, and only its seller/,
      ),
    ));
  test("of no listing are refused", () =>
    check([["list_bids", { listing_id: "lst_999" }]], refuses("not_found", /no listing lst_999/)));
  test("are retracted, and the one before leads: 120", () =>
    check(
      [retract("bid_116")],
      returns({ title: "Folding bicycle", retracted: 125, highest_bid: 120, next_bid: 125 }),
    ));
  test("free the bidding limit when retracted", () =>
    check([retract("bid_116"), bid(camera, 420)], returns({ status: "leading" })));
  test("are retracted once", () =>
    check([retract("bid_116"), retract("bid_116")], refuses("conflict", /already taken back/)));
  test("of others are not retracted", () =>
    check([retract("bid_104")], refuses("permission_denied", /made by Nadia Petrov/)));
  test("that have won are not retracted", () =>
    check([retract("bid_122")], refuses("precondition_failed", /has won and stands/)));
  test("are not retracted after the end", () =>
    check([retract("bid_119")], refuses("precondition_failed", /the listing is ended/)));
  test("are not retracted after an hour", () =>
    check(
      [retract("bid_107")],
      refuses(
        "precondition_failed",
        /could be taken back until 2026-03-08T00:40, 60 minutes after/,
      ),
    ));
});

describe("offering", () => {
  const create = (more: Record<string, string | number> = {}): Call => [
    "create_listing",
    { title: "Oak stool", category: "furniture", condition: "good", start_price: 28, ...more },
  ];
  const update = (listing_id: string, more: Record<string, string | number> = {}): Call => [
    "update_listing",
    { listing_id, ...more },
  ];
  const close = (listing_id: string): Call => ["close_listing", { listing_id }];
  const accept = (bid_id: string): Call => ["accept_bid", { bid_id }];
  test("ends after seven days", () =>
    check(
      [create()],
      returns({ title: "Oak stool", start_price: 28, next_bid: 28, ends: "2026-03-16T09:00" }),
    ));
  test("appears among the user's own listings", () =>
    check(
      [create({ days: 10 }), ["list_my_listings", { title: "stool" }]],
      returns({
        listings: [{ title: "Oak stool", status: "open", bids: 0, ends: "2026-03-19T09:00" }],
      }),
    ));
  test("has a limit of four", () =>
    check(
      [create(), create({ title: "Slide projector" })],
      refuses("limit_exceeded", /4 listings are open, and no more than 4/),
    ));
  test("refuses the same title twice", () =>
    check(
      [create({ title: "flatbed scanner" })],
      refuses("conflict", /Flatbed scanner \(lst_119\) is already on offer/),
    ));
  test("requires buy_now above the start price", () =>
    check(
      [create({ buy_now: 28 })],
      refuses("precondition_failed", /buy_now 28 has to be more than the first price 28/),
    ));
  test("lists what the customer offers: 90 earned", () =>
    check(
      [["list_my_listings", {}]],
      returns({
        listings: [
          { listing_id: lamp },
          { listing_id: magazines },
          { listing_id: scanner, bids: 2, highest_bid: 46 },
          { listing_id: flash, status: "ended" },
          { listing_id: bike, status: "sold" },
        ],
        earned: 90,
      }),
    ));
  test("lists what waits for the seller", () =>
    check(
      [["list_my_listings", { status: "ended", with_bids: true }]],
      returns({ listings: [{ title: "Studio flash set", highest_bid: 120 }] }),
    ));
  test("refuses an unknown status", () =>
    check([["list_my_listings", { status: "hidden" }]], refuses("invalid_params", /status/)));
  test("is changed", () =>
    check(
      [update(lamp, { start_price: 50, days: 3 }), look(lamp)],
      returns({ start_price: 50, step: 5, next_bid: 50, ends: "2026-03-12T09:00" }),
    ));
  test("with bids keeps its prices", () =>
    check(
      [update(scanner, { start_price: 30 })],
      refuses(
        "precondition_failed",
        /Flatbed scanner .* has 2 bids, so its title and prices stand/,
      ),
    ));
  test("with bids may still say more", () =>
    check(
      [update(scanner, { description: "Pick-up only." }), look(scanner)],
      returns({ description: "Pick-up only.", highest_bid: 46 }),
    ));
  test("with bids is only kept open for longer", () =>
    check(
      [update(scanner, { days: 1 })],
      refuses("precondition_failed", /Flatbed scanner .* cannot end before 2026-03-11T17:15/),
    ));
  test("with bids is not opened again", () =>
    check(
      [update(flash, { days: 3 })],
      refuses("precondition_failed", /Studio flash set .* ended at 2026-03-08T18:20 with 1 bids/),
    ));
  test("refuses listings of others", () =>
    check([update(camera, { days: 3 })], refuses("permission_denied", /belongs to Marco Bianchi/)));
  test("refuses sold listings", () =>
    check([update(bike, { days: 3 })], refuses("conflict", /City road bike .* already sold/)));
  test("refuses a change to the same values", () =>
    check([update(lamp, { start_price: 35 })], refuses("conflict", /like that already/)));
  test("refuses a change without values", () =>
    check([update(lamp)], refuses("invalid_params", /nothing to change/)));
  test("is withdrawn", () =>
    check(
      [close(lamp)],
      returns({ title: "Vintage drafting lamp", status: "withdrawn", open_listings: 2 }),
    ));
  test("is withdrawn once", () =>
    check([close(lamp), close(lamp)], refuses("conflict", /was withdrawn/)));
  test("with bids is not withdrawn", () =>
    check([close(scanner)], refuses("precondition_failed", /has a bid of 46 by Marco Bianchi/)));
  test("sells to the highest bid", () =>
    check(
      [accept("bid_128")],
      returns({ title: "Flatbed scanner", buyer: "Marco Bianchi", price: 46, status: "sold" }),
    ));
  test("sells after the end, and that is earned: 90 + 120", () =>
    check(
      [accept("bid_131"), ["list_my_listings", { status: "sold" }]],
      returns({ listings: [{ listing_id: flash, highest_bid: 120 }, {}], earned: 210 }),
    ));
  test("does not sell to a lower bid", () =>
    check(
      [accept("bid_125")],
      refuses(
        "precondition_failed",
        /40 is not the highest bid: Marco Bianchi has bid 46 \(bid_128\)/,
      ),
    ));
  test("sells once", () =>
    check([accept("bid_128"), accept("bid_128")], refuses("conflict", /already sold/)));
  test("only the seller sells", () =>
    check(
      [accept("bid_110")],
      refuses("permission_denied", /Medium format camera .* belongs to Marco Bianchi/),
    ));
  test("refuses to sell without a bid", () =>
    check([["accept_bid", {}]], rejectsArguments(/missing required argument bid_id/)));
});

describe("loopholes", () => {
  const offer = (title: string): Call => [
    "create_listing",
    { title, category: "books", condition: "good", start_price: 10 },
  ];
  const update = (listing_id: string, more: Record<string, string | number>): Call => [
    "update_listing",
    { listing_id, ...more },
  ];
  const withoutBids = { edits: { "bids.bid_131.retracted": true } };
  test("an ended listing is not reopened beyond the most open listings", () =>
    check(
      [offer("Old atlas"), update("lst_125", { days: 7 })],
      refuses("limit_exceeded", /4 listings are open, and no more than 4 may be/),
      withoutBids,
    ));
  test("buying at once does not pass the limit of the bids: 185 + 320 + 280", () =>
    check(
      [
        ["place_bid", { listing_id: "lst_101", amount: 320 }],
        ["place_bid", { listing_id: "lst_104", amount: 280 }],
      ],
      refuses(
        "limit_exceeded",
        /leading bids come to 185 and what you have just bought to 320, and both may come to 600/,
      ),
    ));
  test("an ended listing is reopened while there is room", () =>
    check(
      [update("lst_125", { days: 7 })],
      returns({ title: "Studio flash set", ends: "2026-03-16T09:00" }),
      withoutBids,
    ));
  test("a listing is not renamed to what is on offer already", () =>
    check(
      [update("lst_122", { title: "flatbed SCANNER" })],
      refuses("conflict", /Flatbed scanner \(lst_119\) is already on offer/),
    ));
  test("a space after the title does not make it another one", () =>
    check([offer("Flatbed scanner ")], refuses("conflict", /is already on offer/)));
  test("an ended listing is not reopened beside a new one of the same title", () =>
    check(
      [offer("Studio flash set"), update("lst_125", { days: 7 })],
      refuses("conflict", /Studio flash set .* is already on offer/),
      { edits: { ...withoutBids.edits, "terms.most_listings": 9 } },
    ));
});

describe("every rule can be broken", () => {
  const own = {
    title: "Old atlas",
    category: "books",
    condition: "good",
    description: "",
    seller_id: "mem_101",
    start_price: 10,
    step: 2,
    opened: "2026-03-09",
    ends: "2026-03-10T09:00",
    status: "open",
  };
  const bid = {
    listing_id: "lst_101",
    bidder_id: "mem_101",
    amount: 195,
    at: "2026-03-09T09:00",
    retracted: false,
  };
  checkInvariants({
    "The customer never has more open listings than allowed, nor two of one title.": {
      "listings.lst_900": { ...own, title: "Flatbed scanner" },
    },
    "A bid is the customer's, not on their own listing, and exceeds the highest one.": {
      "bids.bid_900": { ...bid, amount: 194 },
    },
    "A new bid keeps the leading bids and the latest purchases of the customer within the limit.": [
      { "terms.bidding_limit": 319 },
      { "bids.bid_900": bid },
    ],
    "A bid only ever changes by being taken back in time by the customer.": {
      "bids.bid_107.retracted": true,
    },
    "A listing is sold to its highest bid, and stays sold or withdrawn.": {
      "listings.lst_128.status": "open",
    },
    "A listing with bids keeps its title and prices, ends no earlier and is not withdrawn.": {
      "listings.lst_119.start_price": 41,
    },
    "Listings of others change only by being bought by the customer.": {
      "listings.lst_101.step": 1,
    },
    "A purchase is rated once, by its buyer, and ratings stay.": {
      "ratings.rtg_900": {
        seller_id: "mem_107",
        by: "mem_101",
        listing_id: "lst_104",
        stars: 1,
        text: "",
        date: "2026-03-09",
      },
    },
    "The customer sends no more messages about a listing than allowed before an answer.": {
      "messages.msg_900": message("2026-03-09T09:00"),
      "messages.msg_901": message("2026-03-09T09:01"),
      "messages.msg_902": message("2026-03-09T09:02"),
      "messages.msg_903": message("2026-03-09T09:03"),
    },
    "Calls change neither the terms nor the members.": { "members.mem_113.blocks_customer": false },
  });
  function message(at: string) {
    return { listing_id: "lst_101", from: "mem_101", to: "mem_104", text: "And now?", at };
  }
});

checkAllTools();
