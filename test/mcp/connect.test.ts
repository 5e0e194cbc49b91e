/** Sessions on third-party servers: published ones, and one that misbehaves. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { connectServer, type ConnectedSession } from "../../src/mcp/connectedSession.ts";
import type { Timeouts } from "../../src/mcp/serverConnection.ts";
import { parseServerEntries, type ServerEntry } from "../../src/mcp/mcpConfig.ts";

const root = join(import.meta.dirname, "../..");
let folder: string;
const open: ConnectedSession[] = [];
let stop: AbortController;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-connect-"));
  stop = new AbortController();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map(it => it.close()));
  rmSync(folder, { recursive: true, force: true });
});

const getScript = (name: string) =>
  join(root, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
const createEntry = (name: string, more: object): ServerEntry =>
  parseServerEntries(
    JSON.stringify({ servers: { [name]: { command: process.execPath, ...more } } }),
    "prove/mcp.json",
    folder,
  ).entries.get(name)!;
const misbehavingEntry = (manner = "", more: object = {}) =>
  createEntry("rude", {
    args: [join(root, "test/mcp/misbehavingServer.ts"), manner, "${workspaceFolder}/pids"],
    ...more,
  });
/** For what answers in the end, however busy the machine is. */
const generous: Timeouts = { start: 300_000, call: 300_000 };
async function openSession(entry: ServerEntry, limits = generous): Promise<ConnectedSession> {
  const session = await connectServer(entry, stop.signal, limits);
  open.push(session);
  return session;
}
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("server-memory", () => {
  const memory = (more: object) =>
    createEntry("memory", {
      args: [getScript("memory")],
      env: { MEMORY_FILE_PATH: "${workspaceFolder}/memory.jsonl" },
      ...more,
    });
  const ana = { entities: [{ name: "Ana", entityType: "person", observations: ["likes tea"] }] };

  test("lists its tools with their effects", async () => {
    const session = await openSession(memory({}));
    const tools = [...session.tools.values()];
    expect(
      tools.map(it => `${it.name} ${it.effect}${it.destructive ? " destructive" : ""}`),
    ).toEqual([
      "create_entities write",
      "create_relations write",
      "add_observations write",
      "delete_entities write destructive",
      "delete_observations write destructive",
      "delete_relations write destructive",
      "read_graph read",
      "search_nodes read",
      "open_nodes read",
    ]);
    expect(tools[0]).toMatchObject({
      server: "memory",
      inputSchema: { type: "object", required: ["entities"] },
      outputSchema: { type: "object" },
    });
  });

  test("runs only its reads unless it is marked as disposable", async () => {
    const session = await openSession(memory({}));
    expect(await session.call("read_graph", {})).toEqual({
      kind: "ok",
      value: { entities: [], relations: [] },
    });
    expect(await session.call("create_entities", ana)).toEqual({
      kind: "refused",
      type: "permission_denied",
      message: "create_entities is not marked as read-only, and memory has no reset",
      hint: 'add a reset to its entry in prove/mcp.json, which gives each session a copy, or write "disposable": true there if everything it can reach may be changed',
    });
    expect(await session.call("read_graph", {})).toEqual({
      kind: "ok",
      value: { entities: [], relations: [] },
    });
  });

  test("runs writes if it is disposable, with structured values and refusals", async () => {
    const session = await openSession(memory({ disposable: true }));
    expect(await session.call("create_entities", ana)).toEqual({ kind: "ok", value: ana });
    expect(await session.call("search_nodes", { query: "tea" })).toMatchObject({
      kind: "ok",
      value: { entities: [{ name: "Ana" }] },
    });
    const observations = [{ entityName: "Bo", contents: ["x"] }];
    expect(await session.call("add_observations", { observations })).toEqual({
      kind: "refused",
      type: "precondition_failed",
      message: "Entity with name Bo not found",
    });
  });

  test("refuses invalid calls without asking the server", async () => {
    const session = await openSession(memory({ disposable: true }));
    expect(await session.call("create_entities", {})).toMatchObject({
      kind: "bad-arguments",
      message: "missing required argument entities",
    });
    expect(await session.call("create_entities", { entities: [{ name: 7 }] })).toMatchObject({
      kind: "bad-arguments",
      type: "invalid_params",
    });
    expect(await session.call("create_entities", null)).toMatchObject({
      kind: "bad-arguments",
      message: "arguments must be an object",
    });
    expect(await session.call("fly", {})).toMatchObject({
      kind: "unknown-tool",
      message: "there is no tool fly",
    });
  });

  test("keeps its files over a restart, and the replay reports the differences", async () => {
    const session = await openSession(memory({ disposable: true }));
    await session.call("read_graph", {});
    await session.call("create_entities", ana);
    const differences = await session.restart(2);
    expect(differences.map(it => it.call.name)).toEqual(["read_graph", "create_entities"]);
    expect(differences[0]!.newOutcome).toMatchObject({
      kind: "ok",
      value: { entities: [{ name: "Ana" }] },
    });
    expect(session.calls.map(it => it.name)).toEqual(["read_graph", "create_entities"]);
  });
});

