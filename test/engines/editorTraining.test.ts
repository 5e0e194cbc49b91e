/**
 * A training with the real TRL that the editor starts: the check of Python, the process with its
 * log, and the run that the page shows. The editor's API is a fake.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test, vi } from "vitest";
import { readEnd, readMetrics } from "../../src/run/folder.ts";
import { readEngineLock } from "../../src/run/locks.ts";
import { emptyFolder } from "../cli/program.ts";
import { root } from "../contracts/transports.ts";
import { createVscode } from "../editor/fakeVscode.ts";
import { python } from "./environment.ts";

const messages: string[] = [];
vi.mock("vscode", () => {
  const fake = createVscode();
  const getMessage = async (text: string) => void messages.push(text);
  return {
    ...fake,
    window: {
      showInformationMessage: getMessage,
      showWarningMessage: async (text: string, ...buttons: string[]) => {
        messages.push(text);
        return buttons.at(-1);
      },
      showErrorMessage: getMessage,
    },
    workspace: {
      isTrusted: true,
      getConfiguration: () => ({ get: (key: string) => (key === "python" ? python : "") }),
    },
  };
});
const { EngineTraining } = await import("../../src/editor/runs/engineTraining.ts");
const { RunMonitor } = await import("../../src/editor/runs/runMonitor.ts");

const tasks = join(root, "resources/example/prove/tasks/example.tasks.jsonl");
const program = join(root, "dist/cli.js");

/** Writes a random Qwen3, whose tokenizer knows the words of some tasks. */
function writeModel(folder: string, texts: string): void {
  const code = `
import sys
from pathlib import Path
from tiny_qwen import create_model, create_tokenizer
tokenizer = create_tokenizer(Path(sys.argv[2]).read_text().splitlines()[:10])
create_model(tokenizer).save_pretrained(sys.argv[1])
tokenizer.save_pretrained(sys.argv[1])
`;
  const paths = [join(root, "test/engines"), join(root, "resources/python")];
  const env = { ...process.env, PYTHONPATH: paths.join(delimiter), PYTHONDONTWRITEBYTECODE: "1" };
  execFileSync(python, ["-c", code, folder, texts], { env, stdio: "ignore" });
}

test(
  "a prepared run is trained to its end, stopped, and goes on",
  { timeout: 900_000 },
  async () => {
    const cwd = emptyFolder();
    const run = (...args: string[]) =>
      execFileSync(process.execPath, [program, ...args], { cwd, stdio: "ignore" });
    run("export", "--to", "trl", "--tasks", tasks, "--out", "rows");
    writeModel(join(cwd, "model"), join(cwd, "rows/train.jsonl"));
    run(
      "engine",
      "prepare",
      "trl",
      "--gpus",
      "0",
      "--tasks",
      tasks,
      "--model",
      "model",
      "--out",
      "run",
    );
    const folder = join(cwd, "run");
    const file = join(folder, "config.json");
    const config = JSON.parse(readFileSync(file, "utf8")) as { grpo: object };
    // more than are made before it is stopped
    const settings = { max_steps: 40, save_steps: 1, max_completion_length: 16 };
    const setSettings = (changes: object) =>
      writeFileSync(
        file,
        JSON.stringify({ ...config, grpo: { ...config.grpo, ...settings, ...changes } }),
      );
    setSettings({});

    const monitor = new RunMonitor(folder);
    const shown: unknown[] = [];
    const training = new EngineTraining({
      getPages: () => ({ show: (it: unknown) => void shown.push(it) }),
    } as never);
    await training.start(monitor);
    expect(shown).toEqual([monitor]);
    expect(readEngineLock(folder)).toBeTypeOf("number");
    await expect(training.start(monitor)).rejects.toThrow("is being trained already");
    await expect.poll(() => existsSync(join(folder, "metrics.jsonl"))).toBe(true);
    monitor.readFiles();
    expect(monitor.status.state).toBe("training");
    await training.request("stop", monitor);
    await expect.poll(() => monitor.status.state).toBe("stopped");
    const stopped = readMetrics(folder).lines.length;
    expect(readEnd(folder)).toMatchObject({ by: "stop" });
    expect(readEngineLock(folder)).toBeUndefined();

    // it goes on from its last checkpoint
    setSettings({ max_steps: stopped + 2 });
    await training.request("resume", monitor);
    await expect.poll(() => monitor.status.state).toBe("finished");
    expect(readEnd(folder)).toMatchObject({ by: "steps" });
    const log = readFileSync(join(folder, "engine.log"), "utf8");
    expect(log.match(/launch\.py, /g)).toHaveLength(2);
    expect(log).toContain("rewards/coverage/mean");
    const steps = readMetrics(folder).lines.map(it => it.step);
    expect(steps).toEqual(Array.from({ length: stopped + 2 }, (_, i) => i + 1));
    expect(messages.at(-1)).toContain("run");
    training.dispose();
  },
);
