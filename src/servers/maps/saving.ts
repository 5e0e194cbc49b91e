/**
 * The map's tools about the ground and the streets at this time, and about the places that the user
 * keeps.
 */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { elsewhere } from "./clock.ts";
import { metersBetween } from "./geometry.ts";
import { slownessOf } from "./journey.ts";
import { placeId } from "./places.ts";
import { Atlas, cityNamed, incidentsAt, lists, placeOf } from "./state.ts";

const tool = createToolFactory(Atlas);

/** Kilometres an hour of a car on a free street. */
const free = { main: 42, street: 28, lane: 18, country: 65 } as const;
const levelOf = (slowness: number): "free" | "moderate" | "heavy" =>
  slowness < 1.3 ? "free" : slowness < 1.8 ? "moderate" : "heavy";

export const ground = {
  get_elevation: tool({
    effect: "read",
    summary:
      "Get how high a place lies above the sea, and from another place the climb and how steep it is on average.",
    input: {
      place_id: placeId,
      from_place: placeId.optional().describe("Place from which to climb"),
    },
    returns: {
      name: label("place"),
      place_id: id("place"),
      elevation: z.int().describe("Metres above the sea"),
      climb: z.int().optional().describe("Metres up, or down if negative"),
      percent: z.int().optional().describe("How steep it is on average"),
    },
    run(atlas, { place_id, from_place }) {
      const place = placeOf(atlas, place_id);
      const own = { name: place.name, place_id, elevation: place.elevation };
      if (from_place === undefined) return own;
      if (from_place === place_id)
        refuse(
          "invalid_params",
          `both places are ${place.name}`,
          "give two different places, or leave out from_place",
        );
      const from = placeOf(atlas, from_place);
      const climb = place.elevation - from.elevation;
      return {
        ...own,
        climb,
        percent: Math.round((100 * climb) / Math.max(1, metersBetween(from, place))),
      };
    },
  }),
  get_timezone: tool({
    effect: "read",
    summary:
      "Get a city's time zone and what time it is there, now or when it is a given time at home.",
    input: {
      city: label("city").describe("Name of the city"),
      at: minute().optional().describe("Time at home, YYYY-MM-DDTHH:MM, now if not given"),
    },
    returns: {
      city: label("city"),
      timezone: z.string(),
      offset: z.string(),
      local_time: minute(),
    },
    run(atlas, { city, at }, { now }) {
      const there = cityNamed(atlas, city);
      const { local, offset } = elsewhere(
        at ?? now,
        atlas.cities[atlas.home_city]!.timezone,
        there.timezone,
      );
      return { city: there.name, timezone: there.timezone, offset, local_time: local };
    },
  }),
  get_traffic: tool({
    effect: "read",
    summary:
      "Get the traffic on the home city's streets, slowest first, with closures and roadworks; now or at a coming time, of all streets or one.",
    input: {
      street: label("street").optional().describe("Only this street, by its name"),
      at: minute().optional().describe("Time to look at, YYYY-MM-DDTHH:MM, now if not given"),
      limit: z
        .int()
        .min(1)
        .max(20)
        .optional()
        .describe("At most this many, 6 if not given")
        .meta({ examples: [3, 4, 5, 8] }),
    },
    returns: {
      streets: z.array(
        z.object({
          street: label("street"),
          traffic: z.enum(["free", "moderate", "heavy", "closed"]),
          speed: z.int().describe("Kilometres an hour"),
          because: z.string().optional(),
        }),
      ),
    },
    run(atlas, { street, at: asked, limit: most = 6 }, { now }) {
      const at = asked ?? now;
      if (at < now)
        refuse(
          "precondition_failed",
          `${at} has passed: it is ${now}`,
          "leave at out for the traffic now",
        );
      const wanted = street?.trim().toLowerCase();
      const named = Object.entries(atlas.streets).filter(
        ([, it]) => wanted === undefined || it.name.toLowerCase() === wanted,
      );
      if (named.length === 0)
        refuse(
          "not_found",
          `there is no street ${street} in ${atlas.cities[atlas.home_city]!.name}`,
          "leave street out to see which there are",
        );
      const open = named.flatMap(([street_id, it]) =>
        it.kind === "path" || it.kind === "ferry"
          ? []
          : [{ street_id, name: it.name, speed: free[it.kind] }],
      );
      if (open.length === 0)
        refuse("precondition_failed", `${named[0]![1].name} has no traffic: no cars may use it`);
      const rows = open.map(it => {
        const on = incidentsAt(atlas, at).find(other => other.street_id === it.street_id);
        const isClosed = on?.kind === "closure" && on.modes.includes("driving");
        const slowness = isClosed ? Infinity : slownessOf(atlas, it.street_id, at);
        const because = on ? { because: `${on.kind} until ${on.until.replace("T", " ")}` } : {};
        return {
          slowness,
          row: {
            street: it.name,
            traffic: isClosed ? ("closed" as const) : levelOf(slowness),
            speed: Math.round(it.speed / slowness),
            ...because,
          },
        };
      });
      rows.sort((a, b) =>
        a.slowness === b.slowness
          ? a.row.street < b.row.street
            ? -1
            : 1
          : b.slowness > a.slowness
            ? 1
            : -1,
      );
      return { streets: rows.slice(0, most).map(it => it.row) };
    },
  }),
};

