/**
 * The breakpoints of a debug session: on lines, on tools, on kinds of events, and on values of the
 * state that change. Whether one stops at a position depends on the trajectory and the position
 * only, not on how the position was reached: stepping back stops at the same places.
 */
import type { DebugProtocol } from "@vscode/debugprotocol";
import { canonicalJson, type Json } from "../../../environment/json.ts";
import { describeCall, formatPartChange, listPartChanges } from "../../../reward/breakdownText.ts";
import { countPrefix } from "../../../reward/prefixReward.ts";
import type { CursorPosition } from "../../../trajectory/cursor.ts";
import { listAddedTools } from "../../../trajectory/trajectory.ts";
import { formatCall } from "../../../trajectory/transcript.ts";
import { formatReward, formatRewardChange, getRewardDecimals } from "../../shared/rewardText.ts";
import { getRewardStep, scoreShownPrefix } from "../attemptReward.ts";
import {
  countCallsBefore,
  createVariables,
  type DebugTarget,
  listFullNames,
} from "./debugTarget.ts";
import { type Expression, ExpressionError, parseExpression, type Variables } from "./expression.ts";
import { formatInline } from "./debugRows.ts";

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
    /** The events that breakpoints without a condition stop at. */
    const taken = new Set<number>();
    return this.#set("breakpoint", requested, ({ line, condition, logMessage, hitCondition }) => {
      const event = transcript.eventFrom(line - 1);
      if (event === undefined) throw new ExpressionError("there is no event at or after this line");
      if (hitCondition?.trim() && !parseHitCondition(hitCondition)(1))
        throw new ExpressionError(
          "a line is reached once: use a function breakpoint to count the calls of a tool",
        );
      if (!condition && !logMessage) {
        if (taken.has(event))
          throw new ExpressionError("another breakpoint stops at this event already");
        taken.add(event);
      }
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

/** The names of the protocol. */
type BreakpointKind = "exception" | "data breakpoint" | "function breakpoint" | "breakpoint";

/** A breakpoint as the editor requests it. */
interface BreakpointRequest {
  readonly condition?: string | undefined;
  readonly hitCondition?: string | undefined;
  readonly logMessage?: string | undefined;
}

/** Why a breakpoint stops, in a few words and in lines of details. */
export interface StopReason {
  readonly title: string;
  readonly details?: string;
}

interface BreakpointOptions extends BreakpointRequest {
  readonly id: number;
  readonly kind: BreakpointKind;
  /** Describes what the breakpoint is about; undefined at a position that is none of its. */
  readonly describe: (target: DebugTarget, position: CursorPosition) => StopReason | undefined;
}

export class Breakpoint {
  readonly id: number;
  readonly kind: BreakpointKind;
  readonly describe: BreakpointOptions["describe"];
  readonly #condition: Expression | undefined;
  readonly #hitCondition: HitCondition | undefined;
  readonly #formatLog: LogMessage | undefined;
  /** Whether its condition holds, by position. Dropped when the attempt is scored anew. */
  #hits = new Map<number, boolean>();
  #reward: DebugTarget["reward"] | undefined;

  /** Throws an `ExpressionError` if a condition or a message cannot be parsed. */
  constructor({ id, kind, describe, condition, hitCondition, logMessage }: BreakpointOptions) {
    this.id = id;
    this.kind = kind;
    this.describe = describe;
    this.#condition = condition?.trim() ? parseExpression(condition) : undefined;
    this.#hitCondition = hitCondition?.trim() ? parseHitCondition(hitCondition) : undefined;
    this.#formatLog = logMessage ? parseLogMessage(logMessage) : undefined;
  }

  /** Whether it prints a message instead of stopping. */
  get isLogpoint(): boolean {
    return this.#formatLog !== undefined;
  }

