/** The document with the tools that were offered in an attempt. */
import { expect, test } from "vitest";
import {
  formatOfferedTools,
  formatSignature,
} from "../../../../src/editor/attempts/transcript/offeredTools.ts";
import { catalog } from "../../../trajectory/sampleTasks.ts";
import { loadSampleAttempt } from "../sampleAttempts.ts";

test("each tool on the menu has its description and its parameters", async () => {
  const { task, trajectory } = await loadSampleAttempt();
  const text = formatOfferedTools(catalog, trajectory, task);
  const { menu, id } = trajectory.header;
  expect(text.split("\n")[0]).toBe(`${menu.length} tools on offer in ${id}`);
  for (const name of menu) expect(text).toContain(`\n${name}(`);
  expect(text).toContain(catalog.tools.get("banking_transfer")!.summary);
});

test("tools that were added later, taken away or no longer exist are told apart", async () => {
  const { task, trajectory } = await loadSampleAttempt();
  const { header } = trajectory;
  const text = formatOfferedTools(
    catalog,
    {
      header: { ...header, menu: ["banking_list_accounts", "banking_wire\u202e"] },
      events: [
        { kind: "user", text: "One" },
        { kind: "user", text: "Two", adds: ["banking_transfer"] },
      ],
    },
    { ...task, hidden: ["banking_freeze_card"] },
  );
  const titles = ["2 tools on offer", "Added in turn 2", "Taken away"];
  expect(
    titles.map(it => text.indexOf(it)).every((it, i, all) => i === 0 || it > all[i - 1]!),
  ).toBe(true);
  expect(text).toContain("banking_wire⟨U+202E⟩\n    No server has this tool any more.");
});

test("a signature says the types, what can be left out, and the descriptions", () => {
  const text = formatSignature(catalog.tools.get("banking_transfer")!);
  expect(text).toMatch(/^banking_transfer\(\n {2}from_account: id of account, \/\/ /);
  expect(text).toMatch(/\n {2}amount: number [\d.]+ to \d+,/);
  expect(formatSignature(catalog.tools.get("banking_list_accounts")!)).toContain("  name?: ");
});
