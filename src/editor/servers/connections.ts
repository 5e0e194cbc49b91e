/**
 * The third-party servers that the workspace's `mcp.json` names, and the open sessions on them.
 * Each session is a process of its own, started on request and ended when the session is closed.
 */
import {
  CancellationError,
  EventEmitter,
  Uri,
  type Disposable,
  type Event,
  type Memento,
} from "vscode";
import type { CompletedCall } from "../../environment/outcome.ts";
import { canonicalJson, type JsonObject } from "../../environment/json.ts";
import type { ConnectedSession, ReplayDifference } from "../../mcp/connectedSession.ts";
import { hashEntry } from "../../mcp/connected/consents.ts";
import type { ConnectedTool, OmittedTool } from "../../mcp/toolList.ts";
import {
  allowsWrites,
  isRemote,
  needsConsent,
  noServerEntries,
  readServerEntries,
  type ServerEntries,
  type ServerEntry,
} from "../../mcp/mcpConfig.ts";
import { UserError } from "../../userError.ts";
import { formatCount } from "../shared/text.ts";
import { confirm, showProgress, showWarning } from "../shared/notifications.ts";
import { requireTrust, type ProveFolder } from "../shared/proveFolder.ts";
import { reportError } from "../shared/report.ts";
import { describeStart } from "./consent.ts";

export interface Connection {
  readonly number: number;
  readonly entry: ServerEntry;
  readonly session: ConnectedSession;
}

/** What a server lists. */
interface ListedTools {
  readonly tools: readonly ConnectedTool[];
  readonly omitted: readonly OmittedTool[];
}

interface OpenConnection extends Connection {
  /** Stops the server while it starts. */
  readonly controller: AbortController;
}

export class Connections implements Disposable {
  readonly #folder: ProveFolder;
  /** The servers that the person allowed to change things, in this workspace. */
  readonly #consents: Memento;
  readonly #changed = new EventEmitter<void>();
  readonly onDidChange: Event<void> = this.#changed.event;
  readonly #connections = new Map<number, OpenConnection>();
  /** The tools that each server listed when it was last started, by the name of its entry. */
  readonly #tools = new Map<string, ListedTools>();
  #startedCount = 0;

  constructor(folder: ProveFolder, consents: Memento) {
    this.#folder = folder;
    this.#consents = consents;
  }

  /** The file that names the servers; undefined if no folder is open. */
  get file(): Uri | undefined {
    return this.#folder.uri && Uri.joinPath(this.#folder.uri, "mcp.json");
  }

  /** Reads the entries of the file as it is saved now. Throws a `UserError` if it is not valid. */
  readEntries(): ServerEntries {
    const { file } = this;
    return file ? readServerEntries(file.fsPath, this.#folder.workspacePath) : noServerEntries;
  }

  listByEntry(entry: string): readonly Connection[] {
    return [...this.#connections.values()].filter(it => it.entry.name === entry);
  }

  get(number: number): Connection | undefined {
    return this.#connections.get(number);
  }

  listTools(entry: string): ListedTools {
    return this.#tools.get(entry) ?? { tools: [], omitted: [] };
  }

  /**
   * Starts the server of an entry. If its tools may change things, the person is shown the command
   * and asked for consent first.
   */
  async open(entry: ServerEntry): Promise<Connection> {
    requireTrust(`starting ${entry.name}`);
    await this.#requireConsent(entry);
    const controller = new AbortController();
    const { connectServer } = await import("../../mcp/connectedSession.ts");
    const session = await showStarting(entry.name, controller, () =>
      connectServer(entry, controller.signal),
    );
    const { omittedTools } = session;
    if (omittedTools.length > 0)
      void showWarning(
        `${entry.name} lists ${formatCount(omittedTools.length, "tool")} that cannot be offered. The Servers view says why.`,
      );
    return this.#addConnection(session, controller);
  }

  async call(connection: Connection, name: string, args: JsonObject): Promise<CompletedCall> {
    await this.#requireOpen(connection).session.call(name, args);
    this.#changed.fire();
    return connection.session.calls.at(-1)!;
  }

  async reset(connection: Connection): Promise<void> {
    const { session, controller } = this.#requireOpen(connection);
    try {
      await showStarting(connection.entry.name, controller, () => session.restart(0));
    } catch (error) {
      // its process has ended
      this.#connections.delete(connection.number);
      throw error;
    } finally {
      this.#changed.fire();
    }
  }

  /**
   * Starts another process and repeats the calls of a session in it. Returns the calls that were
   * answered differently.
   */
  async fork(connection: Connection): Promise<readonly ReplayDifference[]> {
    const { session } = this.#requireOpen(connection);
    const controller = new AbortController();
    const fork = await showStarting(connection.entry.name, controller, () =>
      session.fork(controller.signal),
    );
    this.#addConnection(fork.session, controller);
    return fork.differences;
  }

  async close(connection: Connection): Promise<void> {
    const { session } = this.#requireOpen(connection);
    this.#connections.delete(connection.number);
    this.#changed.fire();
    await session.close();
  }

  dispose(): void {
    for (const { session } of this.#connections.values()) session.close().catch(reportError);
    this.#connections.clear();
    this.#changed.dispose();
  }

  #addConnection(session: ConnectedSession, controller: AbortController): Connection {
    const connection = { number: ++this.#startedCount, entry: session.entry, session, controller };
    this.#connections.set(connection.number, connection);
    this.#tools.set(session.entry.name, {
      tools: [...session.tools.values()],
      omitted: session.omittedTools,
    });
    this.#changed.fire();
    return connection;
  }

  #requireOpen({ number, entry }: Connection): OpenConnection {
    const connection = this.#connections.get(number);
    if (!connection)
      throw new UserError(`session ${number} of ${entry.name} was closed`, "open another one");
    return connection;
  }

  /** Asks for consent, once for each version of an entry. */
  async #requireConsent(entry: ServerEntry): Promise<void> {
    // keys without an effect do not change what is agreed to
    const { ignoredKeys: _, ...decisive } = entry;
    const key = isRemote(entry)
      ? `remote ${hashEntry(entry)}`
      : `disposable ${canonicalJson(decisive)}`;
    if (!needsConsent(entry) || this.#consents.get(key) === true) return;
    const isAllowed = await confirm({
      question: `${isRemote(entry) ? "Connect to" : "Start"} ${entry.name}${allowsWrites(entry) ? " and let its tools make changes" : ""}?`,
      detail: describeStart(entry),
      button: isRemote(entry) ? "Connect" : "Start",
    });
    if (!isAllowed) throw new CancellationError();
    await this.#consents.update(key, true);
  }
}

/** Shows progress while a server starts; cancelling stops it. */
const showStarting = <T>(
  name: string,
  controller: AbortController,
  start: () => Promise<T>,
): Promise<T> =>
  showProgress(`PROVE: Starting ${name}`, async (_, token) => {
    const subscription = token.onCancellationRequested(() =>
      controller.abort(new CancellationError()),
    );
    try {
      return await start();
    } finally {
      subscription.dispose();
    }
  });
