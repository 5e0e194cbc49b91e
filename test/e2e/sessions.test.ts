/** Sessions in the tree: opened, called with a form, compared, forked, reset and closed. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Locator } from "playwright-core";
import { loadServers } from "../../src/servers/catalog.ts";
import { checkGone, checkVisible, waitOptions, Workbench } from "./workbench.ts";

const catalog = await loadServers();

let workbench: Workbench;
const servers = () => workbench.rows("Servers");
const session = (title: RegExp) => servers().filter({ hasText: title });

/**
 * Clicks an action of a session and waits for its effect. A click during a refresh of the tree runs
 * the command without its row; the command then asks for the session, which is answered here.
 */
async function act(title: RegExp, action: string, check: () => Promise<void>): Promise<void> {
  await workbench.clickAction(session(title), action);
  const asked = workbench.page.locator(".quick-input-list .monaco-list-row:visible", {
    hasText: title,
  });
  await vi.waitFor(async () => {
    if ((await asked.count()) > 0) await asked.first().click();
    await check();
  }, waitOptions);
}

const isThere = (it: Locator) => async () => expect(await it.count()).toBeGreaterThan(0);
const isGone = (it: Locator) => async () => expect(await it.count()).toBe(0);

beforeAll(async () => {
  workbench = await Workbench.open();
  await workbench.showContainer("PROVE");
  await workbench.collapseViews("Tasks", "Runs");
});
afterAll(() => workbench.close());

test("the tree shows all servers, each with its number of tools", async () => {
  await vi.waitFor(async () => expect(await servers().count()).toBe(catalog.length), waitOptions);
  const shown = (await servers().allInnerTexts()).map(it => it.trim());
  expect(shown).toEqual(catalog.map(it => `${it.name}${it.tools.size} tools · ${it.category}`));
  await workbench.takePicture("servers");
});

test("a session opens from its server", async () => {
  await workbench.clickAction(servers().filter({ hasText: "banking" }).first(), "Open Session…");
  await workbench.choice("small").click();
  await checkVisible(session(/^Session 1 on small.*as opened/));
});

test("the form asks for each argument by its type, and validates as it is typed", async () => {
  await act(
    /^Session 1 on small/,
    "Call Tool…",
    isThere(workbench.page.locator('.quick-input-box input[placeholder^="Which tool to call"]')),
  );
  await workbench.answer("Which tool to call", "banking_transfer");
  await checkVisible(
    workbench.page.locator(".quick-input-titlebar", { hasText: "banking_transfer (1 of 3)" }),
  );
  await workbench.takePicture("form-entity");
  await workbench.answer("from_account", "Everyday");
  await workbench.answer("to_account", "Savings");
  await workbench.type("amount", "12.345");
  await checkVisible(
    workbench.page.locator(".quick-input-message", {
      hasText: "amount must have at most two decimals",
    }),
  );
  await workbench.takePicture("form-number");
  // the previous question can be answered again
  await workbench.page.locator(".quick-input-titlebar .codicon-quick-input-back").click();
  await workbench.answer("to_account", "Holiday fund");
  await workbench.answer("amount", "12.5");
});

test("the calls are listed in a document, and their changes in a diff and in the tree", async () => {
  await checkVisible(workbench.tab("Session 1.calls"));
  const line = (text: string) => workbench.page.locator(".view-line", { hasText: text });
  await checkVisible(line("banking_transfer(from_account:"));
  await checkVisible(line("accounts.acc_101.balance: 3148.95 → 3136.45"));
  await workbench.takePicture("session-calls");
  await workbench.expand(servers().filter({ hasText: /^Calls/ }));
  await servers()
    .filter({ hasText: /^1 banking_transfer/ })
    .click();
  await checkVisible(workbench.tab("banking_transfer: changes"));
  await checkVisible(
    workbench.page
      .locator(".monaco-diff-editor .modified .view-line")
      .filter({ hasText: "3136.45" }),
  );
  await checkVisible(session(/^Session 1 on small.*1 call/));
  await checkVisible(servers().filter({ hasText: /^accounts.*○/ }));
  await workbench.expand(servers().filter({ hasText: /^accounts/ }));
  await workbench.expand(servers().filter({ hasText: /^acc_101/ }));
  await checkVisible(servers().filter({ hasText: /^balance.*● 3136.45/ }));
  await workbench.takePicture("session-changed");
  await workbench.collapse(servers().filter({ hasText: /^accounts/ }));
});

test("a fork starts from the current state, and a reset does not affect it", async () => {
  await act(
    /^Session 1 on small/,
    "Fork Session",
    isThere(session(/^Session 2 forked from 1.*as opened/)),
  );
  // its menu can be reached from the keyboard
  const focused = workbench.pane("Servers").locator(".monaco-list-row.focused");
  await checkVisible(focused.filter({ hasText: /^Session 2/ }));
  await workbench.page.keyboard.press("Shift+F10");
  await checkVisible(workbench.page.locator(".monaco-menu").getByText("Call Tool…"));
  await workbench.page.keyboard.press("Escape");
  await act(/^Session 1 on small/, "Reset Session", isThere(session(/^Session 1 on small.*reset/)));
  await workbench.collapse(session(/^Session 2/));
  await workbench.collapse(session(/^Session 1/));
  const balance = async (of: RegExp) => {
    await workbench.expand(session(of));
    await workbench.expand(servers().filter({ hasText: /^accounts/ }));
    await workbench.expand(servers().filter({ hasText: /^acc_101/ }));
    const text = await servers()
      .filter({ hasText: /^balance/ })
      .first()
      .innerText();
    await workbench.takePicture("session-forked");
    await workbench.collapse(session(of));
    return text.replaceAll(/[^\d.]/g, "");
  };
  expect(await balance(/^Session 1/)).toBe("3148.95");
  expect(await balance(/^Session 2/)).toBe("3136.45");
});

test("a session is saved as a trajectory beside the tasks, and opens as a transcript", async () => {
  const save = async (path?: string) => {
    await workbench.runCommand("PROVE: Save Session as Trajectory…");
    await workbench.choice("Session 2 forked from 1").click();
    const proposed = join(workbench.folder, "prove/tasks/session-2.trajectory.jsonl");
    await workbench.saveAs("Save Session as Trajectory", proposed, path ?? proposed);
  };
  await save();
  await checkVisible(workbench.tab(/^\s*session-2\.transcript/));
  await checkVisible(workbench.lines.filter({ hasText: "session without a task" }));
  await checkVisible(workbench.lines.filter({ hasText: "no reward: it was made in a session" }));
  expect(await workbench.lines.filter({ hasText: "policy" }).count()).toBe(0);
  await workbench.takePicture("session-saved");
  // the dialog appends a part of the ending
  await save(join(workbench.folder, "prove/tasks/savings"));
  await checkVisible(workbench.tab(/^\s*savings\.transcript/));
  expect(readdirSync(join(workbench.folder, "prove/tasks")).sort()).toEqual([
    "savings.trajectory.jsonl",
    "session-2.trajectory.jsonl",
  ]);
  await workbench.closeEditors();
});

test("closing leaves nothing behind", async () => {
  await act(/^Session 1/, "Close Session", isGone(session(/^Session 1/)));
  await workbench.runCommand("PROVE: Close Session");
  await checkGone(session(/^Session/));
  expect(await workbench.notification("PROVE failed").count()).toBe(0);
});
