/** Builds listings, bids and messages of a generated marketplace. */
import { addMinutes } from "../../environment/time.ts";
import type { SharedCast } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { ratingTexts, type ListingPlan } from "./generateValues.ts";
import { computeMinBid, listStandingBids, type MarketplaceState } from "./state.ts";

export type Outcome = "open" | "ended" | "sold" | "withdrawn";

const minutesBefore = (now: string, minutes: number) => addMinutes(now, -minutes);

const addDaysTo = (now: string, days: number) => minutesBefore(now, -days * 1440).slice(0, 10);

const pickCity = (cast: SharedCast, i: number) =>
  cast.cities[i % 3 === 0 ? i % cast.cities.length : 0]!.name;

/** Builds the state row by row. */
export class MarketplaceBuilder {
  readonly context: GeneratorContext;
  readonly state: MarketplaceState;
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
    for (const [i, { name }] of [cast.user, ...others].entries()) this.#addMember(name, i);
    this.state.customer = this.getMemberId(cast.user.name);
  }

  #addMember(name: string, i: number): void {
    const key = this.context.nextId("mem");
    this.#members.set(name, key);
    const isBlocking = i === (this.context.size === "full" ? 9 : 4);
    this.state.members[key] = {
      name,
      city: pickCity(this.context.cast, i),
      joined: addDaysTo(this.context.cast.now, -200 - 137 * i),
      blocks_customer: isBlocking,
    };
  }

  getMemberId = (name: string): string => this.#members.get(name)!;

  /** The ids of all members but these. */
  listOtherMembers = (...excluded: readonly string[]): string[] =>
    Object.keys(this.state.members).filter(it => !excluded.includes(it));

  addListing(
    [title, category, condition, start_price, description, buy_now]: ListingPlan,
    seller_id: string,
    endsIn: number,
  ): string {
    const key = this.context.nextId("lst");
    const { now } = this.context.cast;
    // auctions end in the evening
    const ends = `${addDaysTo(now, endsIn)}T${17 + (title.length % 5)}:${String((title.length * 5) % 60).padStart(2, "0")}`;
    this.state.listings[key] = {
      title,
      category,
      condition,
      description,
      seller_id,
      start_price,
      step: start_price < 50 ? 2 : start_price < 200 ? 5 : 10,
      ...(buy_now === undefined ? {} : { buy_now }),
      opened: addDaysTo(now, Math.min(endsIn, 0) - 4),
      ends,
      status: "open",
    };
    return key;
  }

  /** Adds a bid above the highest one, `minutesAgo` before now or before the end of the listing. */
  addBid(listing: string, bidder_id: string, minutesAgo: number, more = 0): string {
    const it = this.state.listings[listing]!;
    const [top] = listStandingBids(this.state.bids, listing);
    const key = this.context.nextId("bid");
    const amount = computeMinBid(it, top?.[1]) + more * it.step;
    this.state.bids[key] = {
      listing_id: listing,
      bidder_id,
      amount: Math.min(amount, (it.buy_now ?? Infinity) - 1),
      at: minutesBefore(
        it.ends < this.context.cast.now ? it.ends : this.context.cast.now,
        minutesAgo,
      ),
      retracted: false,
    };
    return key;
  }

  closeListing(listing: string, outcome: Outcome): void {
    const it = this.state.listings[listing]!;
    const [top] = listStandingBids(this.state.bids, listing);
    if (outcome === "withdrawn") it.status = "withdrawn";
    if (outcome !== "sold" || !top) return;
    it.status = "sold";
    it.sold_by = top[0];
  }

  addRating(listing: string, stars: number, daysAgo: number): void {
    const { seller_id, sold_by } = this.state.listings[listing]!;
    this.state.ratings[this.context.nextId("rtg")] = {
      seller_id,
      by: this.state.bids[sold_by!]!.bidder_id,
      listing_id: listing,
      stars,
      text: this.context.random.pick(ratingTexts[stars]!),
      date: addDaysTo(this.context.cast.now, -daysAgo),
    };
  }

  addMessage(listing: string, from: string, minutesAgo: number, text: string): void {
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
