/**
 * The marketplace of a world: the user of the canon among friends, colleagues and people of other
 * firms, who offer, bid, write and rate.
 */
import type { SharedCast } from "../shared/cast.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import { answers, offers, ownOffers, questions } from "./generateValues.ts";
import { MarketBuilder, type Fate, type Market } from "./marketBuilder.ts";
import { server, standing, statusOf } from "./server.ts";

function generate(context: GeneratorContext): Market {
  const stalls = new MarketBuilder(context);
  if (context.size === "small") smallMarket(stalls);
  else fullMarket(stalls);
  return stalls.state;
}

function smallMarket(stalls: MarketBuilder): void {
  const { customer } = stalls.state;
  const [one, two, three, four] = stalls.others(customer) as [string, string, string, string];
  const listings = offers
    .slice(0, 6)
    .map((it, i) =>
      stalls.offer(it, [one, two, three, four, one, two][i]!, [3, 1, 5, 6, -4, -20][i]!),
    );
  const own = ownOffers
    .slice(0, 5)
    .map((it, i) => stalls.offer(it, customer, [2, 6, -1, -12, 4][i]!));
  stalls.bid(listings[0]!, two, 900);
  stalls.bid(listings[0]!, three, 400, 1);
  stalls.bid(listings[1]!, customer, 2000);
  stalls.bid(listings[1]!, three, 300);
  stalls.bid(listings[2]!, two, 500);
  stalls.bid(listings[2]!, customer, 20);
  stalls.bid(listings[4]!, customer, 3000);
  stalls.bid(listings[5]!, customer, 600, 1);
  stalls.settle(listings[5]!, "sold");
  stalls.bid(own[0]!, one, 700);
  stalls.bid(own[0]!, two, 100, 2);
  stalls.bid(own[2]!, three, 900);
  stalls.bid(own[3]!, one, 800);
  stalls.settle(own[3]!, "sold");
  stalls.rate(own[3]!, 5, 10);
  stalls.message(listings[0]!, customer, 1500, questions[0]!);
  stalls.message(listings[0]!, one, 1400, answers[0]!);
}

/**
 * What happens to each offer of others: how many days until it ends (or since), and how it stands.
 */
function fullMarket(stalls: MarketBuilder): void {
  const { state, context } = stalls;
  const { random } = context;
  const { customer } = state;
  const sellers = stalls.others(customer);
  const past = new Set([5, 11, 14, 17, 20, 23, 26, 29, 32, 34]);
  for (const [i, it] of offers.entries()) {
    const seller = sellers[(i * 5) % sellers.length]!;
    const isPast = past.has(i);
    const key = stalls.offer(it, seller, isPast ? -2 - random.integer(40) : random.integer(9));
    const bidders = random
      .shuffle(stalls.others(seller, customer))
      .slice(0, isPast ? 1 + random.integer(3) : random.integer(5));
    for (const [n, bidder] of bidders.entries())
      stalls.bid(key, bidder, 3900 - 700 * n - random.integer(400), random.integer(3));
    if (isPast) pastOffer(stalls, key, i);
    else if (i % 3 === 1) myBid(stalls, key, i);
    if (!isPast && i % 5 === 0) conversation(stalls, key, i);
  }
  ownMarket(stalls, sellers);
  // others have bought from one another before, of which only what they say is left
  for (const [i, seller] of sellers.entries()) if (i % 4 !== 3) strangers(stalls, seller, i);
}

function pastOffer(stalls: MarketBuilder, key: string, i: number): void {
  const { customer } = stalls.state;
  if (i !== 29) stalls.bid(key, customer, 70 + i, 1);
  stalls.settle(key, i % 4 === 2 ? "ended" : "sold");
  if (stalls.state.listings[key]!.status === "sold" && i % 3 === 2 && i !== 29)
    stalls.rate(key, 3 + (i % 3), 1);
}

/**
 * Some bids of the user were made within the hour and lead, some lead for long, some were outbid.
 */
function myBid(stalls: MarketBuilder, key: string, i: number): void {
  const { state, context } = stalls;
  const { customer, listings } = state;
  if (state.members[listings[key]!.seller_id]!.blocks_customer) return;
  const isRecent = i % 2 === 1;
  const bid = stalls.bid(key, customer, isRecent ? 5 + i : 700 + 10 * i);
  if (i % 4 === 0)
    stalls.bid(key, context.random.pick(stalls.others(customer, listings[key]!.seller_id)), 90 + i);
  if (i === 19) state.bids[bid]!.retracted = true;
}

