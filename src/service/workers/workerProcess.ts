/**
 * Runs a worker process of a service: its sessions are those whose ids' hash is its index. The
 * supervisor accepts the connections of clients and passes each to one of the workers, with the
 * messages that are defined here.
 */
import { rmSync } from "node:fs";
import type { Server, Socket } from "node:net";
import { createUnboundServer, type HttpServerOptions } from "../httpServer.ts";
import { SessionJournal } from "../sessions/journal.ts";
import type { SessionTable } from "../sessions/sessionTable.ts";
import { PeerConnections, createPeerServer } from "./peerConnections.ts";

const reportOpenEveryMs = 100;

/**
 * Runs until the supervisor ends the worker, or has ended itself. `onStart` receives the table of
 * sessions.
 */
export async function runWorker(
  options: Omit<HttpServerOptions, "port" | "sessions" | "journal">,
  onStart: (sessions: SessionTable) => void,
): Promise<void> {
  const setup = await receiveSetup();
  let resolveRoom: ((hasRoom: boolean) => void)[] = [];
  const peers = new PeerConnections({
    index: setup.index,
    addresses: setup.addresses,
    requestRoom: () =>
      new Promise(resolve => {
        if (resolveRoom.push(resolve) === 1) send({ kind: "room" });
      }),
  });
  const journal = new SessionJournal(setup.journal);
  const service = createUnboundServer({ ...options, journal }, { peers, share: setup.share });
  const { server, sessions: table } = service;
  onStart(table);
  const peerServer = createPeerServer(service);
  await listenAt(peerServer, setup.addresses[setup.index]!);
  // a server that does not listen does not end slow requests
  await listenAt(server, setup.httpAddress);
  const ended = new Promise<void>(resolve => {
    process.once("disconnect", resolve);
    process.on("message", (message: SupervisorMessage, connection?: Socket) => {
      switch (message.kind) {
        case "connection":
          if (connection) server.emit("connection", connection);
          send({ kind: "connected", number: message.number });
          break;
        case "granted": {
          table.share += message.sessions;
          const waiting = resolveRoom;
          resolveRoom = [];
          for (const it of waiting) it(message.sessions > 0);
          break;
        }
        case "give-back":
          send({ kind: "gave-back", sessions: giveBack(table) });
          break;
        case "drain":
          service.startDraining();
          setInterval(
            () => send({ kind: "open-sessions", sessions: table.size }),
            reportOpenEveryMs,
          ).unref();
          break;
        case "end":
          resolve();
          break;
        case "start":
          break;
        default:
          message satisfies never;
      }
    });
  });
  send({ kind: "ready" });
  await ended;
  peers.close();
  peerServer.close();
  await service.close();
  if (process.connected) process.disconnect();
}

/** Gives up half of what the table does not use, and says how much. */
function giveBack(table: SessionTable): number {
  const sessions = Math.max(0, Math.ceil(table.room / 2));
  table.share -= sessions;
  return sessions;
}

function send(message: WorkerMessage): void {
  // the supervisor may have ended, which ends this process, too
  if (process.connected) process.send!(message, undefined, undefined, () => {});
}

const receiveSetup = () =>
  new Promise<WorkerSetup>((resolve, reject) => {
    process.once("disconnect", () => reject(new Error("the supervisor has ended")));
    process.once("message", (message: SupervisorMessage) => {
      if (message.kind === "start") resolve(message.setup);
    });
  });

/** Listens at an address of the operating system, which a worker that was killed has left. */
async function listenAt(server: Server, address: string): Promise<void> {
  if (process.platform !== "win32") rmSync(address, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, resolve);
  });
}

interface WorkerSetup {
  readonly index: number;
  /** Where the workers listen for one another, by their index. */
  readonly addresses: readonly string[];
  /** Where this worker's HTTP server listens; its clients' connections come from the supervisor. */
  readonly httpAddress: string;
  /** How many sessions the worker may open before it asks for room. */
  readonly share: number;
  /** The folder of the journal. */
  readonly journal: string;
}

export type SupervisorMessage =
  | { readonly kind: "start"; readonly setup: WorkerSetup }
  /** Comes with the connection of a client. */
  | { readonly kind: "connection"; readonly number: number }
  /** The answer to `room`. */
  | { readonly kind: "granted"; readonly sessions: number }
  | { readonly kind: "give-back" }
  | { readonly kind: "drain" }
  | { readonly kind: "end" };

export type WorkerMessage =
  | { readonly kind: "ready" }
  /** The worker has the connection with that number, so that the supervisor can let go of it. */
  | { readonly kind: "connected"; readonly number: number }
  /** The worker has no room for another session. */
  | { readonly kind: "room" }
  /** The answer to `give-back`. */
  | { readonly kind: "gave-back"; readonly sessions: number }
  /** Repeated while the service drains. */
  | { readonly kind: "open-sessions"; readonly sessions: number };
