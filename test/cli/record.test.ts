/** `record`, and what works afterwards without the server: `connect` and all that follows. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openShippedCatalog } from "../../src/app/context.ts";
import { audit } from "../../src/cli/audit.ts";
import { call } from "../../src/cli/call.ts";
import { connect } from "../../src/cli/connect.ts";
import { evaluate } from "../../src/cli/evaluate.ts";
import { record } from "../../src/cli/record.ts";
import { replay } from "../../src/cli/replay.ts";
import { synthesize } from "../../src/cli/synthesize.ts";
import { openSessionByName, type Catalog } from "../../src/environment/catalog.ts";
import type { AuditSummary } from "../../src/evaluation/audit.ts";
import { root } from "../contracts/transports.ts";
import { serveNotes, type RemoteServer } from "../mcp/remoteServer.ts";
import { runCommand, type CommandOutput } from "./terminal.ts";

const secret = "tok-5f2c9b7d41";
let cwd: string;
let cassette: string;
let server: RemoteServer;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "prove-cli-record-"));
  cassette = join(cwd, "prove/servers/notes.cassette.jsonl");
  for (const it of ["HOME", "XDG_DATA_HOME", "LOCALAPPDATA"]) vi.stubEnv(it, join(cwd, "home"));
  vi.stubEnv("NOTES_TOKEN", secret);
  mkdirSync(join(cwd, "prove"));
  server = await serveNotes();
  writeEntry();
});
afterEach(async () => {
  await server.close();
  vi.unstubAllEnvs();
  rmSync(cwd, { recursive: true, force: true });
});

function writeEntry(changes: object = {}): void {
  const notes = {
    url: server.url,
    headers: { Authorization: "Bearer ${env:NOTES_TOKEN}" },
    reads: ["count_notes"],
    ...changes,
  };
  writeFileSync(join(cwd, "prove/mcp.json"), JSON.stringify({ servers: { notes } }));
}

const runRecord = (...args: readonly string[]): Promise<CommandOutput> =>
  runCommand(record, ["notes", "--trust-server", ...args], { cwd });

function writeCalls(...calls: readonly unknown[]): string {
  const file = join(cwd, "calls.jsonl");
  writeFileSync(file, calls.map(it => `${JSON.stringify(it)}\n`).join(""));
  return file;
}

const getNote = (id: number, more: object = {}) => ({
  tool: "get_note",
  arguments: { note_id: `note_${id}`, ...more },
});

const openCatalog = (): Promise<Catalog> =>
  openShippedCatalog(
    [join(cwd, "prove/fixtures"), join(root, "resources/servers")],
    join(root, "src/app/thread.ts"),
  );

/** Opens a session on the recording. The server is not there any more. */
async function openRecording() {
  await server.close();
  await runCommand(connect, ["notes"], { cwd });
  const catalog = await openCatalog();
  const session = openSessionByName(catalog, {
    servers: [{ name: "notes", fixture: "full" }],
    seed: 1,
  });
  return { session, catalog };
}

const readLines = () => readFileSync(cassette, "utf8").trimEnd().split("\n");