function conversation(stalls: MarketBuilder, key: string, i: number): void {
  const { customer, listings, members } = stalls.state;
  const seller = listings[key]!.seller_id;
  if (members[seller]!.blocks_customer) return;
  stalls.message(key, customer, 2000 - i, questions[i % questions.length]!);
  if (i % 10 === 0) stalls.message(key, seller, 1800 - i, answers[i % answers.length]!);
  else stalls.message(key, customer, 1500 - i, questions[(i + 1) % questions.length]!);
}

function ownMarket(stalls: MarketBuilder, sellers: readonly string[]): void {
  const { state, context } = stalls;
  const ends = [2, 6, -1, -12, 4, 1, 8, 3, -2, -30, 5, -3, -18, 7];
  const fates: Fate[] = [
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
  for (const [i, it] of ownOffers.entries()) {
    const key = stalls.offer(it, state.customer, ends[i]!);
    const bidders =
      fates[i] === "withdrawn" || i % 5 === 1
        ? []
        : context.random.shuffle([...sellers]).slice(0, 1 + context.random.integer(4));
    for (const [n, bidder] of bidders.entries()) {
      const bid = stalls.bid(
        key,
        bidder,
        3800 - 700 * n - context.random.integer(300),
        context.random.integer(2),
      );
      if (n === 1 && bidders.length > 2) state.bids[bid]!.retracted = true;
    }
    stalls.settle(key, fates[i]!);
    if (fates[i] === "sold") stalls.rate(key, 5, 2);
  }
}

/** A rating for a sale of long ago, whose listing is still there. */
function strangers(stalls: MarketBuilder, seller: string, i: number): void {
  const { context, state } = stalls;
  const [title, category] = keepsakes[i % keepsakes.length]!;
  const key = stalls.offer(
    [`${title} of ${1950 + i}`, category, "good", 10 + i, "Sold."],
    seller,
    -60 - 9 * i,
  );
  stalls.bid(key, context.random.pick(stalls.others(seller, state.customer)), 60);
  stalls.settle(key, "sold");
  stalls.rate(
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

function* contradictions(state: Market, cast: SharedCast): Generator<string> {
  const { listings, bids, members, customer, ratings } = state;
  if (members[customer]?.name !== cast.user.name)
    yield `the customer ${customer} is not whom the world is about`;
  const titles = Object.values(listings).map(it => it.title);
  for (const it of titles)
    if (titles.filter(other => other.toLowerCase().includes(it.toLowerCase())).length > 1)
      yield `the title ${it} is part of another`;
  for (const [key, it] of Object.entries(listings)) {
    if (!Object.hasOwn(members, it.seller_id))
      yield `listing ${key} is by ${it.seller_id}, who is no member`;
    const stand = standing(bids, key);
    if (it.sold_by !== undefined && it.sold_by !== stand[0]?.[0])
      yield `listing ${key} was not sold to the highest bid`;
    if ((it.status === "sold") !== (it.sold_by !== undefined))
      yield `listing ${key} is ${it.status} and ${it.sold_by ? "has" : "lacks"} a bid that won`;
    if (
      stand.some(
        ([, bid]) =>
          bid.amount < it.start_price || (it.buy_now !== undefined && bid.amount >= it.buy_now),
      )
    )
      yield `listing ${key} has a bid that it would not take`;
    if (stand.some(([, bid], i) => i > 0 && bid.at > stand[i - 1]![1].at))
      yield `listing ${key} has a lower bid after a higher one`;
  }
  for (const [key, it] of Object.entries(bids)) {
    const listing = listings[it.listing_id];
    if (!listing || !Object.hasOwn(members, it.bidder_id)) yield `bid ${key} is on or by nobody`;
    else if (listing.seller_id === it.bidder_id) yield `bid ${key} is by the seller`;
    else if (it.at > listing.ends || it.at > cast.now) yield `bid ${key} is late`;
  }
  const leading = Object.entries(listings).flatMap(([key, it]) =>
    it.status === "open" ? standing(bids, key).slice(0, 1) : [],
  );
  const bound = leading
    .filter(([, it]) => it.bidder_id === customer)
    .reduce((sum, [, it]) => sum + it.amount, 0);
  if (bound > state.terms.bidding_limit)
    yield `the customer has bid ${bound}, which is more than allowed`;
  if (
    Object.values(listings).filter(
      it => it.seller_id === customer && statusOf(it, cast.now) === "open",
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

export const generator = defineGenerator<Market>({
  server,
  generate,
  findInconsistencies: (state, _world, cast) => [...contradictions(state, cast)],
});
