/**
 * The marketplace server: auctions of used goods, as one member sees them. Also its rules, which
 * hold whichever tools are used.
 */
import { sumAmounts } from "../../environment/amounts.ts";
import {
  defineRule,
  listAddedRows,
  listChangedFields,
  listChangedRows,
  listRemovedRows,
} from "../../environment/invariants.ts";
import { type Invariant, defineServer } from "../../environment/server.ts";
import { addMinutes } from "../../environment/time.ts";
import {
  computeMinBid,
  listStandingBids,
  sumCommitments,
  type Listing,
  MarketplaceState,
  references,
} from "./state.ts";
import { bidTools } from "./bidTools.ts";
import { sellerTools } from "./sellerTools.ts";
import { listingQueries, listingCommands } from "./listingTools.ts";

const rule = defineRule<MarketplaceState>;

/** The listings that a write has added or changed the end of. */
const listRescheduled = (state: MarketplaceState, before: MarketplaceState): Listing[] =>
  Object.entries(state.listings)
    .filter(([id, it]) => it.ends !== before.listings[id]?.ends)
    .map(([, it]) => it);

const invariants: readonly Invariant<MarketplaceState>[] = [
  rule(
    "The customer never has more open listings than allowed, nor two of one title.",
    function* (state, before) {
      if (!before) return;
      const own = Object.values(state.listings).filter(
        it => it.seller_id === state.customer && it.status === "open",
      );
      for (const { ends } of listRescheduled(state, before)) {
        // the time of the write is at least a day before the end that it has set
        const titles = own
          .filter(it => it.ends > addMinutes(ends, -1440))
          .map(it => it.title.trim().toLowerCase());
        if (titles.length > state.terms.most_listings) yield `${titles.length} listings are open`;
        if (new Set(titles).size < titles.length) yield `${titles.join(", ")} are open`;
      }
    },
  ),
  rule(
    "A bid is the customer's, not on their own listing, and exceeds the highest one.",
    function* (state, before) {
      for (const [id, bid] of before ? listAddedRows(before.bids, state.bids) : []) {
        const listing = state.listings[bid.listing_id]!;
        const top = listStandingBids(before!.bids, bid.listing_id)[0]?.[1];
        const min = Math.min(computeMinBid(listing, top), listing.buy_now ?? Infinity);
        if (bid.bidder_id !== state.customer) yield `${id} is by ${bid.bidder_id}`;
        if (listing.seller_id === bid.bidder_id) yield `${id} is on an own listing`;
        if (bid.amount < min || (top && bid.amount <= top.amount)) yield `${id} is below ${min}`;
        if (bid.at >= listing.ends) yield `${id} is after the end, ${listing.ends}`;
      }
    },
  ),
  rule(
    "A new bid keeps the leading bids and the latest purchases of the customer within the limit.",
    function* (state, before) {
      for (const [, { at }] of before ? listAddedRows(before.bids, state.bids) : []) {
        const { leading, bought } = sumCommitments(state, at);
        const sum = sumAmounts([leading, bought]);
        if (sum > state.terms.bidding_limit) yield `${sum} of at most ${state.terms.bidding_limit}`;
      }
    },
  ),
  rule(
    "A bid only ever changes by being taken back in time by the customer.",
    function* ({ bids, listings, customer }, before) {
      if (!before) return;
      for (const [id] of listRemovedRows(before.bids, bids)) yield `${id} is gone`;
      for (const [id, bid, previous] of listChangedRows(before.bids, bids)) {
        const top = listStandingBids(before.bids, bid.listing_id)[0]?.[0];
        if (
          listChangedFields(previous, bid).join() !== "retracted" ||
          previous.retracted ||
          bid.bidder_id !== customer ||
          listings[bid.listing_id]!.status !== "open" ||
          top !== id
        )
          yield `${id} has changed`;
      }
    },
  ),
  rule(
    "A listing is sold to its highest bid, and stays sold or withdrawn.",
    function* ({ listings, bids }, before) {
      for (const [id, { status, sold_by }] of Object.entries(listings)) {
        if ((status === "sold") !== (sold_by !== undefined)) yield `${id} is ${status}`;
        if (sold_by !== undefined && listStandingBids(bids, id)[0]?.[0] !== sold_by)
          yield `${id} is sold to ${sold_by}`;
      }
      if (!before) return;
      for (const [id] of listRemovedRows(before.listings, listings)) yield `${id} is gone`;
      for (const [id, , previous] of listChangedRows(before.listings, listings))
        if (previous.status !== "open") yield `${id} was ${previous.status} and has changed`;
    },
  ),
  rule(
    "A listing with bids keeps its title and prices, ends no earlier and is not withdrawn.",
    function* ({ listings, bids }, before) {
      for (const [id, it, previous] of before ? listChangedRows(before.listings, listings) : []) {
        if (listStandingBids(bids, id).length === 0) continue;
        const changed = listChangedFields(previous, it).filter(
          field => !["description", "ends", "status", "sold_by"].includes(field),
        );
        if (changed.length > 0) yield `${id} has changed in ${changed.join()}`;
        if (it.ends < previous.ends) yield `${id} ends at ${it.ends}, not at ${previous.ends}`;
        if (it.status === "withdrawn") yield `${id} is withdrawn`;
      }
    },
  ),
  rule(
    "Listings of others change only by being bought by the customer.",
    function* ({ listings, bids, customer }, before) {
      for (const [id, it, previous] of before ? listChangedRows(before.listings, listings) : []) {
        if (previous.seller_id === customer) continue;
        const changed = listChangedFields(previous, it).sort().join();
        if (changed !== "sold_by,status" || bids[it.sold_by!]?.bidder_id !== customer)
          yield `${id} has changed in ${changed}`;
      }
    },
  ),
  rule(
    "A purchase is rated once, by its buyer, and ratings stay.",
    function* ({ ratings, listings, bids }, before) {
      const rated = new Set<string>();
      for (const [id, { listing_id, by, seller_id }] of Object.entries(ratings)) {
        const { sold_by, seller_id: seller } = listings[listing_id]!;
        const buyer = sold_by === undefined ? undefined : bids[sold_by]!.bidder_id;
        if (by !== buyer || seller_id !== seller) yield `${id} rates ${listing_id} by ${by}`;
        if (rated.has(listing_id)) yield `${id} rates ${listing_id} again`;
        rated.add(listing_id);
      }
      if (!before) return;
      for (const [id] of listRemovedRows(before.ratings, ratings)) yield `${id} is gone`;
      for (const [id] of listChangedRows(before.ratings, ratings)) yield `${id} has changed`;
    },
  ),
  rule(
    "The customer sends no more messages about a listing than allowed before an answer.",
    function* ({ messages, customer, terms }) {
      const unanswered = new Map<string, number>();
      const rows = Object.values(messages).sort((a, b) => (a.at < b.at ? -1 : 1));
      for (const { listing_id, from, to } of rows)
        if (from === customer) {
          const count = 1 + (unanswered.get(listing_id) ?? 0);
          unanswered.set(listing_id, count);
          if (count > terms.most_messages) yield `${count} messages about ${listing_id}`;
        } else if (to === customer) unanswered.set(listing_id, 0);
    },
  ),
  rule("Calls change neither the terms nor the members.", function* (state, before) {
    if (before && state.terms !== before.terms && listChangedFields(before.terms, state.terms)[0])
      yield "the terms have changed";
    if (before && listChangedRows(before.members, state.members).length > 0)
      yield "a member has changed";
  }),
];

export const server = defineServer({
  name: "marketplace",
  category: "Commerce",
  summary: "listings with an end, bids and who leads, messages to sellers, ratings of purchases",
  schema: MarketplaceState,
  references,
  invariants,
  tools: { ...listingQueries, ...listingCommands, ...bidTools, ...sellerTools },
});
