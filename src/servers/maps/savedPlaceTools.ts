/** Tools that save places and list saved places. */
import { z } from "zod";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsWords } from "../../environment/textSearch.ts";
import { lists, places, savedPlaces, MapsState } from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(MapsState);

const list = z.enum(lists);

export const savedPlaceTools = {
  save_place: tool({
    effect: "write",
    summary:
      "Keep a place on one of the user's lists, with a note if there is something to remember. A place stands on a list once.",
    input: {
      place_id: places.id,
      list: list.describe("List to keep it on"),
      note: z.string().min(1).max(200).optional().describe("What to remember about it").meta({
        examples: vocabulary.notes,
      }),
    },
    returns: {
      saved_id: id("saved_place"),
      name: label("saved_place"),
      list: z.string(),
      on_list: z.int().describe("How many places the list holds now"),
    },
    run(state, { place_id, list, note }, { now, newId }) {
      const original = getOriginal(state);
      const place = places.find(original, place_id);
      if (place.gone)
        refuse(
          "precondition_failed",
          `${place.name} has closed for good`,
          "maps_nearby_places finds something like it",
        );
      const placesOnList = Object.values(original.saved).filter(it => it.list === list);
      if (placesOnList.some(it => it.place_id === place_id))
        refuse("conflict", `${place.name} is on the list ${list} already`);
      if (placesOnList.length >= original.limits.per_list)
        refuse(
          "limit_exceeded",
          `the list ${list} is full: it holds ${original.limits.per_list} places`,
          `keep it on another list (${lists.filter(it => it !== list).join(", ")}), or make room with maps_remove_saved_place`,
        );
      const saved_id = newId("sav");
      state.saved[saved_id] = {
        place_id,
        list,
        ...(note === undefined ? {} : { note }),
        at: now,
      };
      return { saved_id, name: place.name, list, on_list: placesOnList.length + 1 };
    },
  }),
  remove_saved_place: tool({
    effect: "write",
    summary: "Take a place off the list on which the user has saved it, which makes room there.",
    destructive: true,
    input: { saved_id: savedPlaces.id },
    returns: {
      removed: z.string().describe("Name of the place"),
      list: z.string(),
      on_list: z.int().describe("How many places the list holds now"),
    },
    run(state, { saved_id }) {
      const original = getOriginal(state);
      const { place_id, list } = savedPlaces.find(original, saved_id);
      delete state.saved[saved_id];
      return {
        removed: original.places[place_id]!.name,
        list,
        on_list: Object.values(original.saved).filter(it => it.list === list).length - 1,
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
    run(state, { list, name, limit }, { now }) {
      const matches = Object.entries(state.saved).filter(
        ([, it]) =>
          (!list || it.list === list) &&
          (!name || containsWords(state.places[it.place_id]!.name, name)),
      );
      const sorted = matches.sort(([a, x], [b, y]) =>
        x.at === y.at ? (a < b ? -1 : 1) : x.at < y.at ? 1 : -1,
      );
      const shared = Object.entries(state.shared)
        .filter(([, it]) => it.until > now)
        .map(([shared_id, it]) => ({
          to: state.places[it.to_place]!.name,
          shared_id,
          contact: state.contacts[it.contact_id]!.name,
          mode: it.mode,
          until: it.until,
        }));
      return {
        places: sorted.slice(0, limit ?? 10).map(([saved_id, it]) => ({
          name: state.places[it.place_id]!.name,
          saved_id,
          place_id: it.place_id,
          list: it.list,
          ...(it.note === undefined ? {} : { note: it.note }),
        })),
        ...(list === undefined && name === undefined && limit === undefined ? { shared } : {}),
      };
    },
  }),
};
