/** Creates the rows of a call's checks: what a session looks at before it executes a call. */
import type { CallEvent } from "../../../trajectory/trajectory.ts";
import type { ValueRow } from "./valueRow.ts";

/** The check that an outcome fails, in the order in which they are made. */
const failedChecks = {
  "unknown-tool": 0,
  "bad-arguments": 1,
  refused: 2,
  broken: 3,
  ok: 4,
} as const;

/** The checks of a call; those after the one that failed were not reached. */
export function createCheckRow({ name, outcome, patches = [] }: CallEvent): ValueRow {
  const failed = name === "" ? 0 : failedChecks[outcome.kind];
  const changes = patches.length === 1 ? "1 change" : `${patches.length} changes`;
  const checks = [
    { name: "name", passed: "the tool is offered" },
    { name: "arguments", passed: "they have the types and the required keys of the schema" },
    { name: "rules", passed: "the schema's limits and the server's rules allow it" },
    { name: "execution", passed: patches.length === 0 ? "done, no changes" : `done, ${changes}` },
  ];
  const message = outcome.kind === "ok" ? undefined : outcome.message;
  return {
    name: "checks",
    text: failed === checks.length ? "all passed" : `failed: ${checks[failed]!.name}`,
    rows: () =>
      checks.map((it, i) => {
        if (i > failed) return { name: it.name, text: "not reached" };
        return { name: it.name, text: i < failed ? `✓ ${it.passed}` : `✗ ${message ?? "failed"}` };
      }),
  };
}
