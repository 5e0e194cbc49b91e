/**
 * The layout of the state machine picture: positions of the states, in the paper's five groups, and
 * the routes of the edges. Laid out by hand, so that every synthesis has the same picture.
 */

export const size = { width: 1104, height: 566 };

export interface Group {
  readonly name: string;
  readonly x: number;
  readonly width: number;
}

export const groups: readonly Group[] = [
  { name: "Query", x: 8, width: 184 },
  { name: "Turn", x: 204, width: 126 },
  { name: "Tool execution", x: 342, width: 460 },
  { name: "Response", x: 814, width: 124 },
  { name: "Continuation", x: 950, width: 146 },
];

export interface StatePosition {
  /** Of the center. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export const stateHeight = 42;

export const states: Readonly<Record<string, StatePosition>> = {
  query: { x: 108, y: 160, width: 108 },
  "check-query": { x: 108, y: 290, width: 108 },
  turn: { x: 267, y: 290, width: 96 },
  ask: { x: 410, y: 290, width: 104 },
  "check-calls": { x: 568, y: 290, width: 108 },
  execute: { x: 728, y: 290, width: 104 },
  success: { x: 568, y: 170, width: 104 },
  regenerate: { x: 488, y: 396, width: 104 },
  partial: { x: 642, y: 396, width: 84 },
  failure: { x: 744, y: 396, width: 84 },
  recover: { x: 568, y: 484, width: 104 },
  respond: { x: 876, y: 290, width: 100 },
  continue: { x: 1018, y: 160, width: 108 },
  finish: { x: 1018, y: 266, width: 108 },
  accept: { x: 1018, y: 370, width: 108 },
  reject: { x: 1018, y: 484, width: 108 },
};

export interface Route {
  /** Absolute lines and cubic curves; the last two points give the direction of the arrow. */
  readonly path: string;
  /** Position of the count. */
  readonly label: readonly [x: number, y: number];
}

const routes: Readonly<Record<string, Route>> = {
  "query>check-query": { path: "M108 181 L108 269", label: [126, 229] },
  "check-query>query": { path: "M70 269 C44 245 44 205 70 181", label: [34, 229] },
  "check-query>turn": { path: "M162 290 L219 290", label: [190, 278] },
  "turn>ask": { path: "M315 290 L358 290", label: [336, 278] },
  "ask>check-calls": { path: "M462 290 L514 290", label: [488, 278] },
  "check-calls>execute": { path: "M622 290 L676 290", label: [649, 278] },
  "execute>success": { path: "M728 269 C728 205 690 170 620 170", label: [716, 206] },
  "success>ask": { path: "M516 170 C455 170 426 205 424 269", label: [452, 206] },
  "ask>respond": {
    path: "M394 269 C394 118 440 106 560 106 L720 106 C830 106 876 150 876 269",
    label: [740, 98],
  },
  "ask>regenerate": { path: "M426 311 C432 345 446 362 466 375", label: [456, 342] },
  "regenerate>ask": { path: "M436 396 C398 392 392 350 400 311", label: [384, 356] },
  "check-calls>regenerate": { path: "M560 311 C556 345 538 360 516 375", label: [560, 346] },
  "execute>partial": { path: "M708 311 C696 345 664 345 652 375", label: [662, 346] },
  "execute>failure": { path: "M738 311 C744 335 744 350 744 375", label: [764, 346] },
  "partial>recover": { path: "M642 417 C642 444 612 446 590 463", label: [650, 442] },
  "failure>recover": { path: "M744 417 C744 462 690 474 620 476", label: [740, 450] },
  "recover>ask": { path: "M516 484 C400 480 350 410 378 311", label: [388, 440] },
  "recover>respond": { path: "M620 492 C780 494 866 450 872 311", label: [800, 478] },
  "respond>continue": { path: "M926 284 C962 278 926 166 964 162", label: [944, 222] },
  "respond>regenerate": { path: "M848 311 C790 452 600 440 524 417", label: [806, 402] },
  "continue>query": {
    path: "M1018 139 C1018 44 990 28 900 28 L226 28 C136 28 108 44 108 139",
    label: [560, 20],
  },
  "continue>finish": { path: "M1018 181 L1018 245", label: [1040, 216] },
  "query>finish": {
    path: "M150 139 C156 62 180 50 260 50 L860 50 C930 50 938 90 938 170 C938 240 942 262 964 264",
    label: [640, 44],
  },
  "finish>accept": { path: "M1018 287 L1018 349", label: [1040, 322] },
  "finish>reject": { path: "M1062 287 C1092 330 1092 420 1062 463", label: [1080, 376] },
  "check-query>reject": {
    path: "M96 311 C92 500 110 528 220 528 L890 528 C940 528 970 522 990 505",
    label: [240, 520],
  },
  "query>reject": {
    path: "M54 166 C14 190 16 430 18 480 C20 538 60 546 160 546 L900 546 C960 546 996 530 1006 505",
    label: [240, 558],
  },
  "regenerate>reject": {
    path: "M478 417 C474 500 500 512 560 512 L880 512 C926 512 944 500 964 492",
    label: [700, 506],
  },
  "execute>reject": { path: "M776 311 C806 350 786 470 964 478", label: [812, 440] },
  "success>reject": {
    path: "M620 160 C806 156 796 250 802 330 C808 430 850 466 964 472",
    label: [796, 190],
  },
};

/**
 * The route from one state to another; a straight line if the layout has none. Undefined if a state
 * has no position.
 */
export function findRoute(from: string, to: string): Route | undefined {
  const [a, b] = [states[from], states[to]];
  if (!a || !b) return undefined;
  return (
    routes[`${from}>${to}`] ?? {
      path: `M${a.x} ${a.y} L${b.x} ${b.y}`,
      label: [(a.x + b.x) / 2, (a.y + b.y) / 2],
    }
  );
}

/** The edges of the layout; those that were not taken are shown faintly. */
export const knownEdges: readonly (readonly [from: string, to: string])[] = Object.keys(routes).map(
  it => it.split(">") as [string, string],
);

export interface Arrow {
  readonly line: string;
  readonly head: string;
}

/** Splits an edge into a line and the arrow head at its end. */
export function createArrow(path: string, width: number): Arrow {
  const numbers = path.match(/-?\d+(?:\.\d+)?/g)!.map(Number);
  const [bx, by, x, y] = numbers.slice(-4) as [number, number, number, number];
  const length = Math.hypot(x - bx, y - by) || 1;
  const [dx, dy] = [(x - bx) / length, (y - by) / length];
  const long = 6 + width * 1.1;
  const wide = 3 + width * 0.75;
  const [ex, ey] = [x - dx * long, y - dy * long];
  const end = path.replace(/-?\d+(?:\.\d+)? -?\d+(?:\.\d+)?$/, `${ex.toFixed(1)} ${ey.toFixed(1)}`);
  const corner = (side: number) =>
    `${(ex - dy * wide * side).toFixed(1)} ${(ey + dx * wide * side).toFixed(1)}`;
  return { line: end, head: `M${x} ${y}L${corner(1)}L${corner(-1)}Z` };
}
