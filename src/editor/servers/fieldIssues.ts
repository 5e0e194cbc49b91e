/** Formats the issues that zod finds in a value. */
import type { z } from "zod";

/**
 * Formats a validation issue as the predicate of a sentence, such as "must be at least 1".
 * `subpath` leads from the field to the part that is wrong.
 */
export function formatIssue(issue: z.core.$ZodIssue, subpath: readonly PropertyKey[]): string {
  const at = subpath.length ? `at ${subpath.join(".")} ` : "";
  return `${at}${formatRule(issue)}`;
}

function formatRule(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "too_small":
      return formatLimit(
        issue.origin,
        issue.inclusive === false ? "more than" : "at least",
        Number(issue.minimum),
      );
    case "too_big":
      return formatLimit(
        issue.origin,
        issue.inclusive === false ? "less than" : "at most",
        Number(issue.maximum),
      );
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "invalid_format":
      if (issue.format === "regex") return `must look like ${issue.pattern}`;
      return issue.message.startsWith("Invalid")
        ? `must be a valid ${issue.format}`
        : issue.message;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    default:
      return issue.message.startsWith("Invalid") ? "does not fit" : issue.message;
  }
}

function formatLimit(origin: string, bound: string, n: number): string {
  if (origin === "string")
    return bound === "at least" && n === 1
      ? "must not be empty"
      : `must have ${bound} ${n} ${n === 1 ? "character" : "characters"}`;
  if (origin === "array" || origin === "set")
    return `must have ${bound} ${n} ${n === 1 ? "item" : "items"}`;
  return `must be ${bound} ${n}`;
}
