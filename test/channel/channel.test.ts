/** A channel over a socket: requests, errors, cancellation, notifications, and disconnection. */
import { createServer, connect, type Socket } from "node:net";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSocketChannel, type Channel } from "../../src/channel/channel.ts";
import { UserError } from "../../src/userError.ts";

type ServerMessages = {
  requests: {
    double: { params: { n: number }; result: { n: number } };
    fail: { params: { userError: boolean }; result: object };
    wait: { params: object; result: object };
  };
  notifications: object;
};
type ClientMessages = { requests: object; notifications: { step: { n: number } } };

let client: Channel<ClientMessages, ServerMessages>;
let server: Channel<ServerMessages, ClientMessages>;
let serverSocket: Socket;
let close: () => void;
let wasCanceled: boolean;

beforeEach(async () => {
  wasCanceled = false;
  const address =
    process.platform === "win32"
      ? `\\\\.\\pipe\\prove-channel-${process.pid}`
      : join(mkdtempSync(join(tmpdir(), "prove-")), "s");
  const listener = createServer();
  await new Promise<void>(resolve => listener.listen(address, resolve));
  const accepted = new Promise<Socket>(resolve => listener.once("connection", resolve));
  client = createSocketChannel(connect(address));
  serverSocket = await accepted;
  server = createSocketChannel(serverSocket);
  server.handle("double", ({ n }) => ({ n: 2 * n }));
  server.handle("fail", ({ userError }) => {
    throw userError ? new UserError("the disk is full", "free some space") : new Error("a bug");
  });
  server.handle("wait", (_, signal) => {
    return new Promise((_resolve, reject) =>
      signal.addEventListener("abort", () => {
        wasCanceled = true;
        reject(new Error("stopped"));
      }),
    );
  });
  server.open();
  close = () => listener.close();
});
afterEach(async () => {
  await Promise.all([client.close(), server.close()]);
  close();
});

test("a request is answered", async () => {
  client.open();
  expect(await client.request("double", { n: 21 })).toEqual({ n: 42 });
});

test("a UserError stays one, and another error keeps its message", async () => {
  client.open();
  const error: unknown = await client.request("fail", { userError: true }).catch(it => it);
  expect(error).toBeInstanceOf(UserError);
  expect(error).toMatchObject({ what: "the disk is full", remedy: "free some space" });
  await expect(client.request("fail", { userError: false })).rejects.toThrow("a bug");
});

test("a cancellation reaches the handler, and the request rejects with its reason", async () => {
  client.open();
  const controller = new AbortController();
  const waiting = client.request("wait", {}, controller.signal);
  await client.request("double", { n: 1 });
  controller.abort(new Error("no longer needed"));
  await expect(waiting).rejects.toThrow("no longer needed");
  expect(wasCanceled).toBe(true);
  await expect(client.request("wait", {}, controller.signal)).rejects.toThrow("no longer needed");
});

test("notifications that were sent before closing arrive in order", async () => {
  const steps: number[] = [];
  const closed = new Promise<void>(resolve => client.onClose(resolve));
  client.listen("step", ({ n }) => void steps.push(n));
  client.open();
  for (let n = 1; n <= 100; n++) server.notify("step", { n });
  await server.close();
  await closed;
  expect(steps).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
});

test("a disconnection rejects open requests and is reported once", async () => {
  let closings = 0;
  client.onClose(() => closings++);
  client.open();
  const waiting = client.request("wait", {});
  waiting.catch(() => {});
  await client.request("double", { n: 1 });
  serverSocket.destroy();
  await expect(waiting).rejects.toThrow(/.+/);
  expect(closings).toBe(1);
  await expect(client.request("double", { n: 1 })).rejects.toThrow("has gone");
  client.notify("step" as never, {} as never);
});

test("text that is not JSON-RPC closes the channel", async () => {
  client.open();
  const closed = new Promise<void>(resolve => client.onClose(resolve));
  serverSocket.write("hello\r\n\r\n");
  await expect(closed).resolves.toBeUndefined();
});
