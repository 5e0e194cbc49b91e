/** The travel booking server: flights, hotels and itineraries of one customer. */
import { defineServer } from "../../environment/server.ts";
import { flightQueries } from "./flightQueries.ts";
import { flightTools } from "./flightTools.ts";
import { hotelQueries } from "./hotelQueries.ts";
import { hotelTools } from "./hotelTools.ts";
import { bookingTools } from "./bookingTools.ts";
import { invariants } from "./invariants.ts";
import { itineraryTools } from "./itineraryTools.ts";
import { TravelBookingState, references } from "./state.ts";

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
