/**
 * The tools for looking around in the marketplace, and for dealing with sellers: listings,
 * profiles, messages and ratings.
 */
import { z } from "zod";
import { cents, day, id, label, minute, money } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  called,
  categories,
  conditions,
  leaders,
  leastBid,
  listingOf,
  Market,
  ratingOf,
  standing,
  standingOf,
  statusOf,
} from "./state.ts";

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

const tool = createToolFactory(Market);

/** Turns down what a seller does not want from the customer. */
export const rightsOf = (market: Market, seller: string): void => {
  if (market.members[seller]!.blocks_customer)
    refuse(
      "permission_denied",
      `${market.members[seller]!.name} does not deal with you`,
      "look for something like it from another seller",
    );
};

export const finding = {
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
    run(market, { title, seller, category, max_price, involving, limit: most = 10 }, { now }) {
      const { listings, members, bids, customer } = market;
      const leading = leaders(bids);
      const mine = new Set(
        involving === "bid_on"
          ? Object.values(bids)
              .filter(it => it.bidder_id === customer)
              .map(it => it.listing_id)
          : [],
      );
      const boughtBy = (it: Market["listings"][string]) =>
        it.sold_by !== undefined && bids[it.sold_by]!.bidder_id === customer;
      const found = Object.entries(listings).filter(
        ([key, it]) =>
          it.seller_id !== customer &&
          (title || involving ? true : statusOf(it, now) === "open") &&
          (!title || containsText(it.title, title)) &&
          (!category || it.category === category) &&
          (!seller || containsText(members[it.seller_id]!.name, seller)) &&
          (involving !== "bid_on" || mine.has(key)) &&
          (involving !== "bought" || boughtBy(it)) &&
          (max_price === undefined || leastBid(it, leading.get(key)?.bid) <= max_price),
      );
      found.sort(([a, x], [b, y]) =>
        x.ends === y.ends ? (a < b ? -1 : 1) : x.ends < y.ends ? -1 : 1,
      );
      const shown = found.slice(0, most);
      return {
        listings: shown.map(([key, it]) => {
          const [status, top] = [statusOf(it, now), leading.get(key)];
          return {
            title: it.title,
            listing_id: key,
            ...(status === "open" ? { next_bid: leastBid(it, top?.bid) } : {}),
            bids: top?.count ?? 0,
            ends: it.ends,
            status,
            seller_name: members[it.seller_id]!.name,
          };
        }),
        sellers: [...new Set(shown.map(([, it]) => it.seller_id))].map(key => ({
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
      listing_id: id("listing").describe(
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
    run(market, { listing_id }, { now }) {
      const it = listingOf(market, listing_id);
      const bids = standing(market.bids, listing_id);
      const top = bids[0]?.[1];
      const own = Object.entries(market.bids)
        .filter(([, bid]) => bid.listing_id === listing_id && bid.bidder_id === market.customer)
        .sort(([, a], [, b]) => b.amount - a.amount);
      const status = statusOf(it, now);
      const messages = Object.values(market.messages)
        .filter(row => row.listing_id === listing_id)
        .sort((a, b) => (a.at < b.at ? -1 : 1));
      return {
        title: it.title,
        listing_id,
        category: it.category,
        condition: it.condition,
        ...(it.description ? { description: it.description } : {}),
        seller: market.members[it.seller_id]!.name,
        seller_id: it.seller_id,
        status,
        ends: it.ends,
        start_price: it.start_price,
        step: it.step,
        ...(top ? { highest_bid: top.amount } : {}),
        ...(status === "open" ? { next_bid: leastBid(it, top) } : {}),
        ...(it.buy_now === undefined ? {} : { buy_now: it.buy_now }),
        bids: bids.length,
        ...(own.length > 0
          ? {
              own_bids: own.map(([bid_id, bid]) => ({
                bid_id,
                amount: bid.amount,
                at: bid.at,
                standing: standingOf(bid_id, bid, it, bids[0]?.[0]),
              })),
            }
          : {}),
        ...(messages.length > 0
          ? {
              messages: messages
                .slice(-5)
                .map(row => ({ from: market.members[row.from]!.name, text: row.text, at: row.at })),
            }
          : {}),
      };
    },
  }),
};

export const dealing = {
  message_seller: tool({
    effect: "write",
    summary:
      "Write to the seller of a listing about it. After a few messages the seller has to answer first.",
    input: {
      listing_id: listingId,
      text: z
        .string()
        .min(2)
        .max(500)
        .describe("The message")
        .meta({
          examples: [
            "Is it still available?",
            "Could I pick it up on Saturday?",
            "Does it come with the original box?",
            "What are its measurements?",
            "Would you ship it?",
            "Are there any scratches?",
            "Does it work?",
            "Could you send another picture?",
            "Is the price negotiable?",
            "How old is it?",
          ],
        }),
    },
    returns: {
      message_id: id("message"),
      seller: label("seller"),
      seller_id: id("seller"),
      left: z.int().describe("Messages that can be sent before the seller answers"),
    },
    run(market, { listing_id, text }, { now, newId }) {
      const { customer, terms } = market;
      const listing = listingOf(getOriginal(market), listing_id);
      if (listing.seller_id === customer)
        refuse(
          "precondition_failed",
          `${called(listing, listing_id)} is your own listing`,
          "choose a listing of somebody else",
        );
      rightsOf(getOriginal(market), listing.seller_id);
      if (listing.status === "withdrawn")
        refuse(
          "precondition_failed",
          `${called(listing, listing_id)} was withdrawn`,
          "marketplace_get_seller_profile shows what else the seller offers",
        );
      const conversation = Object.values(getOriginal(market).messages)
        .filter(it => it.listing_id === listing_id && (it.from === customer || it.to === customer))
        .sort((a, b) => (a.at < b.at ? -1 : 1));
      const unanswered =
        conversation.length - 1 - conversation.findLastIndex(it => it.from !== customer);
      const name = market.members[listing.seller_id]!.name;
      if (unanswered >= terms.most_messages)
        refuse(
          "limit_exceeded",
          `${name} has not answered the last ${unanswered} messages about ${called(listing, listing_id)}`,
          "wait for an answer",
        );
      if (conversation.at(-1)?.from === customer && conversation.at(-1)!.text === text)
        refuse(
          "conflict",
          `the last message about ${called(listing, listing_id)} says just that`,
          "say something new",
        );
      const message_id = newId("msg");
      market.messages[message_id] = {
        listing_id,
        from: customer,
        to: listing.seller_id,
        text,
        at: now,
      };
      return {
        message_id,
        seller: name,
        seller_id: listing.seller_id,
        left: terms.most_messages - unanswered - 1,
      };
    },
  }),
  get_seller_profile: tool({
    effect: "read",
    summary:
      "Get a seller's profile: where they are, how others have rated them, what they offer now and what the customer has bought from them.",
    input: {
      seller_id: id("seller").describe(
        "Seller id, as marketplace_search_listings gives it among the sellers",
      ),
    },
    returns: {
      seller: label("seller"),
      seller_id: id("seller"),
      city: z.string(),
      joined: day(),
      rating: z.number().optional().describe("Mean of all ratings, 1 to 5"),
      offers: z
        .array(z.object({ title: label("listing"), listing_id: id("listing"), ends: minute() }))
        .optional()
        .describe("What can be bid on now"),
      ratings: z
        .array(z.object({ by: z.string(), stars: z.int(), text: z.string(), date: day() }))
        .optional()
        .describe("The latest ones"),
      bought: z
        .array(
          z.object({
            title: label("purchase"),
            listing_id: id("purchase"),
            price: cents(),
            rated: z.boolean(),
          }),
        )
        .optional()
        .describe("What the customer has bought"),
    },
    run({ members, listings, bids, ratings, customer }, { seller_id }, { now }) {
      const { name, city, joined } = findEntity(
        members,
        seller_id,
        "seller",
        "marketplace_search_listings gives the sellers with their ids",
      );
      const own = Object.entries(listings).filter(([, it]) => it.seller_id === seller_id);
      const latest = Object.values(ratings)
        .filter(it => it.seller_id === seller_id)
        .sort((a, b) => (a.date < b.date ? 1 : -1));
      const rating = ratingOf(ratings, seller_id);
      const bought = own.filter(
        ([, it]) => it.sold_by !== undefined && bids[it.sold_by]!.bidder_id === customer,
      );
      const offers = own.filter(([, it]) => statusOf(it, now) === "open");
      return {
        seller: name,
        seller_id,
        city,
        joined,
        ...(rating === undefined ? {} : { rating }),
        ...(offers.length > 0
          ? {
              offers: offers.map(([key, it]) => ({
                title: it.title,
                listing_id: key,
                ends: it.ends,
              })),
            }
          : {}),
        ...(latest.length > 0
          ? {
              ratings: latest.slice(0, 3).map(it => ({
                by: members[it.by]!.name,
                stars: it.stars,
                text: it.text,
                date: it.date,
              })),
            }
          : {}),
        ...(bought.length > 0
          ? {
              bought: bought.map(([key, it]) => ({
                title: it.title,
                listing_id: key,
                price: bids[it.sold_by!]!.amount,
                rated: latest.some(row => row.listing_id === key && row.by === customer),
              })),
            }
          : {}),
      };
    },
  }),
  rate_seller: tool({
    effect: "write",
    summary: "Rate the seller of something that the customer has bought, once for each purchase.",
    input: {
      listing_id: id("purchase").describe(
        "Id of the listing that was bought, as marketplace_get_seller_profile gives it",
      ),
      stars: z
        .int()
        .min(1)
        .max(5)
        .describe("1 is worst, 5 is best")
        .meta({ examples: [1, 2, 3, 4, 4, 5, 5] }),
      text: z
        .string()
        .min(2)
        .max(300)
        .optional()
        .describe("What to say about it")
        .meta({
          examples: [
            "Picked it up myself.",
            "It came by post.",
            "We agreed on a time and met.",
            "Packed in newspaper.",
            "Paid on the spot.",
            "Took about a week.",
            "Handed over at the station.",
            "My second purchase here.",
          ],
        }),
    },
    returns: {
      seller: label("seller"),
      seller_id: id("seller"),
      rating: z.number().describe("The seller's mean with this rating"),
      ratings: z.int(),
    },
    run(market, { listing_id, stars, text = "" }, { now, newId }) {
      const { customer, members } = market;
      const listing = listingOf(getOriginal(market), listing_id);
      if (listing.seller_id === customer)
        refuse(
          "permission_denied",
          `${called(listing, listing_id)} is your own listing`,
          "rate sellers from whom something was bought",
        );
      const winner =
        listing.sold_by === undefined
          ? undefined
          : getOriginal(market).bids[listing.sold_by]!.bidder_id;
      if (winner !== customer)
        refuse(
          "permission_denied",
          `you have not bought ${called(listing, listing_id)}, which is ${statusOf(listing, now)}`,
          "marketplace_search_listings with involving bought shows what was bought",
        );
      const known = Object.values(getOriginal(market).ratings).find(
        it => it.listing_id === listing_id && it.by === customer,
      );
      if (known)
        refuse(
          "conflict",
          `you have rated the purchase of ${called(listing, listing_id)} already, with ${known.stars} stars on ${known.date}`,
          "every purchase is rated once",
        );
      market.ratings[newId("rtg")] = {
        seller_id: listing.seller_id,
        by: customer,
        listing_id,
        stars,
        text,
        date: now.slice(0, 10),
      };
      const all = Object.values(market.ratings).filter(
        it => it.seller_id === listing.seller_id,
      ).length;
      return {
        seller: members[listing.seller_id]!.name,
        seller_id: listing.seller_id,
        rating: ratingOf(market.ratings, listing.seller_id)!,
        ratings: all,
      };
    },
  }),
};
