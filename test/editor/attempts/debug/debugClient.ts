/** The editor's side of the debug adapter protocol, for tests, and the attempts that it debugs. */
import type { DebugProtocol } from "@vscode/debugprotocol";
import { computeReward } from "../../../../src/editor/attempts/attemptReward.ts";
import { TrajectoryDebugSession } from "../../../../src/editor/attempts/debug/debugAdapter.ts";
import type { DebugTarget } from "../../../../src/editor/attempts/debug/debugTarget.ts";
import { profiles } from "../../../../src/reward/profiles.ts";
import { TrajectoryCursor } from "../../../../src/trajectory/cursor.ts";
import type { Task } from "../../../../src/trajectory/task.ts";
import { formatTranscript } from "../../../../src/trajectory/transcript.ts";
import { catalog } from "../../../trajectory/sampleTasks.ts";

/** The address of the transcript. */
export const source = "prove:/transcripts/made/t-move.transcript";

/** The target of an attempt; without one, of the teacher's. */
export const loadTarget = (
  task: Task,
  trajectory = task.trajectory,
  profile = "paper",
): DebugTarget => ({
  source,
  title: task.id,
  cursor: new TrajectoryCursor(catalog, trajectory),
  transcript: formatTranscript(trajectory, { task }),
  task,
  reward: computeReward(
    catalog,
    task,
    trajectory,
    profiles.find(it => it.name === profile),
  ),
});

/** The editor's side of the protocol. */
export class DebugClient {
  readonly #session: TrajectoryDebugSession;
  readonly #pending = new Map<number, (response: DebugProtocol.Response) => void>();
  readonly events: DebugProtocol.Event[] = [];
  #requestCount = 0;

  constructor(load: () => Promise<DebugTarget>) {
    this.#session = new TrajectoryDebugSession(load);
    this.#session.onDidSendMessage(it => {
      const message = it as DebugProtocol.Event | DebugProtocol.Response;
      if (message.type === "event") this.events.push(message as DebugProtocol.Event);
      else
        this.#pending.get((message as DebugProtocol.Response).request_seq)?.(
          message as DebugProtocol.Response,
        );
    });
  }

  send(command: string, args: object = {}): Promise<DebugProtocol.Response> {
    const seq = ++this.#requestCount;
    return new Promise(resolve => {
      this.#pending.set(seq, resolve);
      this.#session.handleMessage({
        type: "request",
        seq,
        command,
        arguments: args,
      } as DebugProtocol.Request);
    });
  }

  /** Starts as an editor does: breakpoints are set when the adapter is initialized. */
  async start(
    breakpoints: readonly DebugProtocol.SourceBreakpoint[] = [],
    filters: readonly string[] = [],
    options: { readonly line?: number } = {},
  ): Promise<DebugProtocol.Breakpoint[]> {
    await this.send("initialize", { adapterID: "prove", linesStartAt1: true });
    await this.send("launch", { transcript: source, ...options });
    const set = (await this.send("setBreakpoints", { source: { path: source }, breakpoints }))
      .body as DebugProtocol.SetBreakpointsResponse["body"];
    await this.send("setExceptionBreakpoints", { filters });
    await this.send("configurationDone");
    return set.breakpoints;
  }

  /** Continues so often, and returns the expression's value at each stop. */
  async listStops(
    command: "continue" | "reverseContinue",
    count: number,
    expression = "position",
  ): Promise<string[]> {
    const values: string[] = [];
    for (let n = 0; n < count; n++) {
      await this.send(command);
      values.push(await this.watch(expression));
    }
    return values;
  }

  /** The value of a watch, or why there is none. */
  async watch(expression: string): Promise<string> {
    const response = await this.send("evaluate", { expression, context: "watch" });
    return response.success
      ? (response.body as DebugProtocol.EvaluateResponse["body"]).result
      : response.message!;
  }

  /** What the Debug Console printed. */
  get printed(): string {
    return this.events
      .flatMap(it => (it.event === "output" ? (it as DebugProtocol.OutputEvent).body.output : []))
      .join("");
  }

  /** The body of the last stop. */
  get stop(): DebugProtocol.StoppedEvent["body"] {
    return (this.events.findLast(it => it.event === "stopped") as DebugProtocol.StoppedEvent).body;
  }

  get stopReason(): string {
    const stop = this.events.findLast(it => it.event === "stopped") as
      DebugProtocol.StoppedEvent | undefined;
    return [stop?.body.reason, stop?.body.description].filter(Boolean).join(", ");
  }

  /** The call stack and the variables as text; the rows of Step are expanded. */
  async formatViews(): Promise<string> {
    const { stackFrames } = (await this.send("stackTrace", { threadId: 1 }))
      .body as DebugProtocol.StackTraceResponse["body"];
    const { scopes } = (await this.send("scopes", { frameId: 0 }))
      .body as DebugProtocol.ScopesResponse["body"];
    const lines = [
      `stopped: ${this.stopReason}`,
      ...stackFrames.map(it => `  at ${it.name}, line ${it.line}`),
    ];
    for (const it of scopes)
      lines.push(
        `  ${it.name}`,
        ...(await this.#listRows(it.variablesReference, it.name === "Step" ? 2 : 1, "    ")),
      );
    return `${lines.join("\n")}\n`;
  }

  /** The rows under one heading. */
  async listRows(heading: string, depth: number): Promise<string[]> {
    const { scopes } = (await this.send("scopes", { frameId: 0 }))
      .body as DebugProtocol.ScopesResponse["body"];
    return this.#listRows(scopes.find(it => it.name === heading)!.variablesReference, depth, "");
  }

  async getLine(): Promise<number | undefined> {
    return (
      (await this.send("stackTrace", { threadId: 1 }))
        .body as DebugProtocol.StackTraceResponse["body"]
    ).stackFrames[0]?.line;
  }

  async #listRows(variablesReference: number, depth: number, margin: string): Promise<string[]> {
    const { variables } = (await this.send("variables", { variablesReference }))
      .body as DebugProtocol.VariablesResponse["body"];
    const lines: string[] = [];
    for (const it of variables) {
      lines.push(`${margin}${it.name}: ${it.value}`);
      if (it.variablesReference && depth > 1)
        lines.push(...(await this.#listRows(it.variablesReference, depth - 1, `${margin}  `)));
    }
    return lines;
  }
}
