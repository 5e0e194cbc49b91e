/** Formats a number of things, such as "1 call" and "1,204 tasks". */
export const formatCount = (n: number, noun: string): string =>
  `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
