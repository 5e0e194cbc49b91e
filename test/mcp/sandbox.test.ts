/** Each process of a server whose entry has a reset works on something of its own. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { connectServer, type ConnectedSession } from "../../src/mcp/connectedSession.ts";
import { parseServerEntries } from "../../src/mcp/mcpConfig.ts";
import { root } from "../contracts/transports.ts";

let folder: string;
const open: ConnectedSession[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-sandbox-"));
  mkdirSync(join(folder, "seed"));
  writeFileSync(
    join(folder, "seed/memory.jsonl"),
    '{"type":"entity","name":"Ana","entityType":"person","observations":[]}\n',
  );
});
afterEach(async () => {
  await Promise.all(open.splice(0).map(it => it.close()));
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const memory = {
  args: [join(root, "node_modules/@modelcontextprotocol/server-memory/dist/index.js")],
  env: { MEMORY_FILE_PATH: "${sandbox}/memory.jsonl" },
};
const limits = { start: 300_000, call: 300_000 };

async function connect(entry: object): Promise<ConnectedSession> {
  const { entries, errors } = parseServerEntries(
    JSON.stringify({ servers: { notes: { command: process.execPath, ...entry } } }),
    "prove/mcp.json",
    folder,
  );
  expect([...errors.values()]).toEqual([]);
  const session = await connectServer(entries.get("notes")!, new AbortController().signal, limits);
  open.push(session);
  return session;
}

const remove = (session: ConnectedSession) =>
  session.call("delete_entities", { entityNames: ["Ana"] });
const countEntities = async (session: ConnectedSession): Promise<unknown> => {
  const outcome = await session.call("read_graph", {});
  const { entities } = (outcome.kind === "ok" ? outcome.value : {}) as { entities?: unknown[] };
  return entities?.length;
};

test("sessions on copies of a folder see neither each other nor an earlier session, and the folder stays", async () => {
  const before = readFileSync(join(folder, "seed/memory.jsonl"), "utf8");
  const entry = { ...memory, reset: { folder: "seed" } };
  const [a, b] = [await connect(entry), await connect(entry)];
  expect(await remove(a)).toMatchObject({ kind: "ok" });
  expect(await countEntities(a)).toBe(0);
  expect(await countEntities(b)).toBe(1);
  expect(await a.restart(0)).toEqual([]);
  expect(await countEntities(a)).toBe(1);
  expect(readFileSync(join(folder, "seed/memory.jsonl"), "utf8")).toBe(before);
});

test.each([
  ["its copy", { folder: "seed" }, ["memory.jsonl"]],
  ["an empty folder", { restart: true }, []],
])("a process starts in %s, where relative paths do no harm", async (_, reset, files) => {
  const program = `const fs = require("node:fs"); fs.writeFileSync(process.argv[1], JSON.stringify([process.cwd(), fs.readdirSync(".")])); require(process.argv[2])`;
  const session = await connect({
    args: ["-e", program, join(folder, "start"), memory.args[0]],
    env: { MEMORY_FILE_PATH: "folder" in reset ? memory.env.MEMORY_FILE_PATH : "/dev/null" },
    reset,
  });
  const start = readFileSync(join(folder, "start"), "utf8");
  const [cwd, names] = JSON.parse(start) as [string, string[]];
  expect(cwd).not.toBe(folder);
  expect(names).toEqual(files);
  await session.close();
  expect(existsSync(cwd)).toBe(false);
});

test("copies are removed with their sessions, and after a start that failed", async () => {
  const program = `require("node:fs").writeFileSync(process.argv[1], process.argv[2]); require(process.argv[3])`;
  const entry = {
    args: ["-e", program, join(folder, "copy"), "${sandbox}", memory.args[0]],
    env: memory.env,
    reset: { folder: "seed" },
  };
  const session = await connect(entry);
  const copy = readFileSync(join(folder, "copy"), "utf8");
  expect(existsSync(join(copy, "memory.jsonl"))).toBe(true);
  await session.close();
  expect(existsSync(copy)).toBe(false);

  await expect(
    connect({
      args: ["-e", program, join(folder, "copy"), "${sandbox}", "nothing"],
      reset: entry.reset,
    }),
  ).rejects.toThrow(/ended with exit code 1/);
  expect(existsSync(readFileSync(join(folder, "copy"), "utf8"))).toBe(false);
});

test("what a command creates has a name of its own, and is removed", async () => {
  mkdirSync(join(folder, "made"));
  const run = (code: string) => [
    process.execPath,
    "-e",
    `require("node:fs").${code}`,
    join(folder, "made", "${sandbox}"),
  ];
  const entry = {
    ...memory,
    env: { MEMORY_FILE_PATH: "${workspaceFolder}/made/${sandbox}/memory.jsonl" },
    reset: {
      command: run(`cpSync("seed", process.argv[1], { recursive: true })`),
      remove: run("rmSync(process.argv[1], { recursive: true })"),
    },
  };
  const [a, b] = [await connect(entry), await connect(entry)];
  await remove(a);
  expect(await countEntities(a)).toBe(0);
  expect(await countEntities(b)).toBe(1);
  expect(readdirSync(join(folder, "made"))).toHaveLength(2);
  await Promise.all([a.close(), b.close()]);
  expect(readdirSync(join(folder, "made"))).toEqual([]);

  await expect(
    connect({
      ...entry,
      reset: { ...entry.reset, command: run("cpSync('nothing', '${sandbox}')") },
    }),
  ).rejects.toThrow(/failed: .*nothing/);

  // what it created before it failed
  const half = run("mkdirSync(process.argv[1]), process.exit(1)");
  await expect(connect({ ...entry, reset: { ...entry.reset, command: half } })).rejects.toThrow(
    /failed: /,
  );
  expect(readdirSync(join(folder, "made"))).toEqual([]);
});

test("a tool resets before the first call, and a reset that fails is an error", async () => {
  const tools = ["clear", "look"].map(name => ({ name, annotations: { readOnlyHint: true } }));
  const start = (calls: object) => {
    const log = join(folder, "log");
    writeFileSync(join(folder, "script.json"), JSON.stringify({ pages: [{ tools }], calls }));
    const args = [join(root, "test/mcp/listedServer.ts"), join(folder, "script.json"), log];
    return connect({ args, reset: { tool: "clear", arguments: { all: true } } });
  };
  const session = await start({});
  await session.call("look", {});
  expect(readFileSync(join(folder, "log"), "utf8")).toBe("clear\nlook\n");
  await expect(
    start({ clear: { isError: true, content: [{ type: "text", text: "in use" }] } }),
  ).rejects.toThrow("notes was not reset: clear failed: in use");
  await expect(connect({ ...memory, env: {}, reset: { tool: "clear" } })).rejects.toThrow(
    "notes has no tool clear",
  );
});

test("a folder whose copy would not stand for itself is refused, with what to do", async () => {
  const reset = { folder: "seed" };
  await expect(connect({ ...memory, reset: { folder: "missing" } })).rejects.toThrow(
    /the folder .*missing, which notes starts from, does not exist/,
  );
  await expect(
    connect({ ...memory, args: [...memory.args, "${workspaceFolder}/seed/memory.jsonl"], reset }),
  ).rejects.toThrow(/is given .*seed\/memory.jsonl, which is the seed itself and not its copy/);
  symlinkSync(join(folder, "seed/memory.jsonl"), join(folder, "seed/link.jsonl"));
  await expect(connect({ ...memory, reset })).rejects.toThrow(/link.jsonl is a link to/);
});

const clock = { ...memory, reset: { folder: "seed" }, time: "2026-03-10T09:00" };

test.runIf(process.platform !== "win32")(
  "a fixed time is given to the program that sets it, and time zones are UTC",
  async () => {
    const program = join(folder, "faketime");
    const log = join(folder, "log");
    writeFileSync(
      program,
      `#!/bin/sh\nprintf '%s\\n' "$TZ" "$1" "$2" "$3" > '${log}'\nshift 3\nexec "$@"\n`,
      { mode: 0o755 },
    );
    vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`);
    expect(await countEntities(await connect(clock))).toBe(1);
    expect(readFileSync(log, "utf8")).toBe("UTC\n--exclude-monotonic\n-f\n2026-03-10 09:00:00\n");
  },
);

test("without that program, the message says what to install", async () => {
  vi.stubEnv("PATH", join(folder, "seed"));
  await expect(connect(clock)).rejects.toMatchObject({
    what: "the server notes cannot be started at a fixed time, because faketime is not on the PATH",
    remedy: expect.stringContaining("apt install faketime") as string,
  });
});
