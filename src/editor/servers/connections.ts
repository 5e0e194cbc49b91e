/**
 * The third-party servers of the workspace's `mcp.json` and the sessions that are open on them:
 * each is a process of its own, started when a person asks and ended with its session. Knows
 * neither trees nor how arguments are asked for.
 */
import {
  CancellationError,
  EventEmitter,
  ProgressLocation,
  Uri,
  window,
  type Disposable,
  type Event,
  type Memento,
} from "vscode";
import type { CompletedCall } from "../../environment/outcome.ts";
import { canonical, type JsonObject } from "../../environment/json.ts";
import type { ConnectedSession, ConnectedTool, Difference } from "../../mcp/connect.ts";
import { readEntries, type Entry } from "../../mcp/entries.ts";
import { UserError } from "../../userError.ts";
import { visible } from "../../trajectory/visible.ts";
import { requireTrust, type ProveFolder } from "../shared/proveFolder.ts";
import { reportError } from "../shared/report.ts";

export interface Connection {
  readonly number: number;
  readonly entry: Entry;
  readonly session: ConnectedSession;
}

interface OpenConnection extends Connection {
  readonly stop: AbortController;
}

export class Connections implements Disposable {
  readonly #folder: ProveFolder;
  /** What a person has agreed to in this workspace. */
  readonly #consents: Memento;
  readonly #changed = new EventEmitter<void>();
  readonly onDidChange: Event<void> = this.#changed.event;
  readonly #sessions = new Map<number, OpenConnection>();
  /** The tools that a server listed when it last was started, by entry name. */
  readonly #tools = new Map<string, readonly ConnectedTool[]>();
  #opened = 0;

  constructor(folder: ProveFolder, agreed: Memento) {
    this.#folder = folder;
    this.#consents = agreed;
  }

  /** The file that names them; undefined where no folder is open. */
  get file(): Uri | undefined {
    return this.#folder.uri && Uri.joinPath(this.#folder.uri, "mcp.json");
  }

  /** The entries of the file as it is saved now. Throws a `Mistake` where it does not fit. */
  readEntries(): readonly Entry[] {
    const { file } = this;
    return file ? [...readEntries(file.fsPath, this.#folder.workspacePath).values()] : [];
  }

  listByEntry(entry: string): readonly Connection[] {
    return [...this.#sessions.values()].filter(it => it.entry.name === entry);
  }

  get(number: number): Connection | undefined {
    return this.#sessions.get(number);
  }

  listTools(entry: string): readonly ConnectedTool[] {
    return this.#tools.get(entry) ?? [];
  }

  /**
   * Starts the server of an entry. Whatever may be changed on it is agreed to first, by a person
   * who sees what is started.
   */
  async open(entry: Entry): Promise<Connection> {
    requireTrust(`starting ${entry.name}`);
    await this.#requireConsent(entry);
    const stop = new AbortController();
    const { connect } = await import("../../mcp/connect.ts");
    const session = await showStarting(entry.name, stop, () => connect(entry, stop.signal));
    return this.#addConnection(session, stop);
  }

  async call(live: Connection, name: string, args: JsonObject): Promise<CompletedCall> {
    await this.#requireOpen(live).session.call(name, args);
    this.#changed.fire();
    return live.session.calls.at(-1)!;
  }

  async reset(live: Connection): Promise<void> {
    const { session, stop } = this.#requireOpen(live);
    try {
      await showStarting(live.entry.name, stop, () => session.back(0));
    } catch (error) {
      // there is no server behind it any more
      this.#sessions.delete(live.number);
      throw error;
    } finally {
      this.#changed.fire();
    }
  }

  /** Another process, brought as far by the same calls; and what it answered otherwise. */
  async fork(live: Connection): Promise<readonly Difference[]> {
    const { session } = this.#requireOpen(live);
    const stop = new AbortController();
    const fork = await showStarting(live.entry.name, stop, () => session.fork(stop.signal));
    this.#addConnection(fork.session, stop);
    return fork.differences;
  }

  async close(live: Connection): Promise<void> {
    const { session } = this.#requireOpen(live);
    this.#sessions.delete(live.number);
    this.#changed.fire();
    await session.close();
  }

  dispose(): void {
    for (const { session } of this.#sessions.values()) session.close().catch(reportError);
    this.#sessions.clear();
    this.#changed.dispose();
  }

  #addConnection(session: ConnectedSession, stop: AbortController): Connection {
    const held = { number: ++this.#opened, entry: session.entry, session, stop };
    this.#sessions.set(held.number, held);
    this.#tools.set(session.entry.name, [...session.tools.values()]);
    this.#changed.fire();
    return held;
  }

  #requireOpen({ number, entry }: Connection): OpenConnection {
    const held = this.#sessions.get(number);
    if (!held)
      throw new UserError(`session ${number} of ${entry.name} was closed`, "open another one");
    return held;
  }

  /** Once for each entry as it is written now. */
  async #requireConsent(entry: Entry): Promise<void> {
    const key = `disposable ${canonical(entry)}`;
    if (!entry.isDisposable || this.#consents.get(key) === true) return;
    const command = [entry.command, ...entry.args]
      .map(it => (/\s/.test(it) ? JSON.stringify(it) : it))
      .join(" ");
    const detail = `${visible(command)}\n\nin ${visible(entry.cwd)}\n\nIt is marked as disposable: every tool it has may be called, and whatever it can reach may be changed or lost.`;
    const chosen = await window.showWarningMessage(
      `Start ${entry.name}, and let its tools change things?`,
      { modal: true, detail },
      "Start",
    );
    if (chosen !== "Start") throw new CancellationError();
    await this.#consents.update(key, true);
  }
}

/** Shows that a server is starting; cancelling ends it. */
const showStarting = <T>(
  name: string,
  stop: AbortController,
  start: () => Promise<T>,
): Promise<T> =>
  Promise.resolve(
    window.withProgress(
      {
        location: ProgressLocation.Notification,
        title: `PROVE: starting ${name}`,
        cancellable: true,
      },
      async (_, token) => {
        const listening = token.onCancellationRequested(() => stop.abort(new CancellationError()));
        try {
          return await start();
        } finally {
          listening.dispose();
        }
      },
    ),
  );
