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
import type { CursorPosition } from "../../../trajectory/cursor.ts";
import { escapeInvisible, splitVisibleLines } from "../../../trajectory/invisibleText.ts";
import { startsTurn } from "../../../trajectory/trajectory.ts";
import { isCallOnlyMessage } from "../../../trajectory/transcript.ts";
import { UserError } from "../../../userError.ts";
import { toPlainText } from "../../shared/text.ts";
import { type Breakpoint, Breakpoints, exceptionFilters, type StopReason } from "./breakpoints.ts";
import { listCompletions } from "./completions.ts";
import { DebugInspector, listFrames } from "./debugInspector.ts";
import type { DebugTarget } from "./debugTarget.ts";
import { ExpressionError } from "./expression.ts";

const thread = 1;

interface LaunchArguments extends DebugProtocol.LaunchRequestArguments {
  readonly transcript: string;
  readonly stopOnEntry?: boolean;
  /** The line of the transcript, from 1, to stop at first, instead of the entry. */
  readonly line?: number;
}

/** The state of the session after its launch. */
interface LaunchState {
  readonly target: DebugTarget;
  readonly inspector: DebugInspector;
  readonly stopOnEntry: boolean;
  readonly line: number | undefined;
}

export class TrajectoryDebugSession extends DebugSession {
  readonly #load: (transcript: string) => Promise<DebugTarget>;
  readonly #breakpoints = new Breakpoints();
  #state: LaunchState | undefined;
  /** Why the session stopped, where it stopped at an exception breakpoint. */
  #exception: StopReason | undefined;
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
    response.body = debugCapabilities;
    this.sendResponse(response);
  }

  protected override launchRequest(
    response: DebugProtocol.LaunchResponse,
    { transcript, stopOnEntry = true, line }: LaunchArguments,
  ): void {
    this.#load(transcript).then(
      target => {
        this.#state = { target, inspector: new DebugInspector(target), stopOnEntry, line };
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
    const { stopOnEntry, line } = this.#launched;
    const event = line === undefined ? undefined : this.#target.transcript.eventFrom(line - 1);
    if (event !== undefined) this.#stopAt("goto", this.#target.cursor.goTo(event + 1));
    else if (stopOnEntry) this.#stopAt("entry", this.#target.cursor.goTo(0));
    else this.#continue();
  }

  protected override setBreakPointsRequest(
    response: DebugProtocol.SetBreakpointsResponse,
    { source, breakpoints = [] }: DebugProtocol.SetBreakpointsArguments,
  ): void {
    // the editor sends the breakpoints of all transcripts
    const isOwn = isSameAddress(source.path ?? "", this.#target.source);
    response.body = {
      breakpoints: isOwn
        ? this.#breakpoints.setLines(this.#target, breakpoints)
        : breakpoints.map(({ line }) => ({ verified: false, line })),
    };
    this.sendResponse(response);
  }

  protected override setFunctionBreakPointsRequest(
    response: DebugProtocol.SetFunctionBreakpointsResponse,
    { breakpoints }: DebugProtocol.SetFunctionBreakpointsArguments,
  ): void {
    response.body = { breakpoints: this.#breakpoints.setFunctions(this.#target, breakpoints) };
    this.sendResponse(response);
  }

  protected override setExceptionBreakPointsRequest(
    response: DebugProtocol.SetExceptionBreakpointsResponse,
    requested: DebugProtocol.SetExceptionBreakpointsArguments,
  ): void {
    response.body = { breakpoints: this.#breakpoints.setFilters(requested) };
    this.sendResponse(response);
  }

  protected override dataBreakpointInfoRequest(
    response: DebugProtocol.DataBreakpointInfoResponse,
    { name, variablesReference }: DebugProtocol.DataBreakpointInfoArguments,
  ): void {
    const path = this.#launched.inspector.findDataPath(name, variablesReference);
    response.body =
      path === undefined
        ? { dataId: null, description: `${name} is neither in the state nor in the reward` }
        : { dataId: path, description: path, accessTypes: ["write"], canPersist: true };
    this.sendResponse(response);
  }

  protected override setDataBreakpointsRequest(
    response: DebugProtocol.SetDataBreakpointsResponse,
    { breakpoints }: DebugProtocol.SetDataBreakpointsArguments,
  ): void {
    response.body = { breakpoints: this.#breakpoints.setData(breakpoints) };
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
    this.#launched.inspector.evaluate(expression, context === "repl").then(
      body => {
        response.body = body;
        this.sendResponse(response);
      },
      (error: Error) => {
        // a hover over other text is not an error
        const isOther = context === "hover" && error instanceof ExpressionError;
        this.sendErrorResponse(response, { id: 2, format: isOther ? "" : error.message });
      },
    );
  }

  protected override completionsRequest(
    response: DebugProtocol.CompletionsResponse,
    { text, column }: DebugProtocol.CompletionsArguments,
  ): void {
    response.body = { targets: listCompletions(this.#target, text.slice(0, column - 1)) };
    this.sendResponse(response);
  }

  protected override exceptionInfoRequest(response: DebugProtocol.ExceptionInfoResponse): void {
    const { title = "", details = "" } = this.#exception ?? {};
    response.body = {
      exceptionId: escapeInvisible(title),
      description: splitVisibleLines(details).join("\n"),
      breakMode: "always",
    };
    this.sendResponse(response);
  }

  protected override nextRequest(response: DebugProtocol.NextResponse): void {
    this.sendResponse(response);
    this.#run("forward", () => true);
  }

  protected override stepInRequest(response: DebugProtocol.StepInResponse): void {
    this.sendResponse(response);
    this.#run("forward", () => true);
  }

  /** Moves to the end of the turn; from there, to the end of the next one. */
  protected override stepOutRequest(response: DebugProtocol.StepOutResponse): void {
    this.sendResponse(response);
    const { events } = this.#target.cursor.trajectory;
    this.#run("forward", ({ position }) => {
      const next = events[position];
      return next === undefined || startsTurn(next);
    });
  }

  protected override stepBackRequest(response: DebugProtocol.StepBackResponse): void {
    this.sendResponse(response);
    this.#run("back", () => true);
  }

  protected override continueRequest(response: DebugProtocol.ContinueResponse): void {
    this.sendResponse(response);
    this.#continue();
  }

  protected override reverseContinueRequest(response: DebugProtocol.ReverseContinueResponse): void {
    this.sendResponse(response);
    this.#run("back", () => false);
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

  /** Returns to the position before a call, a message or a turn. */
  protected override restartFrameRequest(
    response: DebugProtocol.RestartFrameResponse,
    { frameId }: DebugProtocol.RestartFrameArguments,
  ): void {
    this.sendResponse(response);
    const { cursor } = this.#target;
    const { events } = cursor.trajectory;
    let position = listFrames(this.#target, cursor.current)[frameId]?.event ?? 0;
    while (isCallOnlyMessage(events, position - 1)) position--;
    this.#stopAt(position === 0 ? "entry" : "restart", cursor.goTo(position));
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

  /** Moves to the next breakpoint or to the end, and at the end terminates the session. */
  #continue(): void {
    if (this.#target.cursor.current.atEnd) this.sendEvent(new TerminatedEvent());
    else this.#run("forward", () => false);
  }

  #run(direction: "forward" | "back", isDestination: (position: CursorPosition) => boolean): void {
    const { position, hits } = runTrajectory({
      target: this.#target,
      breakpoints: this.#breakpoints,
      direction,
      isDestination,
      print: (text, it) => this.#print(text, it),
    });
    const [first] = hits;
    if (!first) return this.#stopAt(position.position === 0 ? "entry" : "step", position);
    const info = first.describe(this.#target, position);
    this.#stopAt(first.kind, position, {
      ...(info?.title ? { text: info.title } : {}),
      hitBreakpointIds: hits.map(it => it.id),
    });
    this.#exception = first.kind === "exception" ? info : undefined;
  }

  #stopAt(
    reason: string,
    position: CursorPosition,
    body: Partial<DebugProtocol.StoppedEvent["body"]> = {},
  ): void {
    const { step } = position;
    this.#launched.inspector.reset();
    this.#exception = undefined;
    if (step && step.verdict !== "same") {
      const fields = step.differingFields.join(", ");
      const call = `call ${step.call + 1}, ${step.recorded.name}`;
      this.#print(`${call}: ${step.verdict}, another ${fields}`, position);
    }
    const description = describeStop(body.text, position);
    const event = new StoppedEvent(reason, thread);
    Object.assign(event.body, body, description === undefined ? {} : { description });
    this.sendEvent(event);
  }

  /** Prints a line in the Debug Console, with a link to the event. */
  #print(text: string, { index }: CursorPosition): void {
    const { source, title, transcript } = this.#target;
    const event: DebugProtocol.OutputEvent = new OutputEvent(
      `${splitVisibleLines(text).join("\n")}\n`,
      "console",
    );
    if (index !== undefined) {
      event.body.source = { name: escapeInvisible(title), path: source };
      event.body.line = transcript.ranges[index]!.first + 1;
    }
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

/** The text beside the thread; undefined for that of the editor, such as "Paused on step". */
function describeStop(
  text: string | undefined,
  { atEnd, position }: CursorPosition,
): string | undefined {
  if (text) return `Paused: ${escapeInvisible(text)}`;
  if (atEnd) return "At the end of the trajectory";
  return position === 0 ? "Before the first event" : undefined;
}

/** Whether two addresses are the same; the editor may leave characters unescaped. */
const isSameAddress = (a: string, b: string) =>
  a === b || unescapeAddress(a) === unescapeAddress(b);

function unescapeAddress(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

const debugCapabilities: DebugProtocol.Capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsStepBack: true,
  supportsConditionalBreakpoints: true,
  supportsHitConditionalBreakpoints: true,
  supportsLogPoints: true,
  supportsFunctionBreakpoints: true,
  supportsDataBreakpoints: true,
  supportsExceptionFilterOptions: true,
  supportsExceptionInfoRequest: true,
  supportsBreakpointLocationsRequest: true,
  supportsEvaluateForHovers: true,
  supportsCompletionsRequest: true,
  completionTriggerCharacters: [".", "("],
  supportsGotoTargetsRequest: true,
  supportsRestartFrame: true,
  supportsRestartRequest: true,
  supportsTerminateRequest: true,
  exceptionBreakpointFilters: [...exceptionFilters],
};

interface Run {
  readonly target: DebugTarget;
  readonly breakpoints: Breakpoints;
  readonly direction: "forward" | "back";
  /** Whether to stop at a position without a breakpoint. */
  readonly isDestination: (position: CursorPosition) => boolean;
  /** Prints the message of a logpoint. */
  readonly print: (text: string, position: CursorPosition) => void;
}

/**
 * Moves event by event until a breakpoint is hit, the destination is reached, or there are no more
 * events. Returns the position and the breakpoints that stop there.
 */
function runTrajectory({ target, breakpoints, direction, isDestination, print }: Run): {
  readonly position: CursorPosition;
  readonly hits: readonly Breakpoint[];
} {
  const { cursor } = target;
  for (;;) {
    const previous = cursor.current.position;
    const position = direction === "forward" ? cursor.step() : cursor.stepBack();
    if (position.position === previous) return { position, hits: [] };
    const reached = breakpoints.findHits(target, position);
    for (const it of reached) if (it.isLogpoint) print(it.formatLog(target, position), position);
    const hits = reached.filter(it => !it.isLogpoint);
    const isEnd = position.atEnd || position.position === 0;
    if (hits.length > 0 || isEnd || isDestination(position)) return { position, hits };
  }
}