  /** Whether it stops at a position, or prints its message there. */
  isHit(target: DebugTarget, position: CursorPosition): boolean {
    if (!this.#isMet(target, position)) return false;
    return this.#hitCondition?.(this.#countHits(target, position)) ?? true;
  }

  formatLog(target: DebugTarget, position: CursorPosition): string {
    return this.#formatLog?.(createVariables(target, position)) ?? "";
  }

  /** How often its condition is met from the start to a position. */
  #countHits(target: DebugTarget, { position }: CursorPosition): number {
    let count = 0;
    for (let n = 1; n <= position; n++)
      if (this.#hits.get(n) ?? this.#isMet(target, target.cursor.at(n))) count++;
    return count;
  }

  #isMet(target: DebugTarget, position: CursorPosition): boolean {
    if (this.#reward !== target.reward) this.#hits = new Map();
    this.#reward = target.reward;
    const known = this.#hits.get(position.position);
    if (known !== undefined) return known;
    const isMet = this.describe(target, position) !== undefined && this.#holdsAt(target, position);
    this.#hits.set(position.position, isMet);
    return isMet;
  }

  /** A condition that cannot be evaluated at a position does not hold there. */
  #holdsAt(target: DebugTarget, position: CursorPosition): boolean {
    if (!this.#condition) return true;
    try {
      return this.#condition(createVariables(target, position)) === true;
    } catch (error) {
      if (error instanceof ExpressionError) return false;
      throw error;
    }
  }
}

interface ExceptionFilter {
  readonly filter: string;
  readonly label: string;
  readonly description: string;
  /** Undefined where there is nothing to stop at. */
  readonly describe: (target: DebugTarget, position: CursorPosition) => StopReason | undefined;
}

const filters: readonly ExceptionFilter[] = [
  {
    filter: "failed",
    label: "Calls That Fail",
    description: "Stops at calls that were refused or not understood",
    describe: describeFailure,
  },
  {
    filter: "differs",
    label: "Replay Differs",
    description: "Stops at calls whose replayed outcome differs from the recorded one",
    describe: describeDifference,
  },
  {
    filter: "no-goal",
    label: "Calls That Serve No Goal",
    description: "Stops at calls that serve none of the task's goals",
    describe: describeUnservedGoal,
  },
  {
    filter: "reward-drops",
    label: "Reward Drops",
    description: "Stops where the reward so far falls, under the profile on screen",
    describe: describeDrop,
  },
];

/** The filters as the editor lists them. */
export const exceptionFilters: readonly DebugProtocol.ExceptionBreakpointsFilter[] = filters.map(
  ({ filter, label, description }) => ({
    filter,
    label,
    description,
    default: false,
    supportsCondition: true,
    conditionDescription: 'An expression such as call.name == "banking_transfer"',
  }),
);

/** Describes what a filter stops at; undefined where it does not stop. */
const describeException = (
  filter: string,
  target: DebugTarget,
  position: CursorPosition,
): StopReason | undefined => filters.find(it => it.filter === filter)?.describe(target, position);

function describeFailure(_: DebugTarget, { step }: CursorPosition): StopReason | undefined {
  if (!step || step.recorded.outcome.kind === "ok") return undefined;
  const { name, arguments: args, outcome } = step.recorded;
  const { kind, type, message, hint } = outcome;
  return {
    title: type ? `${kind} (${type})` : kind,
    details: [
      ...(message ? [message] : []),
      ...(hint ? [`Hint: ${hint}`] : []),
      `Call: ${formatCall(name, args)}`,
    ].join("\n"),
  };
}

function describeDifference(_: DebugTarget, { step }: CursorPosition): StopReason | undefined {
  if (!step || step.verdict === "same") return undefined;
  const { recorded, differingFields, verdict } = step;
  return {
    title: verdict === "differs" ? "replay differs" : verdict,
    details: `${formatCall(recorded.name, recorded.arguments)}\ngives another ${differingFields.join(", ")} than recorded`,
  };
}

function describeUnservedGoal(
  { reward, cursor }: DebugTarget,
  position: CursorPosition,
): StopReason | undefined {
  if ("unscorable" in reward || !position.step) return undefined;
  const { events } = cursor.trajectory;
  const [breakdown] = scoreShownPrefix(reward, countPrefix(events, position.position));
  const call = countCallsBefore(cursor, position);
  if (breakdown.calls[call]!.serves) return undefined;
  const { name, arguments: args } = position.step.recorded;
  return {
    title: "no goal",
    details: [describeCall(breakdown, call), `Call: ${formatCall(name, args)}`].join("\n"),
  };
}

function describeDrop(
  { reward, cursor }: DebugTarget,
  { position }: CursorPosition,
): StopReason | undefined {
  const { events } = cursor.trajectory;
  const step = getRewardStep(reward, events, position);
  if (!step || step.change >= -1e-9 || "unscorable" in reward) return undefined;
  const prefix = countPrefix(events, position);
  const [before] = scoreShownPrefix(reward, prefix - 1);
  const [after] = scoreShownPrefix(reward, prefix);
  return {
    title: "reward drops",
    details: [
      `${after.profile}: ${formatReward(before.total)} → ${formatReward(after.total)}, ${formatRewardChange(step.change)}`,
      ...listPartChanges(before, after).map(it => formatPartChange(it, getRewardDecimals())),
    ].join("\n"),
  };
}

/** Whether a breakpoint stops when it is hit for the nth time, counted from 1. */
type HitCondition = (hits: number) => boolean;

const conditions = {
  "": (hits, n) => hits === n,
  "=": (hits, n) => hits === n,
  "==": (hits, n) => hits === n,
  ">": (hits, n) => hits > n,
  ">=": (hits, n) => hits >= n,
  "<": (hits, n) => hits < n,
  "<=": (hits, n) => hits <= n,
  "%": (hits, n) => hits % n === 0,
} as const satisfies Record<string, (hits: number, n: number) => boolean>;

/** Parses a hit condition. Throws an `ExpressionError` if the text is not one. */
function parseHitCondition(text: string): HitCondition {
  const [, operator, digits] = /^\s*(|==?|[<>]=?|%)\s*(\d{1,9})\s*$/.exec(text) ?? [];
  if (operator === undefined || digits === undefined)
    throw new ExpressionError(`"${text}" is not a hit count: write 3, >= 2 or % 3`);
  return hits => conditions[operator as keyof typeof conditions](hits, Number(digits));
}

/** Formats a message with the values at a position. */
type LogMessage = (variables: Variables) => string;

/**
 * Parses a message. Throws an `ExpressionError` if braces contain something else. A path that does
 * not exist where the message is printed is named instead of its value.
 */
function parseLogMessage(text: string): LogMessage {
  const parts = text.split(/\{([^{}]*)\}/).map((part, i) => {
    if (i % 2 === 0) return () => part;
    const evaluate = parseExpression(part);
    return (variables: Variables) => {
      try {
        const value = evaluate(variables);
        return typeof value === "string" ? value : JSON.stringify(value);
      } catch (error) {
        if (error instanceof ExpressionError) return `(${error.message})`;
        throw error;
      }
    };
  });
  return variables => parts.map(it => it(variables)).join("");
}
