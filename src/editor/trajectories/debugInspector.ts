/** Creates the stack frames, scopes and variables of the debugger at the current position. */
import { Handles } from "@vscode/debugadapter";
import type { DebugProtocol } from "@vscode/debugprotocol";
import { escapeInvisible, splitVisibleLines } from "../../trajectory/invisibleText.ts";
import { listHeadings } from "./debugRows.ts";
import type { DebugTarget } from "./debugTarget.ts";
import { createVariables, findEntity } from "./debugVariables.ts";
import { evaluateExpression } from "./expression.ts";
import { listFrames } from "./stackFrames.ts";
import { createValueRow, type ValueRow } from "./valueRow.ts";

export class DebugInspector {
  readonly #target: DebugTarget;
  readonly #handles = new Handles<() => readonly ValueRow[]>();

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
      source: { name: escapeInvisible(title), path: source },
    }));
  }

  listScopes(): DebugProtocol.Scope[] {
    return listHeadings(this.#target, this.#target.cursor.current).map(([name, rows]) => ({
      name,
      variablesReference: this.#handles.create(() => rows),
      expensive: false,
    }));
  }

  listVariables(reference: number): DebugProtocol.Variable[] {
    const rows = this.#handles.get(reference)?.() ?? [];
    return rows.map(it => this.#createVariable(it));
  }

  /**
   * The path of a variable that a data breakpoint can watch: a value of the state or of the reward.
   * Other variables are those of one event.
   */
  findDataPath(name: string, reference: number | undefined): string | undefined {
    const rows = reference === undefined ? [] : (this.#handles.get(reference)?.() ?? []);
    const path =
      reference === undefined ? name : rows.find(it => escapeInvisible(it.name) === name)?.path;
    const root = /^[\w-]+/.exec(path ?? "")?.[0] ?? "";
    const { state } = this.#target.cursor.current;
    return root === "reward" || Object.hasOwn(state, root) ? path : undefined;
  }

  /** Evaluates an expression, or finds the entity of an id. Throws an `ExpressionError`. */
  evaluate(expression: string): DebugProtocol.EvaluateResponse["body"] {
    const position = this.#target.cursor.current;
    const entity = findEntity(position.state, expression.trim());
    const row = entity
      ? createValueRow(expression, entity.value, entity.path)
      : createValueRow(
          expression,
          evaluateExpression(expression, createVariables(this.#target, position)),
        );
    const { value, variablesReference } = this.#createVariable(row);
    return { result: value, variablesReference };
  }

  #createVariable({ name, text, rows, path }: ValueRow): DebugProtocol.Variable {
    return {
      name: escapeInvisible(name),
      value: splitVisibleLines(text).join("\n"),
      variablesReference: rows ? this.#handles.create(rows) : 0,
      ...(path === undefined ? {} : { evaluateName: path }),
    };
  }
}
