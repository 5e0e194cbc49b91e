/** A server that is offered to the editor's agents: offer, session in the tree, withdrawal. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { checkGone, checkVisible, waitOptions, Workbench } from "./workbench.ts";

let workbench: Workbench;
const servers = () => workbench.rows("Servers");
const settings = () => readFileSync(join(workbench.folder, ".vscode/settings.json"), "utf8");

beforeAll(async () => {
  workbench = await Workbench.open();
  await workbench.showContainer("PROVE");
  await workbench.collapseViews("Tasks", "Runs");
  await checkVisible(servers().filter({ hasText: "banking" }).first());
});
afterAll(() => workbench.close());

test("the offered servers are chosen", async () => {
  await workbench.runCommand("PROVE: Offer Server to Agents…");
  await workbench.choice("calendar").click();
  await workbench.takePicture("offer");
  await workbench.page.keyboard.press("Enter");
  await checkVisible(workbench.notification("Agents may use calendar: 17 tools"));
  await vi.waitFor(
    () => expect(settings()).toMatch(/"prove.agentServers": \[\s*"calendar"\s*\]/),
    waitOptions,
  );
  await checkVisible(servers().filter({ hasText: /^calendar.*offered to agents/ }));
});

test("when an agent starts the server, its session is listed in the tree", async () => {
  await workbench
    .notification("Agents may use calendar")
    .getByRole("button", { name: "List MCP Servers" })
    .click();
  await workbench.choice("PROVE calendar").click();
  await workbench.choice("Start Server").click();
  await workbench.expand(servers().filter({ hasText: /^calendar.*offered to agents/ }));
  await checkVisible(servers().filter({ hasText: /^Session 1 on full.*agent · as opened/ }));
  await workbench.takePicture("agent-session");
});

test("withdrawing the offer closes the session", async () => {
  await workbench.runCommand("PROVE: Offer Server to Agents…");
  await workbench.choice("calendar").click();
  await workbench.page.keyboard.press("Enter");
  await checkGone(servers().filter({ hasText: /^Session 1/ }));
  await checkGone(servers().filter({ hasText: "offered to agents" }));
  expect(await workbench.notification("PROVE failed").count()).toBe(0);
});
