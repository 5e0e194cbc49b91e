/**
 * The page that compares policies by task: a row per task with the successes of each policy, and
 * the means and differences of the policies below the head.
 */
import type {
  MatrixCell,
  MatrixChange,
  MatrixPage,
  MatrixPolicy,
  MatrixRow,
  MatrixView,
} from "../../src/protocol/matrixPage.ts";
import { openChannel } from "../channel.ts";
import { registerControls } from "../controls.ts";
import { createLink, element } from "../element.ts";
import { Grid, type GridColumn } from "../grid.ts";
import {
  escapeInvisible,
  formatChange,
  formatCount,
  formatFixed,
  formatInteger,
  formatPercent,
  formatReward,
} from "../text.ts";

/** What is restored after a reload. */
interface PageState {
  readonly subject?: string;
  readonly filter?: string;
  readonly disagreementsOnly?: boolean;
  readonly sort?: { readonly column: string; readonly isDescending: boolean };
}

interface Column extends GridColumn {
  /** Undefined values are last. */
  readonly read: (row: MatrixRow) => string | number | undefined;
  readonly createCell: (row: MatrixRow) => HTMLElement;
}

const firstSort = { column: "spread", isDescending: true };

registerControls();
const channel = openChannel<MatrixPage>();
const page = document.getElementById("page")!;
let state: PageState = (channel.loadState() as PageState | undefined) ?? {};
let view: MatrixView | undefined;
let columns: readonly Column[] = [];
/** The rows that are shown, in their order. */
let rows: readonly MatrixRow[] = [];
/** The places of rows in the view, which identify them. */
let keys = new Map<MatrixRow, number>();

const status = element("p", { class: "quiet", role: "status" });
const problems = element("ul", { class: "bad", role: "alert" });
const filter = element("input", {
  type: "search",
  placeholder: "Filter: words of the task",
  "aria-label": "Filter tasks",
});
const disagreementsOnly = element("input", { type: "checkbox" });
const first = element("select");
const refresh = element("vscode-button", { appearance: "secondary" }, "Refresh");
const grid = new Grid<Column>("Policies by task", {
  onSort: column => {
    const { sort = firstSort } = state;
    // shares and differences are most often wanted from the highest down
    const isDescending = sort.column === column ? !sort.isDescending : column !== "task";
    save({ ...state, sort: { column, isDescending } });
  },
  onOpen: position => {
    const row = rows[position]!;
    open(
      row.cells.findIndex(it => it !== null),
      row,
    );
  },
});

filter.value = state.filter ?? "";
disagreementsOnly.checked = state.disagreementsOnly ?? false;
filter.addEventListener("input", () => save({ ...state, filter: filter.value }));
disagreementsOnly.addEventListener("change", () =>
  save({ ...state, disagreementsOnly: disagreementsOnly.checked }),
);
first.addEventListener("change", () => {
  channel.request("setFirst", { policy: first.selectedIndex }).catch(() => {});
});
refresh.addEventListener("click", () => void channel.request("refresh", null));
page.replaceChildren(
  element(
    "header",
    { class: "head" },
    element("div", {}, element("h1", {}, "Policies by Task"), status, problems),
    refresh,
  ),
  element(
    "div",
    { class: "filter" },
    filter,
    element("label", {}, disagreementsOnly, "Disagreements only"),
    element("label", {}, "Compared with", first),
  ),
  grid.element,
);

window.addEventListener("resize", () => {
  if (view) columns = createColumns(view.policies);
  update();
});
channel.on("changed", show);
channel.request("load", null).then(show, (error: Error) => {
  problems.replaceChildren(element("li", {}, error.message));
});

function show(next: MatrixView): void {
  view = next;
  page.setAttribute("aria-busy", "false");
  keys = new Map(next.rows.map((it, i) => [it, i]));
  const options = next.policies.map(it => element("option", {}, escapeInvisible(it.name)));
  first.replaceChildren(...options);
  first.selectedIndex = 0;
  problems.replaceChildren(
    ...next.policies.flatMap(({ name, problem, attempts }) =>
      problem === undefined ? [] : [element("li", {}, describeProblem(name, problem, attempts))],
    ),
  );
  columns = createColumns(next.policies);
  save({ ...state, subject: next.subject });
}

const describeProblem = (name: string, problem: string, attempts: number) =>
  escapeInvisible(
    attempts > 0
      ? `${name}: ${problem}. Its column shows what was read before.`
      : `${name}: ${problem}.`,
  );

function save(next: PageState): void {
  state = next;
  channel.saveState(state);
  update();
}

function update(): void {
  if (!view) return;
  const { sort = firstSort } = state;
  const column = columns.find(it => it.name === sort.column) ?? columns.at(-1)!;
  const words = (state.filter ?? "").toLowerCase().split(/\s+/);
  const isShown = ({ task, request, spread }: MatrixRow) =>
    !(state.disagreementsOnly && spread === 0) &&
    words.every(it => `${task} ${request}`.toLowerCase().includes(it));
  rows = sortRows(view.rows.filter(isShown), column, sort.isDescending);
  showStatus(view);
  grid.update({
    columns,
    summary: createSummary(view),
    count: rows.length,
    sort: { ...sort, column: column.name },
    getKey: position => keys.get(rows[position]!)!,
    createCell: (position, it) => it.createCell(rows[position]!),
    createActions: () => [],
    getMenuContext: () => ({ preventDefaultContextMenuItems: true }),
  });
}

/** Rows with equal values keep their order, in which disagreements come first. */
function sortRows(
  all: readonly MatrixRow[],
  { read }: Column,
  isDescending: boolean,
): readonly MatrixRow[] {
  const sign = isDescending ? -1 : 1;
  return all.toSorted((x, y) => {
    const [a, b] = [read(x), read(y)];
    if (a === b) return 0;
    if (a === undefined) return 1;
    if (b === undefined) return -1;
    return sign * (a < b ? -1 : 1);
  });
}

