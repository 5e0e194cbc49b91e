/**
 * The agency's tools for what is booked: lists, one booking in full, itineraries that put bookings
 * in order, and insurance.
 */
import { z } from "zod";
import { cents, day, id, label, minute, spokenId } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { Agency, charge, covers, nightsOf, routeOf } from "./state.ts";

const tool = createToolFactory(Agency);

const reference = spokenId("reference").describe(
  "Reference of the booking, three letters and three digits, as travel_booking_list_bookings gives it",
);

/** A booking of either kind, with the time that it takes. */
interface Booked {
  readonly table: "flight_bookings" | "hotel_bookings";
  readonly id: string;
  readonly reference: string;
  /** The route or the hotel. */
  readonly name: string;
  readonly what: string;
  readonly begins: string;
  readonly ends: string;
  readonly traveller: string;
  readonly status: "confirmed" | "cancelled";
  readonly paid: number;
}

function allBooked(agency: Agency): Booked[] {
  const person = (travellerId: string) => agency.travellers[travellerId]!.name;
  const flown = Object.entries(agency.flight_bookings).map(([id, it]): Booked => {
    const flight = agency.flights[it.flight_id]!;
    const name = routeOf(agency, flight);
    return {
      table: "flight_bookings",
      id,
      reference: it.reference,
      name,
      what: `${flight.number} ${name}`,
      begins: flight.departs,
      ends: addMinutes(flight.departs, flight.minutes),
      traveller: person(it.traveller_id),
      status: it.status,
      paid: it.paid,
    };
  });
  const stayed = Object.entries(agency.hotel_bookings).map(([id, it]): Booked => ({
    table: "hotel_bookings",
    id,
    reference: it.reference,
    ...called(agency.hotels[it.hotel_id]!.name),
    begins: `${it.check_in}T15:00`,
    ends: `${it.check_out}T11:00`,
    traveller: person(it.traveller_id),
    status: it.status,
    paid: it.paid,
  }));
  return [...flown, ...stayed].sort((a, b) =>
    a.begins === b.begins ? (a.id < b.id ? -1 : 1) : a.begins < b.begins ? -1 : 1,
  );
}

const called = (name: string) => ({ name, what: name });

function bookedAs(agency: Agency, asked: string): Booked {
  const wanted = asked.trim().toUpperCase();
  return (
    allBooked(agency).find(it => it.reference === wanted) ??
    refuse(
      "not_found",
      `there is no booking ${asked}`,
      "travel_booking_list_bookings gives the references",
    )
  );
}

/** `upcoming`, `past` or `cancelled`. */
const stateOf = (it: Booked, now: string): "upcoming" | "past" | "cancelled" =>
  it.status === "cancelled" ? "cancelled" : it.ends <= now ? "past" : "upcoming";

const [mostItems, mostItineraries] = [8, 15];

