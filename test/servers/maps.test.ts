/** Tests every maps tool: results, changes to the state, and refusals. */
import { describe, test } from "vitest";
import { server as maps } from "../../src/servers/maps/server.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkInvariants, checkAllTools } = createChecks(maps);

const [flat, studio, cafe, trattoria, library] = [
  "plc_101",
  "plc_104",
  "plc_107",
  "plc_110",
  "plc_113",
] as const;
const [station, airport, ferry, lodge, lighthouse, galley, lisbonAirport, museum] = [
  "plc_116",
  "plc_119",
  "plc_122",
  "plc_125",
  "plc_128",
  "plc_131",
  "plc_134",
  "plc_137",
] as const;

describe("addresses", () => {
  const geocode = (address: string): Call => ["geocode", { address }];
  test("of a place give its point", () =>
    check(
      [geocode("27 Alder Avenue")],
      returns({
        address: "27 Alder Avenue, Port Alder",
        latitude: 43.46787,
        longitude: -3.8204,
        precision: "place",
        places: [{ name: "Ana's flat", place_id: flat }],
      }),
    ));
  test("may name the city, in any case", () =>
    check(
      [geocode("14 quay street, PORT ALDER")],
      returns({ precision: "place", places: [{ name: "Café Lumen" }] }),
    ));
  test("without a place lie along their street", () =>
    check(
      [geocode("30 Harbor Road")],
      returns({ address: "30 Harbor Road, Port Alder", precision: "street" }),
    ));
  test("may be a city alone", () =>
    check(
      [geocode("Lisbon")],
      returns({ address: "Lisbon", latitude: 38.7223, longitude: -9.1393, precision: "city" }),
    ));
  test("beyond the last house number are refused", () =>
    check(
      [geocode("300 Harbor Road")],
      refuses("not_found", /Harbor Road has house numbers up to 140, not 300/),
    ));
  test("of no known street are refused", () =>
    check([geocode("5 Nowhere Lane")], refuses("not_found", /no address 5 Nowhere Lane/)));
  test("in a city that is not mapped are refused", () =>
    check([geocode("5 Via Appia, Rome")], refuses("not_found", /no city Rome/)));
  test("a point at a door has that address", () =>
    check(
      [["reverse_geocode", { latitude: 43.4612, longitude: -3.8053 }]],
      returns({ address: "14 Quay Street, Port Alder", place_id: cafe, meters: 2 }),
    ));
  test("a point on a street has that street", () =>
    check(
      [["reverse_geocode", { latitude: 43.4666, longitude: -3.8165 }]],
      returns({ street: "Alder Avenue", city: "Port Alder" }),
    ));
  test("a point elsewhere in a city has that city", () =>
    check(
      [["reverse_geocode", { latitude: 38.73, longitude: -9.15 }]],
      returns({ city: "Lisbon" }),
    ));
  test("a point in the sea is refused", () =>
    check(
      [["reverse_geocode", { latitude: 43.46, longitude: 3.81 }]],
      refuses("not_found", /nearest city, Port Alder, is 615 km away/),
    ));
  test("a point off the globe is refused", () =>
    check(
      [["reverse_geocode", { latitude: 91, longitude: 0 }]],
      refuses("invalid_params", /latitude/),
    ));
});

describe("places", () => {
  test("are found by words of their name", () =>
    check(
      [["search_places", { name: "harbor" }]],
      returns({ places: [{ name: "Harbor Studio", place_id: studio, category: "office" }] }),
    ));
  test("are found by category and city", () =>
    check(
      [["search_places", { category: "airport", city: "Lisbon" }]],
      returns({ places: [{ name: "Lisbon Airport", place_id: lisbonAirport }] }),
    ));
  test("open at nine on a Monday: the café alone", () =>
    check([["search_places", { open_now: true }]], returns({ places: [{ name: "Café Lumen" }] })));
  test("more than asked for are counted", () =>
    check(
      [["search_places", { limit: 2 }]],
      returns({ places: [{ name: "Ana's flat" }, { name: "British Museum" }], more: 10 }),
    ));
  test("that have closed for good are found by name only", () =>
    check([["search_places", { name: "galley" }]], returns({ places: [{ place_id: galley }] })));
  test("in a city that is not mapped are refused", () =>
    check([["search_places", { city: "Rome" }]], refuses("not_found", /no city Rome/)));
  test("are shown with hours and whether they are open", () =>
    check(
      [["get_place", { place_id: library }]],
      returns({
        name: "City Library",
        address: "1 Market Square, Port Alder",
        hours: "10:00 to 18:00, closed on Sunday",
        open: false,
      }),
    ));
  test("that have closed for good have a flag", () =>
    check(
      [["get_place", { place_id: galley }]],
      returns({
        hours: "closed for good",
        phone: "not listed",
        open: false,
        closed_for_good: true,
      }),
    ));
  test("__proto__ is just an unknown id", () =>
    check([["get_place", { place_id: "__proto__" }]], refuses("not_found", /no place __proto__/)));
  test("around another come nearest first", () =>
    check(
      [["nearby_places", { place_id: studio, radius: 560 }]],
      returns({
        places: [
          { place_id: cafe, meters: 202 },
          { place_id: trattoria, meters: 553 },
        ],
      }),
    ));
  test("around nothing are refused", () =>
    check([["nearby_places", { place_id: "plc_999" }]], refuses("not_found", /no place plc_999/)));
  test("around within no radius are refused", () =>
    check(
      [["nearby_places", { place_id: studio, radius: -5 }]],
      refuses("invalid_params", /radius/),
    ));
});

