/** A travel agency for one customer and those who travel along: 20 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { flights } from "./flights.ts";
import { flying } from "./flying.ts";
import { hotels, staying } from "./hotels.ts";
import { bookings, planning } from "./trips.ts";
import { Agency } from "./state.ts";

export type { Agency } from "./state.ts";

const { purchase_insurance, ...booked } = bookings;

export const server = defineServer({
  name: "travel_booking",
  category: "Travel",
  summary:
    "flights with seats and fares, hotels with rooms, travellers and documents, bookings, itineraries, insurance",
  schema: Agency,
  tools: {
    ...flights,
    ...flying,
    ...hotels,
    ...staying,
    ...planning,
    ...booked,
    purchase_insurance,
  },
});
