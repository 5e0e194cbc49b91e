/** One reward profile is the default everywhere; calls without a state have the paper's parts. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { engine } from "../../src/cli/engine.ts";
import { score } from "../../src/cli/score.ts";
import { createRunConfig } from "../../src/run/createRunConfig.ts";
import { startHttpServer } from "../../src/service/httpServer.ts";
import { scoresResponse } from "../../src/service/schemas.ts";
import { openTaskStore } from "../../src/service/taskStore.ts";
import { formatTaskLine } from "../../src/trajectory/task.ts";
import { formatTrajectoryLine } from "../../src/trajectory/trajectory.ts";
import { emptyFolder } from "../cli/program.ts";
import { runCommand } from "../cli/terminal.ts";
import { sendRequest } from "../service/countingService.ts";
import { moveFifty } from "../trajectory/sampleTasks.ts";
import { catalog, root } from "./transports.ts";

const task = { ...(await moveFifty()), split: "train" as const };
const file = join(emptyFolder(), "one.tasks.jsonl");
writeFileSync(file, `${formatTaskLine(task)}\n`);

const readJson = (path: string) => JSON.parse(readFileSync(path, "utf8"));

async function scoreOverHttp(): Promise<unknown> {
  const serving = await startHttpServer({ catalog, tasks: await openTaskStore([file]) });
  const body = { trajectories: [formatTrajectoryLine(task.trajectory)] };
  const { json } = await sendRequest(`${serving.url}/v1/scores`, "POST", { body });
  await serving.close();
  return scoresResponse.parse(json).scores.map(it => ("profile" in it ? it.profile : it))[0];
}

async function prepareFolder(): Promise<unknown> {
  const out = join(emptyFolder(), "trl");
  const args = ["prepare", "trl", "--tasks", file, "--model", "m", "--out", out];
  await runCommand(engine, args);
  return readJson(join(out, "config.json")).profile;
}

test("trainer, score, service, prepared folders and the editor have the same profile", async () => {
  const { out } = await runCommand(score, [file, "--json"]);
  const { properties } = readJson(join(root, "package.json")).contributes.configuration;
  expect({
    trainer: createRunConfig({ startedAt: new Date(0), tasks: file }).profile,
    score: JSON.parse(out[0]!).profile,
    service: await scoreOverHttp(),
    folder: await prepareFolder(),
    editor: properties["prove.rewardProfile"].default,
  }).toEqual({
    trainer: "prove-plus",
    score: "prove-plus",
    service: "prove-plus",
    folder: "prove-plus",
    editor: "prove-plus",
  });
});

test("calls without a state have the paper's parts, and no other profile by default", async () => {
  const call = { name: "get_balance", arguments: { account_id: "A1" } };
  const stdin = `${JSON.stringify({ id: "T1", goals: [{ calls: [call] }], calls: [{ ...call, outcome: "ok" }] })}\n`;
  const { out } = await runCommand(score, ["--calls", "--json"], { stdin });
  expect(JSON.parse(out[0]!)).toEqual({
    id: "T1",
    rule: "tool",
    validity: 1,
    coverage: 1,
    efficiency: 0,
    name: 1,
    argument: 1,
    total: 1.3,
  });
  await expect(
    runCommand(score, ["--calls", "--profile", "prove-plus"], { stdin }),
  ).rejects.toThrow(/needs tasks and their final worlds/);
});
