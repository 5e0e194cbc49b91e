/** Tools that search, show, create, change and withdraw listings. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, id, label, minute, money, rowTotal } from "../../environment/fieldSchemas.ts";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  limit,
  MarketplaceState,
  categories,
  conditions,
  findLeadingBids,
  computeMinBid,
  listings,
  listStandingBids,
  getBidStatus,
  getListingStatus,
  prices,
  formatListing,
  offers,
  requireOffered,
  type Listing,
} from "./state.ts";
import { getOriginal } from "../../environment/draft.ts";
import { addMinutes } from "../../environment/time.ts";
import { sumAmounts } from "../../environment/amounts.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(MarketplaceState);

export const listingQueries = {
  search_listings: tool({
    effect: "read",
    summary:
      "Find what other members offer, what ends first on top, by words, category, price or seller. Only open listings, unless a title or the customer's own part in them is asked for.",
    input: {
      title: label("listing")
        .optional()
        .describe("Only listings whose title contains this, ended and sold ones too"),
      seller: label("seller")
        .optional()
        .describe("Only listings of sellers whose name contains this"),
      category: z.enum(categories).optional().describe("Only listings of this category"),
      max_price: money()
        .optional()
        .describe("Only listings whose next bid may be at most this")
        .meta({ examples: [20, 30, 50, 75, 100, 150, 200, 300, 400] }),
      involving: z
        .enum(["bid_on", "bought"])
        .optional()
        .describe("Only what the customer has bid on, or has bought, ended and sold ones too"),
      limit,
    },
    returns: {
      total: rowTotal("listings"),
      listings: z.array(
        z.object({
          title: label("listing"),
          listing_id: id("listing"),
          next_bid: cents().optional(),
          bids: z.int(),
          ends: minute(),
          status: z.string(),
          seller_name: z.string(),
        }),
      ),
      sellers: z
        .array(z.object({ seller: label("seller"), seller_id: id("seller"), city: z.string() }))
        .describe("Who offers these listings, each once"),
    },
    run(state, { title, seller, category, max_price, involving, limit = 10 }, { now }) {
      const { members, bids, customer } = state;
      const leaders = findLeadingBids(bids);
      const listingsBidOn = new Set(
        involving === "bid_on"
          ? Object.values(bids)
              .filter(it => it.bidder_id === customer)
              .map(it => it.listing_id)
          : [],
      );
      const isBoughtByCustomer = (it: MarketplaceState["listings"][string]) =>
        it.sold_by !== undefined && bids[it.sold_by]!.bidder_id === customer;
      const matches = Object.entries(state.listings).filter(
        ([key, it]) =>
          it.seller_id !== customer &&
          (title || involving ? true : getListingStatus(it, now) === "open") &&
          (!title || containsText(it.title, title)) &&
          (!category || it.category === category) &&
          (!seller || containsText(members[it.seller_id]!.name, seller)) &&
          (involving !== "bid_on" || listingsBidOn.has(key)) &&
          (involving !== "bought" || isBoughtByCustomer(it)) &&
          (max_price === undefined || computeMinBid(it, leaders.get(key)?.bid) <= max_price),
      );
      matches.sort(([a, x], [b, y]) =>
        x.ends === y.ends ? (a < b ? -1 : 1) : x.ends < y.ends ? -1 : 1,
      );
      const selected = matches.slice(0, limit);
      return {
        total: matches.length,
        listings: selected.map(([listing_id, it]) => {
          const [status, top] = [getListingStatus(it, now), leaders.get(listing_id)];
          return omitUndefined({
            title: it.title,
            listing_id,
            next_bid: status === "open" ? computeMinBid(it, top?.bid) : undefined,
            bids: top?.count ?? 0,
            ends: it.ends,
            status,
            seller_name: members[it.seller_id]!.name,
          });
        }),
        sellers: [...new Set(selected.map(([, it]) => it.seller_id))].map(key => ({
          seller: members[key]!.name,
          seller_id: key,
          city: members[key]!.city,
        })),
      };
    },
  }),
  get_listing: tool({
    effect: "read",
    summary:
      "Get one listing in full: description, condition, how the bidding stands, what the next bid has to be, its seller, and messages with them.",
    input: {
      listing_id: listings.id.describe(
        "Listing id, as marketplace_search_listings or marketplace_list_my_listings gives it",
      ),
    },
    returns: {
      title: label("listing"),
      listing_id: id("listing"),
      category: z.string(),
      condition: z.enum(conditions),
      description: z.string().optional(),
      seller: label("seller"),
      seller_id: id("seller"),
      status: z.string(),
      ends: minute(),
      start_price: cents(),
      step: cents(),
      highest_bid: cents().optional(),
      next_bid: cents().optional(),
      buy_now: cents().optional(),
      bids: z.int(),
      own_bids: z
        .array(
          z.object({ bid_id: id("own_bid"), amount: cents(), at: minute(), standing: z.string() }),
        )
        .optional()
        .describe("The customer's bids, highest first, if there are any"),
      messages: z
        .array(z.object({ from: z.string(), text: z.string(), at: minute() }))
        .optional()
        .describe("The last ones, if there are any"),
    },
    run(state, { listing_id }, { now }) {
      const it = listings.find(state, listing_id);
      const bids = listStandingBids(state.bids, listing_id);
      const top = bids[0]?.[1];
      const customerBids = Object.entries(state.bids)
        .filter(([, bid]) => bid.listing_id === listing_id && bid.bidder_id === state.customer)
        .sort(([, a], [, b]) => b.amount - a.amount)
        .map(([bid_id, bid]) => ({
          bid_id,
          amount: bid.amount,
          at: bid.at,
          standing: getBidStatus(bid_id, bid, it, bids[0]?.[0]),
        }));
      const messages = Object.values(state.messages)
        .filter(row => row.listing_id === listing_id)
        .sort((a, b) => (a.at < b.at ? -1 : 1))
        .slice(-5)
        .map(({ from, text, at }) => ({ from: state.members[from]!.name, text, at }));
      const status = getListingStatus(it, now);
      return omitUndefined({
        title: it.title,
        listing_id,
        category: it.category,
        condition: it.condition,
        description: it.description || undefined,
        seller: state.members[it.seller_id]!.name,
        seller_id: it.seller_id,
        status,
        ends: it.ends,
        start_price: it.start_price,
        step: it.step,
        highest_bid: top?.amount,
        next_bid: status === "open" ? computeMinBid(it, top) : undefined,
        buy_now: it.buy_now,
        bids: bids.length,
        own_bids: customerBids.length > 0 ? customerBids : undefined,
        messages: messages.length > 0 ? messages : undefined,
      });
    },
  }),
};

const title = z.string().min(3).max(80);
const description = z.string().min(2).max(500);
const days = z
  .int()
  .min(1)
  .max(14)
  .meta({ examples: [3, 5, 7, 7, 10, 14] });
const openListingFields = {
  title: label("offer"),
  listing_id: id("offer"),
  start_price: cents(),
  next_bid: cents(),
  ends: minute(),
};

const computeStep = (price: number) => (price < 50 ? 2 : price < 200 ? 5 : 10);

function requireBuyNowAboveStart(start: number, buy: number | undefined): void {
  if (buy !== undefined && buy <= start)
    refuse(
      "precondition_failed",
      `buy_now ${buy} has to be more than the first price ${start}`,
      "choose a higher buy_now, or leave it out",
    );
}

/** The customer's own open listings. */
const listOpenListings = ({ listings, customer }: MarketplaceState, now: string, exceptId = "") =>
  Object.entries(listings).filter(
    ([id, it]) =>
      id !== exceptId && it.seller_id === customer && getListingStatus(it, now) === "open",
  );

