/** Sessions of a service that ends and starts again, or whose disk is full, with a journal. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createUnboundServer,
  startHttpServer,
  type RunningHttpServer,
} from "../../src/service/httpServer.ts";
import { lockJournal, SessionJournal } from "../../src/service/sessions/journal.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import { openTaskStore } from "../../src/service/taskStore.ts";
import type { Disk } from "../../src/storage/lineWriter.ts";
import { formatTaskLine } from "../../src/trajectory/task.ts";
import { catalog } from "../contracts/transports.ts";
import { moveFifty } from "../trajectory/sampleTasks.ts";
import { countingCatalog, sendRequest } from "./countingService.ts";

let folder = "";
let id = "";
let serving: RunningHttpServer;
/** Milliseconds by the service's clock. */
let now = 0;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "prove-journal-"));
  id = createSessionId();
  await start();
});
afterEach(() => serving.close());

async function start(disk?: Disk): Promise<void> {
  const journal = new SessionJournal(folder, disk);
  serving = await startHttpServer({ catalog: countingCatalog(), journal, clock: () => now });
}

async function restart(disk?: Disk): Promise<void> {
  await serving.close();
  await start(disk);
}

const at = (action: string) => `${serving.url}/v1/sessions/${id}${action}`;
const open = () => sendRequest(at(""), "PUT", { body: {} });
const add = (seq: number, by = 1) =>
  sendRequest(at("/call"), "POST", {
    body: { seq, name: "counting_add", arguments: { counter_id: "cnt_1", by } },
  });
const getCounter = async () =>
  (await sendRequest(at("/state"), "GET")).json.state.counting.world.counters.cnt_1.value;
const getFile = () => {
  const [name, ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  return join(folder, name!);
};
/** Cuts the file as the end of a machine does, which loses what was written last. */
const cut = (bytes: number) => truncateSync(getFile(), readFileSync(getFile()).length - bytes);

test("a session goes on after a restart, and its last request can be repeated", async () => {
  await open();
  const start = await getCounter();
  await add(1);
  const { text } = await add(2, 5);
  await restart();
  expect((await add(2, 5)).text).toBe(text);
  expect(await getCounter()).toBe(start + 6);
  expect((await add(3)).status).toBe(200);
  await sendRequest(at(""), "DELETE");
  expect(new SessionJournal(folder).list()).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

test("the file of a closed session is used for the next one, and none is left behind", async () => {
  await open();
  const { ino } = statSync(getFile());
  await add(1, 5);
  await sendRequest(at(""), "DELETE");
  expect(readFileSync(getFile(), "utf8")).toBe("");
  id = createSessionId();
  await open();
  if (process.platform !== "win32") expect(statSync(getFile()).ino).toBe(ino);
  const start = await getCounter();
  await add(1, 2);
  await restart();
  expect(await getCounter()).toBe(start + 2);
  await sendRequest(at(""), "DELETE");
  await restart();
  expect(readdirSync(folder)).toEqual([]);
  // spare files that another process has removed are created anew
  await open();
  await sendRequest(at(""), "DELETE");
  unlinkSync(getFile());
  await open();
  await restart();
  expect(await getCounter()).toBe(start);
});

test.each([
  ["half of the last line", 20, 1],
  ["all but one character of the last line", undefined, 1],
  ["only its line break", 1, 6],
])("%s is lost: the request is repeated and executed once", async (_, bytes, found) => {
  await open();
  const start = await getCounter();
  await add(1);
  await add(2, 5);
  const last = readFileSync(getFile(), "utf8").split("\n").at(-2)!;
  cut(bytes ?? last.length);
  await restart();
  expect(await getCounter()).toBe(start + found);
  expect((await add(2, 5)).status).toBe(200);
  expect((await add(3, 10)).status).toBe(200);
  expect(await getCounter()).toBe(start + 16);
  // what was written after the cut is read again, too
  await restart();
  expect(await getCounter()).toBe(start + 16);
  expect((await add(4)).status).toBe(200);
});

test("a session whose first line was cut is unknown, and can be opened again", async () => {
  await open();
  const start = await getCounter();
  writeFileSync(getFile(), readFileSync(getFile(), "utf8").slice(0, 30));
  await restart();
  expect((await add(1)).status).toBe(404);
  expect((await open()).status).toBe(200);
  await add(1);
  await restart();
  expect(await getCounter()).toBe(start + 1);
});

test.each([
  ["a line that is not JSON", "{", "line 2 of its journal is not a request of a session"],
  ["a line of something else", '{"do":5}', "line 2 of its journal is not a request of a session"],
  ...["rm", "constructor", "__proto__"].map(it => [
    `the request ${it}`,
    JSON.stringify({ do: it, body: {}, digest: "" }),
    "its journal has a request that this version does not know",
  ]),
])("a session whose journal has %s is unknown, and clients are told why", async (_, line, why) => {
  await open();
  writeFileSync(getFile(), `${readFileSync(getFile(), "utf8")}${line}\n`);
  await restart();
  const { status, json } = await add(1);
  expect(status).toBe(404);
  expect(json.error.message).toContain(`session ${id} could not be rebuilt (${why})`);
});

test("an attempt that is deleted while it is rebuilt is gone, and can be opened again", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "prove-rl-")), "some.tasks.jsonl");
  writeFileSync(file, `${formatTaskLine(await moveFifty())}\n`);
  const startWithTasks = async () => {
    await serving.close();
    // reads the task from the file anew, which takes a while
    const tasks = await openTaskStore([file]);
    serving = await startHttpServer({ catalog, tasks, journal: new SessionJournal(folder) });
  };
  await startWithTasks();
  const body = { task_id: "t-move" };
  expect((await sendRequest(at(""), "PUT", { body })).status).toBe(200);
  await startWithTasks();
  const [, deletion] = await Promise.all([
    sendRequest(at("/state"), "GET"),
    sendRequest(at(""), "DELETE"),
  ]);
  expect(deletion.status).toBe(200);
  expect((await add(1)).json.error.message).toContain(`there is no session ${id}`);
  expect((await sendRequest(at(""), "PUT", { body })).status).toBe(200);
});

