/** What the test files of one worker use, one after the other. */
import { inject } from "vitest";

export interface Desk {
  /** The URL of the workbench. */
  readonly server: string;
  /** The address of the browser's DevTools protocol. */
  readonly browser: string;
  /** The file that the meter in the extension host writes its measurements to. */
  readonly meter: string;
  /** The program that the setting prove.python names: python3, until a test replaces it. */
  readonly python: string;
}

declare module "vitest" {
  interface ProvidedContext {
    /** By the number of the worker, less one. */
    desks: readonly Desk[];
  }
}

/** The desk of this worker. */
export const getDesk = (): Desk => inject("desks")[Number(process.env["VITEST_POOL_ID"]) - 1]!;