test("an environment is made of what reads answer, and needs neither server nor entry", async () => {
  const { out, notes } = await runRecord();
  expect(notes.at(-1)).toMatch(
    /^record calls these tools of notes, at most 500 times together: list_notes, get_note, count_notes$/,
  );
  expect(out[0]).toMatch(/^notes: \d+ calls made, \d+ answers recorded; prove.servers.notes\.cass/);
  expect(out.at(-1)).toBe("next: prove-rl connect notes");
  expect(server.calls.filter(it => it.startsWith("delete_note"))).toEqual([]);
  const called = (tool: string) => server.calls.filter(it => it.startsWith(tool));
  // all ids that a list shows
  expect(new Set(called("get_note")).size).toBeGreaterThanOrEqual(8);
  expect(readFileSync(cassette, "utf8")).not.toContain(secret);

  await server.close();
  rmSync(join(cwd, "prove/mcp.json"));
  const connected = await runCommand(connect, ["notes"], { cwd });
  expect(connected.out.join("\n")).toMatch(
    /3 read and 0 write[^]*things that tools are about: note[^]*left out: delete_note \(it is not known to read[^]*state: constant; \d+ calls are answered from/,
  );
  const catalog = await openCatalog();
  const file = join(cwd, "prove/tasks/notes.tasks.jsonl");
  const options = ["--servers", "notes", "--count", "12", "--seed", "5"];
  const made = await runCommand(synthesize, [...options, "--out", file], { cwd, catalog });
  expect(made.code).toBe(0);
  expect(readFileSync(file, "utf8").trimEnd().split("\n")).toHaveLength(12);
  expect((await runCommand(replay, [file, "--json"], { cwd, catalog })).code).toBe(0);
  const audited = await runCommand(audit, [file, "--json"], { cwd, catalog });
  const { solvers } = JSON.parse(audited.out.join("")) as AuditSummary;
  for (const it of solvers.filter(it => it.kind === "right" && it.tasks > 0))
    expect([it.solver, it.success]).toEqual([it.solver, 1]);
  const evaluated = await runCommand(
    evaluate,
    ["--tasks", file, "--policy", "scripted:teacher", "--split", "train", "--json"],
    {
      cwd,
      catalog,
    },
  );
  expect(evaluated.code).toBe(0);
}, 120_000);

test("an evaluation says how many calls the recording could not answer", async () => {
  await runRecord();
  await runCommand(connect, ["notes"], { cwd });
  const file = join(cwd, "prove/tasks/notes.tasks.jsonl");
  const catalog = await openCatalog();
  const options = ["--servers", "notes", "--count", "1", "--out", file];
  await runCommand(synthesize, options, { cwd, catalog });
  const task = JSON.parse(readFileSync(file, "utf8")) as { trajectory: { events: object[] } };
  // a teacher who also asks for what nobody asked for before
  const { events } = task.trajectory;
  const at = events.findIndex(it => "name" in it);
  const unknown = { name: "notes_get_note", arguments: { note_id: "note_777" } };
  events.splice(at, 0, { ...events[at], ...unknown });
  writeFileSync(file, `${JSON.stringify(task)}\n`);
  const args = ["--tasks", file, "--policy", "scripted:teacher", "--split", "train"];
  const { notes } = await runCommand(evaluate, args, { cwd, catalog });
  expect(notes.join("\n")).toContain(
    "1 calls were refused because the recording of their server has no answer to them; prove-rl record adds more",
  );
});

describe("a call on a recording", () => {
  test("is answered if it differs in form only, and else refused", async () => {
    await runRecord(
      "--calls",
      writeCalls(getNote(1), getNote(2), getNote(99), { tool: "list_notes", arguments: {} }),
    );
    const { session, catalog } = await openRecording();
    const get = (args: object) => session.call("notes_get_note", args).outcome;
    const first = get({ note_id: "note_1" });
    expect(first).toMatchObject({ kind: "ok", value: { title: "Budget 2026" } });
    expect(get({ full: true, note_id: "note_1" })).toEqual(first);
    expect(get({ note_id: "note_99" })).toMatchObject({ message: "there is no such note" });
    for (const args of [{ note_id: "note_3" }, { note_id: "note_1", full: false }])
      expect(get(args)).toEqual({
        kind: "refused",
        type: "precondition_failed",
        message: "not recorded: notes_get_note was not called with these arguments",
      });
    expect(await catalog.getServer("notes").countWork!()).toEqual({
      recorded: 3,
      not_recorded: 2,
    });
    const fork = session.fork();
    expect(fork.call("notes_get_note", { note_id: "note_2" }).outcome).toMatchObject({
      kind: "ok",
    });
  });

  test("says what is wrong with a file that was changed meanwhile", async () => {
    await runRecord();
    await openRecording();
    writeFileSync(cassette, readFileSync(cassette, "utf8").replace("Budget 2026", "Budget 2027"));
    const catalog = await openCatalog();
    expect(() =>
      openSessionByName(catalog, { servers: [{ name: "notes", fixture: "full" }], seed: 1 }),
    ).toThrow(/notes\.cassette\.jsonl:\d+ is not as it was recorded/);
  });
});

describe("recording more", () => {
  test("appends, and keeps the first of two answers", async () => {
    await runRecord("--calls", writeCalls(getNote(1)));
    const before = readLines();
    server.manner = "tools/call changed";
    const calls = writeCalls(getNote(1, { full: true }), getNote(2));
    const { out } = await runRecord("--calls", calls);
    expect(out.slice(0, 2)).toEqual([
      expect.stringMatching(/^notes: 2 calls made, 1 answers recorded; .* has 2$/),
      '  1 calls had another answer before, which is kept: get_note {"note_id":"note_1","full":true}',
    ]);
    expect(readLines()).toEqual([...before, expect.stringContaining('"edited":true')]);
    expect((await runRecord("--calls", writeCalls(getNote(2)))).out[0]).toMatch(/ 0 answers recor/);
  });

  test("a server whose connection is lost is connected to again, and what it answered stays", async () => {
    server.manner = "tools/call 503";
    await expect(
      runRecord("--calls", writeCalls(...[1, 2, 3, 4, 5, 6, 7].map(it => getNote(it)))),
    ).rejects.toThrow(/notes answers 503.*: what was recorded is kept; run it again later/);
    server.manner = "";
    await runRecord("--calls", writeCalls(getNote(1)));
    expect(readLines()).toHaveLength(2);
  });

  test("a line that was cut off is removed", async () => {
    await runRecord("--calls", writeCalls(getNote(1), getNote(2)));
    const lines = readLines();
    writeFileSync(cassette, `${lines.slice(0, 2).join("\n")}\n${lines[2]!.slice(0, 40)}`);
    const { out } = await runCommand(connect, ["notes"], { cwd });
    expect(out.join("\n")).toMatch(
      /note: the last line of .*cassette\.jsonl is incomplete, because a recording was interrupted/,
    );
    await runRecord("--calls", writeCalls(getNote(2), getNote(3)));
    expect(readLines().slice(0, 3)).toEqual(lines);
    expect(readLines()).toHaveLength(4);
  });

  test("is refused if the server lists other tools", async () => {
    await runRecord();
    const before = readFileSync(cassette, "utf8");
    server.hidden.push("count_notes");
    await expect(runRecord()).rejects.toThrow(
      /^notes lists other tools than when .*cassette\.jsonl was recorded, on 20.*: move that file away.*--as$/,
    );
    expect(readFileSync(cassette, "utf8")).toBe(before);
    await runCommand(record, ["notes", "--as", "newer", "--trust-server"], { cwd });
    expect(existsSync(join(cwd, "prove/servers/newer.cassette.jsonl"))).toBe(true);
  });

  test("call --record adds one call", async () => {
    const args = ["get_note", '{"note_id": "note_4"}', "--connect", "notes", "--trust-server"];
    const run = () => runCommand(call, [...args, "--record"], { cwd });
    expect((await run()).notes.at(-1)).toMatch(
      /^recorded in prove.servers.notes\.cassette\.jsonl$/,
    );
    expect((await run()).notes.at(-1)).toMatch(/has this answer already$/);
    server.manner = "tools/call changed";
    expect((await run()).notes.at(-1)).toMatch(/has another answer to this call, which it keeps$/);
    expect(readLines()).toHaveLength(2);
    await expect(
      runCommand(call, ["delete_note", ...args.slice(1), "--record"], { cwd }),
    ).rejects.toThrow(
      /^delete_note is not known to read, and only reads are recorded: add it to "r/,
    );
    await expect(runCommand(call, [...args.slice(0, 2), "--record"], { cwd })).rejects.toThrow(
      /^--record needs a server that answers: add --connect NAME$/,
    );
  });
});

test("no more calls are made than are allowed", async () => {
  const { out } = await runRecord("--max-calls", "6");
  expect(server.calls).toHaveLength(6);
  expect(out.join("\n")).toContain("note: not all calls were made, because their number or the");
  const more = await runRecord(
    "--max-calls",
    "2",
    "--calls",
    writeCalls(...[1, 2, 3, 4].map(it => getNote(it))),
  );
  expect(more.out.join("\n")).toMatch(/note: 2 calls from .*calls\.jsonl:3 on were not made/);
  expect(server.calls).toHaveLength(8);
});

describe("recording is refused", () => {
  const start = (...args: string[]) => runCommand(record, ["notes", ...args], { cwd });

  test("without consent", async () => {
    await expect(start()).rejects.toThrow(/is remote, and PROVE connects to it only with consent/);
    const confirm = (text: string) => Promise.resolve(text !== "make these calls?");
    await expect(runCommand(record, ["notes"], { cwd, confirm })).rejects.toThrow(
      /^notes was not recorded: answer y to record it$/,
    );
    expect([server.calls, existsSync(cassette)]).toEqual([[], false]);
  });

  test("of a server that has a reset, or of whose tools none is known to read", async () => {
    server.hidden.push("list_notes", "get_note");
    writeEntry({ reads: [] });
    await expect(start("--trust-server")).rejects.toThrow(
      /^notes says of none of its tools that it only reads: name those .*"reads": \["count_notes"\]$/,
    );
    const entry = { command: "node", reset: { restart: true } };
    writeFileSync(join(cwd, "prove/mcp.json"), JSON.stringify({ servers: { notes: entry } }));
    await expect(start()).rejects.toThrow(
      /has a reset, so that it need not be recorded: run prove-/,
    );
  });

  const lines: [what: string, line: unknown, error: RegExp][] = [
    ["a list", [1], /calls\.jsonl:2 is not a call/],
    ["without arguments", { tool: "get_note" }, /calls\.jsonl:2.*arguments/],
    ["a write", { tool: "delete_note", arguments: {} }, /delete_note is not known to read/],
  ];
  test.each(lines)("of a faulty line of calls: %s", async (_, line, error) => {
    await expect(start("--trust-server", "--calls", writeCalls(getNote(1), line))).rejects.toThrow(
      error,
    );
  });

  test("of calls that do not fit, which are named", async () => {
    const calls = writeCalls({ tool: "fly", arguments: {} }, { tool: "get_note", arguments: {} });
    const { out } = await start("--trust-server", "--calls", calls);
    expect(out.join("\n")).toMatch(
      /calls\.jsonl:1 was not recorded: there is no tool fly[^]*calls\.jsonl:2 was not recorded: .*note_id/,
    );
  });
});

describe("a file that is not as it was recorded", () => {
  const restore = /^restore the file as it was, or move it away and record the server again/;
  const cases: [
    what: string,
    change: (lines: string[]) => string[],
    error: RegExp,
    remedy?: RegExp,
  ][] = [
    [
      "another format",
      ([first, ...rest]) => [first!.replace("cassette@1", "cassette@9"), ...rest],
      /:1 .*prove\/cassette@9/,
      /^update PROVE$/,
    ],
    [
      "an edited answer",
      ([first, second, ...rest]) => [first!, second!.replace("Budget", "Money"), ...rest],
      /:2 is not as it was recorded: this line or one before it was edited/,
    ],
    ["a removed line", ([first, , ...rest]) => [first!, ...rest], /:2 is not as it was recorded/],
    [
      "an edited header",
      ([first, ...rest]) => [first!.replace("List all", "Show all"), ...rest],
      /:1 is not as it was recorded/,
    ],
    ["another key", ([first, second]) => [first!, second!.replace("{", '{"x":1,')], /:2 .*x/],
    ["no header", ([, ...rest]) => rest, /:1 /, /its format must be prove\/cassette@1/],
    ["an empty file", () => [], /has no line that says what was recorded/],
    ["text", lines => [...lines, "and more"], /:4 is not JSON/],
  ];
  test.each(cases)("%s", async (_, change, error, remedy = restore) => {
    await runRecord("--calls", writeCalls(getNote(1), getNote(2)));
    const text = change(readLines()).map(it => `${it}\n`);
    writeFileSync(cassette, text.join(""));
    const thrown: unknown = await runCommand(connect, ["notes"], { cwd }).catch(
      (it: unknown) => it,
    );
    expect(thrown).toMatchObject({
      what: expect.stringMatching(error) as string,
      remedy: expect.stringMatching(remedy) as string,
    });
    await expect(runRecord()).rejects.toThrow(error);
  });

  test("a file that is gone", async () => {
    await runRecord("--calls", writeCalls(getNote(1)));
    await runCommand(connect, ["notes"], { cwd });
    renameSync(cassette, `${cassette}.old`);
    const catalog = await openCatalog();
    expect(() =>
      openSessionByName(catalog, { servers: [{ name: "notes", fixture: "full" }], seed: 1 }),
    ).toThrow(/notes\.cassette\.jsonl/);
  });
});