test("two equal forks at the same time are one fork", async () => {
  await open();
  await add(1);
  const records = readFileSync(getFile(), "utf8").trim().split("\n");
  // as the process of the source passes them to that of the forks
  const request = {
    id: createSessionId(),
    ttlMs: null,
    key: `fork of ${id}`,
    owner: "trainer",
    records: records.map(it => JSON.parse(it) as object),
  };
  const journal = new SessionJournal(mkdtempSync(join(tmpdir(), "prove-journal-")));
  const service = createUnboundServer({ catalog: countingCatalog(), journal });
  const forks = await Promise.all(
    [request, request, request].map(async it => service.answerInternal("adopt", it)),
  );
  expect(forks.map(it => it?.status)).toEqual([200, 200, 200]);
  expect(new Set(forks.map(it => it?.text)).size).toBe(1);
  const other = await service.answerInternal("adopt", { ...request, key: "fork of another" });
  expect(other?.text).toContain("was opened otherwise");
  journal.close();
});

const makers: [string, (path: string) => void][] = [
  ["a folder", path => mkdirSync(path)],
  ["a link", path => symlinkSync(join(folder, "target"), path)],
  ["a named pipe", path => execFileSync("mkfifo", [path])],
];
test.skipIf(process.platform === "win32").each(makers)(
  "%s in the place of a journal is said at the start",
  (_, make) => {
    const own = mkdtempSync(join(tmpdir(), "prove-journal-"));
    const path = join(own, "x.jsonl");
    make(path);
    const said = `${path} is not a regular file: replace it by a file, or remove it`;
    expect(() => lockJournal(own)).toThrow(said);
    expect(() => new SessionJournal(own)).toThrow(said);
  },
);

test("a file of another version is left alone", async () => {
  await open();
  const text = readFileSync(getFile(), "utf8").replace("prove/journal@1", "prove/journal@9");
  writeFileSync(getFile(), text);
  await restart();
  expect((await add(1)).status).toBe(404);
  expect(readFileSync(getFile(), "utf8")).toBe(text);
});

/** Bytes that fit on the disk. */
let room = 0;
const smallDisk: Disk = {
  write(fd, bytes, position) {
    const count = Math.min(bytes.length, room);
    room -= count;
    if (count === 0) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
    return writeSync(fd, bytes, 0, count, position);
  },
};

test("on a full disk a request is undone, and executed once when there is room", async () => {
  room = 0;
  await restart(smallDisk);
  const refused = await open();
  expect(refused.status).toBe(503);
  expect(refused.headers["retry-after"]).toBe("5");
  room = 100_000;
  expect((await open()).status).toBe(200);
  const start = await getCounter();
  expect((await add(1)).status).toBe(200);
  // a line that is begun does not fit
  room = 40;
  const full = await add(2, 5);
  expect(full.status).toBe(503);
  expect(full.json).toMatchObject({ error: { code: "UNAVAILABLE" } });
  expect(await getCounter()).toBe(start + 1);
  room = 100_000;
  expect((await add(2, 5)).status).toBe(200);
  expect(await getCounter()).toBe(start + 6);
  await restart();
  expect(await getCounter()).toBe(start + 6);
});

