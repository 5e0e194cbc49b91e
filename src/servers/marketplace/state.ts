/**
 * A marketplace for used things: members, what they auction, bids, messages and ratings. A listing
 * ends by the clock; it is sold when its seller accepts a bid, or when a bid reaches its price for
 * buying at once.
 */
import { z } from "zod";
import { day, minute, money } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse } from "../../environment/server.ts";
import { roundToCents } from "../../environment/amounts.ts";

export const categories = [
  "furniture",
  "electronics",
  "bicycles",
  "photography",
  "music",
  "books",
  "clothing",
  "collectibles",
] as const;
export const conditions = ["new", "like_new", "good", "worn", "for_parts"] as const;

const Member = z.strictObject({
  name: z.string().min(1).max(80),
  city: z.string(),
  joined: day(),
  /** They do not deal with the customer. */
  blocks_customer: z.boolean(),
});

const Listing = z.strictObject({
  title: z.string().min(3).max(80),
  category: z.enum(categories),
  condition: z.enum(conditions),
  description: z.string().max(500),
  seller_id: z.string(),
  start_price: money(),
  /** By how much a bid has to beat the one before. */
  step: money(),
  /** A bid of as much buys it on the spot. */
  buy_now: money().optional(),
  opened: day(),
  ends: minute(),
  /** `open` also covers what has ended and waits for its seller. */
  status: z.enum(["open", "sold", "withdrawn"]),
  /** The bid that won. */
  sold_by: z.string().optional(),
});
export type Listing = z.infer<typeof Listing>;

const Bid = z.strictObject({
  listing_id: z.string(),
  bidder_id: z.string(),
  amount: money(),
  at: minute(),
  retracted: z.boolean(),
});
export type Bid = z.infer<typeof Bid>;

const Message = z.strictObject({
  listing_id: z.string(),
  from: z.string(),
  to: z.string(),
  text: z.string().max(500),
  at: minute(),
});
const Rating = z.strictObject({
  seller_id: z.string(),
  by: z.string(),
  listing_id: z.string(),
  stars: z.int().min(1).max(5),
  text: z.string().max(300),
  date: day(),
});

export const Market = z.strictObject({
  /** The member for whom the agent works. */
  customer: z.string(),
  terms: z.strictObject({
    /** For how long a bid can be taken back. */
    retract_minutes: z.int().min(1).max(1440),
    /** Open listings that a member may have. */
    most_listings: z.int().min(1).max(99),
    /** What the customer's leading bids may come to together. */
    bidding_limit: money(),
    /** Messages about one listing before its seller answers. */
    most_messages: z.int().min(1).max(20),
  }),
  members: z.record(z.string(), Member),
  listings: z.record(z.string(), Listing),
  bids: z.record(z.string(), Bid),
  messages: z.record(z.string(), Message),
  ratings: z.record(z.string(), Rating),
});
export type Market = z.infer<typeof Market>;

export const listingOf = (market: Pick<Market, "listings">, listingId: string) =>
  findEntity(market.listings, listingId, "listing", "marketplace_search_listings gives the ids");
export const bidOf = (market: Pick<Market, "bids">, bidId: string, hint: string) =>
  findEntity(market.bids, bidId, "bid", hint);

export const statusOf = (
  { status, ends }: Listing,
  now: string,
): "open" | "ended" | "sold" | "withdrawn" => (status === "open" && ends <= now ? "ended" : status);

/** A listing's bids that stand, highest first. */
export const standing = (bids: Market["bids"], listingId: string): [string, Bid][] =>
  Object.entries(bids)
    .filter(([, it]) => it.listing_id === listingId && !it.retracted)
    .sort(([, a], [, b]) => b.amount - a.amount);

/** How a bid on a listing stands. */
export function standingOf(
  bidId: string,
  bid: Bid,
  { sold_by }: Pick<Listing, "sold_by">,
  top: string | undefined,
): "won" | "retracted" | "leading" | "outbid" {
  if (bidId === sold_by) return "won";
  return bid.retracted
    ? "retracted"
    : bidId === top && sold_by === undefined
      ? "leading"
      : "outbid";
}

/** Every listing's highest bid that stands, and how many stand. */
export function leaders(
  bids: Market["bids"],
): ReadonlyMap<string, { readonly bidId: string; readonly bid: Bid; readonly count: number }> {
  const found = new Map<string, { bidId: string; bid: Bid; count: number }>();
  for (const [bidId, bid] of Object.entries(bids)) {
    if (bid.retracted) continue;
    const known = found.get(bid.listing_id);
    const count = 1 + (known?.count ?? 0);
    found.set(
      bid.listing_id,
      known && known.bid.amount >= bid.amount ? { ...known, count } : { bidId, bid, count },
    );
  }
  return found;
}

/** The least that the next bid has to be. */
export const leastBid = (listing: Listing, top: Bid | undefined) =>
  top ? roundToCents(top.amount + listing.step) : listing.start_price;

/** A seller's mean rating in tenths, or nothing where nobody has rated them. */
export function ratingOf(ratings: Market["ratings"], sellerId: string): number | undefined {
  const stars = Object.values(ratings)
    .filter(it => it.seller_id === sellerId)
    .map(it => it.stars);
  return stars.length === 0
    ? undefined
    : Math.round((10 * stars.reduce((a, b) => a + b, 0)) / stars.length) / 10;
}

export const called = (listing: Listing, listingId: string) => `${listing.title} (${listingId})`;

/** The customer's own listing, or a refusal. */
export function ownListing(
  market: Pick<Market, "listings" | "members" | "customer">,
  listingId: string,
): Listing {
  const listing = findEntity(
    market.listings,
    listingId,
    "listing",
    "marketplace_list_my_listings gives the ids of your own",
  );
  if (listing.seller_id !== market.customer)
    refuse(
      "permission_denied",
      `${called(listing, listingId)} belongs to ${market.members[listing.seller_id]!.name}, and only its seller may do that`,
      "marketplace_list_my_listings shows your own",
    );
  return listing;
}

/** Turns down what cannot be done once a listing is sold or withdrawn. */
export function stillOffered(listing: Listing, listingId: string): void {
  if (listing.status === "sold")
    refuse("conflict", `${called(listing, listingId)} is already sold`);
  if (listing.status === "withdrawn")
    refuse("conflict", `${called(listing, listingId)} was withdrawn`);
}
