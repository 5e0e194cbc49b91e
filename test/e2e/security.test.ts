/**
 * A folder by somebody else, opened in Restricted Mode: its texts never become links or commands.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRunConfig } from "../../src/run/createRunConfig.ts";
import { createRun } from "../../src/run/folder.ts";
import { acquireTrainerLock } from "../../src/run/locks.ts";
import { startCodeServer, type CodeServer } from "./codeServer.ts";
import { installHost } from "./host.ts";
import { findPackage, repository } from "./packaged.ts";
import { quietSettings } from "./settings.ts";
import { checkVisible, Workbench } from "./workbench.ts";

const attack = "[click me](command:workbench.action.terminal.new)";

/** Two tasks whose user says the attack. The first one is not valid: the reason quotes it. */
function createHostileTasks(): string {
  const file = join(repository, "resources/example/prove/tasks/example.tasks.jsonl");
  const line = readFileSync(file, "utf8").split("\n")[0]!;
  const { turns } = JSON.parse(line) as { readonly turns: readonly { readonly user: string }[] };
  const task = line.replaceAll(JSON.stringify(turns[0]!.user), JSON.stringify(`$(gear) ${attack}`));
  return `${task.replace("{", `{${JSON.stringify(attack)}:1,`)}\n${task}\n`;
}

let server: CodeServer;
let workbench: Workbench;
beforeAll(async () => {
  server = await startCodeServer({
    host: await installHost(it => process.stderr.write(`${it}\n`)),
    extensions: [findPackage("vsix")],
    settings: { ...quietSettings, "security.workspace.trust.startupPrompt": "never" },
    requiresTrust: true,
    graceSeconds: 3,
  });
  workbench = await Workbench.open(
    {
      "prove/tasks/hostile.tasks.jsonl": createHostileTasks(),
      "prove/mcp.json": JSON.stringify({ servers: { [attack]: {} } }),
    },
    server.url,
  );
  await checkVisible(
    workbench.page.locator(".statusbar-item").filter({ hasText: "Restricted Mode" }),
  );
  await workbench.showContainer("PROVE");
});
afterAll(async () => {
  await workbench.close();
  await server.stop();
});

test("a task that cannot be read does not put a command into the editor or a notification", async () => {
  await workbench.collapseViews("Servers", "Runs");
  await workbench.expand(workbench.rows("Tasks").filter({ hasText: "hostile" }));
  const row = workbench.rows("Tasks").filter({ hasText: "click me" }).first();
  await checkVisible(row);
  expect(await row.locator("a[href], .codicon-gear").count()).toBe(0);
  await row.click();
  const text = workbench.page.locator(".view-lines", { hasText: /cannot.be.shown/ });
  await checkVisible(text.filter({ hasText: "command:workbench" }));
  expect(await workbench.page.locator(".editor-container .detected-link").count()).toBe(0);
  await workbench.takePicture("restricted");

  await workbench.runCommand("PROVE: Show Reward");
  const message = workbench
    .notification("click me")
    .locator(".notification-list-item-message")
    .first();
  await checkVisible(message);
  expect(await message.locator("a").count()).toBe(0);
});

test.skipIf(process.platform === "win32")(
  "a run folder does not make the editor connect to an address",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "prove-socket-"));
    const address = join(folder, "socket");
    let connections = 0;
    const trainer = createServer(() => connections++);
    await new Promise<void>(resolve => void trainer.listen(address, resolve));
    const run = join(workbench.folder, "prove/runs/hostile-run");
    createRun(
      run,
      createRunConfig({ startedAt: new Date(0), tasks: "/tmp/tasks.jsonl", steps: 1 }),
      join(repository, "resources/models/small"),
    );
    const release = acquireTrainerLock(run, address);
    try {
      await workbench.collapseViews("Tasks");
      await workbench.pane("Runs").locator(".pane-header").click();
      await checkVisible(workbench.rows("Runs").filter({ hasText: "hostile-run" }));
      // the editor's next answer comes after its attempt to connect
      await workbench.runCommand("PROVE: Start Training…");
      await checkVisible(workbench.notification(/Training requires a trusted workspace/));
      expect(connections).toBe(0);
    } finally {
      release();
      trainer.close();
      rmSync(folder, { recursive: true });
    }
  },
);

test("a quick pick shows the texts of tasks as text", async () => {
  await workbench.runCommand("PROVE: Search Tasks…");
  await workbench.type("Words in anything", "click");
  const row = workbench.page.locator(".quick-input-list .monaco-list-row", { hasText: "click me" });
  await checkVisible(row.first());
  expect(await row.first().innerText()).toContain("$ (gear)");
  expect(await row.first().locator("a[href], .label-name .codicon-gear").count()).toBe(0);
  await workbench.page.keyboard.press("Escape");
});
