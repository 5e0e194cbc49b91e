/**
 * The page of a synthesis: its state machine with the count of each edge, the rejected attempts by
 * reason, and the composition of the accepted tasks.
 */
import type { SynthesisPage, SynthesisView } from "../../src/protocol/synthesisPage.ts";
import { createSection, element } from "../element.ts";
import { findFocused, giveFocus } from "../focus.ts";
import { loadView, openChannel } from "../channel.ts";
import { formatCount, formatPercent, escapeInvisible, formatInteger } from "../text.ts";
import {
  createComposition,
  createDistanceTable,
  createList,
  createTransitionTable,
} from "./tables.ts";
import { RejectionList } from "./rejectionList.ts";
import { createStateMachine } from "./stateMachine.ts";

const channel = openChannel<SynthesisPage>();
const page = document.getElementById("page")!;
const rejections = new RejectionList(channel);
let isTableOpen = false;

channel.on("changed", draw);
loadView(channel, draw);

function draw(view: SynthesisView): void {
  // the editor finds the tasks by this file after a reload
  channel.saveState({ file: view.file });
  page.setAttribute("aria-busy", "false");
  const selectRejected = (from: string) => {
    rejections.select({ from });
    rejections.element.scrollIntoView({ block: "nearest", behavior: "smooth" });
  };
  const table = createTransitionTable(view.transitions);
  table.open = isTableOpen;
  table.addEventListener("toggle", () => (isTableOpen = table.open));
  const restoreFocus = findFocus();
  rejections.update(view.rejected);
  page.replaceChildren(
    createHeader(view),
    createStateMachine(view.transitions, selectRejected),
    table,
    rejections.element,
    createSection("Accepted tasks", createComposition(view)),
    ...(view.shape.length ? [createSection("Shape of the tasks", createList(view.shape))] : []),
    ...(view.distances.rows.length
      ? [createSection("Distance of held-out tasks to training", createDistanceTable(view))]
      : []),
    ...(view.diversity.length
      ? [createSection("Diversity of the users' messages", createList(view.diversity))]
      : []),
    ...(view.options.length ? [createSection("Options", createOptionList(view))] : []),
  );
  restoreFocus();
}

/**
 * The page is drawn again while tasks are synthesized. Returns what gives the focus back to the
 * control that has it, or to the one that replaces it.
 */
function findFocus(): () => void {
  const focused = findFocused();
  if (!(focused instanceof HTMLElement || focused instanceof SVGElement)) return () => {};
  const { reason, from, to } = focused.dataset;
  const selector =
    reason !== undefined
      ? `[data-reason="${CSS.escape(reason)}"]`
      : from !== undefined && to !== undefined
        ? `[data-from="${CSS.escape(from)}"][data-to="${CSS.escape(to)}"]`
        : focused.localName === "summary"
          ? "summary"
          : undefined;
  return () => {
    const target =
      selector === undefined ? focused : page.querySelector<HTMLElement | SVGElement>(selector);
    giveFocus(target, { preventScroll: true });
  };
}

function createHeader({ name, attempts, accepted, from }: SynthesisView): HTMLElement {
  const share = formatPercent(accepted / Math.max(1, attempts));
  const counts = [
    formatCount(attempts, "attempt"),
    `${formatInteger(accepted)} accepted (${share})`,
    `${formatInteger(attempts - accepted)} rejected by the checks`,
    ...(from === "report" ? [] : ["no report found; counted from the logs in the tasks"]),
  ];
  return element(
    "header",
    { class: "head" },
    element(
      "div",
      {},
      element("h1", {}, escapeInvisible(name)),
      element("p", { class: "quiet" }, counts.join(" · ")),
    ),
  );
}

const createOptionList = ({ options }: SynthesisView) =>
  element(
    "dl",
    { class: "settings" },
    ...options.flatMap(([name, value]) => [
      element("dt", {}, escapeInvisible(name)),
      element("dd", {}, escapeInvisible(value)),
    ]),
  );
