/** Synthesis in the workbench: from the palette, with its page, and with an endpoint as teacher. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chatServer } from "../policy/chatServer.ts";
import { createScriptedModel } from "../synthesis/scriptedChatModel.ts";
import { checkGone, checkVisible, Workbench } from "./workbench.ts";

let workbench: Workbench;
beforeAll(async () => {
  workbench = await Workbench.open();
  await workbench.showContainer("PROVE");
  await workbench.collapseViews("Tasks", "Runs");
});
afterAll(() => workbench.close());

test("the dependency graph of a server shows the inputs and outputs of a tool", async () => {
  await workbench.clickAction(
    workbench.rows("Servers").filter({ hasText: /^\s*filesystem/ }),
    "Show Dependency Graph",
  );
  const page = workbench.webview();
  await checkVisible(page.getByText("40 tools").first());
  await workbench.takePicture("graph-filesystem");
  await page.getByRole("button", { name: /^mv,/ }).click();
  await checkVisible(page.getByRole("heading", { name: "filesystem_mv" }));
  await checkVisible(
    page.locator("aside").getByRole("button", { name: "ls", exact: true }).first(),
  );
  await workbench.takePicture("graph-chosen");
  expect(await workbench.findAccessibilityProblems()).toEqual([]);
  await workbench.closeEditors();
  await workbench.runCommand("PROVE: Show Dependency Graph");
  await workbench.answer("Which server", "banking");
  await checkVisible(page.getByText("17 tools").first());
  await page.getByRole("searchbox").fill("card");
  await workbench.takePicture("graph-filtered");
  await workbench.closeEditors();
});

test("tasks are synthesized with the keyboard alone, and the page shows their transitions", async () => {
  const { keyboard } = workbench.page;
  await workbench.runCommandByKeyboard("PROVE: Synthesize Tasks…");
  await workbench.chooseByKeyboard("Other tasks…");
  await workbench.type("On which servers", "");
  await workbench.checkByKeyboard("banking", "calendar");
  await checkVisible(workbench.choice("The dependency graph"));
  await workbench.takePicture("synthesize-teacher");
  await workbench.chooseByKeyboard("The dependency graph");
  await workbench.chooseByKeyboard("Only medium tasks");
  await workbench.answer("How many tasks", "60");
  await workbench.answer("Seed", "7");
  await workbench.answer("The file's name", "palette");
  const done = workbench.notification(/60 tasks in .*palette/);
  await workbench.focusInNotification(done, "Show Synthesis");
  await keyboard.press("Enter");
  const page = workbench.webview();
  await checkVisible(page.locator("svg .state").filter({ hasText: "check-calls" }));
  await workbench.takePicture("synthesis");
  await workbench.tabTo(page.locator("button.reason").first());
  await keyboard.press("Enter");
  const attempt = page.locator(".attempts li button").first();
  await checkVisible(attempt);
  await workbench.takePicture("synthesis-rejected");
  expect(await workbench.findAccessibilityProblems()).toEqual([]);
  await workbench.runCommandByKeyboard("View: Focus Active Editor Group");
  await workbench.tabTo(attempt);
  await keyboard.press("Enter");
  await checkVisible(workbench.lines.filter({ hasText: "rejected" }).first());
  await workbench.takePicture("rejected");
});

test("before requests to another machine, the user sees their address and content", async () => {
  await workbench.runCommand("PROVE: Synthesize Tasks…");
  await workbench.choice("Other tasks…").click();
  await workbench.answer("On which servers", "");
  await workbench.choice("An endpoint…").click();
  await workbench.answer("The endpoint's address", "https://models.invalid/v1");
  await workbench.answer("The model, as the endpoint names it", "large");
  await workbench.answer("How many tasks", "5");
  await workbench.answer("Seed", "1");
  await workbench.answer("The file's name", "elsewhere");
  const dialog = workbench.page.locator(".monaco-dialog-box");
  await checkVisible(
    dialog
      .filter({ hasText: "https://models.invalid" })
      .filter({ hasText: "What leaves this machine" }),
  );
  await workbench.takePicture("endpoint-consent");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await checkGone(dialog);
});

test("an endpoint is used once its key is stored, the key is written nowhere, and synthesis resumes", async () => {
  const key = "sk-planted-7d1c40e2";
  const model = createScriptedModel();
  const server = await chatServer(({ body, headers }) =>
    headers.authorization === `Bearer ${key}`
      ? model(body)
      : { status: 401, body: { error: { message: "no key" } } },
  );
  await workbench.runCommand("PROVE: Synthesize Tasks…");
  await workbench.choice("Other tasks…").click();
  await workbench.type("On which servers", "");
  // from the two servers of the last synthesis to all, then to none
  for (let n = 0; n < 2; n++)
    await workbench.page.getByRole("checkbox", { name: "Toggle all checkboxes" }).click();
  await workbench.choice("filesystem").click();
  await workbench.page.keyboard.press("Enter");
  await workbench.choice("An endpoint…").click();
  await workbench.answer("The endpoint's address", server.url);
  await workbench.answer("The model, as the endpoint names it", "scripted");
  await workbench.answer("How many tasks", "3");
  await workbench.answer("Seed", "1");
  await workbench.answer("The file's name", "taught");
  await workbench
    .notification(/does not let us in/)
    .getByRole("button", { name: "Set Endpoint Key…" })
    .click();
  await workbench.answer("The endpoint's address; the key", server.url);
  await workbench.answer("The key for", key);
  await checkVisible(workbench.notification("A key is stored for"));
  await workbench.runCommand("PROVE: Synthesize Tasks…");
  await workbench.choice("Resume taught").click();
  await checkVisible(workbench.notification(/3 tasks in .*taught/));
  const files = readdirSync(workbench.folder, { recursive: true, encoding: "utf8" }).filter(it =>
    it.includes("taught"),
  );
  expect(files.length).toBeGreaterThan(1);
  for (const it of files)
    expect(readFileSync(join(workbench.folder, it), "utf8")).not.toContain(key);
  expect(await workbench.notification("PROVE failed").count()).toBe(0);
});
