/**
 * Trams and buses of the home city: the quickest ride with at most one change, and the walks at its
 * ends. Knows lines and hours, not streets.
 */
import { refuse } from "../../environment/server.ts";
import { isWithin, timeOf } from "./localTime.ts";
import { metersBetween } from "./geometry.ts";
import type { Journey, Step, Trip } from "./trip.ts";
import { placeOf, type Atlas, type Line, type Place } from "./state.ts";

export type Walk = (walk: { readonly from: Place; readonly to: Place }) => Journey | undefined;

/** Metres a minute, and minutes at each stop. */
const speeds = { tram: 400, bus: 480 } as const;
const atStop = 0.5;

interface Ride {
  readonly step: Step;
  readonly minutes: number;
}

/**
 * The quickest journey by line; a short way is walked. Refused when no line runs, or none comes
 * near.
 */
export function ridesBetween(atlas: Atlas, { from, to, departs }: Trip, walk: Walk): Journey {
  const time = timeOf(departs);
  const running = Object.values(atlas.lines).filter(it => isWithin(time, it.first, it.last));
  const afoot = walk({ from, to });
  if (afoot && afoot.minutes <= 8)
    return { ...afoot, steps: [{ along: "on foot", meters: afoot.meters }] };
  if (running.length === 0) {
    const first = Object.values(atlas.lines)
      .map(it => it.first)
      .sort()[0]!;
    refuse(
      "precondition_failed",
      `no line runs at ${time}: the first one leaves at ${first}`,
      "choose a later departure, or another mode",
    );
  }
  const [starts, ends] = [
    nearestStops(atlas, running, from, walk, false),
    nearestStops(atlas, running, to, walk, true),
  ];
  const journeys = starts.flatMap(on =>
    ends.flatMap((off): Journey[] => {
      const rides = rideOf(atlas, on.line, off.line, on.stop, off.stop);
      if (!rides) return [];
      const steps = [
        ...footStep(on.walk, `on foot to ${placeOf(atlas, on.stop).name}`),
        ...rides.map(it => it.step),
        ...footStep(off.walk, `on foot from ${placeOf(atlas, off.stop).name}`),
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

const footStep = (walk: Journey, along: string): Step[] =>
  walk.meters > 0 ? [{ along, meters: walk.meters }] : [];

/** Farther than this nobody walks to a stop. */
const longestWalk = 2500;

/** The stop of each line that is nearest, with the walk there. */
function nearestStops(
  atlas: Atlas,
  lines: readonly Line[],
  place: Place,
  walk: Walk,
  isArrival: boolean,
): { line: Line; stop: string; walk: Journey }[] {
  const far = (stop: string) => metersBetween(place, placeOf(atlas, stop));
  return lines.flatMap(line => {
    const stop = line.stops.reduce((best, it) => (far(it) < far(best) ? it : best));
    if (far(stop) > longestWalk) return [];
    const way = isArrival
      ? walk({ from: placeOf(atlas, stop), to: place })
      : walk({ from: place, to: placeOf(atlas, stop) });
    return way ? [{ line, stop, walk: way }] : [];
  });
}

/** One ride, or two with a change where the lines meet. */
function rideOf(
  atlas: Atlas,
  first: Line,
  second: Line,
  on: string,
  off: string,
): Ride[] | undefined {
  if (first === second) return on === off ? undefined : [rideAlong(atlas, first, on, off)];
  const change = first.stops.find(it => it !== on && it !== off && second.stops.includes(it));
  return change === undefined
    ? undefined
    : [rideAlong(atlas, first, on, change), rideAlong(atlas, second, change, off)];
}

function rideAlong(
  atlas: Atlas,
  { name, kind, stops, every }: Line,
  on: string,
  off: string,
): Ride {
  const ends = [stops.indexOf(on), stops.indexOf(off)].sort((a, b) => a - b) as [number, number];
  const passed = stops.slice(ends[0], ends[1] + 1).map(it => placeOf(atlas, it));
  const meters = Math.round(
    passed.slice(1).reduce((sum, it, i) => sum + metersBetween(passed[i]!, it) * 1.2, 0),
  );
  return {
    step: { along: `${name} to ${placeOf(atlas, off).name}`, meters },
    minutes: every / 2 + meters / speeds[kind] + atStop * (passed.length - 1),
  };
}