describe("server-filesystem", () => {
  const filesystem = () =>
    createEntry("files", {
      args: [getScript("filesystem"), "${workspaceFolder}/play"],
      disposable: true,
    });

  beforeEach(() => {
    mkdirSync(join(folder, "play"));
    writeFileSync(join(folder, "play/note.txt"), "milk, bread");
  });

  test("reads and writes its own folder only", async () => {
    const session = await openSession(filesystem());
    expect(await session.call("read_text_file", { path: join(folder, "play/note.txt") })).toEqual({
      kind: "ok",
      value: { content: "milk, bread" },
    });
    expect(
      await session.call("write_file", { path: join(folder, "play/new.txt"), content: "tea" }),
    ).toMatchObject({ kind: "ok" });
    expect(readFileSync(join(folder, "play/new.txt"), "utf8")).toBe("tea");
    expect(await session.call("read_text_file", { path: "/etc/passwd" })).toMatchObject({
      kind: "refused",
      message: expect.stringMatching(/^Access denied/),
    });
  });
});

describe("server-everything", () => {
  const everything = (more: object = {}) =>
    createEntry("everything", { args: [getScript("everything")], ...more });

  test("returns text as text, structured values as values and images as a description", async () => {
    const session = await openSession(everything());
    expect(await session.call("echo", { message: "hi" })).toEqual({
      kind: "ok",
      value: "Echo: hi",
    });
    expect(await session.call("get-structured-content", { location: "Chicago" })).toMatchObject({
      kind: "ok",
      value: { temperature: 36 },
    });
    const picture = { type: "image", mimeType: "image/png", bytes: expect.any(Number) };
    expect(await session.call("get-tiny-image", {})).toEqual({
      kind: "ok",
      value: [expect.any(String), picture, expect.any(String)],
    });
  });

  test("receives its own environment and PATH only", async () => {
    vi.stubEnv("PROVE_SECRET", "do-not-tell");
    const session = await openSession(everything({ env: { COLOUR: "blue" } }));
    const outcome = (await session.call("get-env", {})) as { value: Record<string, string> };
    // macOS adds variables of its own to every process
    expect(
      Object.keys(outcome.value)
        .filter(it => !it.startsWith("__CF"))
        .toSorted(),
    ).toEqual(["COLOUR", "PATH"]);
    vi.unstubAllEnvs();
  });
});

