/**
 * The travel booking server: flights, hotels and itineraries of one customer. Also its rules,
 * which hold whichever tools are used.
 */
import { sumAmounts } from "../../environment/amounts.ts";
import { type Invariant, defineServer } from "../../environment/server.ts";
import { addDays } from "../../environment/time.ts";
import {
  listBookings,
  maxBookings,
  maxItineraries,
  itineraryTools,
  bookingTools,
} from "./bookingTools.ts";
import { fareRules, type HotelBooking, TravelBookingState, references } from "./state.ts";
import { flightQueries, flightTools } from "./flightTools.ts";
import { hotelQueries, hotelTools } from "./hotelTools.ts";

type TravelInvariant = Invariant<TravelBookingState>;

const listPaidAmounts = ({ flight_bookings, hotel_bookings }: TravelBookingState): number[] =>
  [...Object.values(flight_bookings), ...Object.values(hotel_bookings)].flatMap(it => [
    it.paid,
    it.insurance?.price ?? 0,
  ]);

const moneyIsConserved: TravelInvariant = {
  rule: "What leaves the card is paid for a booking or its insurance, and a refund is what was paid.",
  findViolation(state, before) {
    if (!before) return undefined;
    const [total, totalBefore] = [state, before].map(it =>
      sumAmounts([it.card.left, ...listPaidAmounts(it)]),
    );
    return total === totalBefore
      ? undefined
      : `card, bookings and insurance were ${totalBefore} and are ${total}`;
  },
};

const cardIsNotOverdrawn: TravelInvariant = {
  rule: "The card is never overdrawn.",
  findViolation: ({ card }) => (card.left < 0 ? `${card.left} is left` : undefined),
};

const seatsAreSoldOnce: TravelInvariant = {
  rule: "A seat of a flight belongs to one confirmed booking or is free, not both.",
  findViolation({ flights, flight_bookings }) {
    const seats = new Set(
      Object.entries(flights).flatMap(([id, it]) => it.free.map(seat => `${id} ${seat}`)),
    );
    for (const [id, it] of Object.entries(flight_bookings)) {
      if (it.status === "cancelled") continue;
      const seat = `${it.flight_id} ${it.seat}`;
      if (seats.has(seat)) return `seat ${it.seat} of ${id} is free or belongs to another booking`;
      seats.add(seat);
      if (Number(it.seat.slice(0, -1)) > flights[it.flight_id]!.rows)
        return `${id} has seat ${it.seat}, which the flight lacks`;
    }
    return undefined;
  },
};

