/** What the editor's agents can ask about the workspace. Runs inside the extension host. */
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "mocha";
import { extensions, LanguageModelTextPart, lm, workspace } from "vscode";

async function ask(name: string, input: object = {}): Promise<string> {
  const { content } = await lm.invokeTool(name, { input, toolInvocationToken: undefined });
  return content.map(it => (it instanceof LanguageModelTextPart ? it.value : "")).join("");
}

describe("the tools of the editor's agents", () => {
  before(() => {
    const { extensionPath } = extensions.getExtension("prove-rl.prove-rl")!;
    const folder = workspace.workspaceFolders![0]!.uri.fsPath;
    cpSync(join(extensionPath, "resources/example"), folder, { recursive: true });
  });

  it("are offered by their names", () => {
    const names = lm.tools.map(it => it.name);
    for (const it of ["prove_run", "prove_attempt", "prove_tasks"]) assert.ok(names.includes(it));
  });

  it("answer why a run stopped improving", async () => {
    assert.match(await ask("prove_run"), /- example: grpo/);
    assert.match(await ask("prove_run", { run: "example" }), /worst tasks[^]*because: /);
  });

  it("answer why an attempt failed", async () => {
    const text = await ask("prove_attempt", { file: "prove/tasks/beginner.trajectory.jsonl" });
    assert.match(text, /balance is 3939\.24, should be 3929\.24/);
  });

  it("list tasks", async () => {
    const file = "prove/tasks/example.tasks.jsonl";
    assert.match(await ask("prove_tasks", { file, server: "banking" }), /of which 2 match/);
  });

  it("say in words what they refuse", async () => {
    await assert.rejects(ask("prove_run", { run: "gone" }), /there is no run gone/);
    await assert.rejects(ask("prove_tasks", { file: "../x" }), /outside the workspace folder/);
  });
});