export const bookings = {
  list_bookings: tool({
    effect: "read",
    summary:
      "List flights and stays that are booked: those ahead first, then past and cancelled ones; of one state, route, hotel or traveller if wanted.",
    input: {
      state: z
        .enum(["upcoming", "past", "cancelled"])
        .optional()
        .describe("Only those ahead, past or cancelled"),
      route: label("flight_booking")
        .optional()
        .describe("Only flights whose route contains this, such as Port Alder to Lisbon"),
      hotel: label("hotel_booking")
        .optional()
        .describe("Only stays at hotels whose name contains this"),
      traveller: label("traveller").optional().describe("Only bookings of this traveller"),
      limit: z
        .int()
        .min(1)
        .max(50)
        .optional()
        .describe("At most this many of each, 14 if not given")
        .meta({ examples: [1, 2, 3, 5] }),
    },
    returns: {
      flights: z.array(
        z.object({
          route: label("flight_booking"),
          flight_booking_id: id("flight_booking"),
          reference: spokenId("reference"),
          date: day(),
          state: z.string(),
          traveller: label("traveller"),
        }),
      ),
      stays: z.array(
        z.object({
          hotel: label("hotel_booking"),
          hotel_booking_id: id("hotel_booking"),
          reference: spokenId("reference"),
          check_in: day(),
          state: z.string(),
          traveller: label("traveller"),
        }),
      ),
      more: z.int().optional().describe("How many were left out"),
    },
    run(agency, { state, route, hotel, traveller, limit = 14 }, { now }) {
      const person = traveller?.trim().toLowerCase();
      if (
        person !== undefined &&
        !Object.values(agency.travellers).some(it => it.name.toLowerCase() === person)
      )
        refuse(
          "not_found",
          `there is no traveller ${traveller}`,
          `there are ${Object.values(agency.travellers)
            .map(it => it.name)
            .join(", ")}`,
        );
      const order = ["upcoming", "past", "cancelled"];
      const all = allBooked(agency)
        .filter(
          it =>
            (state === undefined || stateOf(it, now) === state) &&
            (person === undefined || it.traveller.toLowerCase() === person),
        )
        .sort((a, b) => order.indexOf(stateOf(a, now)) - order.indexOf(stateOf(b, now)));
      const flown = all.filter(
        it =>
          it.table === "flight_bookings" &&
          (route === undefined
            ? hotel === undefined
            : it.name.toLowerCase().includes(route.trim().toLowerCase())),
      );
      const stayed = all.filter(
        it =>
          it.table === "hotel_bookings" &&
          (hotel === undefined ? route === undefined : containsWords(it.name, hotel)),
      );
      const left = Math.max(0, flown.length - limit) + Math.max(0, stayed.length - limit);
      return {
        flights: flown.slice(0, limit).map(it => ({
          route: it.name,
          flight_booking_id: it.id,
          reference: it.reference,
          date: it.begins.slice(0, 10),
          state: stateOf(it, now),
          traveller: it.traveller,
        })),
        stays: stayed.slice(0, limit).map(it => ({
          hotel: it.name,
          hotel_booking_id: it.id,
          reference: it.reference,
          check_in: it.begins.slice(0, 10),
          state: stateOf(it, now),
          traveller: it.traveller,
        })),
        ...(left > 0 ? { more: left } : {}),
      };
    },
  }),
  get_booking: tool({
    effect: "read",
    summary:
      "Get one booking in full by its reference: what it is for, times, traveller and document, seat and fare or room, price and insurance.",
    input: { reference },
    returns: {
      reference: spokenId("reference"),
      what: z.string(),
      status: z.enum(["upcoming", "past", "cancelled"]),
      traveller: label("traveller"),
      document: z.string(),
      begins: minute(),
      ends: minute(),
      fare: z.string().optional(),
      seat: z.string().optional(),
      room: z.string().optional(),
      guests: z.int().optional(),
      paid: cents(),
      insurance: z.string().optional(),
    },
    run(agency, { reference: asked }, { now }) {
      const it = bookedAs(agency, asked);
      const own = agency[it.table][it.id]!;
      const { document } = agency.travellers[own.traveller_id]!;
      return {
        reference: it.reference,
        what: it.what,
        status: stateOf(it, now),
        traveller: it.traveller,
        document: `${document.kind}, valid until ${document.expires}`,
        begins: it.begins,
        ends: it.ends,
        ...("fare" in own
          ? { fare: own.fare, seat: own.seat }
          : { room: own.room, guests: own.guests }),
        paid: it.paid,
        ...(own.insurance ? { insurance: own.insurance.cover } : {}),
      };
    },
  }),
  purchase_insurance: tool({
    effect: "write",
    summary:
      "Insure a booking before it begins. Cover plus also gives back most of the price when the customer cancels; a booking is insured once.",
    input: {
      reference,
      cover: z.enum(covers).describe("basic: lost luggage and illness; plus: cancelling as well"),
    },
    returns: {
      reference: spokenId("reference"),
      cover: z.string(),
      price: cents(),
      card_left: cents(),
    },
    run(agency, { reference: asked, cover }, { now }) {
      const it = bookedAs(getOriginal(agency), asked);
      const own = agency[it.table][it.id]!;
      if (it.status === "cancelled")
        refuse(
          "precondition_failed",
          `booking ${it.reference} is cancelled`,
          "insure a booking that is ahead",
        );
      if (it.begins <= now)
        refuse(
          "precondition_failed",
          `${it.what} of booking ${it.reference} began at ${it.begins}: insurance is sold before`,
          "insure a booking that is ahead",
        );
      if (own.insurance)
        refuse("conflict", `booking ${it.reference} has cover ${own.insurance.cover} already`);
      const price = roundToCents(
        Math.max(cover === "basic" ? 6 : 12, it.paid * (cover === "basic" ? 0.04 : 0.09)),
      );
      charge(agency, price, `cover ${cover}`);
      own.insurance = { cover, price };
      return { reference: it.reference, cover, price, card_left: agency.card.left };
    },
  }),
};

