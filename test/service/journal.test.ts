/** Sessions of a service that ends and starts again, or whose disk is full, with a journal. */
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startHttpServer, type RunningHttpServer } from "../../src/service/httpServer.ts";
import { lockJournal, SessionJournal } from "../../src/service/sessions/journal.ts";
import { createSessionId } from "../../src/service/sessions/sessionTable.ts";
import type { Disk } from "../../src/storage/lineWriter.ts";
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
    chmodSync(own, 0o755);
    lockJournal(own)();
    expect(getMode(own)).toBe(0o700);
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