const roomsAreNotOverbooked: TravelInvariant = {
  rule: "No hotel has more confirmed stays in a night than rooms, and none in a night that is full.",
  findViolation({ hotels, hotel_bookings }) {
    const counts = new Map<string, number>();
    for (const [id, it] of Object.entries(hotel_bookings)) {
      if (it.status === "cancelled") continue;
      const { rooms, full } = hotels[it.hotel_id]!;
      const count = rooms.find(room => room.kind === it.room)?.count ?? 0;
      for (let night = it.check_in; night < it.check_out; night = addDays(night, 1)) {
        if (full.some(({ kind, from, to }) => kind === it.room && from <= night && night < to))
          return `${id} has a ${it.room} room on ${night}, when all are taken`;
        const key = `${it.hotel_id} ${it.room} ${night}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
        if (counts.get(key)! > count) return `there are ${counts.get(key)} stays for ${key}`;
      }
    }
    return undefined;
  },
};

const travellersAreInOnePlace: TravelInvariant = {
  rule: "A traveller has no two confirmed flights at one time and no two confirmed stays in one night.",
  findViolation(state) {
    const bookings = listBookings(state).filter(it => it.status === "confirmed");
    for (const [i, it] of bookings.entries()) {
      const other = bookings
        .slice(i + 1)
        .find(
          other =>
            other.table === it.table && other.traveller === it.traveller && other.begins < it.ends,
        );
      if (other) return `${it.traveller} has ${it.reference} and ${other.reference} at one time`;
    }
    return undefined;
  },
};

const documentsAreValid: TravelInvariant = {
  rule: "A traveller who is booked on a flight has a document that is valid on the day of departure.",
  findViolation({ flights, travellers, flight_bookings }) {
    const invalid = Object.entries(flight_bookings).find(
      ([, it]) =>
        it.status === "confirmed" &&
        travellers[it.traveller_id]!.document.expires < flights[it.flight_id]!.departs.slice(0, 10),
    );
    return invalid && `the document of ${invalid[0]} has expired by then`;
  },
};

const lightFaresAreNotMoved: TravelInvariant = {
  rule: "A light fare is moved only from a cancelled flight to another one of its route.",
  findViolation({ flights, flight_bookings }, before) {
    for (const [id, it] of Object.entries(before?.flight_bookings ?? {})) {
      const flightId = flight_bookings[id]?.flight_id ?? it.flight_id;
      const [from, to] = [flights[it.flight_id]!, flights[flightId]!];
      if (
        it.fare === "light" &&
        flightId !== it.flight_id &&
        (from.status !== "cancelled" || from.to !== to.to)
      )
        return `${id} was moved from ${it.flight_id} to ${flightId}`;
    }
    return undefined;
  },
};

/** The most that insurance refunds: 80% of the price for which it was bought. */
const getInsuredRefund = ({ insurance }: Pick<HotelBooking, "insurance">): number =>
  insurance?.cover === "plus" ? 0.8 * Math.max(12 / 0.09, insurance.price / 0.09) + 0.1 : 0;

const strictStaysAreNotRefunded: TravelInvariant = {
  rule: "A strict hotel gives nothing back; its stays are refunded by insurance alone, when cancelled.",
  findViolation({ hotels, hotel_bookings }, before) {
    for (const [id, it] of Object.entries(before?.hotel_bookings ?? {})) {
      const { paid, status } = hotel_bookings[id] ?? it;
      const most =
        status === "cancelled" ? Math.min(0.8 * it.paid + 0.01, getInsuredRefund(it)) : 0;
      if (hotels[it.hotel_id]!.cancellation === "strict" && it.paid - paid > most)
        return `${it.paid} were paid for ${id}, and ${paid} are left`;
    }
    return undefined;
  },
};

const changesAreNoRefunds: TravelInvariant = {
  rule: "Changed or not, a cancelled flight booking gives back at most the share of its fare or insurance.",
  findViolation({ flights, flight_bookings }, before) {
    for (const [id, it] of Object.entries(before?.flight_bookings ?? {})) {
      const after = flight_bookings[id] ?? it;
      if (after.status === it.status || flights[it.flight_id]!.status === "cancelled") continue;
      const highest = it.paid + (it.given_back ?? 0);
      const share = Math.max(fareRules[it.fare].refund, it.insurance?.cover === "plus" ? 0.8 : 0);
      if (after.paid < (1 - share) * highest - 0.01 && after.paid < it.paid)
        return `of ${highest} paid for ${id}, ${after.paid} are left`;
    }
    return undefined;
  },
};

const insuredAmountsAreKept: TravelInvariant = {
  rule: "Insurance is bought once and not changed; a cancelled booking is not changed at all.",
  findViolation(state, before) {
    for (const table of ["flight_bookings", "hotel_bookings"] as const)
      for (const [id, it] of Object.entries(before?.[table] ?? {})) {
        const after = state[table][id];
        if (!after) return `${id} is gone`;
        if (it.insurance && JSON.stringify(it.insurance) !== JSON.stringify(after.insurance))
          return `the insurance of ${id} was changed`;
        if (it.status === "cancelled" && JSON.stringify(it) !== JSON.stringify(after))
          return `${id} is cancelled and was changed`;
      }
    return undefined;
  },
};

const itinerariesAreFeasible: TravelInvariant = {
  rule: `There are at most ${maxItineraries} itineraries of at most ${maxBookings} bookings, none of which overlap.`,
  findViolation(state) {
    const itineraries = Object.entries(state.itineraries);
    if (itineraries.length > maxItineraries) return `there are ${itineraries.length} itineraries`;
    const confirmed = listBookings(state).filter(it => it.status === "confirmed");
    for (const [id, { bookings }] of itineraries) {
      if (new Set(bookings).size < bookings.length || bookings.length > maxBookings)
        return `${id} has too many bookings, or one twice`;
      const own = confirmed.filter(it => bookings.includes(it.reference));
      for (const table of ["flight_bookings", "hotel_bookings"] as const) {
        const ofTable = own.filter(it => it.table === table);
        const i = ofTable.findIndex((it, i) => i > 0 && it.begins < ofTable[i - 1]!.ends);
        if (i > 0) return `${ofTable[i]!.reference} overlaps ${ofTable[i - 1]!.reference} in ${id}`;
      }
    }
    return undefined;
  },
};

const referencesAreUnique: TravelInvariant = {
  rule: "Every booking has a reference of its own.",
  findViolation(state) {
    const references = listBookings(state).map(it => it.reference);
    return references.find((it, i) => references.indexOf(it) !== i);
  },
};

const invariants: readonly TravelInvariant[] = [
  moneyIsConserved,
  cardIsNotOverdrawn,
  seatsAreSoldOnce,
  roomsAreNotOverbooked,
  travellersAreInOnePlace,
  documentsAreValid,
  lightFaresAreNotMoved,
  strictStaysAreNotRefunded,
  changesAreNoRefunds,
  insuredAmountsAreKept,
  itinerariesAreFeasible,
  referencesAreUnique,
];

const { purchase_insurance, ...otherBookingTools } = bookingTools;

export const server = defineServer({
  name: "travel_booking",
  category: "Travel",
  summary:
    "flights with seats and fares, hotels with rooms, travellers and documents, bookings, itineraries, insurance",
  schema: TravelBookingState,
  references,
  invariants,
  tools: {
    ...flightQueries,
    ...flightTools,
    ...hotelQueries,
    ...hotelTools,
    ...itineraryTools,
    ...otherBookingTools,
    purchase_insurance,
  },
});
