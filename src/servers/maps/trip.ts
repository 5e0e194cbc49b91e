/** A trip that someone wants to make, and a journey that makes it. */
import type { Place } from "./state.ts";
import type { Mode } from "./state.ts";

export interface Step {
  readonly along: string;
  readonly meters: number;
}

export interface Journey {
  readonly meters: number;
  readonly minutes: number;
  readonly steps: readonly Step[];
}

export interface Trip {
  readonly from: Place;
  readonly to: Place;
  readonly mode: Mode;
  /** `YYYY-MM-DDTHH:MM` */
  readonly departs: string;
  readonly avoids: "ferries" | "busy streets" | undefined;
}
