/** Times of day, rush hours and time zones. Times are texts in the home city's own time. */
import { addMinutes, getWeekdayName } from "../../environment/time.ts";

export const getTimeOfDay = (at: string): string => at.slice(11);

/** The amount of traffic at a time, from 0 to 1 in the rush hour. */
export function getTrafficFactor(at: string): number {
  const time = getTimeOfDay(at);
  if (["Saturday", "Sunday"].includes(getWeekdayName(at)))
    return time >= "10:00" && time < "20:00" ? 0.4 : 0.1;
  if ((time >= "07:30" && time < "09:30") || (time >= "16:30" && time < "19:00")) return 1;
  return time >= "06:30" && time < "21:00" ? 0.5 : 0.1;
}

/** Whether a time of day lies within hours, which may go past midnight. */
export const isWithin = (time: string, from: string, to: string): boolean =>
  from <= to ? time >= from && time < to : time >= from || time < to;

/** Time zones at UTC+0 in winter; all others on the map are an hour ahead. */
const westernTimezones = ["Europe/Lisbon", "Europe/London", "Europe/Dublin"];

/**
 * Minutes ahead of UTC at a time in UTC. Summer time is from the last Sunday of March to the last
 * Sunday of October, 01:00 UTC.
 */
function getUtcOffset(timezone: string, utc: string): number {
  const year = utc.slice(0, 4);
  const isSummer = utc >= getLastSunday(year, "03") && utc < getLastSunday(year, "10");
  return (westernTimezones.includes(timezone) ? 0 : 60) + (isSummer ? 60 : 0);
}

function getLastSunday(year: string, month: "03" | "10"): string {
  const last = new Date(`${year}-${month}-31T00:00Z`);
  return `${year}-${month}-${31 - last.getUTCDay()}T01:00`;
}

/** Converts the time `at` in the time zone `from` to the time zone `to`. */
export function convertTime(
  at: string,
  from: string,
  to: string,
): { readonly local: string; readonly offset: string } {
  const standardTime = addMinutes(at, -getUtcOffset(from, at));
  const utc = addMinutes(at, -getUtcOffset(from, standardTime));
  const offset = getUtcOffset(to, utc);
  return { local: addMinutes(utc, offset), offset: `UTC+${offset / 60}` };
}