/** Refuses a title that one of the open listings has. */
function requireFreeTitle(openListings: readonly [string, Listing][], title: string): void {
  const searchedText = title.trim().toLowerCase();
  const same = openListings.find(([, it]) => it.title.trim().toLowerCase() === searchedText);
  if (same)
    refuse(
      "conflict",
      `${formatListing(same[1], same[0])} is already on offer until ${same[1].ends}`,
      "marketplace_update_listing changes it",
    );
}

/** Refuses one more open listing if there are as many as a member may have. */
function requireOpenListingsBelowLimit(
  { terms }: MarketplaceState,
  openListings: readonly [string, Listing][],
): void {
  if (openListings.length >= terms.most_listings)
    refuse(
      "limit_exceeded",
      `${openListings.length} listings are open, and no more than ${terms.most_listings} may be`,
      "marketplace_close_listing withdraws one",
    );
}

export const listingCommands = {
  create_listing: tool({
    effect: "write",
    summary:
      "Offer something for sale, for some days: others bid from the first price on, and a bid of buy_now buys it at once.",
    input: {
      title: title.describe("What it is, in a few words").meta({ examples: vocabulary.titles }),
      category: z.enum(categories).describe("Category"),
      condition: z.enum(conditions).describe("Condition"),
      start_price: money()
        .describe("The first bid has to be at least this")
        .meta({ examples: prices.slice(0, 14) }),
      buy_now: money()
        .optional()
        .describe("A bid of this much buys it at once")
        .meta({ examples: prices.slice(6) }),
      days: days.optional().describe("For how many days, 7 if not given"),
      description: description
        .optional()
        .describe("What a buyer should know")
        .meta({ examples: vocabulary.descriptions }),
    },
    returns: openListingFields,
    run(
      state,
      { title, category, condition, start_price, buy_now, days = 7, description = "" },
      { now, newId },
    ) {
      requireBuyNowAboveStart(start_price, buy_now);
      const openListings = listOpenListings(getOriginal(state), now);
      requireFreeTitle(openListings, title);
      requireOpenListingsBelowLimit(getOriginal(state), openListings);
      const listing: Listing = omitUndefined({
        title,
        category,
        condition,
        description,
        seller_id: state.customer,
        start_price,
        step: computeStep(start_price),
        buy_now,
        opened: now.slice(0, 10),
        ends: addMinutes(now, days * 1440),
        status: "open",
      });
      const listing_id = newId("lst");
      state.listings[listing_id] = listing;
      return { title, listing_id, start_price, next_bid: start_price, ends: listing.ends };
    },
  }),
  update_listing: tool({
    effect: "write",
    summary:
      "Change one of the customer's own listings: its description at any time, its title and prices while nobody has bid; once somebody has, it can only be kept open for longer.",
    idempotent: true,
    input: {
      listing_id: offers.id,
      title: title.optional().describe("New title").meta({ examples: vocabulary.titles }),
      description: description
        .optional()
        .describe("New description")
        .meta({ examples: vocabulary.descriptions }),
      start_price: money()
        .optional()
        .describe("New first price")
        .meta({ examples: prices.slice(0, 14) }),
      buy_now: money()
        .optional()
        .describe("New price for buying at once")
        .meta({ examples: prices.slice(6) }),
      days: days.optional().describe("Let it end as many days from now"),
    },
    returns: openListingFields,
    run(state, { listing_id, title, description, start_price, buy_now, days }, { now }) {
      const listing = offers.find(state, listing_id);
      requireOffered(listing, listing_id);
      const changes = omitUndefined({
        title,
        description,
        start_price,
        step: start_price === undefined ? undefined : computeStep(start_price),
        buy_now,
        ends: days === undefined ? undefined : addMinutes(now, days * 1440),
      });
      if (Object.keys(changes).length === 0)
        refuse(
          "invalid_params",
          "nothing to change was given",
          "give a title, description, start_price, buy_now or days",
        );
      const bids = listStandingBids(getOriginal(state).bids, listing_id);
      if (
        bids.length > 0 &&
        (title !== undefined || start_price !== undefined || buy_now !== undefined)
      )
        refuse(
          "precondition_failed",
          `${formatListing(listing, listing_id)} has ${bids.length} bids, so its title and prices stand`,
          "its description and days can still be changed",
        );
      if (bids.length > 0 && getListingStatus(listing, now) === "ended")
        refuse(
          "precondition_failed",
          `the bidding for ${formatListing(listing, listing_id)} ended at ${listing.ends} with ${bids.length} bids`,
          "marketplace_accept_bid sells it to the highest bidder",
        );
      if (bids.length > 0 && days !== undefined && changes.ends < listing.ends)
        refuse(
          "precondition_failed",
          `${formatListing(listing, listing_id)} has ${bids.length} bids, so it cannot end before ${listing.ends}`,
          "it can only be kept open for longer",
        );
      if (Object.entries(changes).every(([key, it]) => listing[key as keyof typeof changes] === it))
        refuse(
          "conflict",
          `${formatListing(listing, listing_id)} is like that already`,
          "marketplace_get_listing shows it",
        );
      const openListings = listOpenListings(getOriginal(state), now, listing_id);
      const isReopened = days !== undefined && getListingStatus(listing, now) === "ended";
      if (isReopened) requireOpenListingsBelowLimit(getOriginal(state), openListings);
      if (isReopened || title !== undefined) requireFreeTitle(openListings, title ?? listing.title);
      requireBuyNowAboveStart(start_price ?? listing.start_price, buy_now ?? listing.buy_now);
      Object.assign(listing, changes);
      return {
        title: listing.title,
        listing_id,
        start_price: listing.start_price,
        next_bid: computeMinBid(listing, bids[0]?.[1]),
        ends: listing.ends,
      };
    },
  }),
  close_listing: tool({
    effect: "write",
    summary:
      "Withdraw one of the customer's own listings that nobody has bid on. It cannot be opened again.",
    destructive: true,
    input: { listing_id: offers.id },
    returns: {
      title: label("offer"),
      listing_id: id("offer"),
      status: z.string(),
      open_listings: z.int().describe("How many are open now"),
    },
    run(state, { listing_id }, { now }) {
      const listing = offers.find(state, listing_id);
      requireOffered(listing, listing_id);
      const [top] = listStandingBids(getOriginal(state).bids, listing_id);
      if (top)
        refuse(
          "precondition_failed",
          `${formatListing(listing, listing_id)} has a bid of ${top[1].amount} by ${state.members[top[1].bidder_id]!.name}, so it cannot be withdrawn`,
          "marketplace_accept_bid sells it",
        );
      const others = listOpenListings(getOriginal(state), now, listing_id);
      listing.status = "withdrawn";
      return {
        title: listing.title,
        listing_id,
        status: listing.status,
        open_listings: others.length,
      };
    },
  }),
  list_my_listings: tool({
    effect: "read",
    summary:
      "List what the customer offers or has offered, what ends last on top: how many bids each has and what the highest is, or what it was sold for.",
    input: {
      title: label("offer").optional().describe("Only listings whose title contains this"),
      status: z
        .enum(["open", "ended", "sold", "withdrawn"])
        .optional()
        .describe("Only listings that stand like this; ended ones wait for a bid to be accepted"),
      with_bids: z
        .boolean()
        .optional()
        .describe("True for only those with bids, false for only those without"),
      limit,
    },
    returns: {
      total: rowTotal("listings"),
      listings: z.array(
        z.object({
          title: label("offer"),
          listing_id: id("offer"),
          status: z.string(),
          bids: z.int(),
          highest_bid: cents().optional(),
          start_price: cents(),
          ends: minute(),
        }),
      ),
      earned: cents().describe("What all sold ones brought"),
    },
    run({ listings, bids, customer }, { title, status, with_bids, limit = 10 }, { now }) {
      const leaders = findLeadingBids(bids);
      const ownListings = Object.entries(listings).filter(([, it]) => it.seller_id === customer);
      const matches = ownListings.filter(
        ([key, it]) =>
          (!title || containsText(it.title, title)) &&
          (!status || getListingStatus(it, now) === status) &&
          (with_bids === undefined || leaders.has(key) === with_bids),
      );
      matches.sort(([a, x], [b, y]) =>
        x.ends === y.ends ? (a < b ? -1 : 1) : x.ends < y.ends ? 1 : -1,
      );
      return {
        total: matches.length,
        listings: matches.slice(0, limit).map(([listing_id, it]) => {
          const top = leaders.get(listing_id);
          return omitUndefined({
            title: it.title,
            listing_id,
            status: getListingStatus(it, now),
            bids: top?.count ?? 0,
            highest_bid: top?.bid.amount,
            start_price: it.start_price,
            ends: it.ends,
          });
        }),
        earned: sumAmounts(
          ownListings.map(([, { sold_by }]) => (sold_by === undefined ? 0 : bids[sold_by]!.amount)),
        ),
      };
    },
  }),
};
