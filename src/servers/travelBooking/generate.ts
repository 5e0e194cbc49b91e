/**
 * Generates the travel agency of a fixture set: flights between the airports of the shared cast in
 * the weeks around the start, hotels in its cities, travellers and bookings. The hotels are those
 * of the map.
 */
import type { MapsState } from "../maps/state.ts";
import { defineGenerator } from "../shared/generator.ts";
import { generateBookings } from "./generateBookings.ts";
import { airlines, listFewFlights, createFlight, listManyFlights } from "./generateFlights.ts";
import { generateHotels, smallCities, type Hotel } from "./generateHotels.ts";
import { server } from "./server.ts";
import type { TravelBookingState } from "./state.ts";

export const generator = defineGenerator<TravelBookingState>({
  server,
  generate(context) {
    const { cast, size } = context;
    const cities = cast.cities.filter(
      (it, i) => i === 0 || size === "full" || smallCities.includes(it.name),
    );
    const airports = Object.fromEntries(
      cities.map(it => [
        it.airport,
        { name: `${it.name} Airport`, city: it.name, country: it.country },
      ]),
    );
    const flights = Object.fromEntries(
      (size === "small" ? listFewFlights(cast) : listManyFlights(context)).map(it => [
        context.nextId("flt"),
        createFlight(context, it),
      ]),
    );
    const hotels = Object.fromEntries(
      generateHotels(context).map(it => [context.nextId("htl"), it]),
    );
    const companions = cast.friends.slice(0, size === "small" ? 2 : 6).map(it => it.name);
    const travellers = Object.fromEntries(
      [cast.user.name, ...companions].map((name, i) => [
        context.nextId("trv"),
        { name, document: documents[i]! },
      ]),
    );
    return {
      customer: cast.user.name,
      self: Object.keys(travellers)[0]!,
      home_country: cast.home.country,
      airlines,
      airports,
      flights,
      hotels,
      travellers,
      ...generateBookings(context, { flights, hotels, travellers, airports }),
      card: { name: "Travel card", left: size === "small" ? 1250 : 3180.4 },
    };
  },
  findInconsistencies(state, states, cast) {
    const { flights, hotels, travellers, airports, flight_bookings, hotel_bookings } = state;
    const references = [...Object.values(flight_bookings), ...Object.values(hotel_bookings)].map(
      it => it.reference,
    );
    const codes = new Map(cast.cities.map(it => [it.airport, it.name]));
    const map = states.get("maps") as MapsState | undefined;
    const isOnMap = (it: Hotel) =>
      !map ||
      Object.values(map.places).some(
        place => place.name === it.name && place.address === it.address,
      );
    const isWhole = Object.keys(airports).length === cast.cities.length;
    return [
      ...(state.customer === cast.user.name && travellers[state.self]?.name === state.customer
        ? []
        : [`the customer ${state.customer} is not ${cast.user.name}`]),
      ...Object.entries(airports).flatMap(([code, it]) =>
        codes.get(code) === it.city ? [] : [`${code} is not the airport of ${it.city}`],
      ),
      ...Object.entries(flights).flatMap(([id, it]) =>
        airports[it.from] && airports[it.to] ? [] : [`flight ${id} leaves ${it.from} for ${it.to}`],
      ),
      ...Object.entries(flight_bookings).flatMap(([id, it]) => {
        const flight = flights[it.flight_id];
        if (!flight || !travellers[it.traveller_id])
          return [`${id} is for no flight or no traveller`];
        const others = Object.entries(flight_bookings).filter(
          ([other, at]) =>
            other !== id &&
            at.flight_id === it.flight_id &&
            at.status === "confirmed" &&
            at.seat === it.seat,
        );
        return it.status === "confirmed" && (flight.free.includes(it.seat) || others.length > 0)
          ? [`seat ${it.seat} of ${id} is not its own`]
          : [];
      }),
      ...Object.entries(hotel_bookings).flatMap(([id, it]) =>
        hotels[it.hotel_id]?.rooms.some(
          room => room.kind === it.room && room.sleeps >= it.guests,
        ) &&
        travellers[it.traveller_id] &&
        it.check_in < it.check_out
          ? []
          : [`${id} is no stay at a hotel`],
      ),
      ...references
        .filter((it, i) => references.indexOf(it) !== i)
        .map(it => `reference ${it} stands twice`),
      ...Object.entries(state.itineraries).flatMap(([id, it]) =>
        it.bookings
          .filter(of => !references.includes(of))
          .map(of => `${id} holds ${of}, which is no booking`),
      ),
      ...(isWhole
        ? Object.values(hotels)
            .filter(it => !isOnMap(it))
            .map(it => `${it.name} is not on the map`)
        : []),
    ];
  },
});

const documents: readonly TravelBookingState["travellers"][string]["document"][] = [
  { kind: "passport", number: "XDA204417", expires: "2031-05-20" },
  { kind: "identity card", number: "58201946K", expires: "2029-11-02" },
  { kind: "passport", number: "AAF903318", expires: "2026-03-15" },
  { kind: "passport", number: "PT7701254", expires: "2028-08-14" },
  { kind: "identity card", number: "CA41882ZB", expires: "2030-01-09" },
  { kind: "passport", number: "750113928", expires: "2025-12-30" },
  { kind: "passport", number: "C01X9HV4T", expires: "2032-02-27" },
];
