/**
 * Fixtures and sessions by hand: a tool is called, a fixture is edited, the next session starts
 * from what was saved.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { checkSeen, patience, Workbench } from "./workbench.ts";

let workbench: Workbench;
const servers = () => workbench.rows("Servers");
const copy = () => join(workbench.folder, "prove/fixtures/banking/small.fixture.json");

beforeAll(async () => {
  workbench = await Workbench.open();
  await workbench.show("PROVE");
  await workbench.fold("Tasks", "Runs");
  await workbench.expand(servers().filter({ hasText: "banking" }).first());
});
afterAll(() => workbench.close());

test("a session opens on a fixture and shows its world", async () => {
  await workbench.command("PROVE: Open Session…");
  await workbench.choice("banking · small").click();
  await checkSeen(servers().filter({ hasText: "Session 1 on small" }));
  await checkSeen(servers().filter({ hasText: /^customer.*Ana Ruiz/ }));
  await workbench.picture("session");
});

test("a call shows what it gave", async () => {
  await workbench.command("PROVE: Call Tool…");
  await workbench.answer("Which tool to call", "banking_list_accounts");
  await workbench.answer("Which optional arguments", "");
  await checkSeen(workbench.notification("banking_list_accounts: ok"));
  await workbench.picture("call");
});

test("a shipped fixture is copied, edited and saved, and the next session starts from it", async () => {
  await servers()
    .filter({ hasText: /^small/ })
    .click();
  await checkSeen(workbench.tab("small.fixture.json"));
  await workbench.command("PROVE: Edit Fixture");
  await vi.waitFor(() => expect(readFileSync(copy(), "utf8")).toContain("Ana Ruiz"), patience);
  await workbench.replaceLine(7, `    "customer": "Bo Lind",`);
  await workbench.page.keyboard.press("Control+S");
  await vi.waitFor(() => expect(readFileSync(copy(), "utf8")).toContain("Bo Lind"), patience);
  await workbench.picture("fixture");
  await workbench.command("PROVE: Open Session…");
  await workbench.choice("banking · small").click();
  await checkSeen(servers().filter({ hasText: /^customer.*Bo Lind/ }));
  await checkSeen(servers().filter({ hasText: /^customer.*Ana Ruiz/ }));
});

test("a fixture that does not fit is marked on its line, and no session opens on it", async () => {
  await workbench.replaceLine(7, `    "customer": 7,`);
  await workbench.page.keyboard.press("Control+S");
  await vi.waitFor(() => expect(readFileSync(copy(), "utf8")).toContain(": 7"), patience);
  await checkSeen(workbench.page.locator(".squiggly-error").first());
  await workbench.command("PROVE: Open Session…");
  await workbench.choice("banking · small").click();
  await checkSeen(
    workbench.notification(/does not fit the schema of banking at \/state\/customer/),
  );
  await workbench.picture("fixture-that-does-not-fit");
});

test("restoring deletes the copy", async () => {
  await workbench.command("PROVE: Restore Fixture");
  await workbench.page
    .locator(".monaco-dialog-box")
    .getByRole("button", { name: "Restore" })
    .click();
  await checkSeen(servers().filter({ hasText: /^small.*shipped/ }));
});
