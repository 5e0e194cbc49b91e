/** Tools that search hotels and show rooms. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import { cents, day, id, label, rowLimit } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsWords } from "../../environment/textSearch.ts";
import {
  getLowestPrice,
  guests,
  hotelId,
  requireValidNights,
  countRoomsLeft,
} from "./hotelRules.ts";
import { cancelDays, findHotel, TravelBookingState } from "./state.ts";

const tool = createToolFactory(TravelBookingState);

export const hotelQueries = {
  search_hotels: tool({
    effect: "read",
    summary:
      "Find hotels by city, name, stars or price a night, cheapest first; with nights given, only those with a room left.",
    input: {
      city: label("city").optional().describe("Only hotels in this city"),
      name: label("hotel").optional().describe("Only hotels whose name contains this"),
      stars: z
        .int()
        .min(1)
        .max(5)
        .optional()
        .describe("At least this many stars")
        .meta({ examples: [2, 3, 4, 5] }),
      max_price: z
        .number()
        .min(1)
        .max(5000)
        .optional()
        .describe("At most this much a night")
        .meta({ examples: [60, 80, 90, 100, 120, 150, 200] }),
      check_in: day().optional().describe("First night, to see only hotels with a room left"),
      check_out: day().optional().describe("Day of leaving"),
      limit: rowLimit(10).meta({ examples: [2, 3, 4, 5] }),
    },
    returns: {
      hotels: z.array(
        z.object({
          name: label("hotel"),
          hotel_id: id("hotel"),
          city: label("city"),
          stars: z.int(),
          from_price: cents().describe("Cheapest room a night"),
        }),
      ),
      more: z.int().optional(),
    },
    run(state, { city, name, stars, max_price, check_in, check_out, limit = 10 }, { now }) {
      if ((check_in === undefined) !== (check_out === undefined))
        refuse("invalid_params", "check_in and check_out go together", "give both or none");
      const nights =
        check_in !== undefined && check_out !== undefined ? { check_in, check_out } : undefined;
      if (nights) requireValidNights(nights, now);
      const matches = Object.entries(state.hotels).filter(
        ([hotelId, it]) =>
          (!city || it.city.toLowerCase() === city.trim().toLowerCase()) &&
          (!name || containsWords(it.name, name)) &&
          (!stars || it.stars >= stars) &&
          (!max_price || getLowestPrice(it) <= max_price) &&
          (!nights || it.rooms.some(of => countRoomsLeft(state, hotelId, it, of.kind, nights) > 0)),
      );
      matches.sort(([a, x], [b, y]) => getLowestPrice(x) - getLowestPrice(y) || (a < b ? -1 : 1));
      return {
        hotels: matches.slice(0, limit).map(([hotel_id, it]) => ({
          name: it.name,
          hotel_id,
          city: it.city,
          stars: it.stars,
          from_price: getLowestPrice(it),
        })),
        ...(matches.length > limit ? { more: matches.length - limit } : {}),
      };
    },
  }),
  get_hotel: tool({
    effect: "read",
    summary:
      "Get one hotel in full: address, stars, guests' rating, rooms with prices, and until when a stay can be cancelled.",
    input: { hotel_id: hotelId },
    returns: {
      name: label("hotel"),
      hotel_id: id("hotel"),
      city: label("city"),
      address: z.string(),
      stars: z.int(),
      rating: z.number().describe("Of 10"),
      cancellation: z.string(),
      rooms: z.array(
        z.object({ room: z.string(), price: cents().describe("A night"), sleeps: z.int() }),
      ),
    },
    run(state, { hotel_id }) {
      const { name, city, address, stars, rating, cancellation, rooms } = findHotel(
        state,
        hotel_id,
      );
      const days = cancelDays[cancellation];
      return {
        name,
        hotel_id,
        city,
        address,
        stars,
        rating,
        cancellation:
          days === undefined
            ? "no refund"
            : `free until ${days === 1 ? "the day" : `${days} days`} before, then the first night is kept`,
        rooms: rooms.map(it => ({ room: it.kind, price: it.price, sleeps: it.sleeps })),
      };
    },
  }),
  check_room_availability: tool({
    effect: "read",
    summary:
      "See which rooms of a hotel are left for some nights, how many, and what the stay would cost.",
    input: {
      hotel_id: hotelId,
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
      const hotel = findHotel(state, hotel_id);
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
