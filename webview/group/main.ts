/** The page of a group: one column per attempt, one row per place, and the tokens of each message. */
import type { AttemptView } from "../../src/protocol/attemptsPage.ts";
import type {
  GroupCell,
  GroupColumn,
  GroupPage,
  GroupRow,
  GroupView,
} from "../../src/protocol/groupPage.ts";
import { loadView, openChannel } from "../channel.ts";
import { createLink, element } from "../element.ts";
import { escapeInvisible, formatCount, formatFixed, formatInteger, formatReward } from "../text.ts";
import { createTokenStrip } from "./tokenStrip.ts";

const channel = openChannel<GroupPage>();
const page = document.getElementById("page")!;

loadView(channel, draw);

function draw(view: GroupView): void {
  channel.saveState({ subject: view.subject });
  page.setAttribute("aria-busy", "false");
  page.replaceChildren(createHeader(view), createTable(view));
}

const createHeader = ({ task, run, step, turns, profile, columns }: GroupView) =>
  element(
    "header",
    { class: "head" },
    element(
      "div",
      {},
      element("h1", {}, escapeInvisible(turns[0]?.user ?? task)),
      element(
        "p",
        { class: "quiet" },
        `${escapeInvisible(task)} · step ${step} of ${escapeInvisible(run)} · ${formatCount(columns.length, "attempt")}, reward as recorded by ${escapeInvisible(profile)}`,
      ),
      element(
        "p",
        { class: "legend quiet" },
        createTokenStrip({ count: 1, clipped: [], advantage: 1 }),
        " token made more likely",
        createTokenStrip({ count: 1, clipped: [], advantage: -1 }),
        " less likely",
        createTokenStrip({ count: 1, clipped: [0], advantage: 1 }),
        " clipped",
        createTokenStrip({ count: 1, clipped: [], advantage: 0 }),
        " no gradient",
      ),
    ),
  );

function createTable({ columns, turns, task }: GroupView): HTMLElement {
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, "Call"),
    ...columns.map((it, column) => createColumnHead(it, column)),
  );
  const table = element(
    "table",
    { "aria-label": `Attempts at ${escapeInvisible(task)}` },
    element("thead", {}, head),
    ...turns.map(({ user, rows }) =>
      element("tbody", {}, createTurnRow(user, columns.length), ...rows.map(createRow)),
    ),
  );
  // a region that scrolls can be reached with the keyboard
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Attempts side by side" },
    table,
  );
}

function createColumnHead(it: GroupColumn, column: number): HTMLElement {
  const name = `Attempt ${it.attempt + 1}`;
  const createOpenLink = (text: string, label: string, view: AttemptView) =>
    createLink(() => void channel.request("open", { column, view }), { "aria-label": label }, text);
  const compare = createLink(
    () => void channel.request("compare", { column }),
    { "aria-label": `Compare with Teacher: ${name}` },
    "Compare with Teacher",
  );
  const signed = `${it.advantage > 0 ? "+" : ""}${formatFixed(it.advantage, 2)}`;
  return element(
    "th",
    { scope: "col" },
    createOpenLink(name, `Open the transcript of ${name}`, "transcript"),
    element(
      "span",
      { class: it.success ? "good" : "bad" },
      it.success ? " success" : " no success",
    ),
    element("p", {}, `reward ${formatReward(it.total)}, advantage ${signed}`),
    element(
      "p",
      { class: "quiet" },
      `${formatCount(it.calls, "call")}, ${it.budget} in the budget`,
    ),
    element("p", { class: "quiet" }, describeTokens(it)),
    element(
      "p",
      { class: "actions" },
      createOpenLink("Step", `Step through ${name}`, "debugger"),
      createOpenLink("Reward", `Show the reward of ${name}`, "reward"),
      compare,
    ),
  );
}

/** Says how many sampled tokens carried a gradient of the reward. */
const describeTokens = ({ tokens, withGradient }: GroupColumn) =>
  tokens === 0
    ? "no tokens recorded"
    : `${formatInteger(withGradient)} of ${formatInteger(tokens)} tokens with gradient`;

const createTurnRow = (user: string, columns: number) =>
  element(
    "tr",
    { class: "turn" },
    element("th", { scope: "rowgroup" }, "user"),
    element("td", { colspan: String(columns) }, escapeInvisible(user)),
  );

function createRow({ tool, cells }: GroupRow): HTMLElement {
  const made = cells.filter(it => it !== null);
  const goals = [...new Set(made.flatMap(it => (it.goal === undefined ? [] : [it.goal + 1])))];
  const isSame = made.length === cells.length && made.every(it => it.text === made[0]!.text);
  return element(
    "tr",
    {},
    element(
      "th",
      { scope: "row" },
      tool === "" ? "message" : element("code", {}, escapeInvisible(tool)),
      goals.length > 0 &&
        element("p", { class: "quiet" }, `goal ${goals.toSorted((a, b) => a - b).join(", ")}`),
    ),
    ...cells.map(it => createCell(it, isSame, made)),
  );
}

/** `row` are all cells of the row that are not empty. */
function createCell(
  cell: GroupCell | null,
  isSame: boolean,
  row: readonly GroupCell[],
): HTMLElement {
  if (!cell) return element("td", { class: "missing quiet" }, "—");
  const { text, outcome, message, goal, call, isGiven, answers = [], tokens } = cell;
  const isFault = outcome !== undefined && outcome !== "ok";
  const shown = escapeInvisible(text);
  return element(
    "td",
    {},
    ...(cell.arguments && cell.arguments.length > 0
      ? createArguments(cell.arguments, row)
      : [
          element(
            "p",
            { class: `text${isSame ? " quiet" : ""}`, title: shown },
            call === undefined ? shown : element("code", {}, shown),
          ),
        ]),
    isFault &&
      element("p", { class: "bad" }, `${outcome}${message ? `: ${escapeInvisible(message)}` : ""}`),
    call !== undefined && goal === undefined && !isGiven && !isFault
      ? element("p", { class: "quiet" }, "serves no goal")
      : undefined,
    isGiven && element("p", { class: "quiet" }, "the teacher's"),
    ...answers.map(it =>
      element("p", { class: it.isTold ? "good" : "bad" }, escapeInvisible(it.text)),
    ),
    tokens && createTokenStrip(tokens),
  );
}

/** One line for each argument; those that all calls of the row have in common recede. */
const createArguments = (
  own: NonNullable<GroupCell["arguments"]>,
  row: readonly GroupCell[],
): readonly HTMLElement[] =>
  own.map(([name, value]) => {
    const isShared =
      row.length > 1 &&
      row.every(it => it.arguments?.some(([other, its]) => other === name && its === value));
    const shown = `${escapeInvisible(name)}: ${escapeInvisible(value)}`;
    return element(
      "p",
      { class: `text${isShared ? " quiet" : ""}`, title: shown },
      element("code", {}, shown),
    );
  });
