/** Times of day, traffic hours and time zones, all from texts in the home city's own time. */
import { addMinutes, getWeekdayName } from "../../environment/time.ts";

export const timeOf = (at: string): string => at.slice(11);

/** How much of the worst traffic there is at that time, 0 to 1. */
export function rushAt(at: string): number {
  const time = timeOf(at);
  if (["Saturday", "Sunday"].includes(getWeekdayName(at)))
    return time >= "10:00" && time < "20:00" ? 0.4 : 0.1;
  if ((time >= "07:30" && time < "09:30") || (time >= "16:30" && time < "19:00")) return 1;
  return time >= "06:30" && time < "21:00" ? 0.5 : 0.1;
}

/** Whether a time of day lies within hours; those that end before they begin go over midnight. */
export const isWithin = (time: string, from: string, to: string): boolean =>
  from <= to ? time >= from && time < to : time >= from || time < to;

/** Western Europe's clocks; the others here are an hour ahead. */
const western = ["Europe/Lisbon", "Europe/London", "Europe/Dublin"];

/**
 * Minutes ahead of UTC at a moment in UTC; summer time is from the last Sunday of March to that of
 * October, 01:00 UTC.
 */
function aheadOf(timezone: string, utc: string): number {
  const year = utc.slice(0, 4);
  const isSummer = utc >= lastSunday(year, "03") && utc < lastSunday(year, "10");
  return (western.includes(timezone) ? 0 : 60) + (isSummer ? 60 : 0);
}

function lastSunday(year: string, month: "03" | "10"): string {
  const last = new Date(`${year}-${month}-31T00:00Z`);
  return `${year}-${month}-${31 - last.getUTCDay()}T01:00`;
}

/** What a clock in another time zone shows, when one in `from` shows `at`. */
export function elsewhere(
  at: string,
  from: string,
  to: string,
): { readonly local: string; readonly offset: string } {
  const winter = addMinutes(at, -aheadOf(from, at));
  const utc = addMinutes(at, -aheadOf(from, winter));
  const ahead = aheadOf(to, utc);
  return { local: addMinutes(utc, ahead), offset: `UTC+${ahead / 60}` };
}
