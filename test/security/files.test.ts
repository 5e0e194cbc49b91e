/** Attacks through files: folders that others use too, and files that are not what they claim. */
import { execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { synthesize } from "../../src/cli/synthesize.ts";
import { openCatalog } from "../../src/environment/catalog.ts";
import { findFixtureOrigin, listFixtureOrigins } from "../../src/editor/fixtures/fixtureNames.ts";
import { readNotes } from "../../src/run/attemptNotes.ts";
import { appendMetrics, readMetrics, readRun, writeEnd } from "../../src/run/folder.ts";
import { getTrainerLockFile } from "../../src/run/locks.ts";
import { startTrainer } from "../../src/run/start.ts";
import { openEventWriter } from "../../src/run/tensorboard.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { readServerEntries } from "../../src/mcp/mcpConfig.ts";
import { createTemporaryFolder } from "../../src/storage/temporaryFolders.ts";
import { copyFileOver } from "../../src/storage/writtenFiles.ts";
import { runCommand } from "../cli/terminal.ts";
import { root } from "../contracts/transports.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-security-"));
  return () => rmSync(folder, { recursive: true });
});

const rounds = 100;
const exampleRun = join(root, "resources/example/prove/runs/example");

test.each([
  ["an empty folder", undefined],
  ["a folder whose last trainer was killed", "stale"],
])("two trainers do not write to one run: %s", async (_, state) => {
  const contenders = Array.from({ length: 6 }, () =>
    fork(join(import.meta.dirname, "lockContender.ts")),
  );
  onTestFinished(() => contenders.forEach(it => void it.kill()));
  const gone = spawn(process.execPath, ["-e", ""]);
  await once(gone, "exit");
  const winners: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const run = mkdtempSync(join(folder, "run-"));
    if (state === "stale")
      writeFileSync(
        getTrainerLockFile(run),
        JSON.stringify({ format: "prove/lock@1", pid: gone.pid, began: "then", address: "/x" }),
      );
    const answers = contenders.map(it => once(it, "message") as Promise<[boolean]>);
    for (const it of contenders) it.send(run);
    winners.push((await Promise.all(answers)).filter(([won]) => won).length);
    expect(readdirSync(run)).toEqual(["trainer.lock"]);
  }
  expect(winners).toEqual(Array.from({ length: rounds }, () => 1));
});

const hostileFiles: [name: string, create: (file: string) => void, message: RegExp][] = [
  ["a named pipe", file => void execFileSync("mkfifo", [file]), /is not a regular file/],
  ["a link to a device", file => symlinkSync("/dev/zero", file), /is not a regular file/],
  ["a folder", file => mkdirSync(file), /is not a regular file/],
  [
    "a file of 2 GB",
    file => {
      writeFileSync(file, "{");
      truncateSync(file, 2 * 2 ** 30);
    },
    /has 2048 MB, more than the 32 MB that are read/,
  ],
  ["a fixture of 100 MB", file => writeFileSync(file, " ".repeat(100 * 2 ** 20)), /has 100 MB/],
];
const servers = await loadServers();

test.skipIf(process.platform === "win32").each(hostileFiles)(
  "a file of the workspace neither blocks the program nor fills its memory: %s",
  (_, create, message) => {
    const name = (file: string) => join(folder, file);
    mkdirSync(name("banking"));
    create(name("banking/small.fixture.json"));
    const catalog = openCatalog(servers, [folder]);
    expect(() => catalog.getFixture("banking", "small")).toThrow(message);
    create(name("mcp.json"));
    expect(() => readServerEntries(name("mcp.json"), folder)).toThrow(message);
    create(name("notes.json"));
    expect(() => readNotes(name("notes.json"))).toThrow(message);
    create(name("run.json"));
    expect(() => readRun(folder)).toThrow(/is not a run folder/);
  },
);

test("a folder of 20,000 fixtures does not flood a list or a message", () => {
  mkdirSync(join(folder, "banking"));
  for (let i = 0; i < 20_000; i++) writeFileSync(join(folder, "banking", `a${i}.fixture.json`), "");
  const folders = { shipped: join(root, "resources/servers"), own: folder };
  const { listed, more } = listFixtureOrigins(folders, "banking");
  expect(listed).toHaveLength(500);
  expect(listed.slice(-2)).toEqual([
    ["full", "shipped"],
    ["small", "shipped"],
  ]);
  expect(more).toBe(19_502);
  expect(findFixtureOrigin(folders, "banking", "a19999")).toBe("own");
  expect(findFixtureOrigin(folders, "banking", "none")).toBeUndefined();
  const catalog = openCatalog(servers, [folder]);
  expect(() => catalog.getFixture("banking", "none")).toThrow(
    /^banking has no fixture none: choose one of a0, a1, a10, .{60,160} or 19980 more$/,
  );
});

