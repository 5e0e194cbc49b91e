/** Numbers as people give them in options. */
import { UserError } from "../userError.ts";
import type { Values } from "./command.ts";

/**
 * A whole number from 1 on, undefined where the option is not given. Throws a `UserError` for
 * anything else, in these words.
 */
export function countIn(values: Values, option: string, what = "number"): number | undefined {
  const text = values[option] as string | undefined;
  if (text === undefined) return undefined;
  const n = Number(text);
  if (!/^\d+$/.test(text) || n < 1 || !Number.isSafeInteger(n))
    throw new UserError(`--${option} ${text} is not a ${what}`, "give a whole number from 1 on");
  return n;
}