function showStatus({ rows: all, profile, progress: { left, total } }: MatrixView): void {
  const tasks = formatCount(all.length, "task");
  const different = all.filter(it => it.spread > 0).length;
  status.textContent = [
    rows.length === all.length ? tasks : `${formatInteger(rows.length)} of ${tasks}`,
    `the policies disagree on ${formatInteger(different)}`,
    `profile ${profile}`,
    ...(left > 0 ? [`scoring ${total - left + 1} of ${total}…`] : []),
  ].join(" · ");
}

/** Pixels. */
const [policyWidth, spreadWidth] = [168, 90];

/** What the other columns leave of the page, within limits. */
const computeTaskWidth = (policies: number): number =>
  Math.min(560, Math.max(170, window.innerWidth - policies * policyWidth - spreadWidth - 20));

const createColumns = (policies: readonly MatrixPolicy[]): readonly Column[] => [
  {
    name: "task",
    title: "Task",
    width: computeTaskWidth(policies.length),
    read: it => it.task,
    createCell: ({ task, request }) =>
      element(
        "td",
        { title: escapeInvisible(`${task}\n${request}`) },
        escapeInvisible(task),
        element("span", { class: "quiet" }, ` ${escapeInvisible(request)}`),
      ),
  },
  ...policies.map(({ name }, i) => createPolicyColumn(escapeInvisible(name), i)),
  {
    name: "spread",
    title: "Spread",
    hint: "the highest share of successes less the lowest one",
    width: spreadWidth,
    isNumber: true,
    read: it => it.spread,
    createCell: it => element("td", { class: "number" }, formatShare(it.spread)),
  },
];

const createPolicyColumn = (title: string, policy: number): Column => ({
  name: `policy ${title}`,
  title,
  width: policyWidth,
  isNumber: true,
  read: ({ cells }) => {
    const cell = cells[policy];
    return cell ? cell.successes / cell.attempts : undefined;
  },
  createCell: row => {
    const cell = row.cells[policy];
    if (!cell) return element("td", { class: "number quiet", title: "no attempt" }, "–");
    const text = describeCell(cell);
    const share = formatShare(cell.successes / cell.attempts);
    const count = ` ${cell.successes}/${cell.attempts}`;
    const link = createLink(
      () => open(policy, row),
      {
        "aria-label": `${share}${count} of ${title} at ${escapeInvisible(row.task)}, mean reward ${formatReward(cell.reward)}`,
      },
      share,
      element("span", { class: "quiet" }, count),
    );
    return element("td", { class: `number ${getTone(cell)}`, title: text }, link);
  },
});

const describeCell = ({ attempts, successes, reward }: MatrixCell) =>
  `${successes} of ${formatCount(attempts, "attempt")} succeed, mean reward ${formatReward(reward)}`;

const getTone = ({ attempts, successes }: MatrixCell) =>
  successes === attempts ? "good" : successes === 0 ? "bad" : "";

const formatShare = (share: number) => `${formatFixed(100 * share, 0)}%`;

/** The editor shows the error of attempts that cannot be listed. */
function open(policy: number, { task }: MatrixRow): void {
  channel.request("open", { policy, task }).catch(() => {});
}

const createSummary = ({
  policies,
  isComparing,
}: MatrixView): readonly (readonly HTMLElement[])[] => [
  createSummaryRow("Success, mean over tasks", policies, it => ({
    text: it.success === undefined ? "–" : formatPercent(it.success),
    title: it.reward === undefined ? "" : `mean reward ${formatReward(it.reward)}`,
  })),
  createSummaryRow("Difference, 95% interval", policies, ({ change }, i) =>
    i === 0
      ? { text: "", title: "" }
      : isComparing
        ? { text: "…", title: "computing", tone: "quiet" }
        : describeChange(change),
  ),
  createSummaryRow("Tasks", policies, ({ tasks, unscored, attempts, change }) => ({
    text:
      change === undefined
        ? formatInteger(tasks)
        : `${formatInteger(tasks)}, ${formatInteger(change.tasks)} in common`,
    title: [
      formatCount(attempts, "scored attempt"),
      ...(unscored > 0 ? [`${formatInteger(unscored)} not scored`] : []),
    ].join(", "),
  })),
];

interface SummaryCell {
  readonly text: string;
  readonly title: string;
  readonly tone?: string;
}

const createSummaryRow = (
  name: string,
  policies: readonly MatrixPolicy[],
  describe: (policy: MatrixPolicy, position: number) => SummaryCell,
): readonly HTMLElement[] => [
  element("th", { scope: "row", title: name }, name),
  ...policies.map((it, i) => {
    const { text, title, tone = "" } = describe(it, i);
    return element("td", { class: `number ${tone}`, title: title || undefined }, text);
  }),
  element("td"),
];

/** A difference whose interval contains 0 has no color. */
function describeChange(change: MatrixChange | undefined): SummaryCell {
  if (!change?.success || !change.reward)
    return {
      text: change?.tasks === 0 ? "no task in common" : "too few tasks",
      title: "",
      tone: "quiet",
    };
  const { mean, low, high } = change.success;
  const points = (value: number) => formatChange(100 * value, 1);
  const { reward } = change;
  return {
    text: `${points(mean)} [${points(low)}, ${points(high)}]`,
    title: `percentage points; reward ${formatChange(reward.mean, 3)}, 95% interval ${formatChange(reward.low, 3)} to ${formatChange(reward.high, 3)}`,
    tone: low > 0 ? "good" : high < 0 ? "bad" : "",
  };
}
