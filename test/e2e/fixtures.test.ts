/** Fixtures in the editor: they are copied, edited, checked and restored. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { checkGone, checkVisible, waitOptions, Workbench } from "./workbench.ts";

let workbench: Workbench;
const servers = () => workbench.rows("Servers");
const copy = () => join(workbench.folder, "prove/fixtures/banking/small.fixture.json");

beforeAll(async () => {
  workbench = await Workbench.open();
  await workbench.showContainer("PROVE");
  await workbench.collapseViews("Tasks", "Runs");
  await workbench.expand(servers().filter({ hasText: "banking" }).first());
});
afterAll(() => workbench.close());

test("without an open fixture, the commands on fixtures ask for one", async () => {
  const { page } = workbench;
  const choices = page.locator(".quick-input-list .monaco-list-row");
  const getCopy = (server: string) =>
    join(workbench.folder, `prove/fixtures/${server}/small.fixture.json`);
  for (const title of ["Compare Fixture with Shipped", "Restore Fixture"]) {
    await workbench.runCommand(`PROVE: ${title}`);
    await checkVisible(workbench.notification("No fixture of this workspace replaces a shipped"));
    await workbench.runCommand("Notifications: Clear All Notifications");
  }
  await workbench.runCommand("PROVE: Edit Fixture as Table");
  await checkVisible(workbench.choice("banking · small").filter({ hasText: "shipped" }));
  await workbench.takePicture("fixture-choice");
  await workbench.choice("calendar · small").click();
  await checkVisible(workbench.webview().getByRole("heading", { name: "calendar/small" }));
  await workbench.closeEditors();
  await workbench.runCommand("PROVE: Edit Fixture");
  await workbench.choice("email · small").click();
  await checkVisible(page.locator(".monaco-breadcrumb-item", { hasText: /^email$/ }));
  await workbench.closeEditors();
  await workbench.runCommand("PROVE: Compare Fixture with Shipped");
  await checkVisible(workbench.choice("email · small").filter({ hasText: "your copy" }));
  expect(await choices.count()).toBe(2);
  await workbench.choice("calendar · small").click();
  await checkVisible(workbench.tab("calendar/small: shipped ↔ your copy"));
  // of the fixture in the active editor, it is not asked
  await workbench.runCommand("PROVE: Restore Fixture");
  await vi.waitFor(() => expect(existsSync(getCopy("calendar"))).toBe(false), waitOptions);
  await workbench.closeEditors();
  await workbench.runCommand("PROVE: Restore Fixture");
  await workbench.choice("email · small").click();
  await vi.waitFor(() => expect(existsSync(getCopy("email"))).toBe(false), waitOptions);
});

test("a session opens on a fixture and shows its state", async () => {
  await workbench.runCommand("PROVE: Open Session…");
  await workbench.choice("banking · small").click();
  await checkVisible(servers().filter({ hasText: "Session 1 on small" }));
  await checkVisible(servers().filter({ hasText: /^customer.*Ana Ruiz/ }));
  await workbench.takePicture("session");
});

test("a call shows its result", async () => {
  await workbench.runCommand("PROVE: Call Tool…");
  await workbench.answer("Which tool to call", "banking_list_accounts");
  await workbench.answer("Which optional arguments", "");
  await checkVisible(workbench.tab("Session 1.calls"));
  await workbench.takePicture("call");
});

test("a shipped fixture is copied, edited and saved, and the next session starts from it", async () => {
  await servers()
    .filter({ hasText: /^small/ })
    .click();
  await checkVisible(workbench.tab("small.fixture.json"));
  await workbench.runCommand("PROVE: Edit Fixture");
  await vi.waitFor(() => expect(readFileSync(copy(), "utf8")).toContain("Ana Ruiz"), waitOptions);
  // the copy takes the focus when it opens, and with it what is typed
  await checkVisible(workbench.page.locator(".monaco-breadcrumb-item", { hasText: /^prove$/ }));
  await workbench.replaceLine(7, `    "customer": "Bo Lind",`);
  await workbench.page.keyboard.press("Control+S");
  await vi.waitFor(() => expect(readFileSync(copy(), "utf8")).toContain("Bo Lind"), waitOptions);
  await workbench.takePicture("fixture");
  await workbench.runCommand("PROVE: Open Session…");
  await workbench.choice("banking · small").click();
  await checkVisible(servers().filter({ hasText: /^customer.*Bo Lind/ }));
  await checkVisible(servers().filter({ hasText: /^customer.*Ana Ruiz/ }));
});

test("an invalid fixture is marked at its line, and no session opens on it", async () => {
  await workbench.replaceLine(7, `    "customer": 7,`);
  await workbench.page.keyboard.press("Control+S");
  await vi.waitFor(() => expect(readFileSync(copy(), "utf8")).toContain(": 7"), waitOptions);
  await checkVisible(workbench.page.locator(".squiggly-error").first());
  // once: the editor's own JSON support completes fixtures, and does not check them
  await workbench.goToLine(7);
  await workbench.runCommand("Go to Next Problem (Error, Warning, Info)");
  await checkVisible(workbench.page.locator(".peekview-widget", { hasText: "1 of 1 problem" }));
  await workbench.page.keyboard.press("Escape");
  await workbench.runCommand("PROVE: Open Session…");
  await workbench.choice("banking · small").click();
  await checkVisible(
    workbench.notification(/:7 is not a fixture of banking: at \/state\/customer/),
  );
  await workbench.takePicture("fixture-that-does-not-fit");
});

test("an id that leads nowhere is repaired, and the copy is compared with the shipped one", async () => {
  const { page } = workbench;
  await workbench.replaceLine(7, `    "customer": "Bo Lind",`);
  // the values to choose from come from the schema
  await workbench.replaceLine(16, `      "card_211": {"name": "Everyday debit", "status": `);
  await workbench.runCommand("Trigger Suggest");
  await checkVisible(page.locator(".suggest-widget .monaco-list-row", { hasText: "frozen" }));
  await page.keyboard.press("Escape");
  await workbench.replaceLine(
    16,
    `      "card_211": {"name": "Everyday debit", "account_id": "acc_1o1", "last_digits": "4417", "status": "active", "daily_limit": 400},`,
  );
  const marker = page.locator(".marker-widget", { hasText: "there is no account acc_1o1" });
  // the problems are those of the incomplete line before, until the new one was checked
  await vi.waitFor(async () => {
    await workbench.runCommand("Go to Next Problem (Error, Warning, Info)");
    await marker.waitFor({ timeout: 2000 });
  }, waitOptions);
  await workbench.takePicture("fixture-dangling-id");
  const repair = page.locator(".action-widget").getByText("Replace with acc_101");
  // if the command above ran twice, the marker can open again after Escape
  await vi.waitFor(async () => {
    await page.keyboard.press("Escape");
    await marker.waitFor({ state: "hidden", timeout: 2000 });
    await page.keyboard.press("Control+.");
    await repair.waitFor({ timeout: 2000 });
  }, waitOptions);
  await repair.click();
  await page.keyboard.press("Control+S");
  await vi.waitFor(
    () => expect(readFileSync(copy(), "utf8")).not.toContain("acc_1o1"),
    waitOptions,
  );
  await workbench.runCommand("PROVE: Compare Fixture with Shipped");
  await checkVisible(workbench.tab("banking/small: shipped ↔ your copy"));
  await workbench.takePicture("fixture-compared");
  await page.keyboard.press("Control+W");
});

test("a fixture is edited as a table, with undo, and its problems are at their cells", async () => {
  const { page } = workbench;
  const { keyboard } = page;
  const table = workbench.webview();
  const cell = (row: string, field: string) =>
    table.locator(`tr[data-row="${row}"] > [data-field="${field}"]`);
  // from the keyboard: to a table, a cell, a choice, and back
  await workbench.runCommandByKeyboard("PROVE: Edit Fixture as Table");
  await checkVisible(table.getByRole("tab", { name: /^accounts/, selected: true }));
  const focused = table.locator(":focus").first();
  const tabTo = (text: string) =>
    vi.waitFor(async () => {
      await keyboard.press("Tab");
      expect(await focused.textContent({ timeout: 1000 })).toContain(text);
    }, waitOptions);
  await tabTo("accounts");
  await keyboard.press("ArrowRight");
  await checkVisible(table.getByRole("tab", { name: /^cards 3/, selected: true }));
  await tabTo("card_211");
  await keyboard.press("ArrowDown");
  for (let n = 0; n < 4; n++) await keyboard.press("ArrowRight");
  expect(await focused.getAttribute("data-field")).toBe("status");
  await keyboard.press("Enter");
  await table.getByRole("combobox", { name: "status of card_217" }).selectOption("active");
  await checkVisible(cell("card_217", "status").getByText("active", { exact: true }));
  await keyboard.press("ArrowLeft");
  await keyboard.type("12");
  // the palette opens while a cell is edited, keeps the focus, and loses nothing that was typed
  await keyboard.press("F1");
  const palette = page.locator(".quick-input-widget .quick-input-box input");
  await checkVisible(palette.and(page.locator(":focus")));
  await checkVisible(cell("card_217", "last_digits").getByText("12", { exact: true }));
  await checkVisible(table.getByText(/^cards: 3 rows · 1 problem/));
  await checkVisible(palette.and(page.locator(":focus")));
  await keyboard.press("Escape");
  await checkGone(palette);
  await checkVisible(table.locator(`[aria-invalid="true"]`));
  await workbench.takePicture("fixture-table-problem");
  expect(await workbench.findAccessibilityProblems()).toEqual([]);
  await cell("card_217", "last_digits").click();
  await keyboard.press("Control+Z");
  await checkVisible(cell("card_217", "last_digits").getByText("9052"));
  await table.getByRole("button", { name: "Duplicate card_211" }).click();
  await checkVisible(cell("card_224", "name").getByText("Everyday debit"));
  await table.getByRole("button", { name: "Delete card_223" }).click();
  await checkVisible(table.getByRole("tab", { name: /^cards 3/ }));
  await checkGone(cell("card_223", "name"));
  await table.getByRole("tab", { name: /^payees/ }).click();
  await workbench.takePicture("fixture-table");
  // what is being typed is saved, too
  await cell("pay_305", "name").dblclick();
  await keyboard.type("Clearwater Utilities");
  await keyboard.press("Control+S");
  await vi.waitFor(() => {
    const text = readFileSync(copy(), "utf8");
    expect(text).toContain(`"name": "Clearwater Utilities"`);
    expect(text).toContain(`"last_digits": "9052", "status": "active"`);
    expect(text).toMatch(/"card_224": \{"name": "Everyday debit", "account_id"/);
    expect(text).not.toContain(`"card_223": {`);
  }, waitOptions);
  // a nested value is edited in the text
  await table.getByRole("button", { name: "Edit bill of pay_305 as text" }).click();
  await checkVisible(workbench.lines.filter({ hasText: `"pay_305"` }));
  await keyboard.press("Control+W");
});

test("in a text box of a page, keys that select all, undo and redo work before the next key", async () => {
  const { keyboard } = workbench.page;
  const table = workbench.webview();
  const name = table.locator(`tr[data-row="pay_305"] > [data-field="name"]`);
  const checkName = (text: string) => checkVisible(name.getByText(text, { exact: true }));
  const filter = table.getByRole("searchbox", { name: "Filter rows" });
  // whenever the editor answers a key, another one follows
  const delays = [40, 120, 200];
  for (const delay of delays) {
    await name.dblclick();
    await keyboard.press("Control+A");
    await keyboard.type(`9.25 ${delay}`, { delay });
    await keyboard.press("Enter");
    await checkName(`9.25 ${delay}`);
    await name.click();
    await keyboard.press("Control+A");
    await keyboard.type(`not ${delay}`, { delay });
    await keyboard.press("Enter");
    await checkName(`not ${delay}`);
    await filter.fill("what was there");
    await filter.press("Control+A");
    await keyboard.type(`not ${delay}`, { delay });
    expect(await filter.inputValue()).toBe(`not ${delay}`);
    await filter.fill("");
  }
  // each box has its own undo, and the file another
  await name.click();
  await filter.click();
  await keyboard.type("x");
  await keyboard.press("Control+Z");
  await keyboard.type("not", { delay: 120 });
  expect(await filter.inputValue()).toBe("not");
  await checkName("not 200");
  await keyboard.press("Control+Z");
  expect(await filter.inputValue()).not.toBe("not");
  await keyboard.press("Control+Y");
  expect(await filter.inputValue()).toBe("not");
  await filter.fill("");
  await name.dblclick();
  await keyboard.type("x");
  await keyboard.press("Control+Z");
  expect(await name.getByRole("textbox").inputValue()).toBe("not 200");
  await keyboard.press("Escape");
  await keyboard.press("Control+Z");
  await checkName("9.25 200");
  await keyboard.press("Control+Y");
  await checkName("not 200");
});

test("restoring deletes the copy, also where it is not saved, and no other edits", async () => {
  const { page } = workbench;
  // the table of the fixture is open in a tab of its own, and has the same edits
  const edited = (title: string) => page.locator(".tab.dirty", { hasText: title }).first();
  await servers()
    .filter({ hasText: /^small/ })
    .click();
  await workbench.replaceLine(7, `    "customer": "Cy Moss",`);
  await checkVisible(edited("small.fixture.json"));
  await workbench.runCommand("File: New Untitled Text File");
  await page.keyboard.type("my notes");
  await checkVisible(edited("Untitled-1"));
  await workbench.clickAction(servers().filter({ hasText: /^small/ }), "Restore Fixture");
  await page.locator(".monaco-dialog-box").getByRole("button", { name: "Restore" }).click();
  await checkVisible(servers().filter({ hasText: /^small.*shipped/ }));
  await checkGone(edited("small.fixture.json"));
  await checkVisible(edited("Untitled-1"));
  await checkVisible(workbench.lines.filter({ hasText: "my notes" }));
  await workbench.runCommand("View: Revert and Close Editor");
});

test("the sessions are still open after a reload", async () => {
  await workbench.page.reload({ waitUntil: "domcontentloaded" });
  await workbench.expand(servers().filter({ hasText: "banking" }).first());
  await checkVisible(servers().filter({ hasText: /^Session 1 on small.*1 call/ }));
  await checkVisible(servers().filter({ hasText: /^Session 2 on small/ }));
});
