/** The socket of a trainer: events and requests of attached clients, and clients that misbehave. */
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TrainerEvent, TrainerRequest, TrainerStatus } from "../../src/protocol/trainer.ts";
import { attachTrainer, type Attachment } from "../../src/run/attach.ts";
import { acquireTrainerLock } from "../../src/run/locks.ts";
import { openTrainerSocket, type TrainerSocket } from "../../src/train/trainerSocket.ts";

let folder: string;
let status: TrainerStatus;
let requests: TrainerRequest[];
let socket: TrainerSocket;
let releaseLock: () => void;
let closing: Promise<void> | undefined;
const closeSocket = () => (closing ??= socket.close());

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "prove-socket-"));
  status = {
    state: "training",
    run: folder,
    pid: process.pid,
    method: "grpo",
    step: 0,
    spent: 0,
    doing: "step 0",
  };
  requests = [];
  closing = undefined;
  socket = await openTrainerSocket(
    () => status,
    request => {
      requests.push(request);
      if (request === "pause") status = { ...status, state: "paused" };
    },
  );
  releaseLock = acquireTrainerLock(folder, socket.address);
});
afterEach(async () => {
  releaseLock();
  await closeSocket();
  rmSync(folder, { recursive: true });
});

const attach = async (): Promise<Attachment> => (await attachTrainer(folder))!;
const saved = (step: number): TrainerEvent => ({ kind: "saved", step, folder: `${step}` });
async function readEvents(attachment: Attachment): Promise<TrainerEvent[]> {
  const events: TrainerEvent[] = [];
  for await (const event of attachment.events) events.push(event);
  return events;
}

async function connectRaw(): Promise<Socket> {
  const client = connect(socket.address);
  await once(client, "connect");
  return client.on("error", () => {}); // a refused client may find its connection reset
}

describe("an attached client", () => {
  test("receives the status first and then every event, like the other clients", async () => {
    const [one, other] = [await attach(), await attach()];
    await Promise.all([one.request("status"), other.request("status")]);
    socket.publish(saved(1));
    status = { ...status, step: 1 };
    const late = await attach();
    await late.request("status");
    socket.publish(saved(2));
    await closeSocket();
    const first = { kind: "status", status: { ...status, step: 0 } };
    expect(await readEvents(one)).toEqual([first, saved(1), saved(2)]);
    expect(await readEvents(other)).toEqual([first, saved(1), saved(2)]);
    expect(await readEvents(late)).toEqual([{ kind: "status", status }, saved(2)]);
  });

  test("gets the status after its request, and an error once the trainer has exited", async () => {
    const client = await attach();
    expect(await client.request("pause")).toMatchObject({ state: "paused" });
    expect(requests).toEqual(["pause"]);
    await closeSocket();
    await expect(client.request("resume")).rejects.toMatchObject({
      what: "the trainer has exited",
    });
  });

  test("is the same user", () => {
    // Windows has a pipe instead, which other users may not write to
    const mode = process.platform === "win32" ? 0o600 : statSync(socket.address).mode & 0o777;
    expect(mode).toBe(0o600);
  });
});

describe("the trainer is not disturbed by a client that", () => {
  const message = (content: string) => `Content-Length: ${content.length}\r\n\r\n${content}`;
  /** The client sends this and disconnects; another one is served as ever. */
  const check = async (text: string) => {
    const watcher = await attach();
    const client = await connectRaw();
    client.end(text);
    await once(client.resume(), "close");
    expect(await watcher.request("status")).toEqual(status);
    expect(requests.filter(it => it !== "status")).toEqual([]);
    socket.publish(saved(1));
    await closeSocket();
    expect((await readEvents(watcher)).at(-1)).toEqual(saved(1));
  };

  test("sends nothing", () => check(""));
  test("sends text", () => check("hello\r\n\r\nhello"));
  test("sends a line of JSON", () => check('{"id":1,"ask":"stop"}\n'));
  test("disconnects in the middle of a header", () => check("Content-Le"));
  test("disconnects in the middle of a message", () =>
    check('Content-Length: 1000\r\n\r\n{"jsonrpc":"2.0","method":"stop"'));
  test("sends a message that is not JSON", () => check(message("stop")));
  test("sends JSON that is not a message", () => check(message("null") + message('{"stop":1}')));
  test("sends a length below zero", () => check("Content-Length: -1\r\n\r\n{}"));
  test("sends an unknown request", () =>
    check(message('{"jsonrpc":"2.0","id":1,"method":"destroy","params":{}}')));
  test("sends requests that share an id", () =>
    check(message('{"jsonrpc":"2.0","id":1,"method":"status","params":{}}').repeat(5)));
  test("sends wrong parameters", () =>
    check(message('{"jsonrpc":"2.0","id":1,"method":"stop","params":[1,2,3]}')));
  test("answers what was not asked", () =>
    check(message('{"jsonrpc":"2.0","id":9,"result":{}}').repeat(2)));

  test("does not read", async () => {
    const client = await connectRaw();
    client.pause();
    for (let step = 0; step < 20_000; step++) socket.publish(saved(step));
    const watcher = await attach();
    expect(await watcher.request("status")).toEqual(status);
    await closeSocket();
    client.destroy();
  });

  test("keeps the connection open after text", async () => {
    const client = await connectRaw();
    client.write("hello\r\n\r\n");
    await expect(once(client.resume(), "close")).resolves.toBeDefined();
  });
});
