/**
 * Attacks by a workspace's `prove/mcp.json`, by the servers that it names, and by programs that lie
 * in the workspace.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createConfirm } from "../../src/cli/program.ts";
import { tools } from "../../src/cli/tools.ts";
import { connectServer } from "../../src/mcp/connectedSession.ts";
import { findServerEntry } from "../../src/mcp/mcpConfig.ts";
import { findProcessTree, type ProcessRow } from "../../src/mcp/processTree.ts";
import { findProgram, getSystemProgram } from "../../src/storage/processes.ts";
import { UserError } from "../../src/userError.ts";
import { root } from "../contracts/transports.ts";
import { runCommand } from "../cli/terminal.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-security-"));
  mkdirSync(join(folder, "prove"));
  return () => rmSync(folder, { recursive: true });
});

const misbehavingServer = join(root, "test/mcp/misbehavingServer.ts");
const memoryServer = join(root, "node_modules/@modelcontextprotocol/server-memory/dist/index.js");
const configFile = () => join(folder, "prove/mcp.json");
const writeConfig = (servers: object) => writeFileSync(configFile(), JSON.stringify({ servers }));

describe("a disposable server of a workspace does not run unseen in the terminal", () => {
  const marker = () => join(folder, "started");
  beforeEach(() => {
    const program = `require("node:fs").writeFileSync("started", ""); require(process.argv[1])`;
    writeConfig({
      helpful: {
        command: process.execPath,
        args: ["-e", program, memoryServer, "two words", "\u001b[2K\u202e"],
        env: { API_KEY: "do-not-show", MEMORY_FILE_PATH: "${workspaceFolder}/memory.jsonl" },
        disposable: true,
      },
    });
  });
  const start = (args: readonly string[], confirm?: (question: string) => Promise<boolean>) =>
    runCommand(tools, ["--connect", "helpful", ...args], {
      cwd: folder,
      ...(confirm ? { confirm } : {}),
    });

  test("not where nobody can be asked", async () => {
    await expect(start([])).rejects.toMatchObject({
      what: "the tools of helpful may make changes, and it starts only with consent",
      remedy: expect.stringContaining("--trust-server"),
    });
    expect(existsSync(marker())).toBe(false);
  });

  test("not where a person declines", async () => {
    await expect(start([], async () => false)).rejects.toThrow("helpful was not started");
    expect(existsSync(marker())).toBe(false);
  });

  test.each([
    ["--trust-server", ["--trust-server"], undefined],
    ["a person's consent", [], async () => true],
  ] as const)(
    "only after the command, its folder and its variables are shown: %s",
    async (...it) => {
      const [, args, confirm] = it;
      const { notes } = await start(args, confirm);
      expect(existsSync(marker())).toBe(true);
      const [note = ""] = notes;
      expect(note).toContain(`starting ${process.execPath} -e `);
      expect(note).toContain('"two words" ␛[2K⟨U+202E⟩ in ');
      expect(note).toContain(` in ${folder}`);
      expect(note).toContain("variables PATH, API_KEY, MEMORY_FILE_PATH");
      expect(note).toContain("may change or delete everything they can reach");
      expect(note).not.toContain("do-not-show");
    },
  );

  test("the folder cannot pretend to be the end of the line", async () => {
    const cwd = join(folder, "a with the environment variables none");
    mkdirSync(cwd);
    writeConfig({ helpful: { command: process.execPath, args: [memoryServer], cwd } });
    const { notes } = await start([]);
    expect(notes[0]).toContain(` in "${cwd}"\n`);
  });

  const answers: [typed: string, isConsent: boolean][] = [
    ["y\n", true],
    ["Yes\n", true],
    ["\n", false],
    ["yellow\n", false],
    ["n\ny\n", false],
    ["", false],
  ];
  test.each(answers)("only the answer yes is consent: %j", async (typed, isConsent) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const stderr = Object.assign(new PassThrough(), { isTTY: true });
    const { signal } = new AbortController();
    const answer = createConfirm({ stdin, stderr, signal })!("start it?");
    stdin.end(typed);
    expect(await answer).toBe(isConsent);
    expect(String(stderr.read())).toBe("start it? [y/N] ");
    expect(createConfirm({ stdin: new PassThrough(), stderr, signal })).toBeUndefined();
  });
});

test.each(["args", "env", "cwd", "command"])(
  "an entry does not get a key of the person's environment through %s",
  place => {
    vi.stubEnv("PROVE_TOKEN", "do-not-tell");
    const text = "${env:PROVE_TOKEN}";
    const value = place === "args" ? [text] : place === "env" ? { KEY: text } : text;
    writeConfig({ thief: { command: "node", [place]: value }, honest: { command: "node" } });
    const find = (name: string) => findServerEntry(configFile(), folder, name);
    expect(() => find("thief")).toThrow(
      /server thief: (args\[0\]|env\.KEY|cwd|command) has \$\{env:PROVE_TOKEN\}/,
    );
    expect(find("honest")).toMatchObject({ name: "honest" });
    vi.unstubAllEnvs();
  },
);

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe.skipIf(process.platform === "win32")("a server leaves no process behind", () => {
  test.each(["close", "abort"])("that left its process group: %s", async way => {
    const file = join(folder, "pids");
    writeConfig({
      sneaky: { command: process.execPath, args: [misbehavingServer, "escapes", file] },
    });
    const controller = new AbortController();
    const entry = findServerEntry(configFile(), folder, "sneaky");
    const session = await connectServer(entry, controller.signal);
    const pids = readFileSync(file, "utf8").trim().split("\n").map(Number);
    onTestFinished(() => pids.filter(isAlive).forEach(it => void process.kill(it, "SIGKILL")));
    expect(pids.map(isAlive)).toEqual([true, true, true]);
    if (way === "abort") controller.abort(new Error("enough"));
    await session.close();
    // an orphan that has ended stays in the process table until it is reaped
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false, false]);
  });
});

const rows: readonly ProcessRow[] = [
  { pid: 1, parent: 0, group: 1, session: 1 },
  { pid: 10, parent: 1, group: 10, session: 10 },
  { pid: 50, parent: 10, group: 50, session: 50 },
  { pid: 53, parent: 52, group: 52, session: 52 },
  { pid: 52, parent: 51, group: 52, session: 52 },
  { pid: 51, parent: 50, group: 50, session: 50 },
  { pid: 54, parent: 1, group: 54, session: 50 },
  { pid: 55, parent: 54, group: 55, session: 55 },
  { pid: 60, parent: 10, group: 10, session: 10 },
];
test("only the processes that a server started are ended", () => {
  expect(findProcessTree(rows, 50)).toEqual(new Set([50, 51, 52, 53, 54, 55]));
  expect(findProcessTree(rows, 51)).toEqual(new Set([51, 52, 53]));
  expect(findProcessTree([], 50)).toEqual(new Set([50]));
});

describe("a program in the workspace does not run in the place of another", () => {
  const posix = {
    platform: "linux",
    env: { PATH: ":.:bin::/opt/bin:/usr/bin:" },
    isProgram: (file: string) =>
      ["/project/node", "/project/bin/node", "/usr/bin/node"].includes(file),
  } as const;
  const windows = {
    platform: "win32",
    env: { Path: '.;bin;\\;C:;"C:\\Program Files\\nodejs";C:\\Windows' },
    isProgram: (file: string) =>
      [
        "D:\\work\\node.exe",
        "D:\\node.exe",
        "C:\\Program Files\\nodejs\\node.exe",
        "C:\\Windows\\a.b.exe",
      ].includes(file),
  } as const;
  const cases: [string, { cwd: string; search: typeof posix | typeof windows; path?: string }][] = [
    ["node", { cwd: "/project", search: posix, path: "/usr/bin/node" }],
    ["missing", { cwd: "/project", search: posix }],
    ["./node", { cwd: "/project", search: posix, path: "/project/node" }],
    ["bin/node", { cwd: "/project", search: posix, path: "/project/bin/node" }],
    ["/a/node", { cwd: "/project", search: posix, path: "/a/node" }],
    ["node", { cwd: "D:\\work", search: windows, path: "C:\\Program Files\\nodejs\\node.exe" }],
    ["node.exe", { cwd: "D:\\work", search: windows, path: "C:\\Program Files\\nodejs\\node.exe" }],
    ["a.b", { cwd: "D:\\work", search: windows, path: "C:\\Windows\\a.b.exe" }],
    ["missing", { cwd: "D:\\work", search: windows }],
    [".\\node.exe", { cwd: "D:\\work", search: windows, path: "D:\\work\\node.exe" }],
    ["C:\\a\\node.exe", { cwd: "D:\\work", search: windows, path: "C:\\a\\node.exe" }],
  ];
  test.each(cases)("%s", (command, { cwd, search, path }) => {
    expect(findProgram(command, cwd, search)).toBe(path);
  });

  test("programs of the operating system have absolute paths", () => {
    expect(getSystemProgram("taskkill", { SystemRoot: "D:\\Win" })).toBe(
      "D:\\Win\\System32\\taskkill.exe",
    );
    expect(getSystemProgram("powershell", {})).toBe(
      "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe",
    );
    expect(getSystemProgram("ps")).toBe("/bin/ps");
  });

  test("no program is started by its bare name", () => {
    const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
    const starts =
      /\b(?:spawn|spawnSync|exec|execSync|execFile|execFileSync|runProgram)\)?\(\s*["'`]/;
    const offenders = files.filter(
      it => it.endsWith(".ts") && starts.test(readFileSync(join(root, "src", it), "utf8")),
    );
    expect(offenders).toEqual([]);
  });

  test.skipIf(process.platform === "win32")("not even if the PATH names the folder", async () => {
    const program = join(folder, "cat-like");
    writeFileSync(program, `#!/bin/sh\necho > ${join(folder, "ran")}\n`);
    chmodSync(program, 0o755);
    vi.stubEnv("PATH", ["", ".", process.env["PATH"]].join(delimiter));
    writeConfig({
      plain: { command: "cat-like" },
      path: { command: "cat-like", env: { PATH: folder } },
    });
    for (const name of ["plain", "path"]) {
      const entry = findServerEntry(configFile(), folder, name);
      await expect(connectServer(entry, new AbortController().signal)).rejects.toThrow(UserError);
    }
    expect(existsSync(join(folder, "ran"))).toBe(false);
    vi.unstubAllEnvs();
  });
});
