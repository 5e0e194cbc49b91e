/**
 * Generates the marketplace of a fixture set: the user among friends, colleagues and contacts of
 * other companies, who offer, bid, write and rate.
 */
import type { SharedCast } from "../shared/cast.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import { answers, listingPlans, ownListingPlans, questions } from "./generateValues.ts";
import { MarketplaceBuilder, type Outcome } from "./marketBuilder.ts";
import { server } from "./server.ts";
import { listStandingBids, getListingStatus, type MarketplaceState } from "./state.ts";

function generate(context: GeneratorContext): MarketplaceState {
  const builder = new MarketplaceBuilder(context);
  if (context.size === "small") addSmallMarket(builder);
  else addFullMarket(builder);
  return builder.state;
}

function addSmallMarket(builder: MarketplaceBuilder): void {
  const { customer } = builder.state;
  const [one, two, three, four] = builder.listOtherMembers(customer) as [
    string,
    string,
    string,
    string,
  ];
  const listings = listingPlans
    .slice(0, 6)
    .map((it, i) =>
      builder.addListing(it, [one, two, three, four, one, two][i]!, [3, 1, 5, 6, -4, -20][i]!),
    );
  const own = ownListingPlans
    .slice(0, 5)
    .map((it, i) => builder.addListing(it, customer, [2, 6, -1, -12, 4][i]!));
  builder.addBid(listings[0]!, two, 900);
  builder.addBid(listings[0]!, three, 400, 1);
  builder.addBid(listings[1]!, customer, 2000);
  builder.addBid(listings[1]!, three, 300);
  builder.addBid(listings[2]!, two, 500);
  builder.addBid(listings[2]!, customer, 20);
  builder.addBid(listings[4]!, customer, 3000);
  builder.addBid(listings[5]!, customer, 600, 1);
  builder.closeListing(listings[5]!, "sold");
  builder.addBid(own[0]!, one, 700);
  builder.addBid(own[0]!, two, 100, 2);
  builder.addBid(own[2]!, three, 900);
  builder.addBid(own[3]!, one, 800);
  builder.closeListing(own[3]!, "sold");
  builder.addRating(own[3]!, 5, 10);
  builder.addMessage(listings[0]!, customer, 1500, questions[0]!);
  builder.addMessage(listings[0]!, one, 1400, answers[0]!);
}

/** Adds the listings of others with their bids and outcomes, then the user's own. */
function addFullMarket(builder: MarketplaceBuilder): void {
  const { state, context } = builder;
  const { random } = context;
  const { customer } = state;
  const sellers = builder.listOtherMembers(customer);
  const pastOffers = new Set([5, 11, 14, 17, 20, 23, 26, 29, 32, 34]);
  for (const [i, it] of listingPlans.entries()) {
    const seller = sellers[(i * 5) % sellers.length]!;
    const isPast = pastOffers.has(i);
    const key = builder.addListing(
      it,
      seller,
      isPast ? -2 - random.integer(40) : random.integer(9),
    );
    const bidders = random
      .shuffle(builder.listOtherMembers(seller, customer))
      .slice(0, isPast ? 1 + random.integer(3) : random.integer(5));
    for (const [n, bidder] of bidders.entries())
      builder.addBid(key, bidder, 3900 - 700 * n - random.integer(400), random.integer(3));
    if (isPast) closeOffer(builder, key, i);
    else if (i % 3 === 1) addOwnBid(builder, key, i);
    if (!isPast && i % 5 === 0) addConversation(builder, key, i);
  }
  addOwnOffers(builder, sellers);
  for (const [i, seller] of sellers.entries()) if (i % 4 !== 3) addOldSale(builder, seller, i);
}

function closeOffer(builder: MarketplaceBuilder, key: string, i: number): void {
  const { customer } = builder.state;
  if (i !== 29) builder.addBid(key, customer, 70 + i, 1);
  builder.closeListing(key, i % 4 === 2 ? "ended" : "sold");
  if (builder.state.listings[key]!.status === "sold" && i % 3 === 2 && i !== 29)
    builder.addRating(key, 3 + (i % 3), 1);
}

/** Adds a bid of the user: made within the last hour and leading, leading for longer, or outbid. */
function addOwnBid(builder: MarketplaceBuilder, key: string, i: number): void {
  const { state, context } = builder;
  const { customer, listings } = state;
  if (state.members[listings[key]!.seller_id]!.blocks_customer) return;
  const isRecent = i % 2 === 1;
  const bid = builder.addBid(key, customer, isRecent ? 5 + i : 700 + 10 * i);
  if (i % 4 === 0)
    builder.addBid(
      key,
      context.random.pick(builder.listOtherMembers(customer, listings[key]!.seller_id)),
      90 + i,
    );
  if (i === 19) state.bids[bid]!.retracted = true;
}

function addConversation(builder: MarketplaceBuilder, key: string, i: number): void {
  const { customer, listings, members } = builder.state;
  const seller = listings[key]!.seller_id;
  if (members[seller]!.blocks_customer) return;
  builder.addMessage(key, customer, 2000 - i, questions[i % questions.length]!);
  if (i % 10 === 0) builder.addMessage(key, seller, 1800 - i, answers[i % answers.length]!);
  else builder.addMessage(key, customer, 1500 - i, questions[(i + 1) % questions.length]!);
}

