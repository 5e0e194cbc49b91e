/**
 * The debugger of trajectories: translates the debug adapter protocol into steps of a cursor and
 * rows of values. Knows neither how a trajectory is replayed nor the editor that asks.
 */
import {
  DebugSession,
  Handles,
  InitializedEvent,
  OutputEvent,
  StoppedEvent,
  TerminatedEvent,
} from "@vscode/debugadapter";
import type { DebugProtocol } from "@vscode/debugprotocol";
import { UserError } from "../../userError.ts";
import type { CursorPosition } from "../../trajectory/cursor.ts";
import { isCallOnlyMessage } from "../../trajectory/transcript.ts";
import {
  findEntity,
  listFrames,
  listHeadings,
  createVariables,
  createValueRow,
  type ValueRow,
  type DebugTarget,
} from "./stepping.ts";
import { evaluateExpression, ExpressionError } from "./expression.ts";

const thread = 1;

interface LaunchArguments extends DebugProtocol.LaunchRequestArguments {
  readonly transcript: string;
  readonly stopOnEntry?: boolean;
}

interface Breakpoint {
  readonly id: number;
  readonly condition?: string;
}

const exceptionFilters: readonly DebugProtocol.ExceptionBreakpointsFilter[] = [
  {
    filter: "failed",
    label: "Calls That Fail",
    description: "Stops at calls that were refused or not understood",
    default: false,
  },
  {
    filter: "differs",
    label: "Replay Differs",
    description: "Stops where the call gives something else than was recorded",
    default: false,
  },
];

export class TrajectoryDebugSession extends DebugSession {
  readonly #load: (transcript: string) => Promise<DebugTarget>;
  readonly #rows = new Handles<() => readonly ValueRow[]>();
  /** By event. */
  #breakpoints = new Map<number, Breakpoint>();
  #filters = new Set<string>();
  #launched: DebugTarget | undefined;
  #stopOnEntry = true;
  #gotoTargets: number[] = [];

  /**
   * `load` reads the attempt of a transcript's address; a `Mistake` it throws is shown to the
   * person.
   */
  constructor(load: (transcript: string) => Promise<DebugTarget>) {
    super();
    this.#load = load;
    this.setDebuggerLinesStartAt1(true);
    this.setDebuggerColumnsStartAt1(true);
  }

  protected override initializeRequest(response: DebugProtocol.InitializeResponse): void {
    response.body = {
      supportsConfigurationDoneRequest: true,
      supportsStepBack: true,
      supportsConditionalBreakpoints: true,
      supportsBreakpointLocationsRequest: true,
      supportsEvaluateForHovers: true,
      supportsGotoTargetsRequest: true,
      supportsRestartRequest: true,
      supportsTerminateRequest: true,
      exceptionBreakpointFilters: [...exceptionFilters],
    };
    this.sendResponse(response);
  }

