/**
 * The reward of one attempt: what it earned by part, and why, call by call and goal by goal. Draws
 * what it is told; computes nothing.
 */
import type { RewardPage, RewardView } from "../../src/protocol/rewardPage.ts";
import { registerControls } from "../controls.ts";
import { element } from "../element.ts";
import { connect } from "../page.ts";
import { visible } from "../text.ts";
import { createCallList } from "./calls.ts";
import { createGoalList } from "./goals.ts";
import { createPartTable } from "./parts.ts";
import { createTotals } from "./totals.ts";

registerControls();
const channel = connect<RewardPage>();
const page = document.getElementById("page")!;
let profile = (channel.kept() as { profile?: string } | undefined)?.profile;

channel.on("changed", draw);
channel
  .ask("load", null)
  .then(draw, (refused: Error) =>
    page.replaceChildren(element("p", { class: "empty", role: "alert" }, `${refused.message}.`)),
  );

function draw(view: RewardView): void {
  channel.keep({ address: view.address, profile });
  const shown = view.breakdowns.find(it => it.profile === profile) ?? view.breakdowns[0];
  page.setAttribute("aria-busy", "false");
  if (!shown) {
    page.replaceChildren(
      header(view),
      element(
        "p",
        { class: "empty", role: "alert" },
        `This attempt has no reward: ${visible(view.unscorable ?? "it has not ended")}.`,
      ),
    );
    return;
  }
  const choose = (name: string) => {
    profile = name;
    draw(view);
  };
  page.replaceChildren(
    header(view),
    createTotals(view, shown, choose),
    section("Parts", createPartTable(shown)),
    section(
      "Calls",
      createCallList(view, shown, call => void channel.ask("reveal", { call })),
    ),
    section(
      "Goals",
      createGoalList(view, shown, call => void channel.ask("reveal", { call })),
    ),
  );
}

function header(view: RewardView): HTMLElement {
  const step = element("vscode-button", { appearance: "secondary" }, "Step Through Trajectory");
  step.addEventListener("click", () => void channel.ask("step", null));
  return element(
    "header",
    { class: "head" },
    element(
      "div",
      {},
      element("h1", {}, visible(view.request)),
      element(
        "p",
        { class: "quiet" },
        `${visible(view.task)} · attempt by ${visible(view.policy)} · ${visible(view.ended)}`,
      ),
    ),
    step,
  );
}

const section = (title: string, ...content: HTMLElement[]) =>
  element("section", {}, element("h2", {}, title), ...content);
