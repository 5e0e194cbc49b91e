/** `tools`, `call` and `graph --connect`, and `connect`, on a server at an address. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { call } from "../../src/cli/call.ts";
import { connect } from "../../src/cli/connect.ts";
import { graph } from "../../src/cli/graph.ts";
import { tools } from "../../src/cli/tools.ts";
import { serveNotes, type RemoteServer } from "../mcp/remoteServer.ts";
import { runCommand } from "./terminal.ts";

const secret = "tok-5f2c9b7d41";
let cwd: string;
let server: RemoteServer;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "prove-cli-remote-"));
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
    type: "http",
    url: `${server.url}?key=${secret}`,
    headers: { Authorization: "Bearer ${env:NOTES_TOKEN}", "X-Literal": secret },
    ...changes,
  };
  writeFileSync(join(cwd, "prove/mcp.json"), JSON.stringify({ servers: { notes } }));
}

const get = ["get_note", '{"note_id": "note_2"}', "--connect", "notes"];

test("a person agrees once to the address and the names of what is sent", async () => {
  const asked: string[] = [];
  const confirm = (text: string) => {
    asked.push(text);
    return Promise.resolve(true);
  };
  await expect(runCommand(tools, ["--connect", "notes"], { cwd })).rejects.toThrow(
    /^notes is remote, and PROVE connects to it only with consent: read what would be sent above/,
  );
  expect(server.requests).toEqual([]);
  const { out, notes } = await runCommand(tools, ["--connect", "notes"], { cwd, confirm });
  expect(out[0]).toBe("list_notes()  read");
  expect(notes).toEqual([
    `connecting to ${server.url}?key=…\n  with the headers Authorization, X-Literal, from the variables NOTES_TOKEN`,
  ]);
  expect((await runCommand(call, get, { cwd })).code).toBe(0);
  expect(asked).toEqual(["connect to notes?"]);
  // another server needs another agreement, another secret does not
  writeEntry({ headers: { Authorization: "Bearer other-secret" } });
  await expect(runCommand(call, get, { cwd })).rejects.toThrow(/only with consent/);
  writeEntry({ headers: { Authorization: "Bearer ${env:NOTES_TOKEN}", "X-Literal": "changed" } });
  expect((await runCommand(call, get, { cwd })).code).toBe(0);
  writeEntry({ url: server.url.replace("127.0.0.1", "localhost") });
  await expect(runCommand(call, get, { cwd })).rejects.toThrow(/only with consent/);
});

test("call and graph work, and tools that may write are not called", async () => {
  const { out } = await runCommand(call, [...get, "--trust-server"], { cwd });
  expect(out.join("\n")).toContain('"title": "Garden"');
  const deleted = await runCommand(call, ["delete_note", ...get.slice(1), "--trust-server"], {
    cwd,
  });
  expect(deleted.code).toBe(1);
  expect(deleted.out.join("\n")).toMatch(/^refused \(permission_denied\).*cannot be reset/);
  const edges = await runCommand(graph, ["--connect", "notes", "--trust-server", "--verify"], {
    cwd,
  });
  expect(edges.out.join("\n")).toMatch(/notes: \d+ edges by names/);
  expect(edges.notes.join("\n")).toContain("notes is remote and cannot be reset");
  expect(server.calls.filter(it => it.startsWith("delete_note"))).toEqual([]);
});

test("connect says that it must be recorded, and how", async () => {
  await expect(runCommand(connect, ["notes", "--trust-server"], { cwd })).rejects.toThrow(
    /^notes is remote and cannot be reset, and its tools are not tried.*: record what it answers with prove-rl record notes/,
  );
  expect(server.requests).toEqual([]);
});

test("no file but the entry has what is secret", async () => {
  await runCommand(call, get, { cwd, confirm: () => Promise.resolve(true) });
  const files = readdirSync(cwd, { recursive: true, withFileTypes: true })
    .filter(it => it.isFile())
    .map(it => join(it.parentPath, it.name));
  expect(files.length).toBeGreaterThan(1);
  for (const it of files.filter(it => !it.endsWith("mcp.json")))
    expect(readFileSync(it, "utf8")).not.toContain(secret);
});
