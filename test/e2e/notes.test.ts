/**
 * Notes on attempts in the table and above the transcript, with changes from elsewhere and a
 * damaged file; and new files from selected attempts.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { synthesizeTasks } from "./taskFiles.ts";
import { checkGone, checkVisible, waitOptions, Workbench } from "./workbench.ts";

let workbench: Workbench;
const at = (name: string) => join(workbench.folder, "prove/tasks", name);

interface NotesFile {
  notes: Record<string, { verdict?: string; tags: string[]; text: string }>;
}
const notesFile = () => at("few.tasks.jsonl.notes.json");
const readNotes = () => JSON.parse(readFileSync(notesFile(), "utf8")) as NotesFile;

beforeAll(async () => {
  workbench = await Workbench.open({
    "prove/tasks/few.tasks.jsonl": synthesizeTasks(12, "banking"),
  });
  await workbench.showContainer("PROVE");
  await workbench.collapseViews("Servers", "Runs");
});
afterAll(() => workbench.close());

/** Chooses what to note on the attempt of the first row. */
async function note(choice: string): Promise<void> {
  const row = workbench.webview().locator("tr[data-key]").first();
  await row.hover();
  await row.getByRole("button", { name: /^Note on/ }).click();
  await workbench.choice(choice).click();
}

test("a note has tags and a text, and two windows keep what both have written", async () => {
  await workbench.runCommand("PROVE: Show Attempts");
  await workbench.answer("Which attempts to list", "few");
  const page = workbench.webview();
  await checkVisible(page.getByText(/^12 attempts · \d+ failures? · profile prove-plus$/));
  await note("Tags…");
  await workbench.answer("Tags with commas", "slow, <b>[x](command:y)</b>");
  await checkVisible(page.getByText("#slow #<b>[x](command:y)</b>", { exact: true }));
  // as another window would
  const { notes, ...file } = readNotes();
  const [[key, own]] = Object.entries(notes) as [[string, NotesFile["notes"][string]]];
  const theirs = { [key]: { ...own, tags: [...own.tags, "theirs"], text: "asks twice" } };
  writeFileSync(notesFile(), JSON.stringify({ ...file, notes: theirs }));
  await checkVisible(page.getByText(/#theirs asks twice$/));
  await note("Bad");
  await checkVisible(page.getByText(/^bad #slow .* #theirs asks twice$/));
  expect(readNotes().notes[key]).toEqual({
    verdict: "bad",
    tags: ["slow", "<b>[x](command:y)</b>", "theirs"],
    text: "asks twice",
  });
  await page.getByRole("searchbox").fill("tag:theirs");
  await checkVisible(page.getByText(/^1 of 12 attempts/));
  await page.getByRole("searchbox").fill("");
  await page
    .getByRole("checkbox", { name: /^Select banking/ })
    .first()
    .check();
  await page
    .getByRole("checkbox", { name: /^Select banking/ })
    .nth(3)
    .check();
  await checkVisible(page.getByText("2 selected"));
  await workbench.takePicture("notes");
  expect(await workbench.findAccessibilityProblems()).toEqual([]);
});

test("a new tasks file and a new file for fine-tuning are written from selected attempts", async () => {
  const page = workbench.webview();
  await page.getByRole("button", { name: "New Tasks File From Selection…" }).click();
  await workbench.answer("Name of the file", "chosen");
  await checkVisible(workbench.rows("Tasks").filter({ hasText: /^\s*chosen\s*2 tasks/ }));
  await page.getByRole("button", { name: "New Fine-Tuning File From Selection…" }).click();
  await workbench.answer("Name of the file", "chosen");
  await checkVisible(workbench.notification("2 conversations in chosen.sft.jsonl."));
  const [row] = readFileSync(at("chosen.sft.jsonl"), "utf8").split("\n");
  expect(Object.keys(JSON.parse(row!) as object)).toEqual(["messages", "tools", "task_id"]);
  await workbench.page.setViewportSize({ width: 800, height: 700 });
  await workbench.takePicture("notes-narrow");
  await workbench.page.setViewportSize({ width: 1400, height: 1050 });
});

test("the transcript shows the note, and a damaged file is reported and not changed", async () => {
  const page = workbench.webview();
  await page
    .getByRole("button", { name: /^Open the transcript of/ })
    .first()
    .click();
  const lens = workbench.page.locator(".codelens-decoration a");
  await checkVisible(lens.filter({ hasText: "#theirs · asks twice" }));
  await workbench.takePicture("note-in-transcript");
  writeFileSync(notesFile(), "{ damaged");
  await checkVisible(lens.filter({ hasText: "Notes cannot be read" }));
  await lens.filter({ hasText: "Notes cannot be read" }).click();
  await checkVisible(workbench.notification(/few\.tasks\.jsonl\.notes\.json.* is not JSON/));
  expect(readFileSync(notesFile(), "utf8")).toBe("{ damaged");
  await workbench.tab("Attempts: few").click();
  await checkVisible(page.getByRole("alert").filter({ hasText: "is not JSON" }));
});

test("a tasks file that is renamed takes its notes along", async () => {
  const row = workbench.rows("Tasks").filter({ hasText: /^\s*few\s*12/ });
  await row.click({ button: "right" });
  await workbench.chooseFromMenu("Rename File…");
  await workbench.answer("New name of few", "more");
  await checkGone(row);
  await vi.waitFor(
    () => expect(existsSync(at("more.tasks.jsonl.notes.json"))).toBe(true),
    waitOptions,
  );
});
