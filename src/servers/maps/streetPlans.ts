/**
 * The streets of the home city, as points in metres north and east of its centre. A street of the
 * shared cast is identified by the role of a place on it, because each fixture set names it anew.
 */
import type { categories } from "./state.ts";

export type Metres = readonly [north: number, east: number];

export type Category = (typeof categories)[number];

type Kind = "main" | "street" | "lane" | "country" | "path" | "ferry";

interface StreetPlan {
  readonly kind: Kind;
  readonly busy: 0 | 1 | 2 | 3;
  readonly numbers: number;
  readonly line: readonly Metres[];
}

const square: Metres = [80, 30];

const squareFoot: Metres = [-60, -90];

const quayHead: Metres = [-150, 200];

const quayEnd: Metres = [-70, 520];

const harborHead: Metres = [-230, 330];

const ferryPier: Metres = [-840, 1180];

const millHead: Metres = [250, 100];

const millTop: Metres = [600, -50];

const chapelBend: Metres = [300, -230];

const avenueFoot: Metres = [420, -420];

const avenueBend: Metres = [560, -700];

const avenueTop: Metres = [780, -1150];

const gardenBend: Metres = [130, 520];

const gardenEnd: Metres = [200, 800];

const stationBend: Metres = [-720, -400];

const stationEnd: Metres = [-1000, -640];

const bridgeBend: Metres = [480, 400];

const coastFork: Metres = [1100, 300];

const parkGate: Metres = [900, 1300];

const beachGate: Metres = [1400, 1900];

const ringFork: Metres = [1900, -900];

const wallFork: Metres = [3400, -3200];

const island: Metres = [-2200, 2600];

/** The streets of the shared cast by a key of this file, with the role of a place on each. */
export const streetsByRole: ReadonlyMap<string, StreetPlan & { readonly role: string }> = new Map([
  [
    "quay",
    {
      role: "cafe",
      kind: "street",
      busy: 2,
      numbers: 60,
      line: [quayHead, [-95, 330], quayEnd, [-60, 700]],
    },
  ],
  [
    "mill",
    {
      role: "velo",
      kind: "lane",
      busy: 0,
      numbers: 40,
      line: [millHead, [350, 120], [450, 60], millTop],
    },
  ],
  [
    "harbor",
    {
      role: "studio",
      kind: "main",
      busy: 3,
      numbers: 140,
      line: [harborHead, [-330, 480], [-420, 610], [-700, 980], ferryPier],
    },
  ],
  [
    "chapel",
    {
      role: "pasta",
      kind: "street",
      busy: 1,
      numbers: 70,
      line: [square, [210, -70], chapelBend, avenueFoot],
    },
  ],
  [
    "alder",
    {
      role: "home",
      kind: "main",
      busy: 2,
      numbers: 60,
      line: [avenueFoot, avenueBend, [620, -850], avenueTop],
    },
  ],
  [
    "market",
    { role: "bank", kind: "lane", busy: 2, numbers: 70, line: [square, [0, -20], squareFoot] },
  ],
  [
    "bridge",
    {
      role: "sushi",
      kind: "street",
      busy: 3,
      numbers: 60,
      line: [square, millHead, [340, 270], bridgeBend, coastFork],
    },
  ],
  [
    "customs",
    {
      role: "museum",
      kind: "lane",
      busy: 1,
      numbers: 20,
      line: [squareFoot, [-140, 90], quayHead, [-240, 270], harborHead],
    },
  ],
  [
    "garden",
    {
      role: "florist",
      kind: "street",
      busy: 1,
      numbers: 40,
      line: [square, [90, 300], gardenBend, [180, 660], gardenEnd],
    },
  ],
  [
    "station",
    {
      role: "station",
      kind: "main",
      busy: 3,
      numbers: 120,
      line: [squareFoot, [-300, -90], [-450, -120], [-560, -300], stationBend, stationEnd],
    },
  ],
  [
    "lighthouse",
    {
      role: "airport",
      kind: "country",
      busy: 1,
      numbers: 60,
      line: [[5200, -6100], wallFork, ringFork, coastFork, parkGate, beachGate],
    },
  ],
  [
    "wall",
    {
      role: "aunt",
      kind: "country",
      busy: 0,
      numbers: 20,
      line: [avenueTop, [2100, -2600], wallFork, [8000, -3400], [14_200, -3300]],
    },
  ],
] as const);

export const morePaths: readonly (StreetPlan & {
  readonly name: string;
  readonly hours?: { readonly from: string; readonly to: string };
  readonly inSmall?: true;
})[] = [
  {
    name: "Coast Road",
    kind: "main",
    busy: 1,
    numbers: 90,
    line: [ferryPier, [-200, 1000], gardenEnd, parkGate],
  },
  { name: "Sailors' Steps", kind: "path", busy: 0, numbers: 30, line: [quayHead, [0, -20]] },
  {
    name: "Gull Island Ferry",
    kind: "ferry",
    busy: 0,
    numbers: 0,
    line: [ferryPier, island],
    hours: { from: "07:00", to: "20:30" },
    inSmall: true,
  },
  {
    name: "Gull Island Path",
    kind: "path",
    busy: 0,
    numbers: 24,
    line: [island, [-2400, 2800], [-2700, 2900]],
    inSmall: true,
  },
  {
    name: "Ring Road",
    kind: "main",
    busy: 3,
    numbers: 220,
    line: [stationEnd, [-500, -1300], avenueTop, ringFork],
  },
  { name: "Rope Walk", kind: "street", busy: 0, numbers: 36, line: [quayEnd, gardenBend] },
  { name: "Tannery Lane", kind: "lane", busy: 0, numbers: 44, line: [chapelBend, [450, 60]] },
  {
    name: "Weavers Street",
    kind: "street",
    busy: 2,
    numbers: 80,
    line: [avenueFoot, millTop, coastFork],
  },
  {
    name: "Gasworks Road",
    kind: "main",
    busy: 2,
    numbers: 100,
    line: [stationBend, [-600, 100], harborHead],
  },
  {
    name: "Linden Row",
    kind: "street",
    busy: 1,
    numbers: 64,
    line: [avenueBend, [-100, -800], stationBend],
  },
  { name: "Millrace Path", kind: "path", busy: 0, numbers: 20, line: [millTop, bridgeBend] },
  {
    name: "Dune Path",
    kind: "path",
    busy: 0,
    numbers: 10,
    line: [parkGate, [1100, 1800], beachGate],
  },
];
