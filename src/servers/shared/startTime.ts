/** The time at which every session of the generated fixtures starts, and days counted from it. */
import { addDays } from "../../environment/time.ts";

/** `YYYY-MM-DDTHH:MM`, a Monday. */
export const startTime = "2026-03-09T09:00";

/** The day that is this many days after the first day; before it for a negative number. */
export const dayAfterStart = (days: number): string => addDays(startTime, days);
