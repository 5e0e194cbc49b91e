/** A requested trip, and a journey that makes it. */
import type { Mode, Place } from "./state.ts";

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
