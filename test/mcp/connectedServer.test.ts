/** Sessions on a third-party server that was explored: as on any other server. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/cli/connect.ts";
import { audit } from "../../src/cli/audit.ts";
import { replay } from "../../src/cli/replay.ts";
import { synthesize } from "../../src/cli/synthesize.ts";
import type { AuditSummary } from "../../src/evaluation/audit.ts";
import { storeConsent } from "../../src/mcp/connected/consents.ts";
import { findServerEntry } from "../../src/mcp/mcpConfig.ts";
import { openSessionByName, type Catalog } from "../../src/environment/catalog.ts";
import type { Session } from "../../src/environment/session.ts";
import { createMetrics } from "../../src/service/metrics.ts";
import { startHttpServer } from "../../src/service/httpServer.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { runCommand } from "../cli/terminal.ts";
import { root } from "../contracts/transports.ts";
import { isRunning, listChildren } from "../processes.ts";
import { sendRequest } from "../service/countingService.ts";
import { readTemplates } from "../../src/synthesis/text/readTemplates.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { chatServer } from "../policy/chatServer.ts";
import { createScriptedModel } from "../synthesis/scriptedChatModel.ts";
import { createNotesWorkspace as create, type NotesWorkspace } from "./notesWorkspace.ts";

/** A workspace that is removed after the test. */
function createNotesWorkspace(manner?: string): NotesWorkspace {
  const workspace = create(manner);
  onTestFinished(workspace.remove);
  return workspace;
}

/** What `connect` wrote about the server, which is explored once. */
let explored: string;

beforeAll(async () => {
  explored = mkdtempSync(join(tmpdir(), "prove-explored-"));
  const workspace = create();
  await runCommand(connect, ["notes", "--trust-server"], { cwd: workspace.folder });
  for (const it of ["servers", "fixtures"])
    cpSync(join(workspace.folder, "prove", it), join(explored, it), { recursive: true });
  workspace.remove();
});
afterAll(() => rmSync(explored, { recursive: true }));

/** Connects the server, with changes to what was written about it. */
async function connectNotes(
  workspace: NotesWorkspace,
  change: (file: string) => string = it => it,
): Promise<Catalog> {
  const prove = join(workspace.folder, "prove");
  cpSync(explored, prove, { recursive: true });
  const file = join(prove, "servers/notes.server.json");
  writeFileSync(file, change(readFileSync(file, "utf8")));
  await storeConsent(workspace.entry);
  return workspace.openCatalog();
}

const open = (catalog: Catalog): Session =>
  openSessionByName(catalog, { servers: [{ name: "notes", fixture: "full" }], seed: 1 });

const rename = (session: Session, title: string) =>
  session.call("notes_rename_note", { note_id: "note_1", title });
const getTitle = (session: Session): unknown => {
  const { outcome } = session.call("notes_get_note", { note_id: "note_1" });
  return outcome.kind === "ok" && (outcome.value as { title?: unknown }).title;
};

test.each([
  ["files that are put back", "", "files"],
  ["processes that are started again", "caches", "restart"],
])("sessions and forks have states of their own, by %s", async (_, manner, restore) => {
  const catalog = await connectNotes(createNotesWorkspace(manner), it =>
    it.replace('"restore": "files"', `"restore": "${restore}"`),
  );
  // more than there are processes
  const sessions = Array.from({ length: 6 }, () => open(catalog));
  const start = sessions[0]!.state;
  for (const [i, it] of sessions.entries())
    expect(rename(it, `Title ${i}`)).toMatchObject({
      outcome: { kind: "ok" },
      patches: [
        {
          op: "replace",
          path: "/notes/world/files/notes.json/note_1/title",
          value: `Title ${i}`,
        },
        { path: "/notes/clock" },
        { op: "add", path: "/notes/history/calls/0" },
      ],
    });
  const fork = sessions[3]!.fork();
  rename(fork, "Fork");
  expect(sessions.map(getTitle)).toEqual(sessions.map((_, i) => `Title ${i}`));
  expect(getTitle(fork)).toBe("Fork");

  const [session] = sessions;
  const { digest } = session!;
  expect(session!.call("notes_delete_note", { note_id: "note_99" })).toMatchObject({
    outcome: { kind: "refused", message: "Error: no note note_99" },
    patches: [],
    digest,
  });
  expect(session!.call("notes_delete_note", {})).toMatchObject({
    outcome: { kind: "bad-arguments", message: "missing required argument note_id" },
  });
  session!.restore(start);
  expect(getTitle(session!)).toBe("Budget 2026");
  expect(open(catalog).digest).toBe(session!.digest);
});

