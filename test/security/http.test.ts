/** Attacks through the HTTP service, from a web page, another machine or a faulty client. */
import { connect } from "node:net";
import { hostname } from "node:os";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { sendRequest, countingCatalog } from "../service/countingService.ts";

const catalog = countingCatalog();
const token = "correct-horse-battery-staple";
const headers = { authorization: `Bearer ${token}` };
let server: RunningHttpServer;
let bugs: unknown[];
beforeEach(async () => {
  bugs = [];
  server = await startHttpServer({
    catalog,
    host: "0.0.0.0",
    token,
    onBug: error => bugs.push(error),
    allowedHosts: ["prove.internal"],
  });
});
afterEach(() => server.close());
const url = (path: string) => `${server.url.replace("0.0.0.0", "127.0.0.1")}${path}`;

const hosts: [host: string, status: number][] = [
  ["evil.example.com", 403],
  [`${hostname()}.evil.example.com`, 403],
  ["0.0.0.0.evil.example.com", 403],
  ["prove.internal.evil.example.com", 403],
  ["evil.example.com:8970", 403],
  [hostname(), 200],
  [`${hostname()}.local:8970`, 200],
  ["prove.internal", 200],
  ["127.0.0.1", 200],
];
test.each(hosts)(
  "another site's name that resolves to this machine: Host %s",
  async (host, status) => {
    const response = await sendRequest(url("/health"), "GET", { headers: { ...headers, host } });
    expect(response.status).toBe(status);
  },
);

test("a number that is used again does not return the result of another call", async () => {
  const session = createSessionId();
  const call = (body: object) =>
    sendRequest(url(`/v1/sessions/${session}/call`), "POST", { headers, body });
  await sendRequest(url(`/v1/sessions/${session}`), "PUT", { headers, body: {} });
  const add = { seq: 1, name: "counting_add", arguments: { counter_id: "cnt_1", by: 2 } };
  const first = await call(add);
  expect(first.json.structured.value).toBe(2);
  // the order of keys does not matter
  const repeated = { arguments: { by: 2, counter_id: "cnt_1" }, name: "counting_add", seq: 1 };
  expect((await call(repeated)).text).toBe(first.text);
  for (const other of [
    { ...add, arguments: { counter_id: "cnt_1", by: 50 } },
    { seq: 1, name: "counting_list" },
  ]) {
    const response = await call(other);
    expect(response.status).toBe(409);
    expect(response.json.error).toEqual({
      code: "OUT_OF_ORDER",
      message: expect.stringContaining("seq 1 was used for another request: the next number is 2"),
    });
  }
});

test("a body that is cut off is the client's error, not a bug of the service", async () => {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  const closed = new Promise(resolve => socket.once("close", resolve));
  const path = `/v1/sessions/${createSessionId()}`;
  socket.write(
    `PUT ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: 100\r\n\r\n{"seed":`,
    () => socket.destroy(),
  );
  await closed;
  // closing waits until every request has ended
  await server.close();
  expect(bugs).toEqual([]);
});
