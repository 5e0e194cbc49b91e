/**
 * The socket a trainer listens on: facts to whoever is attached, requests from them. Only this user
 * may connect.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { onLines } from "../run/lineSocket.ts";
import type {
  TrainerEvent,
  TrainerRequest,
  TrainerSays,
  TrainerStatus,
} from "../protocol/trainer.ts";

const asked = z.object({ id: z.int(), ask: z.enum(["pause", "resume", "stop", "status"]) });

export interface Line {
  readonly address: string;
  say(fact: TrainerEvent): void;
  /** Says what is still unsaid, then hangs up. */
  close(): Promise<void>;
}

/**
 * Listens. `status` answers every request, and is the first thing said to whoever attaches; `ask`
 * takes a request up.
 */
export async function listen(
  status: () => TrainerStatus,
  ask: (request: TrainerRequest) => void,
): Promise<Line> {
  const attached = new Set<Socket>();
  const write = (socket: Socket, says: TrainerSays) =>
    void socket.write(`${JSON.stringify(says)}\n`);
  const server = createServer(socket => {
    attached.add(socket);
    socket.on("close", () => attached.delete(socket));
    write(socket, { kind: "status", status: status() });
    onLines(socket, text => {
      const parsed = asked.safeParse(jsonOf(text));
      if (!parsed.success) return void socket.destroy(); // it speaks another language
      if (parsed.data.ask !== "status") ask(parsed.data.ask);
      write(socket, { kind: "answer", id: parsed.data.id, status: status() });
    });
  });
  const address = addressOf();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, resolve);
  });
  if (process.platform !== "win32") chmodSync(address, 0o600);
  return {
    address,
    say: fact => attached.forEach(it => write(it, fact)),
    async close() {
      const closed = new Promise<void>(resolve => void server.close(() => resolve()));
      for (const it of attached) it.end();
      await closed;
      if (process.platform !== "win32") rmSync(dirname(address), { recursive: true, force: true });
    },
  };
}

/**
 * A fresh address: a named pipe, or a socket in a folder of its own, because a run folder's path
 * may be longer than a socket's can be.
 */
const addressOf = () =>
  process.platform === "win32"
    ? `\\\\.\\pipe\\prove-${randomUUID()}`
    : join(mkdtempSync(join(tmpdir(), "prove-")), "trainer.sock");

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // is refused as what it is not
  }
}
