/** Creates the stack frames, scopes and variables of the debugger at the current position. */
import type { DebugProtocol } from "@vscode/debugprotocol";
import { escapeInvisible, splitVisibleLines } from "../../../trajectory/invisibleText.ts";
import { parseCallExpression } from "./callExpression.ts";
import { callTool } from "./debugCall.ts";
import { listHeadings } from "./debugRows.ts";
import type { DebugTarget } from "./debugTarget.ts";
import { createVariables, findEntity } from "./debugVariables.ts";
import { evaluateExpression } from "./expression.ts";
import { RowHandles } from "./rowHandles.ts";
import { listFrames } from "./stackFrames.ts";
import { createValueRow, type ValueRow } from "./valueRow.ts";

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
  evaluate(expression: string, isForConsole: boolean): DebugProtocol.EvaluateResponse["body"] {
    const row = this.#evaluateRow(expression);
    const { value, variablesReference } = this.#createVariable(row, isForConsole);
    return { result: value, variablesReference };
  }

  #evaluateRow(expression: string): ValueRow {
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
