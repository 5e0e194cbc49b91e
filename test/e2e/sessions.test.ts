/**
 * Sessions by hand from the tree: opened, called in with a form, compared, forked, reset and
 * closed.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Locator } from "playwright-core";
import { loadServers } from "../../src/servers/catalog.ts";
import { beginMeter, endMeter, say } from "./meter.ts";
import { checkGone, checkSeen, patience, Workbench } from "./workbench.ts";

const catalog = await loadServers();

let workbench: Workbench;
const servers = () => workbench.rows("Servers");
const session = (title: RegExp) => servers().filter({ hasText: title });

/**
 * Clicks an action of a session and waits for what it does. A click that meets the tree while it is
 * drawn anew reaches the command without its row; the command then asks which session is meant, and
 * is told.
 */
async function act(title: RegExp, action: string, check: () => Promise<void>): Promise<void> {
  await workbench.act(session(title), action);
  const asked = workbench.page.locator(".quick-input-list .monaco-list-row:visible", {
    hasText: title,
  });
  await vi.waitFor(async () => {
    if ((await asked.count()) > 0) await asked.first().click();
    await check();
  }, patience);
}

const isThere = (it: Locator) => async () => expect(await it.count()).toBeGreaterThan(0);
const isGone = (it: Locator) => async () => expect(await it.count()).toBe(0);

beforeAll(async () => {
  workbench = await Workbench.open();
  await beginMeter(workbench);
  await workbench.show("PROVE");
  await workbench.fold("Tasks", "Runs");
});
afterAll(() => workbench.close());

test("the tree shows all twenty servers, each with its number of tools", async () => {
  await vi.waitFor(async () => expect(await servers().count()).toBe(20), patience);
  const { block } = await endMeter(workbench);
  say(
    `longest block of the extension host while it starts and twenty servers load`,
    `${block.toFixed(0)} ms`,
  );
  const shown = (await servers().allInnerTexts()).map(it => it.trim());
  expect(shown).toEqual(catalog.map(it => `${it.name}${it.tools.size} tools · ${it.category}`));
  await workbench.picture("servers");
});

test("a session opens from its server", async () => {
  await workbench.act(servers().filter({ hasText: "banking" }).first(), "Open Session…");
  await workbench.choice("small").click();
  await checkSeen(session(/^Session 1 on small.*as opened/));
});

test("the form asks for each argument in its own way, and says what is wrong as it is typed", async () => {
  await act(
    /^Session 1 on small/,
    "Call Tool…",
    isThere(workbench.page.locator('.quick-input-box input[placeholder^="Which tool to call"]')),
  );
  await workbench.answer("Which tool to call", "banking_transfer");
  await checkSeen(
    workbench.page.locator(".quick-input-titlebar", { hasText: "banking_transfer (1 of 3)" }),
  );
  await workbench.picture("form-entity");
  await workbench.answer("from_account", "Everyday");
  await workbench.answer("to_account", "Savings");
  await workbench.type("amount", "12.345");
  await checkSeen(
    workbench.page.locator(".quick-input-message", {
      hasText: "amount must have at most two decimals",
    }),
  );
  await workbench.picture("form-number");
  // the question before can be answered once more
  await workbench.page.locator(".quick-input-titlebar .codicon-quick-input-back").click();
  await workbench.answer("to_account", "Holiday fund");
  await workbench.answer("amount", "12.5");
});

test("what the call changed is shown as a comparison, and marked in the tree", async () => {
  await checkSeen(workbench.notification("banking_transfer: ok"));
  await checkSeen(workbench.tab("banking_transfer: changes"));
  await checkSeen(
    workbench.page
      .locator(".monaco-diff-editor .modified .view-line")
      .filter({ hasText: "3136.45" }),
  );
  await checkSeen(session(/^Session 1 on small.*1 call/));
  await checkSeen(servers().filter({ hasText: /^accounts.*○/ }));
  await workbench.expand(servers().filter({ hasText: /^accounts/ }));
  await workbench.expand(servers().filter({ hasText: /^acc_101/ }));
  await checkSeen(servers().filter({ hasText: /^balance.*● 3136.45/ }));
  await workbench.picture("session-changed");
  await workbench.collapse(servers().filter({ hasText: /^accounts/ }));
});

test("a fork goes on from there, and a reset goes back without it", async () => {
  await act(
    /^Session 1 on small/,
    "Fork Session",
    isThere(session(/^Session 2 forked from 1.*as opened/)),
  );
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
    await workbench.picture("session-forked");
    await workbench.collapse(session(of));
    return text.replaceAll(/[^\d.]/g, "");
  };
  expect(await balance(/^Session 1/)).toBe("3148.95");
  expect(await balance(/^Session 2/)).toBe("3136.45");
});

test("closing leaves nothing behind", async () => {
  await act(/^Session 1/, "Close Session", isGone(session(/^Session 1/)));
  await workbench.command("PROVE: Close Session");
  await checkGone(session(/^Session/));
  expect(await workbench.notification("PROVE failed").count()).toBe(0);
});