  protected override launchRequest(
    response: DebugProtocol.LaunchResponse,
    { transcript, stopOnEntry = true }: LaunchArguments,
  ): void {
    this.#load(transcript).then(
      stepping => {
        this.#launched = stepping;
        this.#stopOnEntry = stopOnEntry;
        this.sendResponse(response);
        // breakpoints are taken now that there are lines to set them on
        this.sendEvent(new InitializedEvent());
      },
      (error: unknown) => this.#fail(response, error),
    );
  }

  protected override configurationDoneRequest(
    response: DebugProtocol.ConfigurationDoneResponse,
  ): void {
    this.sendResponse(response);
    if (this.#stopOnEntry) this.#stopAt("entry", this.#target.cursor.goTo(0));
    else this.#continue();
  }

  protected override setBreakPointsRequest(
    response: DebugProtocol.SetBreakpointsResponse,
    args: DebugProtocol.SetBreakpointsArguments,
  ): void {
    const { transcript } = this.#target;
    this.#breakpoints = new Map();
    response.body = {
      breakpoints: (args.breakpoints ?? []).map(({ line, condition }, i) => {
        const event = transcript.eventFrom(line - 1);
        if (event === undefined)
          return {
            id: i + 1,
            verified: false,
            line,
            message: "nothing happens at or after this line",
          };
        this.#breakpoints.set(event, { id: i + 1, ...(condition ? { condition } : {}) });
        return { id: i + 1, verified: true, line: transcript.ranges[event]!.first + 1 };
      }),
    };
    this.sendResponse(response);
  }

  protected override setExceptionBreakPointsRequest(
    response: DebugProtocol.SetExceptionBreakpointsResponse,
    args: DebugProtocol.SetExceptionBreakpointsArguments,
  ): void {
    this.#filters = new Set(args.filters);
    this.sendResponse(response);
  }

  protected override breakpointLocationsRequest(
    response: DebugProtocol.BreakpointLocationsResponse,
    { line, endLine = line }: DebugProtocol.BreakpointLocationsArguments,
  ): void {
    const lines =
      this.#launched?.transcript.ranges
        .map(it => it.first + 1)
        .filter(it => it >= line && it <= endLine) ?? [];
    response.body = { breakpoints: [...new Set(lines)].map(it => ({ line: it })) };
    this.sendResponse(response);
  }

  protected override threadsRequest(response: DebugProtocol.ThreadsResponse): void {
    response.body = {
      threads: [
        { id: thread, name: this.#launched?.cursor.trajectory.header.policy ?? "trajectory" },
      ],
    };
    this.sendResponse(response);
  }

  protected override stackTraceRequest(response: DebugProtocol.StackTraceResponse): void {
    const { source, title, cursor } = this.#target;
    const stackFrames = listFrames(this.#target, cursor.place).map(({ name, line }, id) => ({
      id,
      name,
      line: line + 1,
      column: 1,
      source: { name: title, path: source },
    }));
    response.body = { stackFrames, totalFrames: stackFrames.length };
    this.sendResponse(response);
  }

  protected override scopesRequest(response: DebugProtocol.ScopesResponse): void {
    const headings = listHeadings(this.#target, this.#target.cursor.place);
    response.body = {
      scopes: headings.map(([name, rows]) => ({
        name,
        variablesReference: this.#rows.create(() => rows),
        expensive: false,
      })),
    };
    this.sendResponse(response);
  }

  protected override variablesRequest(
    response: DebugProtocol.VariablesResponse,
    { variablesReference }: DebugProtocol.VariablesArguments,
  ): void {
    const rows = this.#rows.get(variablesReference)?.() ?? [];
    response.body = { variables: rows.map(it => this.#createVariable(it)) };
    this.sendResponse(response);
  }

  protected override evaluateRequest(
    response: DebugProtocol.EvaluateResponse,
    { expression, context }: DebugProtocol.EvaluateArguments,
  ): void {
    const { place } = this.#target.cursor;
    try {
      const entity = findEntity(place.state, expression.trim());
      const row = entity
        ? createValueRow(expression, entity.value, entity.path)
        : createValueRow(
            expression,
            evaluateExpression(expression, createVariables(this.#target, place)),
          );
      const { value, variablesReference } = this.#createVariable(row);
      response.body = { result: value, variablesReference };
      this.sendResponse(response);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      // a hover rests on words that are no paths: it shows nothing
      this.sendErrorResponse(response, { id: 2, format: context === "hover" ? "" : error.message });
    }
  }

  protected override nextRequest(response: DebugProtocol.NextResponse): void {
    this.sendResponse(response);
    this.#step(1);
  }

  protected override stepInRequest(response: DebugProtocol.StepInResponse): void {
    this.sendResponse(response);
    this.#step(1);
  }

  /** Out of a turn: on to what the user says next, or to the end. */
  protected override stepOutRequest(response: DebugProtocol.StepOutResponse): void {
    this.sendResponse(response);
    const { cursor } = this.#target;
    this.#stopAt(
      "step",
      cursor.continue(index => cursor.trajectory.events[index]?.kind === "user"),
    );
  }

  protected override stepBackRequest(response: DebugProtocol.StepBackResponse): void {
    this.sendResponse(response);
    this.#step(-1);
  }

  protected override continueRequest(response: DebugProtocol.ContinueResponse): void {
    this.sendResponse(response);
    this.#continue();
  }

  protected override reverseContinueRequest(response: DebugProtocol.ReverseContinueResponse): void {
    this.sendResponse(response);
    const place = this.#target.cursor.continueBack(index => this.#shouldStopAt(index));
    this.#stopAt(place.position === 0 ? "entry" : "breakpoint", place);
  }

  protected override gotoTargetsRequest(
    response: DebugProtocol.GotoTargetsResponse,
    { line }: DebugProtocol.GotoTargetsArguments,
  ): void {
    const { transcript } = this.#target;
    const event = transcript.eventFrom(line - 1);
    this.#gotoTargets = event === undefined ? [] : [event];
    response.body = {
      targets: this.#gotoTargets.map((it, id) => ({
        id,
        label: `line ${transcript.ranges[it]!.first + 1}`,
        line: transcript.ranges[it]!.first + 1,
      })),
    };
    this.sendResponse(response);
  }

  protected override gotoRequest(
    response: DebugProtocol.GotoResponse,
    { targetId }: DebugProtocol.GotoArguments,
  ): void {
    this.sendResponse(response);
    this.#stopAt("goto", this.#target.cursor.goTo(this.#gotoTargets[targetId]! + 1));
  }

  protected override restartRequest(response: DebugProtocol.RestartResponse): void {
    this.sendResponse(response);
    this.#stopAt("entry", this.#target.cursor.goTo(0));
  }

  protected override terminateRequest(response: DebugProtocol.TerminateResponse): void {
    this.sendResponse(response);
    this.sendEvent(new TerminatedEvent());
  }

  get #target(): DebugTarget {
    if (!this.#launched) throw new Error("the trajectory was not launched");
    return this.#launched;
  }

  #step(by: 1 | -1): void {
    const { cursor } = this.#target;
    let place = by === 1 ? cursor.step() : cursor.stepBack();
    while (place.index !== undefined && isCallOnlyMessage(cursor.trajectory.events, place.index))
      place = by === 1 ? cursor.step() : cursor.stepBack();
    this.#stopAt("step", place);
  }

  /**
   * On to the next breakpoint. At the end one can still go back; going on from there ends the
   * session.
   */
  #continue(): void {
    const { cursor } = this.#target;
    if (cursor.place.atEnd) return this.sendEvent(new TerminatedEvent());
    const place = cursor.continue(index => this.#shouldStopAt(index));
    this.#stopAt(
      place.index !== undefined && this.#breakpoints.has(place.index) ? "breakpoint" : "step",
      place,
    );
  }

  #shouldStopAt(index: number): boolean {
    const place = this.#target.cursor.at(index + 1);
    const { step } = place;
    if (step && this.#filters.has("failed") && step.recorded.outcome.kind !== "ok") return true;
    if (step && this.#filters.has("differs") && step.verdict !== "same") return true;
    const set = this.#breakpoints.get(index);
    if (!set) return false;
    if (set.condition === undefined) return true;
    try {
      return evaluateExpression(set.condition, createVariables(this.#target, place)) === true;
    } catch (error) {
      // what a condition names need not be there at every event
      if (error instanceof ExpressionError) return false;
      throw error;
    }
  }

  #stopAt(reason: string, place: CursorPosition): void {
    this.#rows.reset();
    if (place.step && place.step.verdict !== "same")
      this.#print(
        `call ${place.step.call + 1}, ${place.step.recorded.name}: ${place.step.verdict}, another ${place.step.differingFields.join(", ")}\n`,
      );
    const event: DebugProtocol.StoppedEvent = new StoppedEvent(reason, thread);
    if (place.atEnd) event.body.description = "At the end of the trajectory";
    else if (place.position === 0) event.body.description = "Before the first event";
    this.sendEvent(event);
  }

  #print(text: string): void {
    this.sendEvent(new OutputEvent(text, "console"));
  }

  #createVariable({ name, text, rows, path }: ValueRow): DebugProtocol.Variable {
    return {
      name,
      value: text,
      variablesReference: rows ? this.#rows.create(rows) : 0,
      ...(path === undefined ? {} : { evaluateName: path }),
    };
  }

  #fail(response: DebugProtocol.Response, error: unknown): void {
    if (!(error instanceof UserError)) {
      this.sendErrorResponse(response, {
        id: 3,
        format: "the trajectory could not be opened",
        showUser: false,
      });
      throw error;
    }
    this.sendErrorResponse(response, {
      id: 1,
      format: "{_what}: {_remedy}",
      variables: { _what: error.what, _remedy: error.remedy },
      showUser: true,
    });
  }
}
