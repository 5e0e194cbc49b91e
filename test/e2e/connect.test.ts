/** A third-party server in the Servers view: sessions, calls and an invalid mcp.json. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { repository } from "./packaged.ts";
import { checkGone, checkVisible, waitOptions, Workbench } from "./workbench.ts";

let workbench: Workbench;
const servers = () => workbench.rows("Servers");
const memory = join(repository, "node_modules/@modelcontextprotocol/server-memory/dist/index.js");
const entry = {
  command: process.execPath,
  args: [memory],
  env: { MEMORY_FILE_PATH: "${workspaceFolder}/memory.jsonl" },
};

beforeAll(async () => {
  workbench = await Workbench.open({
    "prove/mcp.json": `{
      // as people write it
      "servers": {
        "notes": ${JSON.stringify(entry)},
        "play": ${JSON.stringify({ ...entry, disposable: true })},
        "remote": { "url": "https://example.com/mcp" },
      },
    }`,
  });
  await workbench.showContainer("PROVE");
  await workbench.collapseViews("Tasks", "Runs");
  await checkVisible(servers().filter({ hasText: /^notes.*mcp\.json · read-only/ }));
});
afterAll(() => workbench.close());

test("opening a session from the keyboard starts the server and lists its tools", async () => {
  const { keyboard } = workbench.page;
  await workbench.focusRow("Servers", /^notes/);
  await workbench.chooseFromMenuByKeyboard("Open Session…");
  const started = servers().filter({ hasText: /^Session 1.*as started/ });
  await vi.waitFor(async () => {
    await workbench.focusRow("Servers", /^notes/);
    await keyboard.press("ArrowRight");
    await started.waitFor({ timeout: 2000 });
  }, waitOptions);
  await workbench.focusRow("Servers", /^Tools.*9/);
  await keyboard.press("ArrowRight");
  await checkVisible(servers().filter({ hasText: /^read_graph/ }));
  await workbench.focusRow("Servers", /^read_graph/);
  await workbench.chooseFromMenuByKeyboard("Call Tool…");
  await checkVisible(
    workbench.page.locator(".view-line", { hasText: "{ entities: [], relations: [] }" }),
  );
  await checkVisible(servers().filter({ hasText: /^1 read_graph.*ok/ }));
  await workbench.takePicture("connected");
});

test("a disposable server is started after the person confirms", async () => {
  const play = servers().filter({ hasText: /^play/ });
  const asked = workbench.page.locator(".monaco-dialog-box");
  await workbench.focusRow("Servers", /^play/);
  await workbench.chooseFromMenuByKeyboard("Open Session…");
  await checkVisible(asked.filter({ hasText: memory }));
  await workbench.takePicture("connect-disposable");
  await checkVisible(asked.locator(".monaco-button:focus", { hasText: "Start" }));
  await workbench.page.keyboard.press("Enter");
  await workbench.expand(play);
  const session = servers().filter({ hasText: /^Session 2/ });
  await workbench.clickAction(session, "Call Tool…");
  await workbench.answer("Which tool to call", "create_entities");
  await workbench.choice("Add one").click();
  await workbench.answer("name: ", "Ana");
  await workbench.answer("entityType: ", "person");
  await workbench.answer("observations: ", "likes tea");
  await workbench.type("leave empty", "");
  await workbench.takePicture("form-list");
  // on a busy machine, a key can be lost
  const question = workbench.page.locator(".quick-input-widget", { hasText: "leave empty" });
  await vi.waitFor(async () => {
    await workbench.page.keyboard.press("Enter");
    await question.waitFor({ state: "hidden", timeout: 5000 });
  }, waitOptions);
  await workbench.choice("Done").click();
  await checkVisible(workbench.page.locator(".view-line", { hasText: "✓ create_entities(" }));
  expect(readFileSync(join(workbench.folder, "memory.jsonl"), "utf8")).toContain("likes tea");
  await workbench.clickAction(session, "Close Session");
  await checkGone(session);
});

test("a faulty entry and an invalid file are reported in the tree", async () => {
  await checkVisible(servers().filter({ hasText: /^remote.*mcp\.json · read-only/ }));
  const file = join(workbench.folder, "prove/mcp.json");
  writeFileSync(file, '{"servers": {"notes": {"comand": "node"}}}');
  await checkVisible(servers().filter({ hasText: /^notes.*the key comand is not known/ }));
  writeFileSync(file, '{"servers": {');
  await checkVisible(servers().filter({ hasText: /^mcp.json.*:1 is not JSON/ }));
  expect(await workbench.notification("PROVE failed").count()).toBe(0);
});