describe("ways", () => {
  const route = (to: string, mode: string, more: Call[1] = {}): Call => [
    "get_route",
    { from_place: flat, to_place: to, mode, ...more },
  ];
  test("on foot follow the streets: 1826 m at 4.8 km/h are 23 minutes", () =>
    check(
      [route(studio, "walking")],
      returns({
        meters: 1826,
        minutes: 23,
        arrives: "2026-03-09T09:23",
        steps: [
          { along: "Alder Avenue" },
          { along: "Chapel Street" },
          { along: "Market Square" },
          { along: "Customs Row" },
          { along: "Harbor Road" },
        ],
      }),
    ));
  test("by car are slower in the rush hour", () =>
    check([route(airport, "driving")], returns({ meters: 9816, minutes: 17 })));
  test("by car are quicker at night", () =>
    check(
      [route(airport, "driving", { depart_at: "2026-03-09T23:00" })],
      returns({ meters: 9816, minutes: 12 }),
    ));
  test("by line begin and end on foot", () =>
    check(
      [route(studio, "transit")],
      returns({
        minutes: 20,
        steps: [
          { along: "on foot to City Library", meters: 1143 },
          { along: "Tram 1 to Harbor Studio", meters: 708 },
        ],
      }),
    ));
  test("by line end with the day", () =>
    check(
      [route(studio, "transit", { depart_at: "2026-03-10T02:00" })],
      refuses("precondition_failed", /no line runs at 02:00: the first one leaves at 04:30/),
    ));
  test("a closed street keeps cars out", () =>
    check(
      [route(lodge, "driving")],
      refuses("precondition_failed", /Old Wall is closed to driving until 2026-03-13T18:00/),
    ));
  test("a closed street does not stop bicycles", () =>
    check([route(lodge, "cycling")], returns({ minutes: 58 })));
  test("a street that is open again takes cars", () =>
    check([route(lodge, "driving", { depart_at: "2026-03-13T18:00" })], returns({ minutes: 14 })));
  test("to the island use the ferry", () =>
    check([route(lighthouse, "walking")], returns({ minutes: 50 })));
  test("to the island at night are refused", () =>
    check(
      [route(lighthouse, "walking", { depart_at: "2026-03-09T23:00" })],
      refuses("precondition_failed", /Gull Island Ferry runs from 07:00 to 20:30/),
    ));
  test("to the island without ferries are refused", () =>
    check(
      [route(lighthouse, "walking", { avoid: "ferries" })],
      refuses("precondition_failed", /the only way there is by ferry/),
    ));
  test("to the island by car are refused", () =>
    check(
      [route(lighthouse, "driving")],
      refuses("precondition_failed", /Gull Island Path is a path without cars/),
    ));
  test("over the sea wait for the ferry at 17:30", () =>
    check(
      [route(museum, "driving")],
      returns({
        arrives: "2026-03-10T19:33",
        steps: [{}, { along: "Port Alder–London ferry, sails 17:30" }, {}],
      }),
    ));
  test("over the sea without a ferry there are none", () =>
    check(
      [route(museum, "transit", { avoid: "ferries" })],
      refuses("precondition_failed", /every way from Port Alder to London takes a ferry/),
    ));
  test("too far to walk are refused", () =>
    check(
      [route(lisbonAirport, "walking")],
      refuses("limit_exceeded", /walking goes up to 40 km/),
    ));
  test("in the past are refused", () =>
    check(
      [route(studio, "walking", { depart_at: "2026-03-09T08:59" })],
      refuses("precondition_failed", /has passed: it is 2026-03-09T09:00/),
    ));
  test("between the same place are refused", () =>
    check([route(flat, "walking")], refuses("invalid_params", /both ends are Ana's flat/)));
  test("on a day that does not exist are refused", () =>
    check(
      [route(studio, "walking", { depart_at: "2026-02-30T10:00" })],
      refuses("invalid_params", /depart_at/),
    ));
  test("by a mode that does not exist are refused", () =>
    check([route(studio, "flying")], refuses("invalid_params", /mode/)));

  test("alternatives are not much slower", () =>
    check(
      [["get_route_alternatives", { from_place: flat, to_place: studio, mode: "walking" }]],
      returns({ routes: [{ via: "Chapel Street", minutes: 23 }] }),
    ));
  test("between cities there are no alternatives", () =>
    check(
      [["get_route_alternatives", { from_place: flat, to_place: lisbonAirport, mode: "driving" }]],
      refuses("precondition_failed", /not on this map/),
    ));
  test("a table has every pair", () =>
    check(
      [["distance_matrix", { from_places: [flat, studio], to_places: [station], mode: "driving" }]],
      returns({
        rows: [
          { from: "Ana's flat", to: "Central Station", meters: 1724, minutes: 5 },
          { from: "Harbor Studio", minutes: 4 },
        ],
      }),
    ));
  test("a table in which one has no way is refused", () =>
    check(
      [
        [
          "distance_matrix",
          { from_places: [flat], to_places: [station, lighthouse], mode: "driving" },
        ],
      ],
      refuses("precondition_failed", /path without cars/),
    ));
  test("a table of one place is refused", () =>
    check(
      [["distance_matrix", { from_places: [flat], to_places: [flat], mode: "driving" }]],
      refuses("invalid_params", /both ends are Ana's flat/),
    ));
  test("a table takes lists", () =>
    check(
      [["distance_matrix", { from_places: flat, to_places: [station], mode: "driving" }]],
      rejectsArguments(/from_places must be an array/),
    ));
  test("an arrival at six needs a departure at 17:43", () =>
    check(
      [
        [
          "get_travel_time",
          { from_place: flat, to_place: airport, mode: "driving", arrive_by: "2026-03-09T18:00" },
        ],
      ],
      returns({ minutes: 17, leave_at: "2026-03-09T17:43" }),
    ));
  test("an arrival that is too early to reach is refused", () =>
    check(
      [
        [
          "get_travel_time",
          { from_place: flat, to_place: airport, mode: "driving", arrive_by: "2026-03-09T09:05" },
        ],
      ],
      refuses("precondition_failed", /17 minutes away/),
    ));
});

describe("ground and streets", () => {
  test("a climb is the difference: 412 - 38 = 374", () =>
    check(
      [["get_elevation", { place_id: lodge, from_place: flat }]],
      returns({ elevation: 412, climb: 374 }),
    ));
  test("a climb from a place to itself is refused", () =>
    check(
      [["get_elevation", { place_id: lodge, from_place: lodge }]],
      refuses("invalid_params", /both places are Lakeside Lodge/),
    ));
  test("London is an hour behind", () =>
    check(
      [["get_timezone", { city: "london" }]],
      returns({ city: "London", offset: "UTC+0", local_time: "2026-03-09T08:00" }),
    ));
  test("London is an hour behind in summer too", () =>
    check(
      [["get_timezone", { city: "London", at: "2026-03-29T12:00" }]],
      returns({ offset: "UTC+1", local_time: "2026-03-29T11:00" }),
    ));
  test("a city that is not mapped has no time", () =>
    check([["get_timezone", { city: "Rome" }]], refuses("not_found", /no city Rome/)));
  test("traffic lists the closed street first", () =>
    check(
      [["get_traffic", { limit: 1 }]],
      returns({
        streets: [
          {
            street: "Old Wall",
            traffic: "closed",
            speed: 0,
            because: "closure until 2026-03-13 18:00",
          },
        ],
      }),
    ));
  test("traffic depends on the hour", () =>
    check(
      [["get_traffic", { street: "Bridge Street", at: "2026-03-09T23:00" }]],
      returns({ streets: [{ traffic: "free", speed: 25 }] }),
    ));
  test("traffic of an unknown street is refused", () =>
    check(
      [["get_traffic", { street: "Elm Street" }]],
      refuses("not_found", /no street Elm Street in Port Alder/),
    ));
  test("a path has no traffic", () =>
    check(
      [["get_traffic", { street: "gull island path" }]],
      refuses("precondition_failed", /no cars may use it/),
    ));
});

describe("saved places and shared routes", () => {
  const save = (place_id: string, list: string): Call => [
    "save_place",
    { place_id, list, note: "bring cash" },
  ];
  test("a saved place is listed, newest first", () =>
    check(
      [save(airport, "errands"), ["list_saved_places", { list: "errands", limit: 1 }]],
      returns({
        places: [
          { name: "Port Alder Airport", place_id: airport, list: "errands", note: "bring cash" },
        ],
      }),
    ));
  test("a place stands on a list once", () =>
    check(
      [save(airport, "errands"), save(airport, "errands")],
      refuses("conflict", /Port Alder Airport is on the list errands already/),
    ));
  test("a place can be on two lists", () =>
    check([save(cafe, "want to go")], returns({ name: "Café Lumen", on_list: 1 })));
  test("a full list takes no more", () =>
    check(
      [save(airport, "work")],
      refuses("limit_exceeded", /the list work is full: it holds 3 places/),
    ));
  test("a full list has room after a removal", () =>
    check(
      [["remove_saved_place", { saved_id: "sav_107" }], save(airport, "work")],
      returns({ on_list: 3 }),
    ));
  test("a place that was taken off is gone", () =>
    check(
      [
        ["remove_saved_place", { saved_id: "sav_107" }],
        ["list_saved_places", { name: "studio" }],
      ],
      returns({ places: [] }),
    ));
  test("a place is not taken off by its own id", () =>
    check(
      [["remove_saved_place", { saved_id: studio }]],
      refuses("not_found", /no saved place plc_104/),
    ));
  test("a place that has closed for good is not saved", () =>
    check([save(galley, "errands")], refuses("precondition_failed", /closed for good/)));
  test("an empty list is a valid result", () =>
    check([["list_saved_places", { list: "want to go" }]], returns({ places: [] })));
  test("a list that does not exist is refused", () =>
    check([["list_saved_places", { list: "secret" }]], refuses("invalid_params", /list/)));

  const share = (to: string, contact: string, more: Call[1] = {}): Call => [
    "share_route",
    { from_place: flat, to_place: to, mode: "cycling", contact, ...more },
  ];
  test("a shared route is listed with the person", () =>
    check(
      [share(ferry, "Rosa Ruiz", { hours: 2 }), ["list_saved_places", {}]],
      returns({
        shared: [
          { contact: "Paul Ruiz" },
          {
            to: "Ferry Terminal",
            contact: "Rosa Ruiz",
            mode: "cycling",
            until: "2026-03-09T11:00",
          },
        ],
      }),
    ));
  test("the same route with the same person is refused", () =>
    check(
      [share(studio, "Paul Ruiz")],
      refuses("conflict", /shared with Paul Ruiz until 2026-03-09T12:10 already/),
    ));
  test("two routes can be shared at a time", () =>
    check(
      [share(ferry, "Rosa Ruiz"), share(station, "Rosa Ruiz")],
      refuses("limit_exceeded", /2 routes are shared already/),
    ));
  test("a muted contact is refused", () =>
    check(
      [share(ferry, "Clara Mendes")],
      refuses("permission_denied", /Clara Mendes takes no shared routes/),
    ));
  test("an unknown contact is refused", () =>
    check([share(ferry, "Ana Lovelace")], refuses("not_found", /no contact Ana Lovelace/)));
  test("a route that takes longer than it is shared is refused", () =>
    check(
      [share(museum, "Rosa Ruiz", { mode: "driving" })],
      refuses("precondition_failed", /takes 2073 minutes/),
    ));
});

describe("loopholes", () => {
  test("an elevation a little lower is 0 percent down, not -0", () =>
    check(
      [["get_elevation", { place_id: station, from_place: studio }]],
      returns({ climb: -1, percent: 0 }),
      { edits: { "places.plc_116.elevation": 9, "places.plc_104.elevation": 10 } },
    ));
  test("a list is not filled beyond its size with the places of another", () =>
    check(
      [
        ["save_place", { place_id: studio, list: "favourites" }],
        ["save_place", { place_id: library, list: "favourites" }],
      ],
      refuses("limit_exceeded", /the list favourites is full: it holds 3 places/),
    ));
});

describe("every rule can be broken", () => {
  const route = {
    from_place: flat,
    to_place: studio,
    mode: "walking",
    contact_id: "con_101",
    at: "2026-03-09T09:00",
    until: "2026-03-09T13:00",
  };
  checkInvariants({
    "A list holds each place once, and at most as many as it may.": {
      "saved.sav_900": { place_id: flat, list: "work", at: "2026-03-09T09:00" },
    },
    "A saved place is not closed for good, and stays as it is until it is removed.": {
      "saved.sav_900": { place_id: galley, list: "errands", at: "2026-03-09T09:00" },
    },
    "No more routes are shared at one time than allowed, and each with a person once.": {
      "shared.shr_900": { ...route, mode: "cycling" },
    },
    "A route is shared for 1 to 72 hours with somebody who takes routes, and stays as it is.": {
      "shared.shr_900": { ...route, contact_id: "con_107" },
    },
    "Calls change nothing but the saved places and the shared routes.": {
      "places.plc_131.gone": undefined,
    },
  });
});

checkAllTools();