test("tasks are made on it that replay the same and are judged as others", async () => {
  const workspace = createNotesWorkspace();
  const catalog = await connectNotes(workspace);
  const cwd = workspace.folder;
  const file = "notes.tasks.jsonl";
  await runCommand(synthesize, ["--servers", "notes", "--count", "6", "--out", file], {
    cwd,
    catalog,
  });
  const tasks = readFileSync(join(cwd, file), "utf8").trim().split("\n");
  expect(tasks).toHaveLength(6);
  const said = tasks.flatMap(it => (JSON.parse(it) as Task).turns.map(turn => turn.user));
  expect(said.join("\n")).toMatch(/the note "|the folder (Home|Work|Ideas)|all notes|the folders/);
  expect(said.join("\n")).not.toMatch(/note_\d|note id|with note/);
  const { notes, code } = await runCommand(replay, [file], {
    cwd,
    catalog: await workspace.openCatalog(),
  });
  expect(code).toBe(0);
  expect(notes.at(-1)).toMatch(/^6 attempts, \d+ calls: all the same$/);

  const { out } = await runCommand(audit, [file, "--json"], { cwd, catalog });
  const { solvers } = JSON.parse(out.join("\n")) as AuditSummary;
  const find = (name: string) => solvers.find(it => it.solver === name);
  expect(find("verifier")).toMatchObject({ success: 1 });
  expect(find("verifier")!.tasks).toBeGreaterThan(2);
  // it makes a write that nobody asked for, and takes it back
  expect(find("undoer")).toMatchObject({ success: 0 });
  expect(find("undoer")!.tasks).toBeGreaterThan(0);
});

test("a model behind an endpoint words its tasks", async () => {
  const workspace = createNotesWorkspace();
  const catalog = await connectNotes(workspace);
  const model = createScriptedModel();
  const { url } = await chatServer(({ body }) => model(body));
  const cwd = workspace.folder;
  const file = "worded.tasks.jsonl";
  const endpoint = ["--teacher", "endpoint", "--model", "scripted", "--base-url", url];
  const args = ["--servers", "notes", "--count", "2", "--out", file, ...endpoint];
  const { code } = await runCommand(synthesize, args, { cwd, catalog });
  expect(code).toBe(0);
  const tasks = readFileSync(join(cwd, file), "utf8").trim().split("\n");
  expect(tasks.map(it => (JSON.parse(it) as Task).provenance.teacher)).toEqual([
    "endpoint:scripted",
    "endpoint:scripted",
  ]);
});

test("what users say is proposed in a file that can be edited", async () => {
  const workspace = createNotesWorkspace();
  const catalog = await connectNotes(workspace);
  const read = () => readTemplates(join(root, "resources/servers"), catalog.getServer("notes"));
  expect(read().tools["notes_move_note"]!.forms).toEqual(["move {note_id} to the folder {folder}"]);
  const file = join(workspace.folder, "prove/servers/notes/templates.json");
  const proposed = readFileSync(file, "utf8");
  writeFileSync(file, proposed.replace('"delete {note_id}"', '"throw {note_id} away"'));
  expect(read().tools["notes_delete_note"]!.forms).toEqual(["throw {note_id} away"]);
  writeFileSync(file, proposed.replace('"delete {note_id}"', '"delete it"'));
  expect(read).toThrow(/templates.json:\d+: .*"delete it" does not say note_id/);
});

test("nothing is started without consent, or after its entry or its description has changed", async () => {
  const workspace = createNotesWorkspace();
  const cwd = workspace.folder;
  await expect(runCommand(connect, ["notes"], { cwd })).rejects.toThrow(
    "the tools of notes may make changes, and it starts only with consent",
  );
  const catalog = await connectNotes(workspace);
  expect(getTitle(open(catalog))).toBe("Budget 2026");

  workspace.writeEntry({ env: { MORE: "1" } });
  expect(() => open(catalog)).toThrow(/starts only with your consent/);
  const again = await runCommand(connect, ["notes"], { cwd, catalog, confirm: async () => true });
  expect(again.notes.at(-1)).toMatch(/notes.server.json is as it was/);
  open(catalog);

  workspace.writeEntry({ args: [], reset: undefined });
  expect(() => open(catalog)).toThrow(/has no reset/);
  await expect(runCommand(connect, ["notes"], { cwd })).rejects.toThrow(/has no reset/);

  const file = join(cwd, "prove/servers/notes.server.json");
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace('"restore": "files"', '"restore": "hope"'),
  );
  const broken = await workspace.openCatalog();
  expect(() => open(broken)).toThrow(/notes.server.json.*restore/);
  // the other servers can be used
  openSessionByName(broken, { servers: [{ name: "banking", fixture: "small" }], seed: 1 });
});

