/**
 * The state of a marketplace for used goods: members, listings, bids, messages and ratings. A
 * listing ends at a set time; it is sold when its seller accepts a bid, or when a bid reaches its
 * buy-now price.
 */
import { z } from "zod";
import { day, minute, money, rowLimit } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse } from "../../environment/server.ts";
import { createTableFactory } from "../kit/table.ts";
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
  /** Whether they refuse to deal with the customer. */
  blocks_customer: z.boolean(),
});

const Listing = z.strictObject({
  title: z.string().min(3).max(80),
  category: z.enum(categories),
  condition: z.enum(conditions),
  description: z.string().max(500),
  seller_id: z.string(),
  start_price: money(),
  /** The amount by which a bid has to exceed the highest one. */
  step: money(),
  /** A bid of this amount buys it at once. */
  buy_now: money().optional(),
  opened: day(),
  ends: minute(),
  /** `open` includes listings that have ended and wait for their seller. */
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
type Bid = z.infer<typeof Bid>;

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

export const references = {
  customer: "members",
  "listings.*.seller_id": "members",
  "listings.*.sold_by": "bids",
  "bids.*.listing_id": "listings",
  "bids.*.bidder_id": "members",
  "messages.*.listing_id": "listings",
  "messages.*.from": "members",
  "messages.*.to": "members",
  "ratings.*.seller_id": "members",
  "ratings.*.by": "members",
  "ratings.*.listing_id": "listings",
} satisfies References;

export const MarketplaceState = z.strictObject({
  /** The member for whom the agent works. */
  customer: z.string(),
  terms: z.strictObject({
    /** For how long a bid can be retracted. */
    retract_minutes: z.int().min(1).max(1440),
    /** The most open listings of a member. */
    most_listings: z.int().min(1).max(99),
    /** The most that the customer's leading bids may add up to. */
    bidding_limit: money(),
    /** The most messages about a listing before its seller answers. */
    most_messages: z.int().min(1).max(20),
  }),
  members: z.record(z.string(), Member),
  listings: z.record(z.string(), Listing),
  bids: z.record(z.string(), Bid),
  messages: z.record(z.string(), Message),
  ratings: z.record(z.string(), Rating),
});
export type MarketplaceState = z.infer<typeof MarketplaceState>;

const table = createTableFactory(MarketplaceState);
export const members = table("members", {
  entity: "seller",
  idsFrom: "marketplace_search_listings",
  description: "Seller id, as marketplace_search_listings gives it among the sellers",
  hint: "marketplace_search_listings gives the sellers with their ids",
});
export const listings = table("listings", {
  entity: "listing",
  idsFrom: "marketplace_search_listings",
});
/** The listings of the customer. */
export const offers = table("listings", {
  entity: "offer",
  noun: "listing",
  idsFrom: "marketplace_list_my_listings",
  description: "Id of one of the customer's own listings, as marketplace_list_my_listings gives it",
  hint: "marketplace_list_my_listings gives the ids of your own",
  check(listing, listingId, { customer, members: allMembers }) {
    if (listing.seller_id !== customer)
      refuse(
        "permission_denied",
        `${formatListing(listing, listingId)} belongs to ${allMembers[listing.seller_id]!.name}, and only its seller may do that`,
        "marketplace_list_my_listings shows your own",
      );
  },
});
export const ownBids = table("bids", {
  entity: "own_bid",
  noun: "bid",
  idsFrom: "marketplace_get_listing",
  description:
    "Id of one of the customer's bids, as marketplace_place_bid and marketplace_get_listing give it",
  hint: "marketplace_get_listing gives the ids of your own bids on a listing",
});
export const bids = table("bids", {
  entity: "bid",
  idsFrom: "marketplace_list_bids",
  description:
    "Id of a bid on one of the customer's own listings, as marketplace_list_bids gives it",
  hint: "marketplace_list_bids gives the ids of the bids on your own listings",
});
export const ratings = table("ratings", {
  entity: "rating",
  idsFrom: "marketplace_get_seller_profile",
});

export const getListingStatus = (
  { status, ends }: Listing,
  now: string,
): "open" | "ended" | "sold" | "withdrawn" => (status === "open" && ends <= now ? "ended" : status);

/** A listing's bids that were not retracted, the highest first. */
export const listStandingBids = (
  bids: MarketplaceState["bids"],
  listingId: string,
): [string, Bid][] =>
  Object.entries(bids)
    .filter(([, it]) => it.listing_id === listingId && !it.retracted)
    .sort(([, a], [, b]) => b.amount - a.amount);

/** The status of a bid, where `top` is the highest bid on its listing. */
export function getBidStatus(
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

/** The highest bid of each listing and the number of its bids, without retracted ones. */
export function findLeadingBids(
  bids: MarketplaceState["bids"],
): ReadonlyMap<string, { readonly bidId: string; readonly bid: Bid; readonly count: number }> {
  const leaders = new Map<string, { bidId: string; bid: Bid; count: number }>();
  for (const [bidId, bid] of Object.entries(bids)) {
    if (bid.retracted) continue;
    const leader = leaders.get(bid.listing_id);
    const count = 1 + (leader?.count ?? 0);
    leaders.set(
      bid.listing_id,
      leader && leader.bid.amount >= bid.amount ? { ...leader, count } : { bidId, bid, count },
    );
  }
  return leaders;
}

/**
 * What the customer has bound themselves to pay: their leading bids, and what they have won of
 * listings that would not have ended yet, such as by buying them at once.
 */
export function sumCommitments(
  { bids, listings, customer }: Pick<MarketplaceState, "bids" | "listings" | "customer">,
  now: string,
): { readonly leading: number; readonly bought: number } {
  const sums = { leading: 0, bought: 0 };
  for (const [listingId, { bid }] of findLeadingBids(bids)) {
    if (bid.bidder_id !== customer) continue;
    const { status, ends } = listings[listingId]!;
    if (status === "open") sums.leading = roundToCents(sums.leading + bid.amount);
    if (status === "sold" && ends > now) sums.bought = roundToCents(sums.bought + bid.amount);
  }
  return sums;
}

/** The smallest amount that the next bid may have. */
export const computeMinBid = (listing: Listing, top: Bid | undefined) =>
  top ? roundToCents(top.amount + listing.step) : listing.start_price;

/** A seller's mean rating, rounded to tenths, or undefined without ratings. */
export function computeRating(
  ratings: MarketplaceState["ratings"],
  sellerId: string,
): number | undefined {
  const stars = Object.values(ratings)
    .filter(it => it.seller_id === sellerId)
    .map(it => it.stars);
  return stars.length === 0
    ? undefined
    : Math.round((10 * stars.reduce((a, b) => a + b, 0)) / stars.length) / 10;
}

export const formatListing = (listing: Listing, listingId: string) =>
  `${listing.title} (${listingId})`;

/** Refuses the call if the listing is sold or withdrawn. */
export function requireOffered(listing: Listing, listingId: string): void {
  if (listing.status === "sold")
    refuse("conflict", `${formatListing(listing, listingId)} is already sold`);
  if (listing.status === "withdrawn")
    refuse("conflict", `${formatListing(listing, listingId)} was withdrawn`);
}

export const limit = rowLimit(10);

export const prices = [
  15, 20, 25, 30, 40, 45, 50, 60, 75, 80, 90, 100, 120, 140, 160, 180, 200, 240, 280, 320, 380, 450,
];
