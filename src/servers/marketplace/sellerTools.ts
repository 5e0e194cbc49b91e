/** Tools that message, show and rate sellers. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { cents, day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { descending } from "../kit/table.ts";
import {
  MarketplaceState,
  formatListing,
  listings,
  members,
  ratings,
  computeRating,
  getListingStatus,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(MarketplaceState);

/** Refuses the call if the seller has blocked the customer. */
export const requireContactAllowed = (state: MarketplaceState, seller: string): void => {
  if (state.members[seller]!.blocks_customer)
    refuse(
      "permission_denied",
      `${state.members[seller]!.name} does not deal with you`,
      "look for something like it from another seller",
    );
};

export const sellerTools = {
  message_seller: tool({
    effect: "write",
    summary:
      "Write to the seller of a listing about it. After a few messages the seller has to answer first.",
    input: {
      listing_id: listings.id,
      text: z.string().min(2).max(500).describe("The message").meta({
        examples: vocabulary.messages,
      }),
    },
    returns: {
      message_id: id("message"),
      seller: label("seller"),
      seller_id: id("seller"),
      left: z.int().describe("Messages that can be sent before the seller answers"),
    },
    run(state, { listing_id, text }, { now, newId }) {
      const { customer, terms } = state;
      const listing = listings.find(getOriginal(state), listing_id);
      if (listing.seller_id === customer)
        refuse(
          "precondition_failed",
          `${formatListing(listing, listing_id)} is your own listing`,
          "choose a listing of somebody else",
        );
      requireContactAllowed(getOriginal(state), listing.seller_id);
      if (listing.status === "withdrawn")
        refuse(
          "precondition_failed",
          `${formatListing(listing, listing_id)} was withdrawn`,
          "marketplace_get_seller_profile shows what else the seller offers",
        );
      const conversation = Object.values(getOriginal(state).messages)
        .filter(it => it.listing_id === listing_id && (it.from === customer || it.to === customer))
        .sort((a, b) => (a.at < b.at ? -1 : 1));
      const unanswered =
        conversation.length - 1 - conversation.findLastIndex(it => it.from !== customer);
      const name = state.members[listing.seller_id]!.name;
      if (unanswered >= terms.most_messages)
        refuse(
          "limit_exceeded",
          `${name} has not answered the last ${unanswered} messages about ${formatListing(listing, listing_id)}`,
          "wait for an answer",
        );
      if (conversation.at(-1)?.from === customer && conversation.at(-1)!.text === text)
        refuse(
          "conflict",
          `the last message about ${formatListing(listing, listing_id)} says just that`,
          "say something new",
        );
      const message_id = newId("msg");
      state.messages[message_id] = {
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
  get_seller_profile: members.get({
    summary:
      "Get a seller's profile: where they are, how others have rated them, what they offer now and what the customer has bought from them.",
    row: {
      seller: [label("seller"), it => it.name],
      seller_id: members.idField,
      city: z.string(),
      joined: day(),
      rating: [
        z.number().optional().describe("Mean of all ratings, 1 to 5"),
        (_, { id: sellerId, world }) => computeRating(world.ratings, sellerId),
      ],
      offers: listings.related({
        description: "What can be bid on now",
        row: { title: label("listing"), listing_id: listings.idField, ends: minute() },
        where: (it, { id: sellerId, now }) =>
          it.seller_id === sellerId && getListingStatus(it, now) === "open",
      }),
      ratings: ratings.related({
        description: "The latest ones",
        row: {
          by: [z.string(), (it, { world }) => world.members[it.by]!.name],
          stars: z.int(),
          text: z.string(),
          date: day(),
        },
        where: (it, { id: sellerId }) => it.seller_id === sellerId,
        order: descending(it => it.date),
        limit: 3,
      }),
      bought: listings.related({
        description: "What the customer has bought",
        row: {
          title: label("purchase"),
          listing_id: [id("purchase"), (_, { id: listingId }) => listingId],
          price: [cents(), (it, { world }) => world.bids[it.sold_by!]!.amount],
          rated: [
            z.boolean(),
            (_, { id: listingId, world }) =>
              Object.values(world.ratings).some(
                it => it.listing_id === listingId && it.by === world.customer,
              ),
          ],
        },
        where: (it, { id: sellerId, world }) =>
          it.seller_id === sellerId &&
          it.sold_by !== undefined &&
          world.bids[it.sold_by]!.bidder_id === world.customer,
      }),
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
      text: z.string().min(2).max(300).optional().describe("What to say about it").meta({
        examples: vocabulary.ratings,
      }),
    },
    returns: {
      seller: label("seller"),
      seller_id: id("seller"),
      rating: z.number().describe("The seller's mean with this rating"),
      ratings: z.int(),
    },
    run(state, { listing_id, stars, text = "" }, { now, newId }) {
      const { customer } = state;
      const listing = listings.find(getOriginal(state), listing_id);
      if (listing.seller_id === customer)
        refuse(
          "permission_denied",
          `${formatListing(listing, listing_id)} is your own listing`,
          "rate sellers from whom something was bought",
        );
      const buyer =
        listing.sold_by === undefined
          ? undefined
          : getOriginal(state).bids[listing.sold_by]!.bidder_id;
      if (buyer !== customer)
        refuse(
          "permission_denied",
          `you have not bought ${formatListing(listing, listing_id)}, which is ${getListingStatus(listing, now)}`,
          "marketplace_search_listings with involving bought shows what was bought",
        );
      const existing = Object.values(getOriginal(state).ratings).find(
        it => it.listing_id === listing_id && it.by === customer,
      );
      if (existing)
        refuse(
          "conflict",
          `you have rated the purchase of ${formatListing(listing, listing_id)} already, with ${existing.stars} stars on ${existing.date}`,
          "every purchase is rated once",
        );
      state.ratings[newId("rtg")] = {
        seller_id: listing.seller_id,
        by: customer,
        listing_id,
        stars,
        text,
        date: now.slice(0, 10),
      };
      const ratingCount = Object.values(state.ratings).filter(
        it => it.seller_id === listing.seller_id,
      ).length;
      return {
        seller: state.members[listing.seller_id]!.name,
        seller_id: listing.seller_id,
        rating: computeRating(state.ratings, listing.seller_id)!,
        ratings: ratingCount,
      };
    },
  }),
};
