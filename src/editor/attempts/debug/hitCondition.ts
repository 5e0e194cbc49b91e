/** Hit conditions of breakpoints: `3`, `>= 2`, `< 5` or `% 3`, as other debuggers have them. */
import { ExpressionError } from "./expression.ts";

/** Whether a breakpoint stops when it is hit for the nth time, counted from 1. */
export type HitCondition = (hits: number) => boolean;

const conditions = {
  "": (hits, n) => hits === n,
  "=": (hits, n) => hits === n,
  "==": (hits, n) => hits === n,
  ">": (hits, n) => hits > n,
  ">=": (hits, n) => hits >= n,
  "<": (hits, n) => hits < n,
  "<=": (hits, n) => hits <= n,
  "%": (hits, n) => hits % n === 0,
} as const satisfies Record<string, (hits: number, n: number) => boolean>;

/** Parses a hit condition. Throws an `ExpressionError` if the text is not one. */
export function parseHitCondition(text: string): HitCondition {
  const [, operator, digits] = /^\s*(|==?|[<>]=?|%)\s*(\d{1,9})\s*$/.exec(text) ?? [];
  if (operator === undefined || digits === undefined)
    throw new ExpressionError(`"${text}" is not a hit count: write 3, >= 2 or % 3`);
  return hits => conditions[operator as keyof typeof conditions](hits, Number(digits));
}
