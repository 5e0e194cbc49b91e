/** Distances on the globe and points on lines, in metres. */

export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

const radius = 6_371_000;
const radians = (degrees: number) => (degrees * Math.PI) / 180;

/** Metres between two points as the crow flies. */
export function metersBetween(a: Point, b: Point): number {
  const [north, east] = [radians(b.latitude - a.latitude), radians(b.longitude - a.longitude)];
  const chord =
    Math.sin(north / 2) ** 2 +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(east / 2) ** 2;
  return 2 * radius * Math.asin(Math.min(1, Math.sqrt(chord)));
}

export interface Foot {
  /** The segment runs from point number `at` of the line to the next. */
  readonly at: number;
  readonly point: Point;
  readonly meters: number;
}

/**
 * Where a line of points comes nearest to a point. Lines are short: a plane is good enough between
 * two of their points.
 */
export function footOn(line: readonly (readonly [number, number])[], point: Point): Foot {
  const feet = line.slice(1).map((end, at): Foot => {
    const start = line[at]!;
    const narrow = Math.cos(radians(point.latitude));
    const [along, across] = [end[0] - start[0], (end[1] - start[1]) * narrow];
    const [toPoint, aside] = [point.latitude - start[0], (point.longitude - start[1]) * narrow];
    const length = along ** 2 + across ** 2;
    const share =
      length === 0 ? 0 : Math.min(1, Math.max(0, (toPoint * along + aside * across) / length));
    const foot = {
      latitude: start[0] + share * (end[0] - start[0]),
      longitude: start[1] + share * (end[1] - start[1]),
    };
    return { at, point: foot, meters: metersBetween(point, foot) };
  });
  return feet.reduce((best, it) => (it.meters < best.meters ? it : best));
}

/** The point that lies a share of the whole length along a line. */
export function pointAlong(line: readonly (readonly [number, number])[], share: number): Point {
  const points = line.map(([latitude, longitude]) => ({ latitude, longitude }));
  const lengths = points.slice(1).map((it, i) => metersBetween(points[i]!, it));
  let left = share * lengths.reduce((sum, it) => sum + it, 0);
  const at = Math.max(
    0,
    lengths.findIndex(it => (left -= it) <= 0),
  );
  const part = Math.min(1, 1 + left / Math.max(1, lengths[at]!));
  const [start, end] = [points[at]!, points[at + 1]!];
  return {
    latitude: fine(start.latitude + part * (end.latitude - start.latitude)),
    longitude: fine(start.longitude + part * (end.longitude - start.longitude)),
  };
}

/** Five decimals are a metre. */
const fine = (degrees: number) => Math.round(degrees * 1e5) / 1e5;
