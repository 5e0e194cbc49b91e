/** Calls tools from the Debug Console, on a copy of the session at the current position. */
import type { CursorPosition } from "../../../trajectory/cursor.ts";
import { createCallEvent } from "../../../trajectory/trajectory.ts";
import type { CallExpression } from "./callExpression.ts";
import { createStepRows } from "./debugRows.ts";
import type { DebugTarget } from "./debugTarget.ts";
import { listFullNames } from "./toolNames.ts";
import { formatInline, type ValueRow } from "./valueRow.ts";

/** Makes a call and describes its outcome and its changes. The attempt stays as it is. */
export function callTool(
  { cursor }: DebugTarget,
  { name, arguments: args }: CallExpression,
): ValueRow {
  const session = cursor.openSession();
  const names = listFullNames(name, cursor.trajectory.header.servers);
  const tool = names.find(it => session.tools.has(it)) ?? name;
  const before = session.state;
  const result = session.call(tool, args);
  const event = createCallEvent(0, tool, args, result);
  const position: CursorPosition = {
    position: cursor.current.position,
    event,
    before,
    state: session.state,
    patches: result.patches,
    atEnd: false,
  };
  const { outcome, patches } = result;
  const changes = patches.length === 1 ? "1 change" : `${patches.length} changes`;
  return {
    name: tool,
    text:
      outcome.kind === "ok"
        ? `ok, ${changes}: ${formatInline(outcome.value)}`
        : `${outcome.kind}: ${outcome.message}`,
    rows: () => createStepRows(position),
  };
}
