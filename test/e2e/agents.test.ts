/**
 * A server offered to the editor's agents, seen from the workbench: offered, started, at work in
 * the tree as the agent's.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { checkGone, checkSeen, patience, Workbench } from "./workbench.ts";

let workbench: Workbench;
const servers = () => workbench.rows("Servers");
const settings = () => readFileSync(join(workbench.folder, ".vscode/settings.json"), "utf8");

beforeAll(async () => {
  workbench = await Workbench.open();
  await workbench.show("PROVE");
  await workbench.fold("Tasks", "Runs");
  await checkSeen(servers().filter({ hasText: "banking" }).first());
});
afterAll(() => workbench.close());

test("a person chooses which servers are offered", async () => {
  await workbench.command("PROVE: Offer Server to Agents…");
  await workbench.choice("calendar").click();
  await workbench.picture("offer");
  await workbench.page.keyboard.press("Enter");
  await checkSeen(workbench.notification("Agents may use calendar: 17 tools"));
  await vi.waitFor(
    () => expect(settings()).toMatch(/"prove.agentServers": \[\s*"calendar"\s*\]/),
    patience,
  );
  await checkSeen(servers().filter({ hasText: /^calendar.*offered to agents/ }));
});

test("once an agent has begun, its session is in the tree as the agent's", async () => {
  await workbench
    .notification("Agents may use calendar")
    .getByRole("button", { name: "List MCP Servers" })
    .click();
  await workbench.choice("PROVE calendar").click();
  await workbench.choice("Start Server").click();
  await workbench.expand(servers().filter({ hasText: /^calendar.*offered to agents/ }));
  await checkSeen(servers().filter({ hasText: /^Session 1 on full.*agent · as opened/ }));
  await workbench.picture("agent-session");
});

test("withdrawing the offer closes it", async () => {
  await workbench.command("PROVE: Offer Server to Agents…");
  await workbench.choice("calendar").click();
  await workbench.page.keyboard.press("Enter");
  await checkGone(servers().filter({ hasText: /^Session 1/ }));
  await checkGone(servers().filter({ hasText: "offered to agents" }));
  expect(await workbench.notification("PROVE failed").count()).toBe(0);
});
