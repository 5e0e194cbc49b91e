/**
 * Creates the stack frames, scopes and variables of the debugger at the current position, and
 * evaluates expressions and tool calls there.
 */
import type { DebugProtocol } from "@vscode/debugprotocol";
import type { CursorPosition } from "../../../trajectory/cursor.ts";
import { escapeInvisible, splitVisibleLines } from "../../../trajectory/invisibleText.ts";
import { createCallEvent, type Event, startsTurn } from "../../../trajectory/trajectory.ts";
import {
  createStepRows,
  createValueRow,
  formatInline,
  listHeadings,
  truncate,
  type ValueRow,
} from "./debugRows.ts";
import { createVariables, type DebugTarget, findEntity, listFullNames } from "./debugTarget.ts";
import { type CallExpression, evaluateExpression, parseCallExpression } from "./expression.ts";

export class DebugInspector {
  readonly #target: DebugTarget;
  readonly #handles = new RowHandles();

  constructor(target: DebugTarget) {
    this.#target = target;
  }

  /** Releases the variables of the previous position. */
  reset(): void {
    this.#handles.reset();
  }

  listStackFrames(): DebugProtocol.StackFrame[] {
    const { source, title, cursor } = this.#target;
    return listFrames(this.#target, cursor.current).map(({ name, line }, id) => ({
      id,
      name: escapeInvisible(name),
      line: line + 1,
      column: 1,
      canRestart: true,
      source: { name: escapeInvisible(title), path: source },
    }));
  }

  listScopes(): DebugProtocol.Scope[] {
    return listHeadings(this.#target, this.#target.cursor.current).map(([name, rows]) => ({
      name,
      variablesReference: this.#handles.add(() => rows),
      expensive: false,
    }));
  }

  listVariables(reference: number): DebugProtocol.Variable[] {
    const isKept = this.#handles.isKept(reference);
    return this.#handles.list(reference).map(it => this.#createVariable(it, isKept));
  }

  /**
   * The path of a variable that a data breakpoint can watch: a value of the state or of the reward.
   * Other variables are those of one event.
   */
  findDataPath(name: string, reference: number | undefined): string | undefined {
    const rows = reference === undefined ? [] : this.#handles.list(reference);
    const path =
      reference === undefined ? name : rows.find(it => escapeInvisible(it.name) === name)?.path;
    const root = /^[\w-]+/.exec(path ?? "")?.[0] ?? "";
    const { state } = this.#target.cursor.current;
    return root === "reward" || Object.hasOwn(state, root) ? path : undefined;
  }

  /**
   * Evaluates an expression, finds the entity of an id, or calls a tool on a copy of the session.
   * Throws an `ExpressionError`. A result for the Debug Console outlives the position.
   */
  async evaluate(
    expression: string,
    isForConsole: boolean,
  ): Promise<DebugProtocol.EvaluateResponse["body"]> {
    const row = await this.#evaluateRow(expression);
    const { value, variablesReference } = this.#createVariable(row, isForConsole);
    return { result: value, variablesReference };
  }

  async #evaluateRow(expression: string): Promise<ValueRow> {
    const position = this.#target.cursor.current;
    const entity = findEntity(position.state, expression.trim());
    if (entity) return createValueRow(expression, entity.value, entity.path);
    const call = parseCallExpression(expression);
    if (call) return callTool(this.#target, call);
    const variables = createVariables(this.#target, position);
    return createValueRow(expression, evaluateExpression(expression, variables));
  }

  #createVariable({ name, text, rows, path }: ValueRow, isKept: boolean): DebugProtocol.Variable {
    return {
      name: escapeInvisible(name),
      value: splitVisibleLines(text).join("\n"),
      variablesReference: this.#handles.add(rows, isKept),
      // a result in the Debug Console has no expression of its own
      ...(path === undefined || isKept ? {} : { evaluateName: path }),
    };
  }
}

/** Makes a call and describes its outcome and its changes. The attempt stays as it is. */
async function callTool(
  { cursor }: DebugTarget,
  { name, arguments: args }: CallExpression,
): Promise<ValueRow> {
  const session = cursor.openSession();
  const names = listFullNames(name, cursor.trajectory.header.servers);
  const tool = names.find(it => session.tools.has(it)) ?? name;
  const before = session.state;
  await session.prepare([{ name: tool, arguments: args }]);
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
  const withheld = names.find(it => cursor.hasTool(it));
  const changes = patches.length === 1 ? "1 change" : `${patches.length} changes`;
  return {
    name: tool,
    text:
      outcome.kind === "ok"
        ? `ok, ${changes}: ${formatInline(outcome.value)}`
        : outcome.kind === "unknown-tool" && withheld !== undefined
          ? `${outcome.kind}: ${withheld} is not on offer in this attempt`
          : `${outcome.kind}: ${outcome.message}`,
    rows: () => createStepRows(position),
  };
}

class RowHandles {
  /** Those of the current position. */
  readonly #rows = new Map<number, () => readonly ValueRow[]>();
  /** Those of results in the Debug Console, which stay there while the session moves. */
  readonly #kept = new Map<number, () => readonly ValueRow[]>();
  #last = 0;

  /** Returns the number of rows, or 0 for none. */
  add(rows: (() => readonly ValueRow[]) | undefined, isKept = false): number {
    if (!rows) return 0;
    (isKept ? this.#kept : this.#rows).set(++this.#last, rows);
    return this.#last;
  }

  list(reference: number): readonly ValueRow[] {
    return (this.#rows.get(reference) ?? this.#kept.get(reference))?.() ?? [];
  }

  isKept(reference: number): boolean {
    return this.#kept.has(reference);
  }

  /** Releases the rows of the previous position. */
  reset(): void {
    this.#rows.clear();
  }
}

interface StackFrame {
  readonly name: string;
  /** Line of the transcript, from 0. */
  readonly line: number;
  /** The index of the event that it begins with; absent before the first event. */
  readonly event?: number;
}

/** The frames at a position, the innermost first. */
export function listFrames(
  { transcript, cursor, title }: DebugTarget,
  position: CursorPosition,
): readonly StackFrame[] {
  const { events } = cursor.trajectory;
  const { event, index } = position;
  if (index === undefined || !event) return [{ name: `start of ${title}`, line: 0 }];
  const getLine = (eventIndex: number) => transcript.ranges[eventIndex]!.first;
  const countUntil = (last: number, isCounted: (it: Event) => boolean) =>
    events.slice(0, last + 1).filter(isCounted).length;
  const frames: StackFrame[] = [];
  if (event.kind === "call")
    frames.push({
      name: `call ${countUntil(index, it => it.kind === "call")}: ${event.name || "(not parsed)"}`,
      line: getLine(index),
      event: index,
    });
  if (event.kind === "ended") frames.push({ name: "end", line: getLine(index), event: index });
  if (event.kind === "call" || event.kind === "assistant") {
    const first = events.findIndex(it => it.kind === "assistant" && it.message === event.message);
    const begin = first < 0 ? index : first;
    frames.push({ name: `message ${event.message + 1}`, line: getLine(begin), event: begin });
  }
  const turn = events.slice(0, index + 1).findLastIndex(startsTurn);
  const userEvent = events[turn];
  if (userEvent?.kind === "user")
    frames.push({
      name: `turn ${countUntil(turn, startsTurn)}: ${truncate(userEvent.text, 60)}`,
      line: getLine(turn),
      event: turn,
    });
  return frames;
}