test("a state that cannot be reached again is a fault of the environment", async () => {
  const workspace = createNotesWorkspace("random");
  const catalog = await connectNotes(workspace);
  const session = open(catalog);
  const add = { title: "New", text: "", folder: "Home" };
  expect(session.call("notes_add_note", add)).toMatchObject({ outcome: { kind: "ok" } });
  // another process gives another id
  expect(open(await workspace.openCatalog()).call("notes_add_note", add)).toMatchObject({
    outcome: { kind: "ok" },
  });
  writeFileSync(join(workspace.folder, "seed/notes.json"), "{}");
  expect(open(await workspace.openCatalog()).call("notes_list_notes", {})).toMatchObject({
    outcome: {
      kind: "broken",
      message: expect.stringMatching(
        /the seed full of notes is not what its fixture says/,
      ) as string,
    },
  });
});

test("after a change of a seed, replay and synthesis say what to do", async () => {
  const workspace = createNotesWorkspace();
  const catalog = await connectNotes(workspace);
  const cwd = workspace.folder;
  const make = (file: string) => ["--servers", "notes", "--count", "2", "--out", file];
  await runCommand(synthesize, make("a.tasks.jsonl"), { cwd, catalog });
  writeFileSync(join(cwd, "seed/notes.json"), "{}");
  const changed = await workspace.openCatalog();
  const { out, code } = await runCommand(replay, ["a.tasks.jsonl"], { cwd, catalog: changed });
  expect(code).toBe(1);
  expect(out.join("\n")).toMatch(/cannot be made: the seed full of notes is not what its fixture/);
  await expect(
    runCommand(synthesize, make("b.tasks.jsonl"), { cwd, catalog: await workspace.openCatalog() }),
  ).rejects.toThrow(/^no task can be made: .*the seed full of notes .* with --again/);
});

test("many sessions at once have states of their own, and one that waits holds up no other", async () => {
  const workspace = createNotesWorkspace("waits");
  const catalog = await connectNotes(workspace);
  const serving = await startHttpServer({ catalog, metrics: createMetrics() });
  onTestFinished(() => serving.close());
  const openSession = async () => {
    const url = `${serving.url}/v1/sessions/${createSessionId()}`;
    await sendRequest(url, "PUT", { body: { servers: ["notes"] } });
    return (seq: number, name: string, args: object) =>
      sendRequest(`${url}/call`, "POST", { body: { seq, name, arguments: args } });
  };
  const file = join(workspace.folder, "go");
  const waiting = await openSession();
  await waiting(1, "notes_rename_note", { note_id: "note_1", title: `wait for ${file}` });
  let hasWaited = false;
  const shown = waiting(2, "notes_get_note", { note_id: "note_1" }).finally(() => {
    hasWaited = true;
  });

  const sessions = await Promise.all(Array.from({ length: 64 }, openSession));
  const titles = await Promise.all(
    sessions.map(async (call, i) => {
      await call(1, "notes_rename_note", { note_id: "note_1", title: `Title ${i}` });
      await call(2, "notes_move_note", { note_id: "note_1", folder: `Folder ${i}` });
      const { json } = await call(3, "notes_get_note", { note_id: "note_1" });
      const { title, folder } = json.structured as unknown as Record<string, string>;
      return `${title} in ${folder}`;
    }),
  );
  expect(titles).toEqual(sessions.map((_, i) => `Title ${i} in Folder ${i}`));
  expect((await sendRequest(`${serving.url}/health`, "GET")).json).toMatchObject({
    status: "healthy",
    sessions: 65,
  });
  const { text: metrics } = await sendRequest(`${serving.url}/metrics`, "GET");
  const count = (work: string) =>
    Number(
      new RegExp(`^prove_server_processes_total{server="notes",work="${work}"} (\\d+)`, "m").exec(
        metrics,
      )![1],
    );
  expect(count("starts")).toBeLessThanOrEqual(4);
  expect(count("calls")).toBe(2 + 3 * 64);
  expect(hasWaited).toBe(false);
  writeFileSync(file, "");
  expect((await shown).json).toMatchObject({
    structured: { title: `wait for ${file}` },
  });
});

/** The folders in which a process keeps copies, and what is in them. */
const listCopies = (pid: number) =>
  readdirSync(tmpdir())
    .filter(it => it.startsWith("prove-servers-") && it.includes(`-${pid}-`))
    .flatMap(it => [it, ...readdirSync(join(tmpdir(), it))]);

/** The service as a program of its own, with a function that opens a session. */
async function serveNotes(cwd: string) {
  const args = [join(root, "dist/cli.js"), "serve", "--port", "0"];
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(child, "close");
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { url: string };
  return {
    async openSession() {
      const session = `${url}/v1/sessions/${createSessionId()}`;
      await sendRequest(session, "PUT", { body: { servers: ["notes"] } });
      return {
        call: (seq: number, name: string, args: object) =>
          sendRequest(`${session}/call`, "POST", { body: { seq, name, arguments: args } }),
        close: () => sendRequest(session, "DELETE"),
      };
    },
    getHealth: async () => (await sendRequest(`${url}/health`, "GET")).json,
    /** Ends it, and says which of its processes and folders are left. */
    async end() {
      const servers = listChildren(child.pid!);
      child.kill("SIGTERM");
      await ended;
      await expect.poll(() => servers.filter(isRunning)).toEqual([]);
      return { servers, left: listCopies(child.pid!) };
    },
  };
}