function addOwnOffers(builder: MarketplaceBuilder, sellers: readonly string[]): void {
  const { state, context } = builder;
  const ends = [2, 6, -1, -12, 4, 1, 8, 3, -2, -30, 5, -3, -18, 7];
  const outcomes: Outcome[] = [
    "open",
    "open",
    "ended",
    "sold",
    "open",
    "open",
    "open",
    "open",
    "ended",
    "sold",
    "open",
    "ended",
    "withdrawn",
    "open",
  ];
  for (const [i, it] of ownListingPlans.entries()) {
    const key = builder.addListing(it, state.customer, ends[i]!);
    const bidders =
      outcomes[i] === "withdrawn" || i % 5 === 1
        ? []
        : context.random.shuffle([...sellers]).slice(0, 1 + context.random.integer(4));
    for (const [n, bidder] of bidders.entries()) {
      const bid = builder.addBid(
        key,
        bidder,
        3800 - 700 * n - context.random.integer(300),
        context.random.integer(2),
      );
      if (n === 1 && bidders.length > 2) state.bids[bid]!.retracted = true;
    }
    builder.closeListing(key, outcomes[i]!);
    if (outcomes[i] === "sold") builder.addRating(key, 5, 2);
  }
}

/** Adds a sale of long ago, with the buyer's rating. */
function addOldSale(builder: MarketplaceBuilder, seller: string, i: number): void {
  const { context, state } = builder;
  const [title, category] = keepsakes[i % keepsakes.length]!;
  const key = builder.addListing(
    [`${title} of ${1950 + i}`, category, "good", 10 + i, "Sold."],
    seller,
    -60 - 9 * i,
  );
  builder.addBid(key, context.random.pick(builder.listOtherMembers(seller, state.customer)), 60);
  builder.closeListing(key, "sold");
  builder.addRating(
    key,
    context.random.pickWeighted([2, 3, 4, 5], it => it * it),
    50 + 9 * i,
  );
}

const keepsakes = [
  ["Postcard lot", "collectibles"],
  ["Paperback bundle", "books"],
  ["Scarf set", "clothing"],
  ["Record box", "music"],
  ["Cable box", "electronics"],
] as const;

function* findContradictions(state: MarketplaceState, cast: SharedCast): Generator<string> {
  const { listings, bids, members, customer, ratings } = state;
  if (members[customer]?.name !== cast.user.name)
    yield `the customer ${customer} is not the user of the shared cast`;
  const titles = Object.values(listings).map(it => it.title);
  for (const it of titles)
    if (titles.filter(other => other.toLowerCase().includes(it.toLowerCase())).length > 1)
      yield `the title ${it} is part of another`;
  for (const [key, it] of Object.entries(listings)) {
    if (!Object.hasOwn(members, it.seller_id))
      yield `listing ${key} is by ${it.seller_id}, who is no member`;
    const standingBids = listStandingBids(bids, key);
    if (it.sold_by !== undefined && it.sold_by !== standingBids[0]?.[0])
      yield `listing ${key} was not sold to the highest bid`;
    if ((it.status === "sold") !== (it.sold_by !== undefined))
      yield `listing ${key} is ${it.status} and ${it.sold_by ? "has" : "lacks"} a bid that won`;
    if (
      standingBids.some(
        ([, bid]) =>
          bid.amount < it.start_price || (it.buy_now !== undefined && bid.amount >= it.buy_now),
      )
    )
      yield `listing ${key} has a bid that it would not take`;
    if (standingBids.some(([, bid], i) => i > 0 && bid.at > standingBids[i - 1]![1].at))
      yield `listing ${key} has a lower bid after a higher one`;
  }
  for (const [key, it] of Object.entries(bids)) {
    const listing = listings[it.listing_id];
    if (!listing || !Object.hasOwn(members, it.bidder_id)) yield `bid ${key} is on or by nobody`;
    else if (listing.seller_id === it.bidder_id) yield `bid ${key} is by the seller`;
    else if (it.at > listing.ends || it.at > cast.now) yield `bid ${key} is late`;
  }
  const leading = Object.entries(listings).flatMap(([key, it]) =>
    it.status === "open" ? listStandingBids(bids, key).slice(0, 1) : [],
  );
  const committed = leading
    .filter(([, it]) => it.bidder_id === customer)
    .reduce((sum, [, it]) => sum + it.amount, 0);
  if (committed > state.terms.bidding_limit)
    yield `the customer has bid ${committed}, which is more than allowed`;
  if (
    Object.values(listings).filter(
      it => it.seller_id === customer && getListingStatus(it, cast.now) === "open",
    ).length > state.terms.most_listings
  )
    yield "the customer has too many open listings";
  for (const [key, it] of Object.entries(ratings)) {
    const listing = listings[it.listing_id];
    if (
      listing?.sold_by === undefined ||
      listing.seller_id !== it.seller_id ||
      bids[listing.sold_by]!.bidder_id !== it.by
    )
      yield `rating ${key} is not by who bought it`;
  }
  for (const [key, it] of Object.entries(state.messages))
    if (!Object.hasOwn(listings, it.listing_id) || it.at > cast.now)
      yield `message ${key} is about nothing, or to come`;
}

export const generator = defineGenerator<MarketplaceState>({
  server,
  generate,
  findInconsistencies: (state, _states, cast) => [...findContradictions(state, cast)],
});
