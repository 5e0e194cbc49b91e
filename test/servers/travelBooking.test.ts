/** Tests every travel booking tool: results, changes to the state, and refusals. */
import { describe, test } from "vitest";
import { server as travelBooking } from "../../src/servers/travelBooking/server.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkAllTools } = createChecks(travelBooking);

const [gone, closing, thursday, soldOut, saturday, back, calledOff, london] = [
  "flt_101",
  "flt_104",
  "flt_107",
  "flt_110",
  "flt_113",
  "flt_116",
  "flt_119",
  "flt_122",
] as const;
const [alfama, rossio, belem, bloomsbury] = ["htl_101", "htl_104", "htl_107", "htl_110"] as const;
/**
 * Ana's flights: flown, standard on Thursday, light on the way back, light on the one that is
 * called off; and her brother's, cancelled.
 */
const [flown, out, home, stranded, paulsOut] = [
  "fbk_101",
  "fbk_104",
  "fbk_107",
  "fbk_110",
  "fbk_113",
] as const;
/** Her stays: strict in Lisbon, flexible in London, over; and her brother's, cancelled. */
const [lisbonStay, londonStay, over, paulsStay] = [
  "hbk_101",
  "hbk_104",
  "hbk_107",
  "hbk_110",
] as const;

const book = (flight_id: string, fare = "light", more: Call[1] = {}): Call => [
  "book_flight",
  { flight_id, fare, ...more },
];

describe("flights", () => {
  test("airports are found by city", () =>
    check(
      [["search_airports", { name: "lisbon" }]],
      returns({ airports: [{ airport: "Lisbon Airport", code: "LIS", city: "Lisbon" }] }),
    ));
  test("airport names have bounds", () =>
    check([["search_airports", { name: "x".repeat(201) }]], refuses("invalid_params", /name/)));
  test("are found by where they go and when", () =>
    check(
      [["search_flights", { from: "PLD", to: "LIS", date: "2026-03-12" }]],
      returns({
        flights: [
          {
            number: "VL 214",
            flight_id: thursday,
            to: "LIS",
            departs: "07:40",
            price: 82,
            seats_left: 5,
          },
        ],
      }),
    ));
  test("are found below a price", () =>
    check(
      [["search_flights", { from: "PLD", max_price: 80 }]],
      returns({ flights: [{ flight_id: saturday, price: 73 }] }),
    ));
  test("that have left, closed or are cancelled are not found", () =>
    check(
      [["search_flights", { from: "PLD" }]],
      returns({
        flights: [
          { flight_id: thursday },
          { flight_id: soldOut },
          { flight_id: saturday },
          { flight_id: london },
        ],
      }),
    ));
  test("from an airport without departures are an empty list", () =>
    check([["search_flights", { from: "LHR" }]], returns({ flights: [] })));
  test("from no known airport are refused", () =>
    check([["search_flights", { from: "XXX" }]], refuses("not_found", /no airport XXX/)));
  test("from and to the same airport are refused", () =>
    check(
      [["search_flights", { from: "PLD", to: "pld" }]],
      refuses("invalid_params", /leave and land at PLD/),
    ));
  test("of a past day are refused", () =>
    check(
      [["search_flights", { from: "PLD", date: "2026-03-01" }]],
      refuses("precondition_failed", /2026-03-01 has passed/),
    ));
  test("show each fare: 82, 82 × 1.35 = 111, 82 × 1.9 = 156", () =>
    check(
      [["get_flight", { flight_id: thursday }]],
      returns({
        airline: "Vela Airways",
        arrives: "2026-03-12T09:20",
        fares: [
          { fare: "light", price: 82 },
          { fare: "standard", price: 111 },
          { fare: "flex", price: 156, allows: "free changes and full refund up to 2 hours before" },
        ],
      }),
    ));
  test("__proto__ is just an unknown id", () =>
    check(
      [["get_flight", { flight_id: "__proto__" }]],
      refuses("not_found", /no flight __proto__/),
    ));
  test("seats are listed by window, legroom marked", () =>
    check(
      [["get_seat_map", { flight_id: thursday, kind: "window" }]],
      returns({ free: 2, seats: [{ seat: "2D", extra: 18 }, { seat: "4A" }] }),
    ));
  test("seats of a flight that has left are refused", () =>
    check(
      [["get_seat_map", { flight_id: gone }]],
      refuses("precondition_failed", /VL 210 left at 2026-03-06T07:40/),
    ));
});

