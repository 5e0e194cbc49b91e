/** A requested trip, and a journey that makes it. */
import { z } from "zod";
import { MapsState, modes, places } from "./state.ts";
import { id, label, minute, rowTotal } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addMinutes, toMinutes } from "../../environment/time.ts";
import { planJourney, findRoute, createJourney, createTrip, type Journey } from "./journey.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(MapsState);

const fromPlace = places.id.describe("Place where it starts, as maps_search_places gives it");
const toPlace = places.id.describe("Place where it ends, as maps_search_places gives it");
const mode = z.enum(modes).describe("How to travel");
const departAt = minute().optional().describe("When to leave, YYYY-MM-DDTHH:MM, now if not given");
const avoid = z.enum(["ferries", "busy streets"]).optional().describe("What to keep away from");
const meters = z.int().describe("Length in metres");
const minutes = z.int().describe("How long it takes");

const maxAlternatives = 3;

/** The longest time that an alternative to a route of this length may take. */
const computeMaxMinutes = (minutes: number) => 1.8 * minutes + 3;

const createStepRows = (journey: Journey) =>
  journey.steps.map(it => ({ along: it.along, meters: it.meters }));
const getLongestStreet = (journey: Journey) =>
  journey.steps.reduce((longest, it) => (it.meters > longest.meters ? it : longest)).along;

