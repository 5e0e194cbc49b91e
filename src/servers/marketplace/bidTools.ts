/** Tools that place, list, retract and accept bids. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, id, label, minute, money, rowTotal } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import {
  limit,
  prices,
  bids,
  listings,
  ownBids,
  formatListing,
  findLeadingBids,
  computeMinBid,
  MarketplaceState,
  offers,
  listStandingBids,
  getBidStatus,
  getListingStatus,
  requireOffered,
  sumCommitments,
} from "./state.ts";
import { requireContactAllowed } from "./sellerTools.ts";

/** A bid above this multiple of the smallest bid is refused as a probable mistake. */
const maxOverbidFactor = 2;

const tool = createToolFactory(MarketplaceState);

const getMemberName = ({ members }: Pick<MarketplaceState, "members">, member: string) =>
  members[member]!.name;

export const bidTools = {
  place_bid: tool({
    effect: "write",
    summary:
      "Bid on somebody else's open listing. The bid has to beat the highest one by the listing's step; a bid of buy_now buys it at once.",
    input: {
      listing_id: listings.id,
      amount: money().describe("Bid in euros").meta({ examples: prices }),
    },
    returns: {
      bid_id: id("own_bid"),
      title: label("listing"),
      listing_id: id("listing"),
      amount: cents(),
      status: z.enum(["leading", "won"]),
      ends: minute(),
      retract_until: minute().optional(),
    },
    run(state, { listing_id, amount }, { now, newId }) {
      const { customer, terms } = state;
      const listing = listings.find(state, listing_id);
      if (listing.seller_id === customer)
        refuse(
          "permission_denied",
          `${formatListing(listing, listing_id)} is your own listing, and nobody bids on their own`,
          "choose a listing of somebody else",
        );
      requireContactAllowed(getOriginal(state), listing.seller_id);
      requireOffered(listing, listing_id);
      if (getListingStatus(listing, now) === "ended")
        refuse(
          "precondition_failed",
          `the bidding for ${formatListing(listing, listing_id)} ended at ${listing.ends}`,
          "marketplace_search_listings shows what is open",
        );
      const leading = findLeadingBids(getOriginal(state).bids);
      const top = leading.get(listing_id)?.bid;
      if (top?.bidder_id === customer)
        refuse(
          "conflict",
          `you lead ${formatListing(listing, listing_id)} already with ${top.amount}`,
          "wait until somebody bids more",
        );
      const minAmount = computeMinBid(listing, top);
      if (amount < minAmount)
        refuse(
          "precondition_failed",
          `${amount} is too little for ${formatListing(listing, listing_id)}: the next bid has to be at least ${minAmount}`,
          `bid ${minAmount} or more`,
        );
      const buysNow = listing.buy_now !== undefined && amount >= listing.buy_now;
      const maxAmount = Math.max(roundToCents(maxOverbidFactor * minAmount), listing.buy_now ?? 0);
      if (amount > maxAmount)
        refuse(
          "limit_exceeded",
          `${amount} for ${formatListing(listing, listing_id)} looks like a slip: ${minAmount} is enough, and more than ${maxAmount} is not taken`,
          `bid between ${minAmount} and ${maxAmount}`,
        );
      const price = buysNow ? listing.buy_now! : amount;
      const committed = sumCommitments(getOriginal(state), now);
      if (sumAmounts([committed.leading, committed.bought, price]) > terms.bidding_limit)
        refuse(
          "limit_exceeded",
          committed.bought === 0
            ? `your leading bids come to ${committed.leading} and may come to ${terms.bidding_limit}: another ${price} is too much`
            : `your leading bids come to ${committed.leading} and what you have just bought to ${committed.bought}, and both may come to ${terms.bidding_limit}: another ${price} is too much`,
          "bid less, or take a bid back with marketplace_retract_bid",
        );
      const bid_id = newId("bid");
      state.bids[bid_id] = {
        listing_id,
        bidder_id: customer,
        amount: price,
        at: now,
        retracted: false,
      };
      if (buysNow) Object.assign(listing, { status: "sold", sold_by: bid_id });
      return omitUndefined({
        bid_id,
        title: listing.title,
        listing_id,
        amount: price,
        status: buysNow ? ("won" as const) : ("leading" as const),
        ends: listing.ends,
        retract_until: buysNow ? undefined : addMinutes(now, terms.retract_minutes),
      });
    },
  }),
  list_bids: tool({
    effect: "read",
    summary:
      "List the bids on one of the customer's own listings, highest first: who bid how much and when, and how each stands.",
    input: { listing_id: offers.id, limit },
    returns: {
      title: label("offer"),
      listing_id: id("offer"),
      in_all: z.int(),
      total: rowTotal("bids"),
      bids: z.array(
        z.object({
          bid_id: id("bid"),
          bidder: z.string(),
          amount: cents(),
          at: minute(),
          standing: z.enum(["leading", "outbid", "retracted", "won"]),
        }),
      ),
    },
    run(state, { listing_id, limit = 10 }) {
      const listing = offers.find(state, listing_id);
      const [top] = listStandingBids(state.bids, listing_id);
      const all = Object.entries(state.bids)
        .filter(([, it]) => it.listing_id === listing_id)
        .sort(([, a], [, b]) => b.amount - a.amount);
      return {
        title: listing.title,
        listing_id,
        in_all: all.length,
        total: all.length,
        bids: all.slice(0, limit).map(([bid_id, it]) => ({
          bid_id,
          bidder: getMemberName(state, it.bidder_id),
          amount: it.amount,
          at: it.at,
          standing: getBidStatus(bid_id, it, listing, top?.[0]),
        })),
      };
    },
  }),
  retract_bid: tool({
    effect: "write",
    summary:
      "Take back one of the customer's own bids, shortly after it was made and before anybody has bid more. The bid before it leads again.",
    destructive: true,
    input: {
      bid_id: ownBids.id,
    },
    returns: {
      bid_id: id("own_bid"),
      title: label("listing"),
      listing_id: id("listing"),
      retracted: cents(),
      highest_bid: cents().optional(),
      next_bid: cents(),
    },
    run(state, { bid_id }, { now }) {
      const bid = ownBids.find(state, bid_id);
      const listing = listings.find(state, bid.listing_id);
      const description = `the bid of ${bid.amount} on ${formatListing(listing, bid.listing_id)}`;
      if (bid.bidder_id !== state.customer)
        refuse(
          "permission_denied",
          `${description} was made by ${getMemberName(state, bid.bidder_id)}, and only they can take it back`,
          "marketplace_search_listings with involving bid_on shows where you have bid",
        );
      if (bid.retracted) refuse("conflict", `${description} was already taken back`);
      if (listing.sold_by === bid_id)
        refuse("precondition_failed", `${description} has won and stands`);
      if (getListingStatus(listing, now) !== "open")
        refuse(
          "precondition_failed",
          `${description} stands, since the listing is ${getListingStatus(listing, now)}`,
        );
      const deadline = addMinutes(bid.at, state.terms.retract_minutes);
      if (now > deadline)
        refuse(
          "precondition_failed",
          `${description} could be taken back until ${deadline}, ${state.terms.retract_minutes} minutes after it was made`,
        );
      const [top, second] = listStandingBids(getOriginal(state).bids, bid.listing_id);
      if (top![0] !== bid_id)
        refuse(
          "precondition_failed",
          `${description} was outbid with ${top![1].amount} by ${getMemberName(state, top![1].bidder_id)}, so it stands`,
          "it binds to nothing while it is outbid",
        );
      bid.retracted = true;
      return omitUndefined({
        bid_id,
        title: listing.title,
        listing_id: bid.listing_id,
        retracted: bid.amount,
        highest_bid: second?.[1].amount,
        next_bid: computeMinBid(listing, second?.[1]),
      });
    },
  }),
  accept_bid: tool({
    effect: "write",
    summary:
      "Sell one of the customer's own listings to the highest bidder, by accepting that bid, before or after its end.",
    destructive: true,
    input: {
      bid_id: bids.id,
    },
    returns: {
      bid_id: id("bid"),
      title: label("offer"),
      listing_id: id("offer"),
      buyer: z.string(),
      price: cents(),
      status: z.string(),
    },
    run(state, { bid_id }) {
      const bid = bids.find(state, bid_id);
      const listing = listings.find(state, bid.listing_id);
      if (listing.seller_id !== state.customer)
        refuse(
          "permission_denied",
          `${formatListing(listing, bid.listing_id)} belongs to ${getMemberName(state, listing.seller_id)}, and only its seller may accept a bid`,
          "marketplace_list_my_listings shows your own",
        );
      requireOffered(listing, bid.listing_id);
      if (bid.retracted)
        refuse(
          "precondition_failed",
          `${getMemberName(state, bid.bidder_id)} has taken the bid of ${bid.amount} back`,
          "marketplace_list_bids shows which bids stand",
        );
      const [top] = listStandingBids(getOriginal(state).bids, bid.listing_id);
      if (top![0] !== bid_id)
        refuse(
          "precondition_failed",
          `${bid.amount} is not the highest bid: ${getMemberName(state, top![1].bidder_id)} has bid ${top![1].amount} (${top![0]})`,
          `accept ${top![0]}`,
        );
      listing.status = "sold";
      listing.sold_by = bid_id;
      return {
        bid_id,
        title: listing.title,
        listing_id: bid.listing_id,
        buyer: getMemberName(state, bid.bidder_id),
        price: bid.amount,
        status: listing.status,
      };
    },
  }),
};
