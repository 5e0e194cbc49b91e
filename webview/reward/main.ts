/**
 * The page of one attempt's reward: totals, parts, and the evidence for each call and goal. While
 * the attempt is stepped through, it shows the reward of the calls so far.
 */
import type { RewardPage, RewardView } from "../../src/protocol/rewardPage.ts";
import { registerControls } from "../controls.ts";
import { createButton, createSection, element } from "../element.ts";
import { findFocused, giveFocus } from "../focus.ts";
import { loadView, openChannel } from "../channel.ts";
import { escapeInvisible } from "../text.ts";
import { createAnswerList, createCallList, createGoalList } from "./evidence.ts";
import { createCallRewards, createPartTable, createTotals } from "./totals.ts";

registerControls();
const channel = openChannel<RewardPage>();
const page = document.getElementById("page")!;
/** Says where the debugger stands. It stays in the page, so that changes are announced. */
const stepping = element("p", { class: "stepping", role: "status", hidden: true });
/** Says that the attempt can no longer be read, and why. */
const outdated = element("p", { class: "outdated", role: "alert", hidden: true });
const content = element("div");

channel.on("changed", draw);
channel.on("outdated", reason => {
  outdated.hidden = false;
  outdated.textContent = escapeInvisible(reason);
});
loadView(channel, draw);

function draw(view: RewardView): void {
  channel.saveState({ address: view.address });
  page.setAttribute("aria-busy", "false");
  if (!content.isConnected) page.replaceChildren(outdated, stepping, content);
  outdated.hidden = true;
  outdated.textContent = "";
  stepping.hidden = !view.prefix;
  stepping.textContent = view.prefix ? `Stepping through: ${view.prefix.text}` : "";
  const focused = findFocused()?.id;
  content.replaceChildren(createHeader(view), ...createBody(view));
  if (view.call !== undefined) goToCall(view.call);
  else if (focused) giveFocus(document.getElementById(focused));
}

function goToCall(call: number): void {
  const link = document.getElementById(`call-${call}`);
  link?.scrollIntoView({ block: "center" });
  giveFocus(link);
  void channel.request("arrived", null);
}

function createBody(view: RewardView): HTMLElement[] {
  const [breakdown] = view.breakdowns;
  if (!breakdown)
    return [
      element(
        "p",
        { class: "empty", role: "alert" },
        `This attempt has no reward: ${escapeInvisible(view.unscorable ?? "it has not ended")}.`,
      ),
    ];
  const reveal = (call: number) => void channel.request("reveal", { call });
  const revealTurn = (turn: number) => void channel.request("revealTurn", { turn });
  const choose = (name: string) => void channel.request("setProfile", { name });
  return [
    createTotals(view, breakdown, choose),
    createSection("Reward after each call", createCallRewards(view, reveal)),
    createSection("Parts", createPartTable(breakdown)),
    createSection("Calls", createCallList(view, breakdown, reveal)),
    createSection("Goals", createGoalList(view, breakdown, reveal)),
    ...(breakdown.answers
      ? [createSection("Answers", createAnswerList(breakdown.answers, revealTurn))]
      : []),
  ];
}

function createHeader(view: RewardView): HTMLElement {
  const step = () => void channel.request("step", null);
  return element(
    "header",
    { class: "head" },
    element(
      "div",
      {},
      element("h1", {}, escapeInvisible(view.request)),
      element(
        "p",
        { class: "quiet" },
        `${escapeInvisible(view.task)} · attempt by ${escapeInvisible(view.policy)} · ${escapeInvisible(view.ended)}`,
      ),
    ),
    createButton("Step Through Trajectory", step, { appearance: "secondary", id: "step" }),
  );
}