export const routeTools = {
  get_route: tool({
    effect: "read",
    summary:
      "Get the quickest route between two places step by step, for a way of travelling and a time of leaving.",
    input: { from_place: fromPlace, to_place: toPlace, mode, depart_at: departAt, avoid },
    returns: {
      from: label("place"),
      to: label("place"),
      meters,
      minutes,
      arrives: minute(),
      steps: z.array(z.object({ along: z.string(), meters: z.int() })),
    },
    run(state, args, { now }) {
      const trip = createTrip(state, args, now);
      const journey = planJourney(state, trip);
      return {
        from: trip.from.name,
        to: trip.to.name,
        meters: journey.meters,
        minutes: journey.minutes,
        arrives: addMinutes(trip.departs, journey.minutes),
        steps: createStepRows(journey),
      };
    },
  }),
  get_route_alternatives: tool({
    effect: "read",
    summary:
      "Compare up to three different ways through the home city's streets, quickest first, each with the street it mostly follows. Not for transit.",
    input: {
      from_place: fromPlace,
      to_place: toPlace,
      mode: z.enum(["walking", "cycling", "driving"]).describe("How to travel"),
      depart_at: departAt,
    },
    returns: {
      from: label("place"),
      to: label("place"),
      total: rowTotal("routes"),
      routes: z.array(z.object({ via: z.string(), meters, minutes })),
    },
    run(state, args, { now }) {
      const trip = createTrip(state, args, now);
      const { from, to } = trip;
      const best = planJourney(state, trip);
      if (from.city_id !== state.home_city || to.city_id !== state.home_city)
        refuse(
          "precondition_failed",
          `the streets from ${from.name} to ${to.name} are not on this map`,
          "maps_get_route gives the one way between cities",
        );
      const journeys = [best];
      const usedStreets = new Map<string, number>();
      for (let n = 0; n < 2 * maxAlternatives && journeys.length < maxAlternatives; n++) {
        for (const it of findRoute(state, trip, usedStreets).stretches)
          usedStreets.set(it.street_id, (usedStreets.get(it.street_id) ?? 1) * 1.6);
        const other = createJourney(state, trip, findRoute(state, trip, usedStreets));
        if (
          other.minutes <= computeMaxMinutes(best.minutes) &&
          journeys.every(it => it.meters !== other.meters)
        )
          journeys.push(other);
      }
      const routes = journeys
        .sort((a, b) => a.minutes - b.minutes || a.meters - b.meters)
        .map(it => ({ via: getLongestStreet(it), meters: it.meters, minutes: it.minutes }));
      return { from: from.name, to: to.name, total: routes.length, routes };
    },
  }),
  distance_matrix: tool({
    effect: "read",
    summary:
      "Get length and time from each of some places to each of others, up to four each way, as a table. Refused where one of them has no way.",
    input: {
      from_places: z.array(id("place")).min(1).max(4).describe("Places where it starts"),
      to_places: z.array(id("place")).min(1).max(4).describe("Places where it ends"),
      mode,
    },
    returns: {
      total: rowTotal("rows"),
      rows: z.array(z.object({ from: label("place"), to: label("place"), meters, minutes })),
    },
    run(state, { from_places, to_places, mode }, { now }) {
      for (const ids of [from_places, to_places])
        if (new Set(ids).size < ids.length)
          refuse("invalid_params", "a place is named twice in one list", "name every place once");
      const pairs = from_places.flatMap(from_place =>
        to_places.filter(it => it !== from_place).map(to_place => ({ from_place, to_place })),
      );
      if (pairs.length === 0)
        refuse(
          "invalid_params",
          `both ends are ${places.find(state, from_places[0]!).name}`,
          "give two different places",
        );
      return {
        total: pairs.length,
        rows: pairs.map(pair => {
          const trip = createTrip(state, { ...pair, mode }, now);
          const journey = planJourney(state, trip);
          return {
            from: trip.from.name,
            to: trip.to.name,
            meters: journey.meters,
            minutes: journey.minutes,
          };
        }),
      };
    },
  }),
  get_travel_time: tool({
    effect: "read",
    summary:
      "Find out when to leave for a place in order to be there at a time, or when one is there leaving now.",
    input: {
      from_place: fromPlace,
      to_place: toPlace,
      mode,
      arrive_by: minute()
        .optional()
        .describe("When to be there, YYYY-MM-DDTHH:MM; leave out to leave now"),
    },
    returns: {
      from: label("place"),
      to: label("place"),
      minutes,
      leave_at: minute(),
      arrives: minute(),
    },
    run(state, { arrive_by, ...args }, { now }) {
      const trip = createTrip(state, args, now);
      const ends = { from: trip.from.name, to: trip.to.name };
      if (arrive_by === undefined) {
        const travelMinutes = planJourney(state, trip).minutes;
        return {
          ...ends,
          minutes: travelMinutes,
          leave_at: now,
          arrives: addMinutes(now, travelMinutes),
        };
      }
      if (arrive_by < now)
        refuse(
          "precondition_failed",
          `${arrive_by} has passed: it is ${now}`,
          "choose a later arrival",
        );
      // traffic depends on the departure: estimate it, then plan again for that time
      let minutes = planJourney(state, { ...trip, departs: arrive_by }).minutes;
      for (let n = 0; n < 3; n++) {
        const departs = addMinutes(arrive_by, -minutes);
        if (departs < now)
          return refuse(
            "precondition_failed",
            `${ends.to} is ${minutes} minutes away: whoever leaves now, at ${now}, is there after ${arrive_by}`,
            `the earliest arrival is about ${addMinutes(now, planJourney(state, trip).minutes)}`,
          );
        minutes = planJourney(state, { ...trip, departs }).minutes;
      }
      const leave_at = addMinutes(arrive_by, -minutes);
      if (leave_at < now)
        return refuse(
          "precondition_failed",
          `${ends.to} is ${minutes} minutes away, too far to be there by ${arrive_by}`,
          "choose a later arrival",
        );
      return { ...ends, minutes, leave_at, arrives: arrive_by };
    },
  }),
  share_route: tool({
    effect: "write",
    summary:
      "Share a route with one of the user's contacts, who can follow it for some hours. A route is shared with a person once at a time.",
    input: {
      from_place: fromPlace,
      to_place: toPlace,
      mode,
      contact: label("contact").describe("Full name of the contact"),
      hours: z
        .int()
        .min(1)
        .max(72)
        .optional()
        .describe("For how many hours, 4 if not given")
        .meta({ examples: vocabulary.hours }),
    },
    returns: {
      shared_id: id("shared_route"),
      to: label("place"),
      contact: label("contact"),
      minutes,
      until: minute(),
    },
    run(state, { contact, hours = 4, ...args }, { now, newId }) {
      const original = getOriginal(state);
      const [contact_id, person] = findContact(original, contact);
      if (person.muted)
        refuse(
          "permission_denied",
          `${person.name} takes no shared routes`,
          "share it with somebody else",
        );
      const journey = planJourney(original, createTrip(original, args, now));
      const active = Object.values(original.shared).filter(it => it.until > now);
      const existing = active.find(
        it =>
          it.contact_id === contact_id &&
          it.from_place === args.from_place &&
          it.to_place === args.to_place &&
          it.mode === args.mode,
      );
      if (existing)
        refuse(
          "conflict",
          `this route is shared with ${person.name} until ${existing.until} already`,
        );
      const soonest = active.map(it => it.until).sort()[0];
      if (active.length >= original.limits.shares)
        refuse(
          "limit_exceeded",
          `${active.length} routes are shared already, the most there may be`,
          `the next one ends at ${soonest}`,
        );
      const until = addMinutes(now, hours * 60);
      if (toMinutes(until) - toMinutes(now) < journey.minutes)
        refuse(
          "precondition_failed",
          `the route takes ${journey.minutes} minutes and would be shared for ${hours * 60} only`,
          `share it for at least ${Math.ceil(journey.minutes / 60)} hours`,
        );
      const shared_id = newId("shr");
      state.shared[shared_id] = { ...args, contact_id, at: now, until };
      return {
        shared_id,
        to: places.find(original, args.to_place).name,
        contact: person.name,
        minutes: journey.minutes,
        until,
      };
    },
  }),
};

function findContact({ contacts }: MapsState, name: string) {
  const normalizedName = name.trim().toLowerCase();
  const all = Object.entries(contacts);
  const match = all.find(
    ([, it]) => it.name.toLowerCase() === normalizedName || it.email === normalizedName,
  );
  return (
    match ??
    refuse(
      "not_found",
      `the user has no contact ${name}`,
      `there are ${all
        .slice(0, 8)
        .map(([, it]) => it.name)
        .join(", ")}`,
    )
  );
}
