/** Tools that search and show listings. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, id, label, minute, money } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { limit } from "./parameters.ts";
import {
  MarketplaceState,
  categories,
  conditions,
  findLeadingBids,
  computeMinBid,
  listings,
  listStandingBids,
  getBidStatus,
  getListingStatus,
} from "./state.ts";

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
