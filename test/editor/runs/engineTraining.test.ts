/**
 * Trainings with TRL or verl: the process of launch.py with its log, and the check of Python and
 * its packages. Node.js takes the place of Python.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { createRunConfig } from "../../../src/run/createRunConfig.ts";
import { createVscode } from "../fakeVscode.ts";

vi.mock("vscode", () => createVscode());
const { findEnginePython, listRequirements } =
  await import("../../../src/editor/runs/engineTraining.ts");
const { EngineProcess, getEngineLog, readLastLines } =
  await import("../../../src/editor/runs/engineProcess.ts");
const { RunMonitor } = await import("../../../src/editor/runs/runMonitor.ts");
const { findNameProblem } = await import("../../../src/editor/runs/engineTraining.ts");

const root = mkdtempSync(join(tmpdir(), "prove-engine-"));
afterAll(() => rmSync(root, { recursive: true }));
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(root, "run-"));
});

function start(program: string) {
  writeFileSync(join(folder, "launch.py"), program);
  return startAgain();
}
const startAgain = () => new EngineProcess({ python: process.execPath, folder, env: process.env });

test("a second window cannot start a training that runs, and sees it", async () => {
  const config = createRunConfig({ startedAt: new Date(0), tasks: "/gone.tasks.jsonl", steps: 3 });
  writeFileSync(join(folder, "run.json"), JSON.stringify({ ...config, engine: "trl" }));
  const monitor = new RunMonitor(folder);
  const running = start("setInterval(() => {}, 1000)");
  monitor.readFiles();
  expect(monitor.status).toMatchObject({
    state: "training",
    activity: expect.stringMatching(/^step 0, trained by process \d+ of another window$/) as string,
  });
  expect(startAgain).toThrow(/^run-\w+ is being trained already, by process \d+ of another/);
  await running.stop();
  monitor.readFiles();
  // nobody has recorded how it ended
  expect(monitor.status.state).toBe("interrupted");
});

test("the output of a training that fails is in its log, and its last lines are found", async () => {
  const { ended } = start(
    "console.log('step 1\\rstep 2'); console.error('no GPU'); process.exit(3)",
  );
  expect(await ended).toEqual({ code: 3, reason: "ended with code 3", isStopped: false });
  expect(readFileSync(getEngineLog(folder), "utf8")).toContain("launch.py, 20");
  expect(readLastLines(folder, 2)).toEqual(["step 2", "no GPU"]);
});

test("the log of a second start comes after that of the first", async () => {
  await start("console.log('first')").ended;
  await start("console.log('second')").ended;
  expect(readFileSync(getEngineLog(folder), "utf8")).toMatch(/first\n[^]*launch.py, [^]*second\n/);
});

test("a program that does not start is an end with the reason", async () => {
  const { ended } = new EngineProcess({ python: join(folder, "gone"), folder, env: {} });
  expect(await ended).toMatchObject({
    code: undefined,
    reason: expect.stringContaining("did not start") as string,
  });
});

test.skipIf(process.platform === "win32")(
  "stopping ends what launch.py has started, too",
  async () => {
    const child =
      "process.on('SIGINT', () => (console.log('child ended'), process.exit())); setInterval(() => {}, 1000); console.log('child')";
    const running = start(
      `process.on("SIGINT", () => process.exit(130));
       require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(child)}], { stdio: "inherit", detached: true });
       setInterval(() => {}, 1000);`,
    );
    const readLog = () => readFileSync(getEngineLog(folder), "utf8");
    await expect.poll(() => readLog()).toContain("child\n");
    await running.stop();
    expect(await running.ended).toMatchObject({ code: 130, isStopped: true });
    await expect.poll(() => readLog()).toContain("child ended");
  },
);

test("requirements are packages with their extras and versions", () => {
  expect([...listRequirements("trl[vllm]==1.9.0\n# none\n\ndeepspeed\n")]).toEqual([
    ["trl", "1.9.0"],
    ["vllm", undefined],
    ["deepspeed", undefined],
  ]);
});

/** A program that answers as Python would. */
function createPython(answer: object): string {
  const file = join(folder, "python");
  writeFileSync(file, `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`);
  chmodSync(file, 0o755);
  writeFileSync(join(folder, "requirements.txt"), "trl==1.9.0\naccelerate==1.15.0\ndeepspeed\n");
  return file;
}

test.skipIf(process.platform === "win32")("packages that are missing are named", async () => {
  const found = { accelerate: "1.15.0" };
  const python = createPython({ version: "3.11.2", isNew: true, found });
  await expect(findEnginePython(python, folder)).rejects.toMatchObject({
    what: `${python} has no trl, deepspeed`,
    remedy: expect.stringContaining(
      `-m pip install -r ${join(folder, "requirements.txt")}`,
    ) as string,
    button: {
      command: "prove.openInTerminal",
      arguments: [`${python} -m pip install -r ${join(folder, "requirements.txt")}`],
    },
  });
});

test.skipIf(process.platform === "win32")("packages of other versions are named", async () => {
  const found = { accelerate: "1.15.0", trl: "1.18.0", deepspeed: "0.18" };
  const path = createPython({ version: "3.11.2", isNew: true, found });
  expect(await findEnginePython(path, folder)).toEqual({
    path,
    differences: ["trl 1.18.0 instead of 1.9.0"],
  });
});

test.skipIf(process.platform === "win32")("builds of a version are the same version", async () => {
  const found = { accelerate: "1.15.0+local", trl: "1.9.0", deepspeed: "0.18" };
  const path = createPython({ version: "3.11.2", isNew: true, found });
  expect((await findEnginePython(path, folder)).differences).toEqual([]);
});

test.skipIf(process.platform === "win32")("an old Python is refused", async () => {
  const python = createPython({ version: "3.8.10", isNew: false, found: {} });
  await expect(findEnginePython(python, folder)).rejects.toMatchObject({
    what: `${python} is Python 3.8.10, but 3.10 or later is required`,
  });
});

test("a program that is not Python is refused, and so is one that does not exist", async () => {
  writeFileSync(join(folder, "requirements.txt"), "trl==1.9.0\n");
  await expect(findEnginePython(process.execPath, folder)).rejects.toThrow(/cannot be used as/);
  await expect(findEnginePython("no-such-python", folder)).rejects.toThrow(/is not on the PATH/);
});

test("the name of a run is a folder that does not exist", () => {
  writeFileSync(join(folder, "taken"), "");
  expect(findNameProblem(folder, "taken")).toBe("there is a run taken");
  expect(findNameProblem(folder, "../out")).toContain("letters");
  expect(findNameProblem(folder, "new")).toBeUndefined();
  expect(existsSync(join(folder, "new"))).toBe(false);
});
