/**
 * The reward of a task without goals, which replaces the five parts: the right answer makes no
 * calls. The text of the answer is not scored.
 */

/** 1 for no call at all, else 0. */
export const scoreAbstention = (n: number): number => (n === 0 ? 1 : 0);
