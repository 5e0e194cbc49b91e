/** Which requests the HTTP service refuses: by Host, Origin, token, content type, size and path. */
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { UserError } from "../../src/userError.ts";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { readToken } from "../../src/service/requestGuard.ts";
import { sendRequest, countingCatalog } from "./countingService.ts";

const catalog = countingCatalog();
const id = createSessionId();
const token = "correct-horse-battery-staple";

describe("on loopback without a token", () => {
  let serving: RunningHttpServer;
  beforeAll(async () => {
    serving = await startHttpServer({ catalog });
    await sendRequest(`${serving.url}/v1/sessions/${id}`, "PUT", { body: {} });
  });
  afterAll(() => serving.close());

  /** Every kind of route. */
  const routes = (): [string, string, object?][] => [
    ["GET", `${serving.url}/health`],
    ["GET", `${serving.url}/v1/catalog`],
    ["PUT", `${serving.url}/v1/sessions/${id}`, {}],
    ["POST", `${serving.url}/v1/sessions/${id}/call`, { seq: 1, name: "counting_list" }],
    ["GET", `${serving.url}/v1/sessions/${id}/state`],
    ["POST", `${serving.url}/v1/sessions/${id}/reset`, {}],
    ["DELETE", `${serving.url}/v1/sessions/${createSessionId()}`],
    ["POST", `${serving.url}/s/${id}/counting/mcp`, { jsonrpc: "2.0", id: 1, method: "ping" }],
  ];
  const statuses = (headers: Record<string, string>) =>
    Promise.all(
      routes().map(
        async ([method, url, body]) => (await sendRequest(url, method, { headers, body })).status,
      ),
    );

  test.each(["localhost", "localhost:8970", "127.0.0.1", "[::1]:1"])(
    "answers every route for the Host %s",
    async host => {
      expect(await statuses({ host })).toEqual(routes().map(() => 200));
    },
  );

  test.each([
    "evil.example.com",
    "127.0.0.1.evil.example.com",
    "localhost.evil.example.com",
    "evil.example.com:80",
    "user@localhost",
    "localhost/..",
    "localhost:",
    "local host",
  ])("refuses every route for the Host %j", async host => {
    expect(await statuses({ host })).toEqual(routes().map(() => 403));
  });

  test.each([
    "https://evil.example.com",
    "null",
    "http://localhost.evil.example.com",
    "vscode-webview://abc",
    "file://",
    "http://localhost/page",
  ])("refuses every route for the Origin %s", async origin => {
    expect(await statuses({ origin })).toEqual(routes().map(() => 403));
  });

  test("answers a page of this machine without CORS headers", async () => {
    for (const [method, url, body] of routes()) {
      const response = await sendRequest(url, method, {
        headers: { origin: "http://localhost:3000" },
        body,
      });
      expect(response.status).toBe(200);
      expect(Object.keys(response.headers).filter(it => it.startsWith("access-control-"))).toEqual(
        [],
      );
    }
    const preflight = await sendRequest(`${serving.url}/v1/sessions/${id}/call`, "OPTIONS", {
      headers: { origin: "http://localhost:3000", "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(405);
    expect(Object.keys(preflight.headers).filter(it => it.startsWith("access-control-"))).toEqual(
      [],
    );
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "text/plain; application/json",
    "",
  ])("refuses a body of type %j", async type => {
    const posts = routes().filter(([method]) => method === "POST" || method === "PUT");
    const got = await Promise.all(
      posts.map(
        async ([method, url, body]) =>
          (await sendRequest(url, method, { headers: { "content-type": type }, body })).status,
      ),
    );
    expect(got).toEqual(posts.map(() => 415));
  });

  test("names the methods that an address answers, whatever the body is", async () => {
    const { status, headers } = await sendRequest(`${serving.url}/health`, "PUT");
    expect([status, headers["allow"]]).toEqual([405, "GET"]);
  });

  test("accepts JSON with a charset, and refuses invalid JSON", async () => {
    const url = `${serving.url}/v1/sessions/${id}/reset`;
    expect(
      (
        await sendRequest(url, "POST", {
          headers: { "content-type": "application/json; charset=utf-8" },
          body: {},
        })
      ).status,
    ).toBe(200);
    expect((await sendRequest(url, "POST", { body: "{" })).json.error).toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/^the body is not JSON/),
    });
    expect((await sendRequest(url, "POST", { body: "" })).status).toBe(400);
  });

  test("refuses bodies of more than eight megabytes, announced or not", async () => {
    const url = new URL(`${serving.url}/v1/sessions/${id}/restore`);
    expect(
      (
        await sendRequest(url.href, "POST", {
          headers: { "content-length": String(9 * 2 ** 20) },
          body: "{",
        })
      ).json.error.code,
    ).toBe("TOO_LARGE");
    const socket = connect(Number(url.port), "127.0.0.1").setEncoding("latin1");
    socket.on("error", () => {});
    socket.write(
      `POST ${url.pathname} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const piece = "x".repeat(2 ** 20);
    for (let i = 0; i < 9; i++) socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
    const head = await new Promise<string>(resolve =>
      socket.once("data", (it: string) => resolve(it)),
    );
    socket.destroy();
    expect(head).toMatch(/^HTTP\/1\.1 413 /);
  });

  test.each([
    ["short", "abc"],
    ["126 bits", "0123456789abcdef0123456789abcde"],
    ["a UUID, of which six bits are fixed", "3f2b8c1e-9d4a-4c6b-8e2f-7a1d5c9b0e3f"],
    ["digits alone, too few", "01234567890123456789012345678901"],
    ["one letter again and again", "a".repeat(40)],
    ["a path", "..%2f..%2f..%2f..%2fetc%2fpasswd"],
    ["__proto__", "__proto__"],
    ["endless", "aB3_".repeat(40)],
  ])("refuses a session id that is %s", async (_, bad) => {
    const response = await sendRequest(`${serving.url}/v1/sessions/${bad}`, "PUT", { body: {} });
    expect(response.status).toBe(400);
    expect(response.json.error).toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/session id/),
    });
  });

  test.each(["q9XbC4nZtR7mK2vLw8yP5a", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"])(
    "takes the session id %s",
    async good => {
      expect(
        (await sendRequest(`${serving.url}/v1/sessions/${good}`, "PUT", { body: {} })).status,
      ).toBe(200);
    },
  );

  test.each([
    "/",
    "//health",
    "/health/",
    "/v1",
    "/s",
    `/s/${id}`,
    `/s/${id}/counting`,
    `/s/${id}/counting/mcp/more`,
    "/v1/sessions",
    "/v1/sessions/",
    "/../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
  ])("serves nothing at %s", async path => {
    const { hostname, port } = new URL(serving.url);
    const socket = connect(Number(port), hostname).setEncoding("latin1");
    socket.end(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    let text = "";
    for await (const it of socket) text += String(it);
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    expect(text).toMatch(/"code":"UNKNOWN_(ROUTE|SESSION)"/);
  });

  test("keeps connections open for the ten minutes that a slow model may need", async () => {
    expect(
      (await sendRequest(`${serving.url}/health`, "GET", { headers: { connection: "keep-alive" } }))
        .headers["keep-alive"],
    ).toBe("timeout=620");
  });
});

test("on loopback behind a proxy answers for an allowed host, and for no other", async () => {
  const serving = await startHttpServer({ catalog, allowedHosts: ["Prove.Example.com"] });
  const getStatus = async (headers: Record<string, string>) =>
    (await sendRequest(`${serving.url}/health`, "GET", { headers })).status;
  for (const host of ["prove.example.com", "PROVE.example.com:8970", "localhost"])
    expect(await getStatus({ host })).toBe(200);
  expect(await getStatus({ origin: "https://prove.example.com" })).toBe(200);
  for (const host of ["evil.example.com", "example.com", "192.168.7.7", `${hostname()}.local`])
    expect(await getStatus({ host })).toBe(403);
  expect(await getStatus({ origin: "https://evil.example.com" })).toBe(403);
  await serving.close();
});

describe("with a token", () => {
  let serving: RunningHttpServer;
  beforeAll(async () => {
    serving = await startHttpServer({ catalog, host: "0.0.0.0", token });
  });
  afterAll(() => serving.close());
  const local = () => serving.url.replace("0.0.0.0", "127.0.0.1");

  test.each([
    ["no token", {}],
    ["another token", { authorization: "Bearer wrong-horse-battery-staple" }],
    ["the beginning of the token", { authorization: `Bearer ${token.slice(0, -1)}` }],
    ["more than the token", { authorization: `Bearer ${token}x` }],
    ["the token alone", { authorization: token }],
    ["the token as a query", {}, `?token=${token}`],
  ])("refuses %s", async (_, headers, query = "") => {
    for (const [method, path] of [
      ["GET", "/health"],
      ["GET", "/v1/catalog"],
      ["PUT", `/v1/sessions/${id}`],
      ["POST", `/s/${id}/counting/mcp`],
      ["GET", "/nowhere"],
    ] as const) {
      const response = await sendRequest(`${local()}${path}${query}`, method, {
        headers,
        ...(method === "GET" ? {} : { body: {} }),
      });
      expect(response.status).toBe(401);
      expect(response.headers["www-authenticate"]).toBe("Bearer");
      expect(response.text).not.toContain(token);
    }
  });

  test.each(["Bearer", "bearer", "BEARER"])("accepts the scheme %s", async scheme => {
    const headers = { authorization: `${scheme} ${token}` };
    expect((await sendRequest(`${local()}/health`, "GET", { headers })).status).toBe(200);
  });

  test("accepts the token for the machine's addresses and names, but not for another domain", async () => {
    const headers = { authorization: `Bearer ${token}` };
    expect((await sendRequest(`${local()}/health`, "GET", { headers })).status).toBe(200);
    expect(
      (
        await sendRequest(`${local()}/health`, "GET", {
          headers: { ...headers, host: "192.168.7.7:8970" },
        })
      ).status,
    ).toBe(200);
    expect(
      (
        await sendRequest(`${local()}/health`, "GET", {
          headers: { ...headers, host: "evil.example.com" },
        })
      ).status,
    ).toBe(403);
  });
});

test.each(["0.0.0.0", "192.168.0.1", "::", "example.com"])(
  "does not listen on %s without a token",
  async host => {
    await expect(startHttpServer({ catalog, host })).rejects.toThrow(
      new UserError(
        `${host} can be reached from other machines and there is no token`,
        "set PROVE_TOKEN, name a file with --token-file, or serve on 127.0.0.1",
      ),
    );
  },
);

describe("a token", () => {
  const file = join(mkdtempSync(join(tmpdir(), "prove-rl-")), "token");
  const write = (text: string, mode: number) => {
    writeFileSync(file, text);
    chmodSync(file, mode);
  };

  test("comes from the environment", () => {
    expect(readToken(token, undefined)).toBe(token);
    expect(readToken(undefined, undefined)).toBeUndefined();
    expect(readToken("", undefined)).toBeUndefined();
  });

  test("comes from a file that only its owner can read, before the environment", () => {
    write(`${token}\n`, 0o600);
    expect(readToken("another-token-from-outside", file)).toBe(token);
  });

  test.each([0o644, 0o640, 0o604, 0o620])(
    "does not come from a file that others can reach (%o)",
    mode => {
      write(token, mode);
      expect(() => readToken(undefined, file)).toThrow(
        new UserError(`others can read ${file}`, `make it yours alone: chmod 600 ${file}`),
      );
    },
  );

  test("that is short, empty or on several lines is an error that does not repeat it", () => {
    for (const bad of ["hunter2", "", "two words of sixteen letters", `${token}\n${token}`]) {
      write(bad, 0o600);
      expect(() => readToken(undefined, file)).toThrow(
        `the token in ${file} is not 16 to 512 letters, digits and signs`,
      );
    }
    expect(() => readToken("hunter2", undefined)).toThrow(/^the token in PROVE_TOKEN is not/);
    expect(() => readToken(undefined, `${file}-is-not-there`)).toThrow(
      /cannot read the token from .*ENOENT/,
    );
  });
});
