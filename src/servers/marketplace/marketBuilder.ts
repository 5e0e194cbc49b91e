/** Builds listings, bids and messages of a generated marketplace. */
import { addMinutes } from "../../environment/time.ts";
import type { SharedCast } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { ratingTexts, type Offer } from "./generateValues.ts";
import { leastBid, standing, type MarketplaceWorld } from "./server.ts";

export type Market = MarketplaceWorld;

export type Fate = "open" | "ended" | "sold" | "withdrawn";

const minutesBefore = (now: string, minutes: number) => addMinutes(now, -minutes);

const dayOf = (now: string, days: number) => minutesBefore(now, -days * 1440).slice(0, 10);

const cityOf = (cast: SharedCast, i: number) =>
  cast.cities[i % 3 === 0 ? i % cast.cities.length : 0]!.name;

/** Puts up the market row by row; members are found by name. */
export class MarketBuilder {
  readonly context: GeneratorContext;
  readonly state: Market;
  readonly #members = new Map<string, string>();

  constructor(context: GeneratorContext) {
    const isFull = context.size === "full";
    this.context = context;
    this.state = {
      customer: "",
      terms: {
        retract_minutes: 60,
        most_listings: isFull ? 10 : 4,
        bidding_limit: isFull ? 1500 : 600,
        most_messages: 3,
      },
      members: {},
      listings: {},
      bids: {},
      messages: {},
      ratings: {},
    };
    const { cast } = context;
    const others = isFull
      ? [...cast.friends, ...cast.prospects.map(it => it.contacts[0]!)]
      : cast.friends.slice(2, 6);
    for (const [i, { name }] of [cast.user, ...others].entries()) this.#join(name, i);
    this.state.customer = this.member(cast.user.name);
  }

  #join(name: string, i: number): void {
    const key = this.context.nextId("mem");
    this.#members.set(name, key);
    const isGrumpy = i === (this.context.size === "full" ? 9 : 4);
    this.state.members[key] = {
      name,
      city: cityOf(this.context.cast, i),
      joined: dayOf(this.context.cast.now, -200 - 137 * i),
      blocks_customer: isGrumpy,
    };
  }

  member = (name: string): string => this.#members.get(name)!;

  /** Everybody but these. */
  others = (...but: readonly string[]): string[] =>
    Object.keys(this.state.members).filter(it => !but.includes(it));

  offer(
    [title, category, condition, start_price, description, buy_now]: Offer,
    seller_id: string,
    endsIn: number,
  ): string {
    const key = this.context.nextId("lst");
    const { now } = this.context.cast;
    // people end their auctions in the evening
    const ends = `${dayOf(now, endsIn)}T${17 + (title.length % 5)}:${String((title.length * 5) % 60).padStart(2, "0")}`;
    this.state.listings[key] = {
      title,
      category,
      condition,
      description,
      seller_id,
      start_price,
      step: start_price < 50 ? 2 : start_price < 200 ? 5 : 10,
      ...(buy_now === undefined ? {} : { buy_now }),
      opened: dayOf(now, Math.min(endsIn, 0) - 4),
      ends,
      status: "open",
    };
    return key;
  }

  /** A bid that beats what stands, so long before now, and not after the end. */
  bid(listing: string, bidder_id: string, minutesAgo: number, more = 0): string {
    const it = this.state.listings[listing]!;
    const [top] = standing(this.state.bids, listing);
    const key = this.context.nextId("bid");
    const wanted = leastBid(it, top?.[1]) + more * it.step;
    this.state.bids[key] = {
      listing_id: listing,
      bidder_id,
      amount: Math.min(wanted, (it.buy_now ?? Infinity) - 1),
      at: minutesBefore(
        it.ends < this.context.cast.now ? it.ends : this.context.cast.now,
        minutesAgo,
      ),
      retracted: false,
    };
    return key;
  }

  settle(listing: string, fate: Fate): void {
    const it = this.state.listings[listing]!;
    const [top] = standing(this.state.bids, listing);
    if (fate === "withdrawn") it.status = "withdrawn";
    if (fate !== "sold" || !top) return;
    it.status = "sold";
    it.sold_by = top[0];
  }

  rate(listing: string, stars: number, daysAgo: number): void {
    const { seller_id, sold_by } = this.state.listings[listing]!;
    this.state.ratings[this.context.nextId("rtg")] = {
      seller_id,
      by: this.state.bids[sold_by!]!.bidder_id,
      listing_id: listing,
      stars,
      text: this.context.random.pick(ratingTexts[stars]!),
      date: dayOf(this.context.cast.now, -daysAgo),
    };
  }

  message(listing: string, from: string, minutesAgo: number, text: string): void {
    const seller = this.state.listings[listing]!.seller_id;
    const to = from === seller ? this.state.customer : seller;
    this.state.messages[this.context.nextId("msg")] = {
      listing_id: listing,
      from,
      to,
      text,
      at: minutesBefore(this.context.cast.now, minutesAgo),
    };
  }
}