describe.skipIf(process.platform === "win32")("nothing is written through a link", () => {
  const victim = () => join(folder, "victim");
  const link = (name: string) => symlinkSync(victim(), join(folder, name));
  const refusal = /is a link, and nothing is written through links: remove it|exists already/;

  const writers: [what: string, name: string, write: () => unknown][] = [
    [
      "metrics of a run",
      "metrics.jsonl",
      () => appendMetrics(folder, readMetrics(exampleRun).lines[0]!),
    ],
    ["the end of a run", "ended.json", () => writeEnd(folder, { by: "stop", step: 1 })],
    [
      "events for TensorBoard",
      "events.out.tfevents.5.000001",
      () => openEventWriter(folder, { seconds: 5, firstStep: 1 }),
    ],
    [
      "the log of a trainer",
      "trainer.log",
      () => {
        cpSync(exampleRun, folder, { recursive: true });
        return startTrainer({ folder, program: "none", fixtures: [] });
      },
    ],
    [
      "tasks",
      "a.tasks.jsonl",
      () =>
        runCommand(synthesize, ["--out", join(folder, "a.tasks.jsonl"), "--count", "1"], {
          cwd: folder,
        }),
    ],
  ];
  test.each(writers)("%s", async (_, name, write) => {
    writeFileSync(victim(), "");
    link(name);
    await expect((async () => write())()).rejects.toThrow(refusal);
    expect(readFileSync(victim(), "utf8")).toBe("");
    // nor is what a dangling link names created
    rmSync(victim());
    await expect((async () => write())()).rejects.toThrow(refusal);
    expect(readdirSync(folder)).not.toContain("victim");
  });

  test("the copy of a model", () => {
    link("model");
    writeFileSync(victim(), "mine");
    writeFileSync(join(folder, "from"), "copied");
    copyFileOver(join(folder, "from"), join(folder, "model"));
    expect(readFileSync(victim(), "utf8")).toBe("mine");
    expect(readFileSync(join(folder, "model"), "utf8")).toBe("copied");
    copyFileOver(join(folder, "from"), join(folder, "from"));
    expect(readFileSync(join(folder, "from"), "utf8")).toBe("copied");
  });
});

test("what a killed process left in the temporary folder is removed by the next one", async () => {
  vi.stubEnv("TMPDIR", folder);
  vi.stubEnv("TEMP", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const gone = spawn(process.execPath, ["-e", ""]);
  await once(gone, "exit");
  const own = createTemporaryFolder("serve");
  const left = own.replace(`-${process.pid}-`, `-${gone.pid}-`);
  mkdirSync(left);
  writeFileSync(join(left, "journal.jsonl"), "");
  const other = left.replace("-serve-", "-other-");
  mkdirSync(other);
  const next = createTemporaryFolder("serve");
  expect(readdirSync(folder).toSorted()).toEqual(
    [own, other, next].map(it => basename(it)).toSorted(),
  );
});

describe("synthesize leaves files that are not its own as they are", () => {
  const options = ["--count", "3", "--servers", "banking", "--resume"];
  const run = (file: string, ...more: string[]) =>
    runCommand(synthesize, ["--out", file, ...options, ...more], { cwd: folder });
  const readAll = () =>
    Object.fromEntries(readdirSync(folder).map(it => [it, readFileSync(join(folder, it), "utf8")]));

  const foreign: [what: string, file: string, content: string][] = [
    ["a note without a line break", "a.tasks.jsonl", "my only copy"],
    ["notes", "a.tasks.jsonl", "one\ntwo\nthree"],
    ["JSON over several lines", "a.tasks.jsonl", '{\n  "a": 1\n}'],
    ["other JSON Lines", "a.tasks.jsonl", '{"format":"prove/trajectory@2"}\n{"kind'],
    ["JSON that is no object", "a.tasks.jsonl", "null\n"],
    ["rejected attempts of somebody else", "a.rejected.jsonl", "mine, and unfinished"],
    ["a report of somebody else", "a.report.json", '{"mine": true}'],
  ];
  test.each(foreign)("%s", async (_, name, content) => {
    writeFileSync(join(folder, name), content);
    await expect(run("a.tasks.jsonl")).rejects.toMatchObject({
      what: expect.stringMatching(new RegExp(`${name} was not written by a synthesis`)),
      remedy: "write to another file, or move this one away",
    });
    expect(readAll()).toEqual({ [name]: content });
  });

  test("a note at the end of tasks", async () => {
    await run("a.tasks.jsonl");
    appendFileSync(join(folder, "a.tasks.jsonl"), "remember the milk");
    const before = readAll();
    await expect(run("a.tasks.jsonl")).rejects.toThrow("was not written by a synthesis");
    expect(readAll()).toEqual(before);
  });

  test("tasks of another synthesis, with a torn line and without their rejections", async () => {
    await run("a.tasks.jsonl", "--count", "40");
    appendFileSync(join(folder, "a.tasks.jsonl"), '{"format":"prove/ta');
    rmSync(join(folder, "a.rejected.jsonl"));
    const before = readAll();
    for (const more of [
      ["--seed", "2"],
      ["--preset", "student"],
      ["--servers", "maps"],
    ])
      await expect(run("a.tasks.jsonl", ...more)).rejects.toThrow("was made with other options");
    expect(readAll()).toEqual(before);
  });
});
