/** Distances on the globe and points on lines, in metres. */

export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

const earthRadius = 6_371_000;
const toRadians = (degrees: number) => (degrees * Math.PI) / 180;

/** Metres between two points along the great circle (haversine formula). */
export function metersBetween(a: Point, b: Point): number {
  const [north, east] = [toRadians(b.latitude - a.latitude), toRadians(b.longitude - a.longitude)];
  const chord =
    Math.sin(north / 2) ** 2 +
    Math.cos(toRadians(a.latitude)) * Math.cos(toRadians(b.latitude)) * Math.sin(east / 2) ** 2;
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(chord)));
}

interface NearestPoint {
  /** The segment runs from point number `at` of the line to the next. */
  readonly at: number;
  readonly point: Point;
  readonly meters: number;
}

/**
 * The point of a line that is nearest to a point. Segments are short enough to be treated as flat.
 */
export function findNearestPoint(
  line: readonly (readonly [number, number])[],
  point: Point,
): NearestPoint {
  const candidates = line.slice(1).map((end, at): NearestPoint => {
    const start = line[at]!;
    const longitudeScale = Math.cos(toRadians(point.latitude));
    const [along, across] = [end[0] - start[0], (end[1] - start[1]) * longitudeScale];
    const [pointAlong, pointAcross] = [
      point.latitude - start[0],
      (point.longitude - start[1]) * longitudeScale,
    ];
    const length = along ** 2 + across ** 2;
    const share =
      length === 0
        ? 0
        : Math.min(1, Math.max(0, (pointAlong * along + pointAcross * across) / length));
    const nearest = {
      latitude: start[0] + share * (end[0] - start[0]),
      longitude: start[1] + share * (end[1] - start[1]),
    };
    return { at, point: nearest, meters: metersBetween(point, nearest) };
  });
  return candidates.reduce((best, it) => (it.meters < best.meters ? it : best));
}

/** The point at a share of the whole length of a line. */
export function interpolateLine(
  line: readonly (readonly [number, number])[],
  share: number,
): Point {
  const points = line.map(([latitude, longitude]) => ({ latitude, longitude }));
  const lengths = points.slice(1).map((it, i) => metersBetween(points[i]!, it));
  let remaining = share * lengths.reduce((sum, it) => sum + it, 0);
  const at = Math.max(
    0,
    lengths.findIndex(it => (remaining -= it) <= 0),
  );
  const fraction = Math.min(1, 1 + remaining / Math.max(1, lengths[at]!));
  const [start, end] = [points[at]!, points[at + 1]!];
  return {
    latitude: roundDegrees(start.latitude + fraction * (end.latitude - start.latitude)),
    longitude: roundDegrees(start.longitude + fraction * (end.longitude - start.longitude)),
  };
}

/** Rounds to five decimals, about a metre. */
const roundDegrees = (degrees: number) => Math.round(degrees * 1e5) / 1e5;