const list = z.enum(lists);

export const keeping = {
  save_place: tool({
    effect: "write",
    summary:
      "Keep a place on one of the user's lists, with a note if there is something to remember. A place stands on a list once.",
    input: {
      place_id: placeId,
      list: list.describe("List to keep it on"),
      note: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe("What to remember about it")
        .meta({
          examples: [
            "good coffee",
            "ask for the back room",
            "closed at lunch",
            "book ahead",
            "parking behind the house",
            "bring cash",
            "for the team lunch",
            "recommended by a friend",
          ],
        }),
    },
    returns: {
      saved_id: id("saved_place"),
      name: label("saved_place"),
      list: z.string(),
      on_list: z.int().describe("How many places the list holds now"),
    },
    run(atlas, { place_id, list: wanted, note }, { now, newId }) {
      const map = getOriginal(atlas);
      const place = placeOf(map, place_id);
      if (place.gone)
        refuse(
          "precondition_failed",
          `${place.name} has closed for good`,
          "maps_nearby_places finds something like it",
        );
      const on = Object.values(map.saved).filter(it => it.list === wanted);
      if (on.some(it => it.place_id === place_id))
        refuse("conflict", `${place.name} is on the list ${wanted} already`);
      if (on.length >= map.limits.per_list)
        refuse(
          "limit_exceeded",
          `the list ${wanted} is full: it holds ${map.limits.per_list} places`,
          `keep it on another list (${lists.filter(it => it !== wanted).join(", ")}), or make room with maps_remove_saved_place`,
        );
      const saved_id = newId("sav");
      atlas.saved[saved_id] = {
        place_id,
        list: wanted,
        ...(note === undefined ? {} : { note }),
        at: now,
      };
      return { saved_id, name: place.name, list: wanted, on_list: on.length + 1 };
    },
  }),
  remove_saved_place: tool({
    effect: "write",
    summary: "Take a place off the list on which the user has saved it, which makes room there.",
    destructive: true,
    input: {
      saved_id: id("saved_place").describe(
        "Id of the saved place, as maps_list_saved_places gives it; not that of the place itself",
      ),
    },
    returns: {
      removed: z.string().describe("Name of the place"),
      list: z.string(),
      on_list: z.int().describe("How many places the list holds now"),
    },
    run(atlas, { saved_id }) {
      const map = getOriginal(atlas);
      const { place_id, list: from } = findEntity(
        map.saved,
        saved_id,
        "saved place",
        "maps_list_saved_places gives the ids",
      );
      delete atlas.saved[saved_id];
      return {
        removed: map.places[place_id]!.name,
        list: from,
        on_list: Object.values(map.saved).filter(it => it.list === from).length - 1,
      };
    },
  }),
  list_saved_places: tool({
    effect: "read",
    summary:
      "List the places that the user has saved, newest first, all of them or one list's; without a filter the routes shared with others at this time as well.",
    input: {
      list: list.optional().describe("Only places of this list"),
      name: label("saved_place").optional().describe("Only places whose name contains this"),
      limit: z
        .int()
        .min(1)
        .max(50)
        .optional()
        .describe("At most this many places, 10 if not given")
        .meta({ examples: [3, 4, 5, 6] }),
    },
    returns: {
      places: z.array(
        z.object({
          name: label("saved_place"),
          saved_id: id("saved_place"),
          place_id: id("place"),
          list: z.string(),
          note: z.string().optional(),
        }),
      ),
      shared: z
        .array(
          z.object({
            to: z.string(),
            shared_id: id("shared_route"),
            contact: label("contact"),
            mode: z.string(),
            until: minute(),
          }),
        )
        .optional(),
    },
    run(atlas, { list: wanted, name, limit: most }, { now }) {
      const found = Object.entries(atlas.saved).filter(
        ([, it]) =>
          (!wanted || it.list === wanted) &&
          (!name || containsWords(atlas.places[it.place_id]!.name, name)),
      );
      const newest = found.sort(([a, x], [b, y]) =>
        x.at === y.at ? (a < b ? -1 : 1) : x.at < y.at ? 1 : -1,
      );
      const shared = Object.entries(atlas.shared)
        .filter(([, it]) => it.until > now)
        .map(([shared_id, it]) => ({
          to: atlas.places[it.to_place]!.name,
          shared_id,
          contact: atlas.contacts[it.contact_id]!.name,
          mode: it.mode,
          until: it.until,
        }));
      return {
        places: newest.slice(0, most ?? 10).map(([saved_id, it]) => ({
          name: atlas.places[it.place_id]!.name,
          saved_id,
          place_id: it.place_id,
          list: it.list,
          ...(it.note === undefined ? {} : { note: it.note }),
        })),
        ...(wanted === undefined && name === undefined && most === undefined ? { shared } : {}),
      };
    },
  }),
};