describe("booking a flight", () => {
  test("takes money and a seat", () =>
    check(
      [book(saturday)],
      returns({ flight_booking: "Port Alder to Lisbon", seat: "3D", paid: 73 }),
    ));
  test("leaves one seat fewer", () =>
    check(
      [book(saturday), ["search_flights", { from: "PLD", date: "2026-03-14" }]],
      returns({ flights: [{ seats_left: 4 }] }),
    ));
  test("shows among the bookings", () =>
    check(
      [book(saturday), ["list_bookings", { route: "to Lisbon", state: "upcoming" }]],
      returns({
        flights: [{ flight_booking_id: out }, { date: "2026-03-14", traveller: "Ana Ruiz" }],
      }),
    ));
  test("is possible for another traveller", () =>
    check([book(thursday, "flex", { traveller: "paul ruiz" })], returns({ paid: 156 })));
  test("for an unknown traveller is refused", () =>
    check(
      [book(thursday, "flex", { traveller: "Nobody" })],
      refuses("not_found", /no traveller Nobody/),
    ));
  test("on a sold-out flight is refused", () =>
    check([book(soldOut)], refuses("precondition_failed", /VL 216 on 2026-03-13 is sold out/)));
  test("less than an hour before departure is refused", () =>
    check(
      [book(closing)],
      refuses("precondition_failed", /leaves at 2026-03-09T09:40 and closed 1 hour before/),
    ));
  test("on a cancelled flight is refused", () =>
    check([book(calledOff)], refuses("precondition_failed", /BO 90 on 2026-03-18 is cancelled/)));
  test("on two flights at once is refused", () =>
    check(
      [book(thursday)],
      refuses("conflict", /Ana Ruiz is on VL 214 at 2026-03-12T07:40 already \(booking PMM637\)/),
    ));
  test("an identity card is not enough for London", () =>
    check(
      [book(london, "light", { traveller: "Paul Ruiz" })],
      refuses("precondition_failed", /asks for a passport, and Paul Ruiz has an identity card/),
    ));
  test("a passport must be valid", () =>
    check(
      [book(london, "light", { traveller: "Rosa Ruiz" })],
      refuses("precondition_failed", /Rosa Ruiz's passport expires on 2026-03-15/),
    ));
  test("a fare that does not exist is refused", () =>
    check([book(saturday, "business")], refuses("invalid_params", /fare/)));
  test("beyond the card balance is refused: 1250 - 2 × 520 - 94 × 1.9 = 31", () =>
    check(
      [
        [
          "book_hotel",
          { hotel_id: alfama, room: "double", check_in: "2026-03-24", check_out: "2026-04-01" },
        ],
        book(london, "flex"),
        book(saturday),
      ],
      refuses("precondition_failed", /VL 218 in light costs 73, and the Travel card has 31 left/),
    ));
});

describe("seats, changes and cancelling", () => {
  const seat = (flight_booking_id: string, wanted: string): Call => [
    "select_seat",
    { flight_booking_id, seat: wanted },
  ];
  const change = (flight_booking_id: string, flight_id: string): Call => [
    "change_flight",
    { flight_booking_id, flight_id },
  ];
  const cancel = (flight_booking_id: string, more: Call[1] = {}): Call => [
    "cancel_flight",
    { flight_booking_id, ...more },
  ];
  test("a seat with legroom costs 18", () =>
    check([seat(out, "2c")], returns({ reference: "PMM637", seat: "2C", fee: 18 })));
  test("a seat on a light fare costs 9 more", () =>
    check([seat(home, "1D")], returns({ fee: 27 })));
  test("the old seat is free again", () =>
    check(
      [seat(out, "4A"), ["get_seat_map", { flight_id: thursday, legroom: true }]],
      returns({ seats: [{ seat: "1D" }, { seat: "2C" }, { seat: "2D" }] }),
    ));
  test("a taken seat is refused", () =>
    check([seat(out, "3A")], refuses("conflict", /seat 3A of VL 214 is taken/)));
  test("the current seat is refused", () =>
    check([seat(out, "1D")], refuses("conflict", /has seat 1D already/)));
  test("a seat that does not exist is refused", () =>
    check([seat(out, "9A")], refuses("invalid_params", /rows go from 1 to 4/)));
  test("a change to a cheaper day costs 35 + 99 - 111 = 23", () =>
    check(
      [change(out, saturday)],
      returns({ reference: "PMM637", number: "VL 218", departs: "2026-03-14T07:40", charged: 23 }),
    ));
  test("the seat left behind is free again", () =>
    check(
      [change(out, saturday), ["get_flight", { flight_id: thursday }]],
      returns({ seats_left: 6 }),
    ));
  test("a light fare is not changed", () =>
    check(
      [book(saturday), change("fbk_8712", thursday)],
      refuses("permission_denied", /EAS723 has the fare light, which cannot be changed/),
    ));
  test("a change to the same flight is refused", () =>
    check([change(home, back)], refuses("conflict", /is for that flight already/)));
  test("a change of a cancelled flight is free", () =>
    check([change(stranded, london)], returns({ departs: "2026-03-20T12:05", charged: 0 })));
  test("a change to another origin is refused", () =>
    check(
      [change(home, saturday)],
      refuses("precondition_failed", /the booking is for Lisbon to Port Alder/),
    ));
  test("a change of destination costs 35 + 127 - 111 = 51", () =>
    check(
      [change(out, london), ["list_bookings", { route: "to London", state: "upcoming" }]],
      returns({
        flights: [{ reference: "EVX752" }, { flight_booking_id: out, date: "2026-03-20" }],
      }),
    ));
  test("a change to a sold-out flight is refused", () =>
    check([change(out, soldOut)], refuses("precondition_failed", /sold out/)));
  test("standard refunds 60%: 111 × 0.6 = 66.60", () =>
    check([cancel(out)], returns({ status: "cancelled", refund: 66.6, card_left: 1316.6 })));
  test("light refunds nothing, which must be accepted", () =>
    check(
      [cancel(home)],
      refuses(
        "precondition_failed",
        /nothing of the 75 paid for booking AWA311 would come back: the fare light is not refundable/,
      ),
    ));
  test("light is cancelled if that is accepted", () =>
    check([cancel(home, { accept_no_refund: true })], returns({ refund: 0, card_left: 1250 })));
  test("cover plus refunds 80%: 75 × 0.8 = 60", () =>
    check(
      [["purchase_insurance", { reference: "AWA311", cover: "plus" }], cancel(home)],
      returns({ refund: 60, card_left: 1298 }),
    ));
  test("a cancelled flight is refunded in every fare", () =>
    check([cancel(stranded)], returns({ refund: 98 })));
  test("a past flight is not cancelled", () =>
    check([cancel(flown)], refuses("precondition_failed", /left at 2026-03-06T07:40/)));
  test("a booking is cancelled once", () =>
    check([cancel(paulsOut)], refuses("conflict", /WQF648 is cancelled already/)));
});

describe("hotels", () => {
  const nights = { check_in: "2026-03-24", check_out: "2026-03-26" };
  const stay = (hotel_id: string, room: string, more: Call[1] = {}): Call => [
    "book_hotel",
    { hotel_id, room, ...nights, ...more },
  ];
  test("are found by city, cheapest first", () =>
    check(
      [["search_hotels", { city: "lisbon" }]],
      returns({
        hotels: [{ hotel_id: rossio, from_price: 65 }, { hotel_id: alfama }, { hotel_id: belem }],
      }),
    ));
  test("check_in and check_out go together", () =>
    check(
      [["search_hotels", { check_in: "2026-03-24" }]],
      refuses("invalid_params", /go together/),
    ));
  test("show their rooms", () =>
    check(
      [["get_hotel", { hotel_id: rossio }]],
      returns({
        cancellation: "free until the day before, then the first night is kept",
        rooms: [
          { room: "single", price: 65 },
          { room: "double", price: 81, sleeps: 2 },
        ],
      }),
    ));
  test("unknown ones are refused", () =>
    check([["get_hotel", { hotel_id: "htl_1" }]], refuses("not_found", /no hotel htl_1/)));
  test("rooms that are full are not offered", () =>
    check(
      [
        [
          "check_room_availability",
          { hotel_id: rossio, check_in: "2026-03-14", check_out: "2026-03-16" },
        ],
      ],
      returns({ rooms: [{ room: "single", left: 1, nights: 2, total: 130 }] }),
    ));
  test("reversed nights are refused", () =>
    check(
      [
        [
          "check_room_availability",
          { hotel_id: rossio, check_in: "2026-03-16", check_out: "2026-03-14" },
        ],
      ],
      refuses("invalid_params", /check_out 2026-03-14 is not after check_in/),
    ));
  test("a stay costs its nights: 2 × 81", () =>
    check(
      [stay(rossio, "double")],
      returns({ hotel: "Hotel Rossio Square", nights: 2, paid: 162 }),
    ));
  test("a stay takes a room", () =>
    check(
      [stay(rossio, "single"), ["check_room_availability", { hotel_id: rossio, ...nights }]],
      returns({ rooms: [{ room: "double" }] }),
    ));
  test("the last room can be booked once", () =>
    check(
      [stay(rossio, "single"), stay(rossio, "single", { traveller: "Paul Ruiz" })],
      refuses(
        "precondition_failed",
        /no single room is left at Hotel Rossio Square from 2026-03-24 to 2026-03-26/,
      ),
    ));
  test("too many guests are refused", () =>
    check(
      [stay(rossio, "single", { guests: 2 })],
      refuses("precondition_failed", /sleeps 1, not 2/),
    ));
  test("a room that a hotel lacks is refused", () =>
    check([stay(rossio, "suite")], refuses("precondition_failed", /has no suite rooms/)));
  test("a second stay in the same nights is refused", () =>
    check(
      [stay(rossio, "single", { check_in: "2026-03-14", check_out: "2026-03-15" })],
      refuses("conflict", /Ana Ruiz stays at Alfama Terrace from 2026-03-12 to 2026-03-16 already/),
    ));
  test("past nights are refused", () =>
    check(
      [stay(rossio, "single", { check_in: "2026-03-08" })],
      refuses("precondition_failed", /2026-03-08 has passed/),
    ));
  test("too many nights are refused", () =>
    check(
      [stay(rossio, "single", { check_out: "2026-04-20" })],
      refuses("limit_exceeded", /27 nights, and a stay has at most 21/),
    ));
  test("days that do not exist are refused", () =>
    check(
      [stay(rossio, "single", { check_out: "2026-02-30" })],
      refuses("invalid_params", /check_out/),
    ));
  test("guests are a number", () =>
    check(
      [stay(rossio, "single", { guests: "two" })],
      rejectsArguments(/guests must be an integer/),
    ));

  const modify = (hotel_booking_id: string, changes: Call[1]): Call => [
    "modify_hotel_booking",
    { hotel_booking_id, ...changes },
  ];
  test("a night more is charged: 113", () =>
    check(
      [modify(londonStay, { check_out: "2026-03-23" })],
      returns({ hotel: "Bloomsbury Arms", check_out: "2026-03-23", charged: 113 }),
    ));
  test("a night less is refunded", () =>
    check(
      [modify(londonStay, { check_out: "2026-03-21" })],
      returns({ charged: 0, given_back: 113 }),
    ));
  test("a strict hotel keeps the first night", () =>
    check(
      [modify(lisbonStay, { check_in: "2026-03-13" })],
      refuses("permission_denied", /does not move the first night/),
    ));
  test("two guests do not fit a single room", () =>
    check(
      [modify(londonStay, { room: "single" })],
      refuses("precondition_failed", /sleeps 1, not 2/),
    ));
  test("a change to the same values is refused", () =>
    check([modify(londonStay, { room: "double" })], refuses("conflict", /like that already/)));
  test("a past stay is not changed", () =>
    check(
      [modify(over, { check_out: "2026-03-28" })],
      refuses("precondition_failed", /began on 2026-02-23/),
    ));
  test("a flexible hotel refunds everything", () =>
    check(
      [["cancel_hotel", { hotel_booking_id: londonStay }]],
      returns({ refund: 226, card_left: 1476 }),
    ));
  test("a strict hotel refunds nothing, which must be accepted", () =>
    check(
      [["cancel_hotel", { hotel_booking_id: lisbonStay }]],
      refuses("precondition_failed", /gives nothing back of the 520/),
    ));
  test("a stay is cancelled once", () =>
    check(
      [["cancel_hotel", { hotel_booking_id: paulsStay }]],
      refuses("conflict", /EPZ280 is cancelled already/),
    ));
  test("a flight booking is not a stay", () =>
    check(
      [["cancel_hotel", { hotel_booking_id: out }]],
      refuses("not_found", /no hotel booking fbk_104/),
    ));
  test("a cancelled room is free again", () =>
    check(
      [
        ["cancel_hotel", { hotel_booking_id: londonStay }],
        [
          "check_room_availability",
          { hotel_id: bloomsbury, check_in: "2026-03-20", check_out: "2026-03-22", guests: 2 },
        ],
      ],
      returns({ rooms: [{ room: "double", left: 4 }] }),
    ));
});

describe("bookings, itineraries and insurance", () => {
  test("past ones are listed separately", () =>
    check(
      [["list_bookings", { state: "past" }]],
      returns({
        flights: [{ reference: "WCE855" }],
        stays: [{ hotel: "Hotel Rossio Square", reference: "XWC915" }],
      }),
    ));
  test("are found by traveller", () =>
    check(
      [["list_bookings", { state: "cancelled", traveller: "Paul Ruiz" }]],
      returns({
        flights: [{ flight_booking_id: paulsOut }],
        stays: [{ hotel_booking_id: paulsStay }],
      }),
    ));
  test("of an unknown traveller are refused", () =>
    check(
      [["list_bookings", { traveller: "Nobody" }]],
      refuses("not_found", /no traveller Nobody/),
    ));
  test("show seat and document", () =>
    check(
      [["get_booking", { reference: "pmm637" }]],
      returns({
        what: "VL 214 Port Alder to Lisbon",
        status: "upcoming",
        seat: "1D",
        fare: "standard",
        document: "passport, valid until 2031-05-20",
      }),
    ));
  test("with an unknown reference are refused", () =>
    check([["get_booking", { reference: "AAA000" }]], refuses("not_found", /no booking AAA000/)));
  test("cover plus costs 9%: 520 × 0.09 = 46.80", () =>
    check(
      [["purchase_insurance", { reference: "EJG918", cover: "plus" }]],
      returns({ price: 46.8, card_left: 1203.2 }),
    ));
  test("insurance is bought once", () =>
    check(
      [
        ["purchase_insurance", { reference: "EJG918", cover: "plus" }],
        ["purchase_insurance", { reference: "EJG918", cover: "basic" }],
      ],
      refuses("conflict", /has cover plus already/),
    ));
  test("insurance is bought before the start", () =>
    check(
      [["purchase_insurance", { reference: "WCE855", cover: "basic" }]],
      refuses("precondition_failed", /began at 2026-03-06T07:40: insurance is sold before/),
    ));
  test("insurance of a cancelled booking is refused", () =>
    check(
      [["purchase_insurance", { reference: "WQF648", cover: "basic" }]],
      refuses("precondition_failed", /is cancelled/),
    ));

  const add = (reference: string, itinerary_id = "iti_104"): Call => [
    "add_to_itinerary",
    { itinerary_id, reference },
  ];
  test("an itinerary counts nights and money: 111 + 520", () =>
    check(
      [["list_itineraries", { name: "lisbon" }]],
      returns({
        itineraries: [
          {
            itinerary_id: "iti_101",
            nights: 4,
            paid: 631,
            bookings: [{ reference: "PMM637" }, { reference: "EJG918" }],
          },
        ],
      }),
    ));
  test("names are searched within bounds", () =>
    check([["list_itineraries", { limit: 0 }]], refuses("invalid_params", /limit/)));
  test("a new itinerary is empty", () =>
    check(
      [
        ["create_itinerary", { name: "Weekend away" }],
        ["list_itineraries", { name: "weekend away" }],
      ],
      returns({ itineraries: [{ nights: 0, bookings: [] }] }),
    ));
  test("two itineraries cannot have the same name", () =>
    check(
      [["create_itinerary", { name: "summer ideas" }]],
      refuses("conflict", /Summer ideas already/),
    ));
  test("an itinerary lists bookings by time", () =>
    check(
      [add("UFP975"), add("AWA311"), ["list_itineraries", { name: "summer" }]],
      returns({ itineraries: [{ bookings: [{ reference: "AWA311" }, { reference: "UFP975" }] }] }),
    ));
  test("a booking is added once", () =>
    check([add("EJG918", "iti_101")], refuses("conflict", /holds booking EJG918 already/)));
  test("a past booking is not added", () =>
    check([add("XWC915")], refuses("precondition_failed", /XWC915 is past/)));
  test("overlapping stays are refused", () =>
    check(
      [
        [
          "book_hotel",
          {
            hotel_id: belem,
            room: "single",
            check_in: "2026-03-13",
            check_out: "2026-03-14",
            traveller: "Paul Ruiz",
          },
        ],
        add("EAS723", "iti_101"),
      ],
      refuses("conflict", /Belém Palace \(EAS723, from 2026-03-13T15:00\) overlaps Alfama Terrace/),
    ));
  test("an unknown itinerary is refused", () =>
    check([add("EJG918", "iti_9")], refuses("not_found", /no itinerary iti_9/)));
});

describe("loopholes", () => {
  const modify = (hotel_booking_id: string, changes: Call[1]): Call => [
    "modify_hotel_booking",
    { hotel_booking_id, ...changes },
  ];
  const lateNights = { check_in: "2026-03-24", check_out: "2026-03-26" };
  test("shortening a strict stay to one night does not give its price back", () =>
    check(
      [modify(lisbonStay, { check_out: "2026-03-13" })],
      refuses(
        "permission_denied",
        /Alfama Terrace gives nothing back: the change would cost 130, and 520 is paid/,
      ),
    ));
  test("a cheaper room at a strict hotel does not give a part of the price back", () =>
    check(
      [
        ["book_hotel", { hotel_id: alfama, room: "double", ...lateNights }],
        modify("hbk_8712", { room: "single" }),
      ],
      refuses("permission_denied", /the change would cost 208, and 260 is paid/),
    ));
  test("a strict stay can be made longer", () =>
    check([modify(lisbonStay, { check_out: "2026-03-17" })], returns({ charged: 130 })));
  test("cover of a short stay does not insure the nights that are added: 0.8 × 133.39", () =>
    check(
      [
        [
          "book_hotel",
          { hotel_id: alfama, room: "double", check_in: "2026-03-24", check_out: "2026-03-25" },
        ],
        ["purchase_insurance", { reference: "EAS723", cover: "plus" }],
        modify("hbk_8712", { check_out: "2026-03-30" }),
        ["cancel_hotel", { hotel_booking_id: "hbk_8712" }],
      ],
      returns({ refund: 106.71 }),
    ));
  test("a cancelled light flight is not a free ticket to any other place", () =>
    check(
      [["change_flight", { flight_booking_id: stranded, flight_id: saturday }]],
      refuses(
        "permission_denied",
        /the fare light: it is moved only to another flight from Port Alder to London/,
      ),
    ));
  test("changing a stay does not bring two stays in one night into an itinerary", () =>
    check(
      [
        [
          "book_hotel",
          {
            hotel_id: belem,
            room: "double",
            check_in: "2026-03-18",
            check_out: "2026-03-20",
            traveller: "Paul Ruiz",
          },
        ],
        ["add_to_itinerary", { itinerary_id: "iti_101", reference: "EAS723" }],
        modify("hbk_8712", { check_in: "2026-03-15" }),
      ],
      refuses("conflict", /Belém Palace .* overlaps Alfama Terrace .* in Lisbon long weekend/),
    ));
  test("changing a flight does not bring two flights at one time into an itinerary", () =>
    check(
      [
        ["book_flight", { flight_id: saturday, fare: "flex", traveller: "Paul Ruiz" }],
        ["add_to_itinerary", { itinerary_id: "iti_101", reference: "EAS723" }],
        ["change_flight", { flight_booking_id: "fbk_8712", flight_id: thursday }],
      ],
      refuses("conflict", /VL 214 \(EAS723, .* overlaps VL 214 .* in Lisbon long weekend/),
    ));

  const expensive = {
    edits: {
      [`flights.${thursday}.price`]: 500,
      [`flight_bookings.${out}.paid`]: 675,
    },
  };
  const toSaturday: Call = ["change_flight", { flight_booking_id: out, flight_id: saturday }];
  test("a standard fare is not refunded in full by a change to a cheap flight: 405 < 541", () =>
    check(
      [toSaturday, ["cancel_flight", { flight_booking_id: out }]],
      refuses(
        "precondition_failed",
        /nothing of the 134 .* the change of flight gave back 541, and 405 of 675 is refunded/,
      ),
      expensive,
    ));
  test("a cheaper flight and back again is refunded like the first one: 0.6 × (675 + 2 × 35)", () =>
    check(
      [
        toSaturday,
        ["change_flight", { flight_booking_id: out, flight_id: thursday }],
        ["cancel_flight", { flight_booking_id: out }],
      ],
      returns({ refund: 447 }),
      expensive,
    ));
  test("a flexible fare still gives back everything after a change", () =>
    check([toSaturday, ["cancel_flight", { flight_booking_id: out }]], returns({ refund: 139 }), {
      edits: {
        [`flights.${thursday}.price`]: 500,
        [`flight_bookings.${out}.fare`]: "flex",
        [`flight_bookings.${out}.paid`]: 950,
      },
    }));

  const moderate = { [`hotels.${alfama}.cancellation`]: "moderate" };
  test("a late stay is not moved to a later day, from which it could be cancelled for free", () =>
    check(
      [modify(lisbonStay, { check_in: "2026-03-25", check_out: "2026-03-28" })],
      refuses(
        "permission_denied",
        /EJG918 at Alfama Terrace was free to cancel until 5 days before 2026-03-12: its first night cannot be moved/,
      ),
      { edits: moderate },
    ));
  test("a late stay is not moved to a cheaper room, whose first night would be kept instead", () =>
    check(
      [modify(lisbonStay, { room: "single" })],
      refuses("permission_denied", /cannot be changed to a cheaper room any more/),
      { edits: { ...moderate, [`hotel_bookings.${lisbonStay}.guests`]: 1 } },
    ));
  test("a late stay can be made shorter, which keeps its first night", () =>
    check([modify(lisbonStay, { check_out: "2026-03-14" })], returns({ given_back: 260 }), {
      edits: moderate,
    }));
  test("a free replacement of a cancelled flight does not become money: 35 + 99 - 50 = 84", () =>
    check(
      [
        ["change_flight", { flight_booking_id: stranded, flight_id: london }],
        ["change_flight", { flight_booking_id: stranded, flight_id: saturday }],
      ],
      returns({ charged: 84, given_back: 0 }),
      {
        edits: {
          [`flight_bookings.${stranded}.fare`]: "standard",
          [`flight_bookings.${stranded}.paid`]: 50,
          [`flights.${london}.price`]: 500,
        },
      },
    ));
});

checkAllTools();
