/** The table of how far the tasks of each held-out split are from the training tasks. */
import type { SynthesisView } from "../../src/protocol/synthesisPage.ts";
import { element } from "../element.ts";
import { escapeInvisible } from "../text.ts";

export const createDistanceTable = ({ distances }: SynthesisView): HTMLElement =>
  element(
    "table",
    { class: "transitions" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "col" }, "split"),
        ...distances.headings.map(({ text, description }) =>
          element("th", { scope: "col", class: "number", title: description }, text),
        ),
      ),
    ),
    element(
      "tbody",
      {},
      ...distances.rows.map(({ split, cells }) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, escapeInvisible(split)),
          ...cells.map(it => element("td", { class: "number" }, escapeInvisible(it))),
        ),
      ),
    ),
  );
