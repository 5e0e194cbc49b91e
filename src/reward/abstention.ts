/**
 * The rule for tasks without goals, which replaces the five parts: what to do was not to call.
 * Nobody reads the words.
 */

/** 1 for no call at all, else 0. */
export const scoreAbstention = (n: number): number => (n === 0 ? 1 : 0);
