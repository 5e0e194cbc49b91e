/**
 * Files of rollouts that other software wrote: they open in the place of an editor, from the
 * explorer and with Reopen Editor With…, their attempts are stepped through, and a copy is kept.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createZip, deflated } from "../cli/rollouts/writeZip.ts";
import { checkVisible, Workbench } from "./workbench.ts";

let workbench: Workbench;

const call = (id: string, name: string, args: object) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(args) },
});

/** A conversation whose order has more digits than a number keeps. */
const messages = (city: string) => [
  { role: "user", content: `Is it raining in ${city}, and where is my umbrella?` },
  {
    role: "assistant",
    content: "I look it up.",
    tool_calls: [call("a", "weather_now", { city }), call("b", "find_order", { what: "umbrella" })],
  },
  { role: "tool", tool_call_id: "a", content: '{"rain": true}' },
  { role: "tool", tool_call_id: "b", content: '{"order": 9007199254740993, "at": "the depot"}' },
  { role: "assistant", content: "It is raining, and your umbrella is at the depot." },
];

const sample = (id: string, city: string, value: number) =>
  deflated(
    `samples/${id}_epoch_1.json`,
    JSON.stringify({
      id,
      epoch: 1,
      input: "Is it raining?",
      messages: messages(city).map(({ tool_calls: calls, ...it }) => ({
        ...it,
        ...(calls && {
          tool_calls: calls.map(({ id: callId, function: { name, arguments: args } }) => ({
            id: callId,
            type: "function",
            function: name,
            arguments: JSON.parse(args) as unknown,
          })),
        }),
      })),
      scores: { match: { value } },
    }),
  );

beforeAll(async () => {
  workbench = await Workbench.open({
    "logs/evening.jsonl": ["Lyon", "Oslo", "Rome"]
      .map(it => `${JSON.stringify({ messages: messages(it) })}\n`)
      .join("")
      .concat("{ damaged\n"),
    "logs/morning.eval": createZip([
      deflated("header.json", '{"version": 2}'),
      sample("s1", "Bern", 1),
      sample("s2", "Kyiv", 0),
    ]),
  });
  await workbench.showContainer("Explorer");
  await workbench.page.locator(".explorer-folders-view").getByText("logs").click();
});
afterAll(() => workbench.close());

const explorerRow = (name: string) =>
  workbench.page.locator(".explorer-folders-view [role=treeitem]").filter({ hasText: name });

test("an archive opens from the explorer as a table, and its attempt as a transcript", async () => {
  await explorerRow("morning.eval").dblclick();
  const page = workbench.webview();
  await checkVisible(page.getByText("2 attempts · no rewards", { exact: true }));
  await workbench.takePicture("rollouts-archive");
  expect(await workbench.findAccessibilityProblems()).toEqual([]);
  await page
    .getByRole("button", { name: /^Open the transcript of/ })
    .last()
    .click();
  await checkVisible(workbench.tab(".transcript"));
  await checkVisible(workbench.lines.filter({ hasText: "Is it raining in Kyiv" }).first());
  // the digits are those of the file
  await checkVisible(workbench.lines.filter({ hasText: "9007199254740993" }).first());
  await workbench.takePicture("rollouts-transcript");
  await workbench.runCommand("PROVE: Continue From Here With…");
  await checkVisible(
    workbench.notification("The attempt was imported, and its calls cannot be made here"),
  );
});

test("the attempt is stepped through in both directions", async () => {
  await workbench.runCommand("PROVE: Step Through Trajectory");
  await checkVisible(workbench.variable("start"));
  const tool = (name: string) => workbench.variable("tool").filter({ hasText: name });
  for (const seen of [
    workbench.variable("user").filter({ hasText: "Is it raining" }),
    workbench.variable("assistant").filter({ hasText: "I look it up." }),
    tool("weather_now"),
    tool("find_order"),
  ]) {
    await workbench.debugButton("step-over").click();
    await checkVisible(seen);
  }
  await workbench.takePicture("rollouts-stepping");
  await workbench.debugButton("step-back").click();
  await checkVisible(tool("weather_now"));
  await workbench.debugButton("stop").click();
});

test("JSON Lines reopen as a table, which says what it leaves out, and a copy is kept", async () => {
  await workbench.closeEditors();
  await workbench.showContainer("Explorer");
  await explorerRow("evening.jsonl").dblclick();
  await checkVisible(workbench.lines.filter({ hasText: "Lyon" }).first());
  await workbench.runCommand("View: Reopen Editor With...");
  await workbench.choice("PROVE Attempts").click();
  const page = workbench.webview();
  await checkVisible(page.getByText("3 attempts · no rewards · 1 row skipped", { exact: true }));
  await checkVisible(page.getByText(/^evening\.jsonl:4 is not JSON/));
  await workbench.takePicture("rollouts-lines");
  await workbench.runCommand("PROVE: Import Rollouts");
  await checkVisible(workbench.notification("3 attempts in evening.trajectory.jsonl"));
  await workbench.takePicture("rollouts-imported");
  const copy = join(workbench.folder, "prove/tasks/evening.trajectory.jsonl");
  expect(existsSync(copy)).toBe(true);
  expect(readFileSync(copy, "utf8")).toContain("9007199254740993");
});