describe.runIf(process.platform !== "win32")("sessions leave no process and no folder", () => {
  test("many that are opened, called and closed", async () => {
    const workspace = createNotesWorkspace();
    await connectNotes(workspace);
    const serving = await serveNotes(workspace.folder);
    let count = 0;
    const play = async () => {
      while (count < 600) {
        const title = `Title ${++count}`;
        const session = await serving.openSession();
        await session.call(1, "notes_rename_note", { note_id: "note_1", title });
        await session.call(2, "notes_delete_note", { note_id: "note_2" });
        const { json } = await session.call(3, "notes_get_note", { note_id: "note_1" });
        expect(json).toMatchObject({ structured: { title } });
        await session.close();
      }
    };
    await Promise.all(Array.from({ length: 16 }, play));
    expect(await serving.getHealth()).toMatchObject({ sessions: 0 });
    const { servers, left } = await serving.end();
    expect(servers.length).toBeLessThanOrEqual(4);
    expect(left).toEqual([]);
  });

  test("one that is closed while its call runs", async () => {
    const workspace = createNotesWorkspace("waits");
    await connectNotes(workspace);
    const serving = await serveNotes(workspace.folder);
    const file = join(workspace.folder, "go");
    const session = await serving.openSession();
    await session.call(1, "notes_rename_note", { note_id: "note_1", title: `wait for ${file}` });
    const waiting = session
      .call(2, "notes_get_note", { note_id: "note_1" })
      .then(({ status }) => status, String);
    await expect.poll(() => existsSync(`${file}.awaited`)).toBe(true);
    await session.close();
    expect(await serving.getHealth()).toMatchObject({ sessions: 0 });
    // others go on
    const other = await serving.openSession();
    expect((await other.call(1, "notes_list_notes", {})).json).toMatchObject({ structured: {} });
    const { servers, left } = await serving.end();
    expect(await waiting).toMatch(/hang up/);
    expect(servers.length).toBeGreaterThan(0);
    expect(left).toEqual([]);
  });

  test("where it takes seconds to remove what a command created", async () => {
    const run = (code: string) => [
      process.execPath,
      "-e",
      `const { cpSync, existsSync, rmSync } = require("node:fs"); ${code}`,
      "${sandbox}",
    ];
    const workspace = createNotesWorkspace();
    await connectNotes(workspace, it => it.replace('"restore": "files"', '"restore": "restart"'));
    workspace.writeEntry({
      reset: {
        command: run('cpSync("seed", process.argv[1], { recursive: true })'),
        remove: run(
          'setTimeout(() => rmSync(process.argv[1], { recursive: true }), existsSync("slow") ? 3_500 : 0)',
        ),
      },
    });
    await storeConsent(
      findServerEntry(join(workspace.folder, "prove/mcp.json"), workspace.folder, "notes"),
    );
    const serving = await serveNotes(workspace.folder);
    const session = await serving.openSession();
    await session.call(1, "notes_delete_note", { note_id: "note_1" });
    const listCreated = () => readdirSync(workspace.folder).filter(it => it.startsWith("prove_"));
    expect(listCreated()).not.toEqual([]);
    writeFileSync(join(workspace.folder, "slow"), "");
    const { left } = await serving.end();
    expect([...left, ...listCreated()]).toEqual([]);
  });
});

test.runIf(process.platform !== "win32")(
  "Ctrl-C ends a program that waits for a server, and leaves no process and no folder",
  async () => {
    const workspace = createNotesWorkspace("waits");
    await connectNotes(workspace);
    const { folder } = workspace;
    const file = join(folder, "go");
    for (const it of ["seed/notes.json", "prove/fixtures/notes/full.fixture.json"]) {
      const path = join(folder, it);
      writeFileSync(path, readFileSync(path, "utf8").replace("Budget 2026", `wait for ${file}`));
    }
    const args = [join(root, "dist/cli.js"), "call", "notes_get_note", '{"note_id": "note_1"}'];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: "ignore" });
    const ended = once(child, "close");
    await expect.poll(() => existsSync(`${file}.awaited`)).toBe(true);
    const servers = listChildren(child.pid!);
    expect(servers).toHaveLength(1);
    child.kill("SIGINT");
    await ended;
    await expect.poll(() => isRunning(servers[0]!)).toBe(false);
    expect(listCopies(child.pid!)).toEqual([]);
  },
);
