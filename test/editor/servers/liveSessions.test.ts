/**
 * Sessions of the person are opened again after the window is reloaded, also those of two windows
 * on the same workspace.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import type { Memento } from "vscode";
import { openCatalog } from "../../../src/environment/catalog.ts";
import { catalog, root } from "../../contracts/transports.ts";
import type { ServerDefinitions } from "../../../src/editor/shared/serverDefinitions.ts";

const fakeEditor = vi.hoisted(() => ({
  workspace: { isTrusted: true },
  messages: [] as string[],
}));

vi.mock("vscode", () => ({
  EventEmitter: class {
    event() {}
    fire() {}
    dispose() {}
  },
  CancellationError: class extends Error {},
  workspace: fakeEditor.workspace,
  commands: {},
  window: {
    createOutputChannel: () => ({ warn() {}, error() {} }),
    showErrorMessage: async (it: string) => void fakeEditor.messages.push(it),
    showWarningMessage: async (it: string) => void fakeEditor.messages.push(it),
  },
}));

const { LiveSessions, formatSessionTitle } =
  await import("../../../src/editor/servers/liveSessions.ts");
const { ArgumentDrafts, SessionStore } =
  await import("../../../src/editor/servers/storedSessions.ts");

const servers = [...catalog.servers.values()];
const folder = mkdtempSync(join(tmpdir(), "prove-sessions-"));
const file = join(folder, "sessions.json");
afterAll(() => rmSync(folder, { recursive: true }));
let storage: Memento;
let fixtures: readonly string[];

/** A window of the editor on the same workspace. */
const openWindow = () =>
  new LiveSessions(
    {
      openLiveCatalog: async () => openCatalog(servers, fixtures),
    } as Partial<ServerDefinitions> as ServerDefinitions,
    new SessionStore(file),
  );

/** Opens the workspace in another window. */
async function reload(window: ReturnType<typeof openWindow>) {
  window.dispose();
  const next = openWindow();
  await next.reopenStored();
  return next;
}

beforeEach(() => {
  const values = new Map<string, unknown>();
  storage = {
    keys: () => [...values.keys()],
    get: (key: string, fallback?: unknown) => values.get(key) ?? fallback,
    // values are stored as JSON
    update: async (key: string, value: unknown) =>
      void values.set(key, value && JSON.parse(JSON.stringify(value))),
  };
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  fixtures = [join(root, "resources/servers")];
  fakeEditor.workspace.isTrusted = true;
  fakeEditor.messages.length = 0;
});

const transfer = { from_account: "acc_101", to_account: "acc_108", amount: 50 };

test("a session has its number, its calls and its state after a reload", async () => {
  const window = openWindow();
  const live = await window.open("banking", "small");
  await window.call(live, "banking_transfer", transfer);
  await window.call(live, "banking_list_accounts", {});
  const { digest } = live.session;
  const next = await reload(window);
  const [reopened] = next.all;
  expect(formatSessionTitle(reopened!)).toBe("Session 1 on small");
  expect(reopened!.calls.map(it => it.name)).toEqual(["banking_transfer", "banking_list_accounts"]);
  expect(reopened!.session.digest).toBe(digest);
  expect((await next.open("banking", "small")).number).toBe(2);
  expect(fakeEditor.messages).toEqual([]);
});

test("a fork has the calls of its source and its own, and a reset session none", async () => {
  const window = openWindow();
  const live = await window.open("banking", "small");
  await window.call(live, "banking_transfer", transfer);
  const fork = await window.fork(live);
  await window.call(fork, "banking_transfer", { ...transfer, amount: 7 });
  window.reset(live);
  const digests = [live, fork].map(it => it.session.digest);
  const next = await reload(await reload(window));
  expect(next.all.map(it => it.session.digest)).toEqual(digests);
  expect(next.all.map(formatSessionTitle)).toEqual([
    "Session 1 on small",
    "Session 2 forked from 1",
  ]);
});

test("a closed session stays closed, and an agent's session is not kept", async () => {
  const window = openWindow();
  await window.close(await window.open("banking", "small"));
  await window.open("banking", "small", "agent");
  expect((await reload(window)).all).toEqual([]);
});

