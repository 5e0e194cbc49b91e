/**
 * The local socket of a trainer: sends the trainer's events to every attached client and passes on
 * the clients' requests. Only the user who runs the trainer may connect.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { createTemporaryFolder } from "../storage/temporaryFolders.ts";
import { createServer, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { createSocketChannel, type Channel } from "../channel/channel.ts";
import type {
  TrainerClientMessages,
  TrainerEvent,
  TrainerMessages,
  TrainerRequest,
  TrainerStatus,
} from "../protocol/trainer.ts";

type ClientChannel = Channel<TrainerMessages, TrainerClientMessages>;

const requests: readonly TrainerRequest[] = ["pause", "resume", "stop", "status"];

/** Milliseconds that a client has to read the last events before it is disconnected. */
const closeTimeout = 1_000;

export interface TrainerSocket {
  /** The path of a Unix socket or a named pipe. */
  readonly address: string;
  /** Sends an event to all attached clients. */
  publish(event: TrainerEvent): void;
  /** Sends what was published before, then disconnects all clients. */
  close(): Promise<void>;
}

/**
 * Listens at a new address. A client that attaches receives the status first, and the status again
 * as the answer to each of its requests, after `handleRequest` has run.
 */
export async function openTrainerSocket(
  getStatus: () => TrainerStatus,
  handleRequest: (request: TrainerRequest) => void,
): Promise<TrainerSocket> {
  const sockets = new Set<Socket>();
  const channels = new Set<ClientChannel>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    const channel: ClientChannel = createSocketChannel(socket);
    channels.add(channel);
    channel.onClose(() => channels.delete(channel));
    for (const request of requests)
      channel.handle(request, () => {
        handleRequest(request);
        return getStatus();
      });
    channel.open();
    channel.notify("event", { kind: "status", status: getStatus() });
  });
  const address = createAddress();
  server.listen(address);
  await once(server, "listening");
  server.on("error", error => console.error(error)); // one connection failed; the others go on
  if (process.platform !== "win32") chmodSync(address, 0o600);
  return {
    address,
    publish: event => channels.forEach(it => it.notify("event", event)),
    async close() {
      const closed = once(server, "close");
      server.close();
      // a client that does not read must not keep the trainer from exiting
      const timer = setTimeout(() => sockets.forEach(it => it.destroy()), closeTimeout);
      await Promise.all([closed, ...[...channels].map(it => it.close())]);
      clearTimeout(timer);
      if (process.platform !== "win32") rmSync(dirname(address), { recursive: true, force: true });
    },
  };
}

/**
 * A new address: a named pipe, or a socket in a temporary folder of its own, because the path of a
 * run folder may be longer than the path of a socket can be.
 */
const createAddress = () =>
  process.platform === "win32"
    ? `\\\\.\\pipe\\prove-${randomUUID()}`
    : join(createTemporaryFolder("trainer"), "trainer.sock");
