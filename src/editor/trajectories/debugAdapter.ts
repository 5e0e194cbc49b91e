/**
 * The debug adapter for trajectories: handles the requests of the debug adapter protocol by moving
 * a cursor through the trajectory. Does not depend on the editor.
 */
import {
  DebugSession,
  InitializedEvent,
  OutputEvent,
  StoppedEvent,
  TerminatedEvent,
} from "@vscode/debugadapter";
import type { DebugProtocol } from "@vscode/debugprotocol";
import type { CursorPosition } from "../../trajectory/cursor.ts";
import { isCallOnlyMessage } from "../../trajectory/transcript.ts";
import { splitVisibleLines } from "../../trajectory/invisibleText.ts";
import { UserError } from "../../userError.ts";
import { toPlainText } from "../shared/plainText.ts";
import { Breakpoints, exceptionFilters } from "./breakpoints.ts";
import { DebugInspector } from "./debugInspector.ts";
import type { DebugTarget } from "./debugTarget.ts";
import { ExpressionError } from "./expression.ts";

const thread = 1;

interface LaunchArguments extends DebugProtocol.LaunchRequestArguments {
  readonly transcript: string;
  readonly stopOnEntry?: boolean;
}

/** The state of the session after its launch. */
interface LaunchState {
  readonly target: DebugTarget;
  readonly inspector: DebugInspector;
  readonly stopOnEntry: boolean;
}

export class TrajectoryDebugSession extends DebugSession {
  readonly #load: (transcript: string) => Promise<DebugTarget>;
  readonly #breakpoints = new Breakpoints();
  #state: LaunchState | undefined;
  /** The events of the last gotoTargets request, by the id of the target. */
  #gotoTargets: number[] = [];

