/** Finds in what a schema says about a value the reason that helps most. */
import type { z } from "zod";

/** The reason why a value does not fit, of which the first one counts. */
export const findReason = ({ issues }: z.core.$ZodError): z.core.$ZodIssue =>
  explainIssue(issues[0]!);

/** The issue inside an issue that says why a key, or the branch of a union that was meant, failed. */
export function explainIssue(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code === "invalid_key") return { ...issue, message: issue.issues[0]!.message };
  if (issue.code !== "invalid_union") return issue;
  const branches = issue.errors.filter(it => it.length > 0).map(it => it.map(explainIssue));
  if (branches.length === 0) return issue;
  // a branch of another type, or with another value in a constant, was not meant
  const [best] = branches.map(rankBranch).toSorted(compareRanks);
  const meant = branches.filter(it => compareRanks(rankBranch(it), best!) === 0);
  const causes = meant.map(it => it[0]!);
  const [cause] = causes;
  const path = [...issue.path, ...cause!.path];
  if (causes.length === 1) return { ...cause!, path };
  const isAtOnePlace = causes.every(it => it.path.join("/") === cause!.path.join("/"));
  const expected = causes.flatMap(describeExpected);
  if (isAtOnePlace && expected.length >= causes.length) {
    const [received = ""] = /, received .*$/.exec(cause!.message) ?? [];
    const message = `Invalid input: expected ${[...new Set(expected)].join(" or ")}${received}`;
    return { ...issue, path, message };
  }
  const reasons = causes.map(it => [it.path.join("."), it.message].filter(Boolean).join(": "));
  return { ...issue, message: [...new Set(reasons)].slice(0, 3).join("; or ") };
}

/** How far a value is from a branch; the first number counts most. */
const rankBranch = (branch: readonly z.core.$ZodIssue[]): readonly number[] => [
  branch.some(it => it.code === "invalid_type" && it.path.length === 0) ? 1 : 0,
  branch.some(it => it.code === "invalid_value") ? 1 : 0,
  branch.length,
  -Math.max(...branch.map(it => it.path.length)),
];

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((it, i) => it !== b[i]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}

function describeExpected(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === "invalid_type") return [issue.expected];
  return issue.code === "invalid_value" ? issue.values.map(it => JSON.stringify(it)) : [];
}
