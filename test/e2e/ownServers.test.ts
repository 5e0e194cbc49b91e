/**
 * Servers of the workspace: a new one in TypeScript, and third-party ones that are explored or
 * recorded.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { notes } from "../mcp/notesWorkspace.ts";
import { repository } from "./packaged.ts";
import { checkVisible, Workbench } from "./workbench.ts";

let workbench: Workbench;
const servers = () => workbench.rows("Servers");
const entry = {
  command: process.execPath,
  args: [join(repository, "test/mcp/notesServer.ts"), "${sandbox}"],
  reset: { folder: "seed" },
};

/** The same without a reset, so that it can only be recorded. */
const archive = {
  command: process.execPath,
  args: [join(repository, "test/mcp/notesServer.ts"), "${workspaceFolder}/seed"],
  reads: ["list_notes", "get_note"],
};

beforeAll(async () => {
  workbench = await Workbench.open({
    "prove/mcp.json": JSON.stringify({ servers: { notes: entry, archive } }),
    "seed/notes.json": JSON.stringify(notes),
  });
  await workbench.showContainer("PROVE");
  await workbench.collapseViews("Tasks", "Runs");
});
afterAll(() => workbench.close());

test("a new server is listed, and tasks are made on it", async () => {
  await workbench.runCommand("PROVE: New Server…");
  await workbench.answer("Its name in tasks", "my_library");
  await checkVisible(workbench.tab("server.ts"));
  await checkVisible(servers().filter({ hasText: /^my_library.*4 tools/ }));
  await workbench.takePicture("new-server");
  await workbench.runCommand("PROVE: Synthesize Tasks…");
  await workbench.choice("Other tasks…").click();
  await workbench.type("On which servers", "");
  await workbench.checkByKeyboard("my_library");
  await workbench.choice("The dependency graph").click();
  await workbench.choice("The paper's mixture").click();
  await workbench.answer("How many tasks", "10");
  await workbench.answer("Seed", "3");
  await workbench.answer("The file's name", "library");
  await checkVisible(workbench.notification(/10 tasks in .*library/));
});

test("a third-party server is explored after the person agrees, and becomes an environment", async () => {
  await workbench.runCommand("PROVE: Explore Server…");
  await workbench.answer("Which server to explore", "notes");
  await workbench.answer("Its name in tasks", "notes");
  const asked = workbench.page.locator(".monaco-dialog-box");
  await checkVisible(asked.filter({ hasText: "notesServer.ts" }));
  await workbench.page.keyboard.press("Enter");
  await checkVisible(workbench.tab("notes.server.json"));
  const file = join(workbench.folder, "prove/servers/notes.server.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ server: "notes", entry: "notes" });
  const row = servers().filter({ hasText: /^notes.*tools · Connected/ });
  await checkVisible(row);
  await workbench.clickAction(row, "Open Session…");
  await checkVisible(servers().filter({ hasText: /^Session 1/ }));
  await workbench.takePicture("explored");
});

test("a third-party server that cannot be reset is recorded, and answers from the recording", async () => {
  await workbench.runCommand("PROVE: Explore Server…");
  await workbench.answer("Which server to explore", "archive");
  await workbench.answer("Its name in tasks", "archive");
  const asked = workbench.page.locator(".monaco-dialog-box");
  await checkVisible(asked.filter({ hasText: "record what they answer" }));
  await workbench.page.keyboard.press("Enter");
  await checkVisible(workbench.tab("archive.server.json"));
  const file = join(workbench.folder, "prove/servers/archive.server.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ restore: "recording" });
  const row = servers().filter({ hasText: /^archive.*3 tools · Recorded/ });
  await checkVisible(row);
  await workbench.clickAction(row, "Open Session…");
  await checkVisible(servers().filter({ hasText: /^Session 2/ }));
});
