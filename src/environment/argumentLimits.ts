/**
 * Limits on the arguments of every tool, whatever its schema says: total size, well-formed Unicode
 * in one spelling, and no negative zero. They are cheap to check, so that hostile arguments cannot
 * slow a session down.
 */
import type { ErrorType } from "./outcome.ts";

const maxValues = 10_000;
const maxTextLength = 100_000;
const maxKeyLength = 1000;

export interface LimitViolation {
  readonly type: Extract<ErrorType, "invalid_params" | "limit_exceeded">;
  readonly message: string;
}

/** The first violation in the arguments, with its place in the message, or undefined. */
export const findLimitViolation = (args: unknown): LimitViolation | undefined =>
  checkValue(args, "", { values: 0 });

function checkValue(
  value: unknown,
  path: string,
  seen: { values: number },
): LimitViolation | undefined {
  if (++seen.values > maxValues)
    return exceeded(`the arguments hold more than ${maxValues} values`);
  if (typeof value === "string") return checkText(value, path || "arguments");
  if (typeof value === "number")
    return Object.is(value, -0) ? invalid(`${path || "arguments"} is -0: write 0`) : undefined;
  if (value === null || typeof value !== "object") return undefined;
  for (const key of Object.keys(value)) {
    const violation =
      checkText(key, "a key", maxKeyLength) ??
      checkValue((value as Record<string, unknown>)[key], path ? `${path}.${key}` : key, seen);
    if (violation) return violation;
  }
  return undefined;
}

function checkText(
  text: string,
  path: string,
  maxLength = maxTextLength,
): LimitViolation | undefined {
  if (text.length > maxLength)
    return exceeded(`${path} has ${text.length} characters; ${maxLength} are the most`);
  // most text is ASCII, which has only one spelling
  if (isAscii(text)) return undefined;
  if (/\p{Surrogate}/u.test(text))
    return invalid(`${path} is not well-formed Unicode: it holds half a character`);
  if (text.normalize("NFC") !== text)
    return invalid(`${path} is not in Unicode's composed form (NFC)`);
  return undefined;
}

const exceeded = (message: string): LimitViolation => ({ type: "limit_exceeded", message });
const invalid = (message: string): LimitViolation => ({ type: "invalid_params", message });

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}
