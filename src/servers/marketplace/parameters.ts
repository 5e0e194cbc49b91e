/** Parameters that several tools of the marketplace take. */
import { z } from "zod";
import { id } from "../../environment/fieldSchemas.ts";

export const listingId = id("listing").describe(
  "Listing id, as marketplace_search_listings gives it",
);

export const limit = z
  .int()
  .min(1)
  .max(50)
  .optional()
  .describe("At most this many, 10 if not given");

export const prices = [
  15, 20, 25, 30, 40, 45, 50, 60, 75, 80, 90, 100, 120, 140, 160, 180, 200, 240, 280, 320, 380, 450,
];
