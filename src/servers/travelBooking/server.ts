/** A travel agency for one customer and those who travel along: 20 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { flightQueries } from "./flightQueries.ts";
import { flightTools } from "./flightTools.ts";
import { hotelQueries } from "./hotelQueries.ts";
import { hotelTools } from "./hotelTools.ts";
import { bookingTools } from "./bookingTools.ts";
import { itineraryTools } from "./itineraryTools.ts";
import { Agency } from "./state.ts";

export type { Agency } from "./state.ts";

const { purchase_insurance, ...booked } = bookingTools;

export const server = defineServer({
  name: "travel_booking",
  category: "Travel",
  summary:
    "flights with seats and fares, hotels with rooms, travellers and documents, bookings, itineraries, insurance",
  schema: Agency,
  tools: {
    ...flightQueries,
    ...flightTools,
    ...hotelQueries,
    ...hotelTools,
    ...itineraryTools,
    ...booked,
    purchase_insurance,
  },
});
