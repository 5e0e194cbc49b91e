/**
 * The breakpoints of a debug session: on lines, on tools, on kinds of events, and on values of the
 * state that change.
 */
import type { DebugProtocol } from "@vscode/debugprotocol";
import { canonicalJson, type Json } from "../../../environment/json.ts";
import type { CursorPosition } from "../../../trajectory/cursor.ts";
import { listAddedTools } from "../../../trajectory/trajectory.ts";
import {
  Breakpoint,
  type BreakpointKind,
  type BreakpointOptions,
  type BreakpointRequest,
} from "./breakpoint.ts";
import type { DebugTarget } from "./debugTarget.ts";
import { createVariables } from "./debugVariables.ts";
import { describeException } from "./exceptionFilters.ts";
import { ExpressionError, parseExpression, type Expression } from "./expression.ts";
import { parseHitCondition } from "./hitCondition.ts";
import { listFullNames } from "./toolNames.ts";
import { formatInline } from "./valueRow.ts";

/** The kinds in the order in which they are named as the reason of a stop. */
const kinds = ["exception", "data breakpoint", "function breakpoint", "breakpoint"] as const;

export class Breakpoints {
  readonly #breakpoints: Record<BreakpointKind, readonly Breakpoint[]> = {
    exception: [],
    "data breakpoint": [],
    "function breakpoint": [],
    breakpoint: [],
  };
  #lastId = 0;

  /** The breakpoints that a position hits, and the logpoints, which only print. */
  findHits(target: DebugTarget, position: CursorPosition): readonly Breakpoint[] {
    if (position.index === undefined) return [];
    return kinds.flatMap(kind => this.#breakpoints[kind].filter(it => it.isHit(target, position)));
  }

  /** Replaces the breakpoints on lines; each moves to the next line that has an event. */
  setLines(
    { transcript }: DebugTarget,
    requested: readonly DebugProtocol.SourceBreakpoint[],
  ): DebugProtocol.Breakpoint[] {
    return this.#set("breakpoint", requested, ({ line, hitCondition }) => {
      const event = transcript.eventFrom(line - 1);
      if (event === undefined) throw new ExpressionError("there is no event at or after this line");
      if (hitCondition?.trim() && !parseHitCondition(hitCondition)(1))
        throw new ExpressionError(
          "a line is reached once: use a function breakpoint to count the calls of a tool",
        );
      return {
        describe: (_, { index }) => (index === event ? { title: "" } : undefined),
        properties: { line: transcript.ranges[event]!.first + 1 },
      };
    });
  }

  /** Replaces the breakpoints on tools: `banking_transfer`, `banking.transfer` or `transfer`. */
  setFunctions(
    { cursor: { trajectory } }: DebugTarget,
    requested: readonly DebugProtocol.FunctionBreakpoint[],
  ): DebugProtocol.Breakpoint[] {
    const { header, events } = trajectory;
    const names = [
      ...header.menu,
      ...listAddedTools(events),
      ...events.flatMap(it => (it.kind === "call" ? [it.name] : [])),
    ];
    return this.#set("function breakpoint", requested, ({ name }) => {
      const own = new Set(listFullNames(name, header.servers));
      if (!names.some(it => own.has(it)))
        throw new ExpressionError(`no tool with the name ${name} is offered or called`);
      return {
        describe: (_, { event }) =>
          event?.kind === "call" && own.has(event.name)
            ? { title: `call of ${event.name}` }
            : undefined,
      };
    });
  }

  /** Replaces the kinds of events to stop at (see `exceptionFilters.ts`). */
  setFilters({
    filters,
    filterOptions = [],
  }: DebugProtocol.SetExceptionBreakpointsArguments): DebugProtocol.Breakpoint[] {
    const requested: DebugProtocol.ExceptionFilterOptions[] = [
      ...filters.map(filterId => ({ filterId })),
      ...filterOptions,
    ];
    return this.#set("exception", requested, ({ filterId }) => ({
      describe: (target, position) => describeException(filterId, target, position),
    }));
  }

  /** Replaces the breakpoints on values; a `dataId` is the path of a value. */
  setData(requested: readonly DebugProtocol.DataBreakpoint[]): DebugProtocol.Breakpoint[] {
    return this.#set("data breakpoint", requested, ({ dataId }) => {
      const path = parseExpression(dataId);
      return {
        describe: (target, position) => {
          const title = describeChange(dataId, path, target, position);
          return title === undefined ? undefined : { title };
        },
      };
    });
  }

  /** Replaces the breakpoints of a kind. Those that are invalid are returned as not verified. */
  #set<Request extends BreakpointRequest>(
    kind: BreakpointKind,
    requested: readonly Request[],
    create: (request: Request) => Pick<BreakpointOptions, "describe"> & {
      properties?: Partial<DebugProtocol.Breakpoint>;
    },
  ): DebugProtocol.Breakpoint[] {
    const breakpoints: Breakpoint[] = [];
    this.#breakpoints[kind] = breakpoints;
    return requested.map(it => {
      const id = ++this.#lastId;
      try {
        const { describe, properties } = create(it);
        breakpoints.push(new Breakpoint({ ...it, id, kind, describe }));
        return { id, verified: true, ...properties };
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        const line = "line" in it ? { line: it.line as number } : {};
        return { id, verified: false, message: error.message, ...line };
      }
    });
  }
}

/** Describes how the event of a position changed a value; undefined if it did not. */
function describeChange(
  name: string,
  path: Expression,
  target: DebugTarget,
  position: CursorPosition,
): string | undefined {
  const [before, after] = [target.cursor.at(position.position - 1), position].map(it =>
    evaluateIfPresent(path, target, it),
  );
  if (before === after) return undefined;
  if (before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after))
    return undefined;
  const [from, to] = [before, after].map(it => (it === undefined ? "(none)" : formatInline(it)));
  return `${name}: ${from} → ${to}`;
}

function evaluateIfPresent(
  path: Expression,
  target: DebugTarget,
  position: CursorPosition,
): Json | undefined {
  try {
    return path(createVariables(target, position));
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}
