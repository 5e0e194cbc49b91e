/** Follows the debug sessions: where in which attempt each of them stands. */
import { EventEmitter, Uri, debug, type DebugSession, type Disposable } from "vscode";
import type { DebugProtocol } from "@vscode/debugprotocol";
import { reportRejection } from "../../shared/report.ts";

export class SteppedAttempts implements Disposable {
  /** The ids of the sessions that run. */
  readonly #running = new Set<string>();
  /** By the address of the transcript. */
  readonly #positions = new Map<string, number>();
  readonly #changed = new EventEmitter<string>();
  /** The address of an attempt in which a session has moved or ended. */
  readonly onDidChange = this.#changed.event;
  readonly #registration: Disposable;

  constructor() {
    this.#registration = debug.registerDebugAdapterTrackerFactory("prove", {
      createDebugAdapterTracker: session => ({
        onWillStartSession: () => void this.#running.add(session.id),
        onDidSendMessage: (message: DebugProtocol.Event) => {
          if (message.type === "event" && message.event === "stopped")
            reportRejection(this.#update(session));
        },
        onWillStopSession: () => this.#remove(session),
      }),
    });
  }

  /** The number of events before which the debugger stands; undefined without a session. */
  getPosition(address: string): number | undefined {
    return this.#positions.get(address);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }

  async #update(session: DebugSession): Promise<void> {
    const request = { expression: "position", context: "watch" };
    const body = (await session.customRequest("evaluate", request).then(undefined, error => {
      if (this.#running.has(session.id)) throw error;
    })) as DebugProtocol.EvaluateResponse["body"] | undefined;
    // the session may have ended in the meantime
    if (!body || !this.#running.has(session.id)) return;
    const address = getAddress(session);
    this.#positions.set(address, Number(body.result));
    this.#changed.fire(address);
  }

  #remove(session: DebugSession): void {
    this.#running.delete(session.id);
    const address = getAddress(session);
    if (this.#positions.delete(address)) this.#changed.fire(address);
  }
}

const getAddress = ({ configuration }: DebugSession): string =>
  Uri.parse(String(configuration["transcript"]), true).toString();