export const planning = {
  create_itinerary: tool({
    effect: "write",
    summary: "Start an itinerary: an empty list with a name, to which bookings are added.",
    input: {
      name: z
        .string()
        .min(2)
        .max(60)
        .describe("Name of the itinerary")
        .meta({
          examples: [
            "Easter in Porto",
            "Spring break",
            "Trade fair Milan",
            "Weekend away",
            "Conference in Vienna",
            "Anniversary trip",
            "Autumn workshop",
            "City hopping",
          ],
        }),
    },
    returns: { name: label("itinerary"), itinerary_id: id("itinerary") },
    run(agency, { name }, { newId }) {
      const { itineraries } = getOriginal(agency);
      const known = Object.entries(itineraries).find(
        ([, it]) => it.name.toLowerCase() === name.trim().toLowerCase(),
      );
      if (known)
        refuse(
          "conflict",
          `there is an itinerary ${known[1].name} already (${known[0]})`,
          "add to that one, or choose another name",
        );
      if (Object.keys(itineraries).length >= mostItineraries)
        refuse(
          "limit_exceeded",
          `there are ${mostItineraries} itineraries already, the most there may be`,
          "add to one of them",
        );
      const itinerary_id = newId("iti");
      agency.itineraries[itinerary_id] = { name: name.trim(), bookings: [] };
      return { name: name.trim(), itinerary_id };
    },
  }),
  add_to_itinerary: tool({
    effect: "write",
    summary:
      "Put a booking into an itinerary, which keeps them in order of time. Two flights at one time, or two stays in one night, do not go together.",
    input: {
      itinerary_id: id("itinerary").describe(
        "Itinerary id, as travel_booking_list_itineraries gives it",
      ),
      reference,
    },
    returns: {
      name: label("itinerary"),
      itinerary_id: id("itinerary"),
      reference: spokenId("reference"),
      bookings: z.int().describe("How many it holds now"),
    },
    run(agency, { itinerary_id, reference: asked }, { now }) {
      const stood = getOriginal(agency);
      const itinerary = findEntity(
        stood.itineraries,
        itinerary_id,
        "itinerary",
        "travel_booking_list_itineraries gives the ids",
      );
      const it = bookedAs(stood, asked);
      if (itinerary.bookings.includes(it.reference))
        refuse("conflict", `${itinerary.name} holds booking ${it.reference} already`);
      if (stateOf(it, now) !== "upcoming")
        refuse(
          "precondition_failed",
          `booking ${it.reference} is ${stateOf(it, now)}`,
          "add a booking that is ahead",
        );
      if (itinerary.bookings.length >= mostItems)
        refuse(
          "limit_exceeded",
          `${itinerary.name} holds ${mostItems} bookings, the most there may be`,
          "start another itinerary",
        );
      const others = allBooked(stood).filter(
        other => itinerary.bookings.includes(other.reference) && other.status === "confirmed",
      );
      const clash = others.find(
        other => other.table === it.table && other.begins < it.ends && it.begins < other.ends,
      );
      if (clash)
        refuse(
          "conflict",
          `${it.what} (${it.reference}, from ${it.begins}) overlaps ${clash.what} (${clash.reference}, until ${clash.ends}) in ${itinerary.name}`,
          "choose another itinerary, or change one of the bookings",
        );
      agency.itineraries[itinerary_id]!.bookings.push(it.reference);
      return {
        name: itinerary.name,
        itinerary_id,
        reference: it.reference,
        bookings: itinerary.bookings.length + 1,
      };
    },
  }),
  list_itineraries: tool({
    effect: "read",
    summary:
      "Show itineraries with their bookings in order of time, nights and cost; all of them or only those whose name contains some words.",
    input: {
      name: label("itinerary").optional().describe("Only itineraries whose name contains this"),
      limit: z
        .int()
        .min(1)
        .max(15)
        .optional()
        .describe("At most this many, 10 if not given")
        .meta({ examples: [1, 2, 3] }),
    },
    returns: {
      itineraries: z.array(
        z.object({
          name: label("itinerary"),
          itinerary_id: id("itinerary"),
          nights: z.int(),
          paid: cents(),
          bookings: z.array(
            z.object({ reference: spokenId("reference"), what: z.string(), begins: z.string() }),
          ),
        }),
      ),
      more: z.int().optional(),
    },
    run(agency, { name, limit = 10 }) {
      const found = Object.entries(agency.itineraries).filter(
        ([, it]) => !name || containsWords(it.name, name),
      );
      const all = allBooked(agency);
      return {
        itineraries: found.slice(0, limit).map(([itinerary_id, it]) => {
          const own = all.filter(other => it.bookings.includes(other.reference));
          const stays = own.filter(
            other => other.table === "hotel_bookings" && other.status === "confirmed",
          );
          return {
            name: it.name,
            itinerary_id,
            nights: stays.reduce(
              (sum, other) => sum + nightsOf(other.begins.slice(0, 10), other.ends.slice(0, 10)),
              0,
            ),
            paid: roundToCents(own.reduce((sum, other) => sum + other.paid, 0)),
            bookings: own.map(other => ({
              reference: other.reference,
              what: other.status === "cancelled" ? `${other.what} (cancelled)` : other.what,
              begins: other.begins.replace("T", " "),
            })),
          };
        }),
        ...(found.length > limit ? { more: found.length - limit } : {}),
      };
    },
  }),
};
