/** What the model of an attempt saw, and attempts that go on from a call in another way. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readExample } from "./taskFiles.ts";
import { checkVisible, Workbench } from "./workbench.ts";

let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(readExample());
  await workbench.showContainer("PROVE");
});
afterAll(() => workbench.close());

const line = (text: string | RegExp) => workbench.lines.filter({ hasText: text }).first();

/** Opens an attempt of the run of the example that fails. */
async function openFailure(): Promise<void> {
  await workbench.runCommand("PROVE: Show Me a Failing Attempt");
  await checkVisible(workbench.tab(/calendar-1-\d+.attempt.*\.transcript/));
}

test("the prompt and the tokens of a student's attempt are shown", async () => {
  await openFailure();
  await workbench.runCommand("PROVE: Show What the Model Saw");
  await checkVisible(workbench.tab(/\.prompt/));
  await checkVisible(line(/PROMPT.·.\d+.tokens,.masked/));
  await checkVisible(line(/MESSAGE.1.·.\d+.tokens?,.sampled/));
  await checkVisible(line(/log-probabilities.as.recorded/));
  await workbench.takePicture("prompt-of-student");
  await workbench.closeEditors();
});

test("an attempt of no model is shown as chat messages, or read by a model", async () => {
  await workbench.showContainer("PROVE");
  await workbench.expand(workbench.rows("Tasks").filter({ hasText: /before-payday/ }));
  await workbench.rows("Tasks").filter({ hasText: "banking" }).first().click();
  await checkVisible(workbench.tab(".transcript"));
  await workbench.runCommand("PROVE: Show What the Model Saw");
  await workbench.choice("Chat messages").click();
  await checkVisible(line(/SYSTEM.MESSAGE/));
  await checkVisible(line(/You.are.an.assistant.that.acts/));
  await workbench.takePicture("prompt-as-chat");
  await workbench.tab(/banking.*\.transcript/).click();
  await workbench.runCommand("PROVE: Show What the Model Saw");
  await workbench.choice("A student or a model…").click();
  await workbench.choice("careless").click();
  await checkVisible(line(/log-probabilities.computed/));
  await workbench.closeEditors();
});

test("a tokenizer that is gone is said, and what is left is shown", async () => {
  const file = join(workbench.folder, "prove/runs/example/run.json");
  const config = readFileSync(file, "utf8");
  writeFileSync(file, config.replace('"from": "careless"', '"from": "gone"'));
  await openFailure();
  await workbench.runCommand("PROVE: Show What the Model Saw");
  await checkVisible(line(/because.the.model.cannot/));
  await checkVisible(line(/message.1:.\d+.tokens?/));
  await workbench.closeEditors();
  writeFileSync(file, config);
  const failures = workbench.notification("PROVE failed");
  expect(await failures.count()).toBe(0);
});

/** Opens the attempt of the example that goes wrong at a call. */
async function openBeginner(): Promise<void> {
  await workbench.page.keyboard.press("ControlOrMeta+p");
  await workbench.page.keyboard.type("beginner.trajectory.jsonl");
  await workbench.choice("beginner.trajectory.jsonl").click();
  await checkVisible(workbench.tab("beginner.trajectory.jsonl"));
  await workbench.runCommand("PROVE: Open Transcript");
  await checkVisible(workbench.tab(/beginner\.transcript/));
}

test("a student goes on before a call, and both futures are shown with state and reward", async () => {
  await openBeginner();
  await line(/banking_transfer\(from_account/).click();
  await workbench.runCommand("PROVE: Continue From Here With…");
  await workbench.choice("A student…").click();
  await workbench.choice("careless").click();
  await checkVisible(workbench.tab(/beginner.↔.*careless-fork-1/));
  await checkVisible(line(/banking_transfer/));
  await workbench.takePicture("continued-by-student");
  await workbench.page.keyboard.press("ControlOrMeta+End");
  await checkVisible(line(/state.at.the.end/));
  await checkVisible(line(/acc_318\.balance:.3809\.24.→.3939\.24/));
  await workbench.takePicture("continued-by-student-end");
  await workbench.closeEditors();
});

test("a person goes on by hand, in a session with the state before the call", async () => {
  await openBeginner();
  await line(/banking_transfer\(from_account/).click();
  await workbench.runCommand("PROVE: Continue From Here With…");
  await workbench.choice("By hand").click();
  await workbench.showContainer("PROVE");
  await checkVisible(
    workbench.rows("Servers").filter({ hasText: /^Session 1 forked from beginner/ }),
  );
  // those before it
  await checkVisible(workbench.rows("Servers").filter({ hasText: /^Calls.*4/ }));
  await workbench.takePicture("continued-by-hand");
  await workbench.closeEditors();
});
