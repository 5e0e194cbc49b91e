/** Tools that search hotels and show rooms. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { cents, day, label, rowLimit } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { ascending, containsAll, meets } from "../kit/table.ts";
import { countRoomsLeft, getLowestPrice, guests, requireValidNights } from "./hotelRules.ts";
import { cancelDays, hotels, TravelBookingState, type Hotel } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(TravelBookingState);

const hotelRow = hotels.fields({
  name: label("hotel"),
  hotel_id: hotels.idField,
  city: label("city"),
});

function describeCancellation({ cancellation }: Hotel): string {
  const days = cancelDays[cancellation];
  return days === undefined
    ? "no refund"
    : `free until ${days === 1 ? "the day" : `${days} days`} before, then the first night is kept`;
}

export const hotelQueries = {
  search_hotels: hotels.list({
    summary:
      "Find hotels by city, name, stars or price a night, cheapest first; with nights given, only those with a room left.",
    filters: {
      city: meets(
        label("city"),
        "Only hotels in this city",
        (it, city: string) => it.city.toLowerCase() === city.trim().toLowerCase(),
      ),
      name: containsAll(label("hotel"), "Only hotels whose name contains this", it => it.name),
      stars: meets(
        z.int().min(1).max(5).optional().meta({ examples: vocabulary.stars }),
        "At least this many stars",
        (it, stars) => it.stars >= stars,
      ),
      max_price: meets(
        z.number().min(1).max(5000).optional().meta({ examples: vocabulary.roomPrices }),
        "At most this much a night",
        (it, price) => getLowestPrice(it) <= price,
      ),
      check_in: meets(day(), "First night, to see only hotels with a room left", () => true),
      check_out: meets(day(), "Day of leaving", () => true),
    },
    check({ check_in, check_out }, _, now) {
      if ((check_in === undefined) !== (check_out === undefined))
        refuse("invalid_params", "check_in and check_out go together", "give both or none");
      if (check_in && check_out) requireValidNights({ check_in, check_out }, now);
    },
    where: (it, { check_in, check_out }, { id, world }) =>
      !check_in ||
      !check_out ||
      it.rooms.some(of => countRoomsLeft(world, id, it, of.kind, { check_in, check_out }) > 0),
    order: ascending(getLowestPrice),
    limit: 10,
    limitSchema: rowLimit(10).meta({ examples: vocabulary.limits }),
    more: z.int(),
    row: {
      ...hotelRow,
      stars: z.int(),
      from_price: [cents().describe("Cheapest room a night"), getLowestPrice],
    },
  }),
  get_hotel: hotels.get({
    summary:
      "Get one hotel in full: address, stars, guests' rating, rooms with prices, and until when a stay can be cancelled.",
    row: {
      ...hotelRow,
      address: z.string(),
      stars: z.int(),
      rating: z.number().describe("Of 10"),
      cancellation: [z.string(), describeCancellation],
      rooms: [
        z.array(
          z.object({ room: z.string(), price: cents().describe("A night"), sleeps: z.int() }),
        ),
        it => it.rooms.map(({ kind, price, sleeps }) => ({ room: kind, price, sleeps })),
      ],
    },
  }),
  check_room_availability: tool({
    effect: "read",
    summary:
      "See which rooms of a hotel are left for some nights, how many, and what the stay would cost.",
    input: {
      hotel_id: hotels.id,
      check_in: day().describe("First night"),
      check_out: day().describe("Day of leaving"),
      guests,
    },
    returns: {
      rooms: z.array(
        z.object({
          room: z.string(),
          left: z.int(),
          nights: z.int(),
          total: cents().describe("For all nights"),
        }),
      ),
    },
    run(state, { hotel_id, guests: many = 1, ...stay }, { now }) {
      const hotel = hotels.find(state, hotel_id);
      const count = requireValidNights(stay, now);
      const fitting = hotel.rooms.filter(it => it.sleeps >= many);
      const free = fitting.map(it => ({
        room: it.kind,
        left: countRoomsLeft(state, hotel_id, hotel, it.kind, stay),
        nights: count,
        total: roundToCents(it.price * count),
      }));
      return { rooms: free.filter(it => it.left > 0) };
    },
  }),
};
