/** Days counted from the first of the world. Knows no clock. */
import { dayAfter } from "../../environment/time.ts";
import { now } from "./cast.ts";

/** A day so many days from the first of the world. */
export const dayFrom = (days: number): string => dayAfter(now, days);
