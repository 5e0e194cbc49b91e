/**
 * The maps server: a map of the home city and of other cities. Also its rules, which hold
 * whichever tools are used.
 */
import {
  defineStateRule,
  defineWriteRule,
  isSameJson,
  listAddedRows,
  listChangedRows,
  listRemovedRows,
} from "../../environment/invariants.ts";
import { addMinutes } from "../../environment/time.ts";
import { MapsState, references } from "./state.ts";
import { defineServer } from "../../environment/server.ts";
import { placeTools, areaTools, savedPlaceTools } from "./placeTools.ts";
import { routeTools } from "./routeTools.ts";

const invariants = [
  defineStateRule<MapsState>(
    "A list holds each place once, and at most as many as it may.",
    function* ({ saved, limits }) {
      const lists = new Map<string, string[]>();
      for (const { list, place_id } of Object.values(saved))
        lists.set(list, [...(lists.get(list) ?? []), place_id]);
      for (const [list, places] of lists) {
        if (places.length > limits.per_list) yield `${list} holds ${places.length} places`;
        if (new Set(places).size < places.length) yield `${list} holds a place twice`;
      }
    },
  ),
  defineWriteRule<MapsState>(
    "A saved place is not closed for good, and stays as it is until it is removed.",
    function* ({ saved, places }, before) {
      for (const [id, { place_id }] of listAddedRows(before.saved, saved))
        if (places[place_id]!.gone) yield `${id} is closed for good`;
      for (const [id] of listChangedRows(before.saved, saved)) yield `${id} has changed`;
    },
  ),
  defineWriteRule<MapsState>(
    "No more routes are shared at one time than allowed, and each with a person once.",
    function* ({ shared, limits }, before) {
      for (const [id, route] of listAddedRows(before.shared, shared)) {
        const active = Object.values(shared).filter(it => it.until > route.at);
        const same = active.filter(
          it =>
            it.contact_id === route.contact_id &&
            it.from_place === route.from_place &&
            it.to_place === route.to_place &&
            it.mode === route.mode,
        );
        if (active.length > limits.shares) yield `${active.length} routes are shared`;
        if (same.length > 1) yield `${id} is shared already`;
      }
    },
  ),
  defineWriteRule<MapsState>(
    "A route is shared for 1 to 72 hours with somebody who takes routes, and stays as it is.",
    function* ({ shared, contacts }, before) {
      for (const [id, { contact_id, at, until }] of listAddedRows(before.shared, shared)) {
        if (contacts[contact_id]!.muted) yield `${id} is shared with ${contact_id}`;
        if (until < addMinutes(at, 60) || until > addMinutes(at, 72 * 60))
          yield `${id} is shared from ${at} until ${until}`;
      }
      for (const [id] of listChangedRows(before.shared, shared)) yield `${id} has changed`;
      for (const [id] of listRemovedRows(before.shared, shared)) yield `${id} is gone`;
    },
  ),
  defineWriteRule<MapsState>(
    "Calls change nothing but the saved places and the shared routes.",
    function* (state, before) {
      for (const key of Object.keys(state) as (keyof MapsState)[])
        if (key !== "saved" && key !== "shared" && !isSameJson(state[key], before[key]))
          yield `${key} has changed`;
    },
  ),
];

const { share_route, ...routes } = routeTools;

export const server = defineServer({
  name: "maps",
  category: "Travel",
  summary:
    "places, streets and cities, routes by every mode, traffic and closures, saved places and shared routes",
  schema: MapsState,
  references,
  invariants,
  tools: { ...placeTools, ...routes, ...areaTools, ...savedPlaceTools, share_route },
});