describe("a server that misbehaves", () => {
  test("works although it prints a greeting and lists its tools twice", async () => {
    const session = await openSession(misbehavingEntry());
    expect(await session.call("count", {})).toEqual({ kind: "ok", value: { n: 1, of: 1 } });
    expect(session.tools.size).toBe(14);
    expect(session.tools.get("silent_about_itself")).toMatchObject({
      effect: "write",
      destructive: true,
      summary: "silent_about_itself",
    });
  });

  test("every way of reporting a failure becomes a refusal with the server's message", async () => {
    const session = await openSession(misbehavingEntry());
    expect(await session.call("fail", {})).toEqual({
      kind: "refused",
      type: "precondition_failed",
      message: "the moon is in the wrong house",
    });
    expect(await session.call("shrug", {})).toEqual({
      kind: "refused",
      type: "precondition_failed",
      message: "not today",
    });
    expect(await session.call("mutter", {})).toEqual({
      kind: "refused",
      type: "precondition_failed",
      message: "no such planet",
    });
    expect(await session.call("protest", {})).toEqual({
      kind: "refused",
      type: "invalid_params",
      message: "x must be even",
    });
    // success that is true and errors that are empty are no fault
    expect(await session.call("calm", {})).toEqual({
      kind: "ok",
      value: { success: true, error: null, errors: [] },
    });
  });

  test.each(["sink", "dive"])("a result that is nested too deeply is not used (%s)", async name => {
    const session = await openSession(misbehavingEntry());
    expect(await session.call(name, {})).toEqual({
      kind: "broken",
      type: "internal",
      message: "the result is nested more than 64 levels deep",
    });
    expect(await session.call("count", {})).toMatchObject({ kind: "ok" });
  });

  test("arguments that are nested too deeply are not sent, and going back repeats the call", async () => {
    const session = await openSession(misbehavingEntry());
    const deep = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`) as unknown;
    const fault = {
      kind: "bad-arguments",
      message: "the arguments are nested more than 64 levels deep",
    };
    expect(await session.call("count", { x: deep })).toMatchObject(fault);
    expect(await session.restart(1)).toEqual([]);
    expect(session.calls).toMatchObject([{ arguments: "(nested too deeply)", outcome: fault }]);
  });

  test("the error keys of the entry mark a result as a failure", async () => {
    const session = await openSession(misbehavingEntry("", { errorKeys: ["code"] }));
    expect(await session.call("shrug", {})).toMatchObject({ kind: "ok" });
    expect(await session.call("mutter", {})).toMatchObject({
      kind: "refused",
      message: "no such planet",
    });
  });

  test("calls are answered in order", async () => {
    const session = await openSession(misbehavingEntry());
    const outcomes = await Promise.all([
      session.call("count", {}),
      session.call("count", {}),
      session.call("count", {}),
    ]);
    expect(outcomes.map(it => it.kind === "ok" && it.value)).toEqual(
      [1, 2, 3].map(n => ({ n, of: 1 })),
    );
  });

  test("a time-out is broken, and so is every call until a restart", async () => {
    const session = await openSession(misbehavingEntry());
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const hanging = session.call("hang", {});
    await vi.advanceTimersByTimeAsync(generous.call);
    expect(await hanging).toEqual({
      kind: "broken",
      type: "internal",
      message: "rude did not answer hang within 300 s",
    });
    vi.useRealTimers();
    expect(await session.call("count", {})).toMatchObject({
      kind: "broken",
      message: expect.stringContaining("until it is started afresh"),
    });
    await session.restart(0);
    expect(await session.call("count", {})).toMatchObject({ kind: "ok", value: { n: 1 } });
  });

  test("a crash makes the open call broken, and a new session works", async () => {
    const session = await openSession(misbehavingEntry());
    await session.call("count", {});
    expect(await session.call("crash", {})).toMatchObject({
      kind: "broken",
      message: "rude ended with exit code 3 while it answered crash",
    });
    expect(await session.call("count", {})).toMatchObject({ kind: "broken" });
    expect(await (await openSession(misbehavingEntry())).call("count", {})).toMatchObject({
      kind: "ok",
      value: { n: 1 },
    });
  });

  test("too long a line and an invalid result are broken", async () => {
    const session = await openSession(misbehavingEntry());
    expect(await session.call("nonsense", {})).toMatchObject({
      kind: "broken",
      message: expect.stringContaining("no MCP result"),
    });
    expect(await session.call("flood", {})).toMatchObject({
      kind: "broken",
      message: expect.stringContaining("more than 10485760 bytes"),
    });
  });

  test("a fork is another process in which the calls are repeated", async () => {
    const session = await openSession(misbehavingEntry());
    await session.call("count", {});
    await session.call("pid", {});
    const fork = await session.fork(stop.signal);
    open.push(fork.session);
    expect(fork.differences.map(it => it.call.name)).toEqual(["pid"]);
    expect(await fork.session.call("count", {})).toMatchObject({ value: { n: 2 } });
    expect(await fork.session.call("count", {})).toMatchObject({ value: { n: 3 } });
    expect(await session.call("count", {})).toMatchObject({ value: { n: 2 } });
  });

  const refusals: [manner: string, what: RegExp][] = [
    ["mute", /^rude did not answer within 0.4 s of its start/],
    ["dies", /^rude ended with exit code 7 \(it said: no licence found\)$/],
    ["ancient", /^rude is no MCP server that can be spoken to .*1999-01-01/],
  ];
  test.each(refusals)(
    "a server that is %s is an error that names the entry",
    async (manner, what) => {
      const limits = manner === "mute" ? { ...generous, start: 400 } : generous;
      await expect(openSession(misbehavingEntry(manner), limits)).rejects.toMatchObject({
        name: "UserError",
        what: expect.stringMatching(what),
        remedy: expect.stringContaining("entry rude of prove/mcp.json"),
      });
    },
  );

  test("a list without an end is read up to a limit", async () => {
    const session = await openSession(misbehavingEntry("endless"));
    expect(session.tools.size).toBe(1_000);
    expect(session.omittedTools).toEqual([
      { name: "the rest of the list", reason: "the list has more than 1000 pages" },
    ]);
  });

  test("a server without tools has an empty list", async () => {
    expect((await openSession(misbehavingEntry("empty"))).tools.size).toBe(0);
  });

  test("a program that does not exist is an error", async () => {
    const entry = { ...misbehavingEntry(), command: "no-such-program" };
    await expect(openSession(entry)).rejects.toMatchObject({
      what: "the server rude cannot be started (spawn no-such-program ENOENT)",
      remedy: expect.stringContaining("correct command and cwd in entry rude"),
    });
  });

  test("a folder that does not exist is an error that names the folder, not the program", async () => {
    const cwd = join(folder, "gone");
    await expect(openSession(misbehavingEntry("", { cwd }))).rejects.toMatchObject({
      what: `the server rude cannot be started: there is no folder ${cwd}`,
      remedy: "create the folder, or correct cwd in entry rude of prove/mcp.json",
    });
  });
});

describe("no process outlives its session", () => {
  // an orphan that has ended stays in the process table until it is reaped
  const pids = () => readFileSync(join(folder, "pids"), "utf8").trim().split("\n").map(Number);

  test("closing ends the server and what it started", async () => {
    const session = await openSession(misbehavingEntry("parent"));
    expect(pids().map(isAlive)).toEqual([true, true]);
    await session.close();
    await expect.poll(() => pids().map(isAlive)).toEqual([false, false]);
    expect(await session.call("count", {})).toMatchObject({ kind: "broken" });
  });

  test("aborting ends it too, during a call and during a start", async () => {
    const session = await openSession(misbehavingEntry("parent"));
    const hanging = session.call("hang", {});
    stop.abort(new Error("enough"));
    expect(await hanging).toMatchObject({ kind: "broken" });
    await expect.poll(() => pids().map(isAlive)).toEqual([false, false]);
    stop = new AbortController();
    const starting = openSession(misbehavingEntry("mute"));
    stop.abort(new Error("enough"));
    await expect(starting).rejects.toThrow("enough");
  });

  test("a server that ignores SIGTERM is killed", async () => {
    const session = await openSession(misbehavingEntry("stubborn"));
    const { value: pid } = (await session.call("pid", {})) as { value: string };
    await session.close();
    expect(isAlive(Number(pid))).toBe(false);
  });
});
