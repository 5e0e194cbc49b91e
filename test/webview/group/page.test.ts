// @vitest-environment happy-dom
/** The page of a group: the attempts side by side. */
import { expect, test } from "vitest";
import type { GroupPage, GroupView } from "../../../src/protocol/groupPage.ts";
import { openPage } from "../openPage.ts";

const view: GroupView = {
  subject: `{"run":"/runs/first","step":3,"task":"banking-7"}`,
  task: "banking-7",
  run: "first",
  step: 3,
  profile: "prove-plus",
  columns: [
    {
      attempt: 1,
      total: 1,
      advantage: 0.5,
      success: true,
      calls: 1,
      budget: 2,
      tokens: 1200,
      withGradient: 1190,
    },
    {
      attempt: 0,
      total: 0.25,
      advantage: -0.5,
      success: false,
      calls: 1,
      budget: 2,
      tokens: 0,
      withGradient: 0,
    },
  ],
  turns: [
    {
      user: "Send 5 EUR to\u202e Ada",
      rows: [
        {
          tool: "banking_transfer",
          cells: [
            {
              text: `{"amount":5,"to":"Ada"}`,
              arguments: [
                ["amount", "5"],
                ["to", `"Ada"`],
              ],
              call: 0,
              outcome: "ok",
              goal: 0,
              tokens: { count: 3, clipped: [1], advantage: 0.5 },
            },
            {
              text: `{"amount":50,"to":"Ada"}`,
              arguments: [
                ["amount", "50"],
                ["to", `"Ada"`],
              ],
              call: 0,
              outcome: "refused",
              message: "the balance is 20",
            },
          ],
        },
        { tool: "", cells: [{ text: "Done." }, null] },
      ],
    },
  ],
};

test("each attempt is a column with its reward, and each place a row", async () => {
  const page = await openPage<GroupPage>("group", { load: view });
  expect(page.listNames("heading")).toEqual(["Send 5 EUR to⟨U+202E⟩ Ada"]);
  expect(page.text).toContain(
    "banking-7 · step 3 of first · 2 attempts, reward as recorded by prove-plus",
  );
  const columns = [...page.main.querySelectorAll("thead th")].map(it => it.textContent);
  expect(columns[1]).toMatch(
    /^Attempt 2 successreward 1\.000, advantage \+0\.501 call, 2 in the budget1,190 of 1,200 tokens with gradient/,
  );
  expect(columns[2]).toMatch(
    /^Attempt 1 no successreward 0\.250, advantage −0\.50.*no tokens recorded/,
  );
  expect(page.readTable("table")).toEqual([
    ["user", "Send 5 EUR to⟨U+202E⟩ Ada"],
    [
      "banking_transfergoal 1",
      `amount: 5to: "Ada"`,
      `amount: 50to: "Ada"refused: the balance is 20`,
    ],
    ["message", "Done.", "—"],
  ]);
  const dimmed = [...page.main.querySelectorAll(".text.quiet")].map(it => it.textContent);
  expect(dimmed).toEqual([`to: "Ada"`, `to: "Ada"`]);
  expect(page.listNames("img")).toContain("3 tokens made more likely, 1 clipped");
  expect(page.state).toEqual({ subject: view.subject });
});

test("an attempt opens as a transcript, in the debugger, as a reward or beside the teacher's", async () => {
  const page = await openPage<GroupPage>("group", { load: view });
  page.click("button", "Open the transcript of Attempt 1");
  page.click("button", "Step through Attempt 2");
  page.click("button", "Show the reward of Attempt 1");
  page.click("button", "Compare with Teacher: Attempt 2");
  expect(page.requests).toEqual([
    { name: "open", params: { column: 1, view: "transcript" } },
    { name: "open", params: { column: 0, view: "debugger" } },
    { name: "open", params: { column: 1, view: "reward" } },
    { name: "compare", params: { column: 0 } },
  ]);
});

test("a group that cannot be read says why", async () => {
  const page = await openPage<GroupPage>("group", { load: new Error("the step has changed") });
  expect(page.listNames("alert")).toEqual(["the step has changed."]);
  expect(page.main.getAttribute("aria-busy")).toBe("false");
});