test("a session that is closed after a reload stays closed", async () => {
  const window = openWindow();
  await window.open("banking", "small");
  const next = await reload(window);
  await next.close(next.all[0]!);
  expect((await reload(next)).all).toEqual([]);
});

test("a session whose fixture is gone is reported and kept until the fixture is back", async () => {
  const window = openWindow();
  await window.open("banking", "small");
  const shipped = fixtures;
  fixtures = [];
  const without = await reload(window);
  expect(without.all).toEqual([]);
  expect(fakeEditor.messages).toEqual([
    expect.stringMatching(/^Session 1 could not be opened again: banking has no fixture small\./),
  ]);
  fixtures = shipped;
  expect((await reload(without)).all).toHaveLength(1);
});

test("nothing is opened in Restricted Mode, and nothing is lost", async () => {
  const window = openWindow();
  await window.open("banking", "small");
  fakeEditor.workspace.isTrusted = false;
  const restricted = await reload(window);
  expect(restricted.all).toEqual([]);
  fakeEditor.workspace.isTrusted = true;
  await restricted.reopenStored();
  expect(restricted.all).toHaveLength(1);
});

const listTitles = (window: ReturnType<typeof openWindow>) => window.all.map(formatSessionTitle);

test("two windows keep the sessions of each other", async () => {
  const [first, second] = [openWindow(), openWindow()];
  await first.open("banking", "small");
  const closed = await second.open("banking", "small");
  await second.open("calendar", "full");
  await second.close(closed);
  for (const it of [second, first])
    expect(listTitles(await reload(it))).toEqual(["Session 1 on small", "Session 3 on full"]);
});

test("calls that two windows make in the same session lead to two sessions", async () => {
  const first = openWindow();
  await first.open("banking", "small");
  const second = openWindow();
  await second.reopenStored();
  for (const [window, amount] of [
    [first, 1],
    [second, 2],
  ] as const) {
    await window.call(window.all[0]!, "banking_transfer", { ...transfer, amount });
    window.dispose();
  }
  const next = openWindow();
  await next.reopenStored();
  expect(listTitles(next)).toEqual(["Session 1 on small", "Session 2 forked from 1"]);
  expect(next.all.map(it => it.calls.map(({ arguments: args }) => args))).toEqual([
    [{ ...transfer, amount: 1 }],
    [{ ...transfer, amount: 2 }],
  ]);
  // one that is closed in both stays closed
  await next.close(next.all[1]!);
  expect(listTitles(await reload(next))).toEqual(["Session 1 on small"]);
});

test("a damaged file is kept aside and reported", async () => {
  const window = openWindow();
  await window.open("banking", "small");
  writeFileSync(file, "[{");
  // the window finds it when it stores its sessions again
  await window.open("banking", "small");
  expect(listTitles(await reload(window))).toEqual(["Session 1 on small", "Session 2 on small"]);
  expect(readFileSync(`${file}.damaged-1`, "utf8")).toBe("[{");
  expect(fakeEditor.messages).toEqual([
    expect.stringMatching(
      /^The open sessions could not be read: .* is not JSON .*\. Open them again; the file is kept as sessions\.json\.damaged-1 beside it\.$/,
    ),
  ]);
});

test("a session in another version's form is kept aside and reported, and the others are opened", async () => {
  const window = openWindow();
  await window.open("banking", "small");
  window.dispose();
  const other = { number: 2, form: "of another version" };
  const text = JSON.stringify([...(JSON.parse(readFileSync(file, "utf8")) as object[]), other]);
  writeFileSync(file, text);
  const next = await reload(await reload(openWindow()));
  expect(listTitles(next)).toEqual(["Session 1 on small"]);
  expect(readFileSync(`${file}.damaged-1`, "utf8")).toBe(text);
  expect(fakeEditor.messages).toEqual([
    expect.stringMatching(
      /^Session 2 could not be read in full: .*kept as sessions\.json\.damaged-1/,
    ),
  ]);
});

test("what was typed into a form is kept until the form is finished", () => {
  new ArgumentDrafts(storage).set("banking_transfer", "amount", "12.");
  const drafts = new ArgumentDrafts(storage);
  expect(drafts.get("banking_transfer", "amount")).toBe("12.");
  drafts.clear("banking_transfer");
  expect(new ArgumentDrafts(storage).get("banking_transfer", "amount")).toBeUndefined();
});
