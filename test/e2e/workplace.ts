/** The server and the browser that a test file uses, as the global setup has started them. */
import { inject } from "vitest";

/** What one test file after another uses. */
export interface Workplace {
  /** The URL of the workbench. */
  readonly server: string;
  /** The address of the browser's DevTools protocol. */
  readonly browser: string;
  /** The file that the meter in the extension host writes its measurements to. */
  readonly meter: string;
}

declare module "vitest" {
  interface ProvidedContext {
    workplaces: readonly Workplace[];
    /** The program that the setting prove.python names: python3, until a test replaces it. */
    python: string;
  }
}

/** The workplace of this test file. */
export const findWorkplace = (): Workplace =>
  inject("workplaces")[Number(process.env["VITEST_POOL_ID"]) - 1]!;
