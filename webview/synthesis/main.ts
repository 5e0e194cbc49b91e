/**
 * The page of a synthesis: its state machine with what went along each edge, what was turned down
 * and why, and what the accepted tasks are. Draws what it is told.
 */
import type { SynthesisPage, SynthesisView } from "../../src/protocol/synthesisPage.ts";
import { element } from "../element.ts";
import { connect } from "../page.ts";
import { percent, visible, whole } from "../text.ts";
import { createComposition, createDiversityList } from "./composition.ts";
import { createStateMachine, createTransitionTable } from "./stateMachine.ts";
import { RejectionList } from "./rejectionList.ts";

const channel = connect<SynthesisPage>();
const page = document.getElementById("page")!;
const rejections = new RejectionList(channel);
let isTableOpen = false;

channel.on("changed", draw);
channel
  .ask("load", null)
  .then(draw, (refused: Error) =>
    page.replaceChildren(element("p", { class: "empty", role: "alert" }, `${refused.message}.`)),
  );

function draw(view: SynthesisView): void {
  // the editor finds the tasks again by this after a reload
  channel.keep({ file: view.file });
  page.setAttribute("aria-busy", "false");
  const choose = (from: string) => {
    rejections.choose({ from });
    rejections.element.scrollIntoView({ block: "nearest", behavior: "smooth" });
  };
  const table = createTransitionTable(view.transitions) as HTMLDetailsElement;
  table.open = isTableOpen;
  table.addEventListener("toggle", () => (isTableOpen = table.open));
  rejections.show(view.rejected);
  page.replaceChildren(
    header(view),
    createStateMachine(view.transitions, choose),
    table,
    rejections.element,
    section("Accepted tasks", createComposition(view)),
    ...(view.diversity.length
      ? [section("How varied the users' words are", createDiversityList(view))]
      : []),
    ...(view.options.length
      ? [
          section(
            "Options",
            element(
              "dl",
              { class: "settings" },
              ...view.options.flatMap(([name, value]) => [
                element("dt", {}, visible(name)),
                element("dd", {}, visible(value)),
              ]),
            ),
          ),
        ]
      : []),
  );
}

function header({ name, attempts, accepted, from }: SynthesisView): HTMLElement {
  const rest = attempts - accepted;
  const counted =
    from === "report" ? "" : " · counted from the tasks' own logs: there is no report beside them";
  return element(
    "header",
    { class: "head" },
    element(
      "div",
      {},
      element("h1", {}, visible(name)),
      element(
        "p",
        { class: "quiet" },
        `${whole(attempts)} ${attempts === 1 ? "attempt" : "attempts"} · ${whole(accepted)} accepted (${percent(accepted / Math.max(1, attempts))}) · ${whole(rest)} turned down${counted}`,
      ),
    ),
  );
}

const section = (title: string, ...content: HTMLElement[]) =>
  element("section", {}, element("h2", {}, title), ...content);
