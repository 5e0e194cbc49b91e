/**
 * Trams and buses of the home city: the quickest ride with at most one change, and the walks at its
 * ends. Walks are planned by the caller.
 */
import { refuse } from "../../environment/server.ts";
import { isWithin, getTimeOfDay } from "./localTime.ts";
import { metersBetween } from "./geometry.ts";
import type { Journey, Step, Trip } from "./trip.ts";
import { places, type MapsState, type Line, type Place } from "./state.ts";

type Walk = (walk: { readonly from: Place; readonly to: Place }) => Journey | undefined;

/** In metres per minute. */
const speeds = { tram: 400, bus: 480 } as const;
const stopMinutes = 0.5;

interface Ride {
  readonly step: Step;
  readonly minutes: number;
}

/**
 * The quickest journey by line; short distances are walked. Refuses the call if no line runs, or
 * none leads there.
 */
export function findTransitJourney(
  state: MapsState,
  { from, to, departs }: Trip,
  walk: Walk,
): Journey {
  const time = getTimeOfDay(departs);
  const runningLines = Object.values(state.lines).filter(it => isWithin(time, it.first, it.last));
  const directWalk = walk({ from, to });
  if (directWalk && directWalk.minutes <= 8)
    return { ...directWalk, steps: [{ along: "on foot", meters: directWalk.meters }] };
  if (runningLines.length === 0) {
    const first = Object.values(state.lines)
      .map(it => it.first)
      .sort()[0]!;
    refuse(
      "precondition_failed",
      `no line runs at ${time}: the first one leaves at ${first}`,
      "choose a later departure, or another mode",
    );
  }
  const [starts, ends] = [
    findNearestStops(state, runningLines, from, walk, false),
    findNearestStops(state, runningLines, to, walk, true),
  ];
  const journeys = starts.flatMap(on =>
    ends.flatMap((off): Journey[] => {
      const rides = findRides(state, on.line, off.line, on.stop, off.stop);
      if (!rides) return [];
      const steps = [
        ...createWalkSteps(on.walk, `on foot to ${places.find(state, on.stop).name}`),
        ...rides.map(it => it.step),
        ...createWalkSteps(off.walk, `on foot from ${places.find(state, off.stop).name}`),
      ];
      const minutes =
        on.walk.minutes + off.walk.minutes + rides.reduce((sum, it) => sum + it.minutes, 0);
      return [
        {
          meters: steps.reduce((sum, it) => sum + it.meters, 0),
          minutes: Math.round(minutes),
          steps,
        },
      ];
    }),
  );
  if (journeys.length === 0)
    return refuse(
      "precondition_failed",
      `no line that runs at ${time} leads from ${from.name} to ${to.name}`,
      "choose driving or cycling",
    );
  return journeys.reduce((best, it) => (it.minutes < best.minutes ? it : best));
}

const createWalkSteps = (walk: Journey, along: string): Step[] =>
  walk.meters > 0 ? [{ along, meters: walk.meters }] : [];

/** The longest walk to a stop. */
const maxWalkMeters = 2500;

/** The nearest stop of each line, with the walk there. */
function findNearestStops(
  state: MapsState,
  lines: readonly Line[],
  place: Place,
  walk: Walk,
  isArrival: boolean,
): { line: Line; stop: string; walk: Journey }[] {
  const getDistance = (stop: string) => metersBetween(place, places.find(state, stop));
  return lines.flatMap(line => {
    const stop = line.stops.reduce((best, it) => (getDistance(it) < getDistance(best) ? it : best));
    if (getDistance(stop) > maxWalkMeters) return [];
    const stopWalk = isArrival
      ? walk({ from: places.find(state, stop), to: place })
      : walk({ from: place, to: places.find(state, stop) });
    return stopWalk ? [{ line, stop, walk: stopWalk }] : [];
  });
}

/** One ride, or two with a change where the lines meet. */
function findRides(
  state: MapsState,
  first: Line,
  second: Line,
  on: string,
  off: string,
): Ride[] | undefined {
  if (first === second) return on === off ? undefined : [createRide(state, first, on, off)];
  const changeStop = first.stops.find(it => it !== on && it !== off && second.stops.includes(it));
  return changeStop === undefined
    ? undefined
    : [createRide(state, first, on, changeStop), createRide(state, second, changeStop, off)];
}

function createRide(
  state: MapsState,
  { name, kind, stops, every }: Line,
  on: string,
  off: string,
): Ride {
  const ends = [stops.indexOf(on), stops.indexOf(off)].sort((a, b) => a - b) as [number, number];
  const stopPlaces = stops.slice(ends[0], ends[1] + 1).map(it => places.find(state, it));
  const meters = Math.round(
    stopPlaces.slice(1).reduce((sum, it, i) => sum + metersBetween(stopPlaces[i]!, it) * 1.2, 0),
  );
  return {
    step: { along: `${name} to ${places.find(state, off).name}`, meters },
    minutes: every / 2 + meters / speeds[kind] + stopMinutes * (stopPlaces.length - 1),
  };
}
