/** The page of one attempt's reward: totals, parts, and the evidence for each call and goal. */
import type { RewardPage, RewardView } from "../../src/protocol/rewardPage.ts";
import { registerControls } from "../controls.ts";
import { element } from "../element.ts";
import { openChannel } from "../channel.ts";
import { escapeInvisible } from "../text.ts";
import { createCallList } from "./callList.ts";
import { createGoalList } from "./goalList.ts";
import { createPartTable } from "./partTable.ts";
import { createTotals } from "./totals.ts";

registerControls();
const channel = openChannel<RewardPage>();
const page = document.getElementById("page")!;
let profile = (channel.loadState() as { profile?: string } | undefined)?.profile;

channel.on("changed", draw);
channel
  .request("load", null)
  .then(draw, (error: Error) =>
    page.replaceChildren(element("p", { class: "empty", role: "alert" }, `${error.message}.`)),
  );

function draw(view: RewardView): void {
  channel.saveState({ address: view.address, profile });
  const breakdown = view.breakdowns.find(it => it.profile === profile) ?? view.breakdowns[0];
  page.setAttribute("aria-busy", "false");
  if (!breakdown) {
    page.replaceChildren(
      createHeader(view),
      element(
        "p",
        { class: "empty", role: "alert" },
        `This attempt has no reward: ${escapeInvisible(view.unscorable ?? "it has not ended")}.`,
      ),
    );
    return;
  }
  const choose = (name: string) => {
    profile = name;
    draw(view);
  };
  page.replaceChildren(
    createHeader(view),
    createTotals(view, breakdown, choose),
    createSection("Parts", createPartTable(breakdown)),
    createSection(
      "Calls",
      createCallList(view, breakdown, call => void channel.request("reveal", { call })),
    ),
    createSection(
      "Goals",
      createGoalList(view, breakdown, call => void channel.request("reveal", { call })),
    ),
  );
}

function createHeader(view: RewardView): HTMLElement {
  const step = element("vscode-button", { appearance: "secondary" }, "Step Through Trajectory");
  step.addEventListener("click", () => void channel.request("step", null));
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
    step,
  );
}

const createSection = (title: string, ...content: HTMLElement[]) =>
  element("section", {}, element("h2", {}, title), ...content);