test("a session that is opened again after the disk was full is there after a restart", async () => {
  room = 100_000;
  await restart(smallDisk);
  // the files of closed sessions take the place of new ones, one for each try to open the session
  const closed = [createSessionId(), createSessionId()];
  for (id of closed) await open();
  for (id of closed) await sendRequest(at(""), "DELETE");
  id = createSessionId();
  room = 0;
  expect((await open()).status).toBe(503);
  room = 100_000;
  expect((await open()).status).toBe(200);
  const start = await getCounter();
  expect((await add(1)).status).toBe(200);
  await restart();
  expect(await getCounter()).toBe(start + 1);
});

test.each([
  ["shorter than its source's", 60, 5, false],
  ["longer than its source's", 5, 60, false],
  ["shorter than its source's, after a restart", 60, 5, true],
  ["longer than its source's, after a restart", 5, 60, true],
])("a fork has a ttl_s of its own, %s", async (_, own, forked, restarts) => {
  await sendRequest(at(""), "PUT", { body: { ttl_s: own } });
  await add(1);
  const forks = [createSessionId(), createSessionId(), createSessionId()] as const;
  const fork = (source: string, session_id: string, options = {}) =>
    sendRequest(`${serving.url}/v1/sessions/${source}/fork`, "POST", {
      body: { session_id, ...options },
    });
  const getStatuses = () =>
    Promise.all(
      [id, ...forks].map(
        async it => (await sendRequest(`${serving.url}/v1/sessions/${it}/state`, "GET")).status,
      ),
    );
  await fork(id, forks[0], { ttl_s: forked });
  await fork(id, forks[1]);
  await fork(forks[0], forks[2]);
  if (restarts) await restart();
  expect(await getStatuses()).toEqual([200, 200, 200, 200]);
  now += 6_000;
  expect(await getStatuses()).toEqual(own < forked ? [404, 200, 404, 200] : [200, 404, 200, 404]);
});

test.skipIf(process.platform === "win32")("the journal is for its user only", async () => {
  const mask = process.umask(0);
  try {
    const own = join(folder, "new", "journal");
    const release = lockJournal(own);
    const journal = new SessionJournal(own);
    const record = { do: "open", body: {}, digest: "" };
    journal.begin({ session_id: id, ttl_ms: null }, record);
    journal.copy([record], { session_id: createSessionId(), ttl_ms: null }, record);
    const getMode = (path: string) => statSync(path).mode & 0o777;
    expect(getMode(own)).toBe(0o700);
    expect(readdirSync(own)).toHaveLength(3);
    for (const it of readdirSync(own)) expect(getMode(join(own, it)), it).toBe(0o600);
    journal.close();
    release();
    // as older versions created it
    const files = readdirSync(own).map(it => join(own, it));
    expect(files).toHaveLength(2);
    for (const it of files) chmodSync(it, 0o644);
    chmodSync(own, 0o755);
    lockJournal(own)();
    expect([own, ...files].map(getMode)).toEqual([0o700, 0o600, 0o600]);
    // somebody else's things may be read by others on purpose
    chmodSync(own, 0o755);
    writeFileSync(join(own, "notes.txt"), "");
    expect(() => lockJournal(own)).toThrow(
      `others can read the journal ${own}: make it yours alone with chmod 700 ${own}, or name a folder that does not exist`,
    );
    expect(() => new SessionJournal(own)).toThrow("others can read");
  } finally {
    process.umask(mask);
  }
});

test("a journal that another process has written to is not written to", async () => {
  await open();
  await add(1);
  const text = readFileSync(getFile(), "utf8");
  const line = text.split("\n").at(-2)!;
  writeFileSync(getFile(), `${text}${line}\n`);
  expect(await add(2)).toMatchObject({ status: 503 });
  expect(readFileSync(getFile(), "utf8")).toBe(`${text}${line}\n`);
  // nor is it replaced by that of a session of the same id
  expect(() =>
    new SessionJournal(folder).begin(
      { session_id: id, ttl_ms: null },
      { do: "open", body: {}, digest: "" },
    ),
  ).toThrow("has one already");
});