  /** `load` reads the attempt of a transcript; a `UserError` from it is shown to the user. */
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
      target => {
        this.#state = { target, inspector: new DebugInspector(target), stopOnEntry };
        this.sendResponse(response);
        // requests the breakpoints, which can be set now that the transcript is known
        this.sendEvent(new InitializedEvent());
      },
      (error: unknown) => this.#sendError(response, error),
    );
  }

  protected override configurationDoneRequest(
    response: DebugProtocol.ConfigurationDoneResponse,
  ): void {
    this.sendResponse(response);
    if (this.#launched.stopOnEntry) this.#stopAt("entry", this.#target.cursor.goTo(0));
    else this.#continue();
  }

  protected override setBreakPointsRequest(
    response: DebugProtocol.SetBreakpointsResponse,
    { breakpoints = [] }: DebugProtocol.SetBreakpointsArguments,
  ): void {
    response.body = { breakpoints: this.#breakpoints.setLines(this.#target, breakpoints) };
    this.sendResponse(response);
  }

  protected override setExceptionBreakPointsRequest(
    response: DebugProtocol.SetExceptionBreakpointsResponse,
    { filters }: DebugProtocol.SetExceptionBreakpointsArguments,
  ): void {
    this.#breakpoints.setFilters(filters);
    this.sendResponse(response);
  }

  protected override breakpointLocationsRequest(
    response: DebugProtocol.BreakpointLocationsResponse,
    { line, endLine = line }: DebugProtocol.BreakpointLocationsArguments,
  ): void {
    const ranges = this.#state?.target.transcript.ranges ?? [];
    const lines = ranges.map(it => it.first + 1).filter(it => it >= line && it <= endLine);
    response.body = { breakpoints: [...new Set(lines)].map(it => ({ line: it })) };
    this.sendResponse(response);
  }

  protected override threadsRequest(response: DebugProtocol.ThreadsResponse): void {
    const name = this.#state?.target.cursor.trajectory.header.policy ?? "trajectory";
    response.body = { threads: [{ id: thread, name }] };
    this.sendResponse(response);
  }

  protected override stackTraceRequest(response: DebugProtocol.StackTraceResponse): void {
    const stackFrames = this.#launched.inspector.listStackFrames();
    response.body = { stackFrames, totalFrames: stackFrames.length };
    this.sendResponse(response);
  }

  protected override scopesRequest(response: DebugProtocol.ScopesResponse): void {
    response.body = { scopes: this.#launched.inspector.listScopes() };
    this.sendResponse(response);
  }

  protected override variablesRequest(
    response: DebugProtocol.VariablesResponse,
    { variablesReference }: DebugProtocol.VariablesArguments,
  ): void {
    response.body = { variables: this.#launched.inspector.listVariables(variablesReference) };
    this.sendResponse(response);
  }

  protected override evaluateRequest(
    response: DebugProtocol.EvaluateResponse,
    { expression, context }: DebugProtocol.EvaluateArguments,
  ): void {
    try {
      response.body = this.#launched.inspector.evaluate(expression);
      this.sendResponse(response);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      // a hover over other text is not an error
      this.sendErrorResponse(response, { id: 2, format: context === "hover" ? "" : error.message });
    }
  }

  protected override nextRequest(response: DebugProtocol.NextResponse): void {
    this.sendResponse(response);
    this.#step("forward");
  }

  protected override stepInRequest(response: DebugProtocol.StepInResponse): void {
    this.sendResponse(response);
    this.#step("forward");
  }

  /** Moves to the next message of the user, or to the end. */
  protected override stepOutRequest(response: DebugProtocol.StepOutResponse): void {
    this.sendResponse(response);
    const { cursor } = this.#target;
    const { events } = cursor.trajectory;
    this.#stopAt(
      "step",
      cursor.continue(index => events[index]?.kind === "user"),
    );
  }

  protected override stepBackRequest(response: DebugProtocol.StepBackResponse): void {
    this.sendResponse(response);
    this.#step("back");
  }

  protected override continueRequest(response: DebugProtocol.ContinueResponse): void {
    this.sendResponse(response);
    this.#continue();
  }

  protected override reverseContinueRequest(response: DebugProtocol.ReverseContinueResponse): void {
    this.sendResponse(response);
    const position = this.#target.cursor.continueBack(index => this.#shouldStopAt(index));
    this.#stopAt(position.position === 0 ? "entry" : "breakpoint", position);
  }

  protected override gotoTargetsRequest(
    response: DebugProtocol.GotoTargetsResponse,
    { line: requested }: DebugProtocol.GotoTargetsArguments,
  ): void {
    const { transcript } = this.#target;
    const event = transcript.eventFrom(requested - 1);
    this.#gotoTargets = event === undefined ? [] : [event];
    const targets = this.#gotoTargets.map((it, id) => {
      const line = transcript.ranges[it]!.first + 1;
      return { id, label: `line ${line}`, line };
    });
    response.body = { targets };
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

  get #launched(): LaunchState {
    if (!this.#state) throw new Error("the trajectory was not launched");
    return this.#state;
  }

  get #target(): DebugTarget {
    return this.#launched.target;
  }

  #step(direction: "forward" | "back"): void {
    const { cursor } = this.#target;
    const move = () => (direction === "forward" ? cursor.step() : cursor.stepBack());
    let position = move();
    while (
      position.index !== undefined &&
      isCallOnlyMessage(cursor.trajectory.events, position.index)
    )
      position = move();
    this.#stopAt("step", position);
  }

  /** Moves to the next breakpoint or to the end, and at the end terminates the session. */
  #continue(): void {
    const { cursor } = this.#target;
    if (cursor.current.atEnd) return this.sendEvent(new TerminatedEvent());
    const position = cursor.continue(index => this.#shouldStopAt(index));
    const isBreakpoint = position.index !== undefined && this.#breakpoints.has(position.index);
    this.#stopAt(isBreakpoint ? "breakpoint" : "step", position);
  }

  #shouldStopAt(index: number): boolean {
    return this.#breakpoints.shouldStopAt(this.#target, this.#target.cursor.at(index + 1));
  }

  #stopAt(reason: string, { step, atEnd, position }: CursorPosition): void {
    this.#launched.inspector.reset();
    if (step && step.verdict !== "same") {
      const fields = step.differingFields.join(", ");
      const call = `call ${step.call + 1}, ${step.recorded.name}`;
      const text = `${call}: ${step.verdict}, another ${fields}\n`;
      this.sendEvent(new OutputEvent(splitVisibleLines(text).join("\n"), "console"));
    }
    const event: DebugProtocol.StoppedEvent = new StoppedEvent(reason, thread);
    if (atEnd) event.body.description = "At the end of the trajectory";
    else if (position === 0) event.body.description = "Before the first event";
    this.sendEvent(event);
  }

  #sendError(response: DebugProtocol.Response, error: unknown): void {
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
      variables: { _what: toPlainText(error.what), _remedy: toPlainText(error.remedy) },
      showUser: true,
    });
  }
}
