/** Formats a number of things, such as "1 call" and "1,204 tasks". */
export const formatCount = (n: number, noun: string): string =>
  `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

/** Joins names, such as "banking, calendar and filesystem". */
export const formatList = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
