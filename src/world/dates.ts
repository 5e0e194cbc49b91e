/** Days counted from the first of the world. Knows no clock. */
import { now } from "./canon.ts";

/** A day so many days from the first of the world. */
export const dayFrom = (days: number): string => new Date(Date.parse(`${now.slice(0, 10)}T00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
