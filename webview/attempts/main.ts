/** The page with a table of attempts: filter, columns to sort by, reward weights, and the rows. */
import type {
  AttemptRow,
  AttemptsPage,
  AttemptsView,
  AttemptView,
  NotedAttempts,
  PartWeights,
  ScoringEnd,
  SelectedAttempt,
} from "../../src/protocol/attemptsPage.ts";
import { openChannel } from "../channel.ts";
import { registerControls } from "../controls.ts";
import { createLink, element } from "../element.ts";
import { Grid } from "../grid.ts";
import { escapeInvisible, formatCount, formatInteger } from "../text.ts";
import {
  type Column,
  createColumns,
  createMatcher,
  formatCell,
  haveRewards,
  sortIndices,
} from "./rowOrder.ts";
import { RowSelection } from "./selection.ts";
import { computeTotal, describeOrder, WeightSliders } from "./weights.ts";

/** What is restored after a reload. */
interface PageState {
  readonly subject?: string;
  readonly filter?: string;
  readonly failuresOnly?: boolean;
  readonly sort?: { readonly column: string; readonly isDescending: boolean };
  /** Absent while the weights are those of the profile. */
  readonly weights?: PartWeights;
}

/** Failures first, and those with the lowest reward before others. */
const firstSort = { column: "success", isDescending: false };

registerControls();
const channel = openChannel<AttemptsPage>();
const page = document.getElementById("page")!;
let state: PageState = (channel.loadState() as PageState | undefined) ?? {};

let view: AttemptsView | undefined;
let rows: AttemptRow[] = [];
let ownWeights: PartWeights = {};
let end: ScoringEnd | undefined;
/** Under the weights in use, one per row. */
let totals: (number | undefined)[] = [];
/** The positions in `rows` of the rows that are shown. */
let order: readonly number[] = [];
/** The attempt that was selected to compare others with, in this table or elsewhere. */
let selected: SelectedAttempt | null = null;
/** The number of attempts, if it is known. */
let total: number | undefined;
let noted: NotedAttempts = { notes: {} };

const title = element("h1");
const status = element("p", { class: "quiet", role: "status" });
const problem = element("p", { class: "bad", role: "alert" });
const notes = element("ul", { class: "quiet" });
const filter = element("input", {
  type: "search",
  placeholder: "Filter: words, or fields such as server:banking kind:clarify",
  "aria-label": "Filter attempts",
});
const failuresOnly = element("input", { type: "checkbox" });
const failuresOnlyLabel = element("label", {}, failuresOnly, "Failures only");
const refresh = element("vscode-button", { appearance: "secondary" }, "Refresh");
const sliders = new WeightSliders(weights => {
  const { weights: _, ...rest } = state;
  save(weights ? { ...rest, weights } : rest, true);
});
const selection = new RowSelection({
  onChange: update,
  // the editor shows errors
  onWrite: (what, chosen) => void channel.request(what, { rows: chosen }).catch(() => {}),
});
const grid = new Grid<Column>("Attempts", {
  onSort: column => {
    const { sort = firstSort } = state;
    const isDescending = sort.column === column && !sort.isDescending;
    save({ ...state, sort: { column, isDescending } });
  },
  onOpen: position => open(position, "transcript"),
  onToggle: (position, isRange) => {
    if (haveRewards(rows)) selection.toggle(order[position]!, isRange);
  },
});

filter.value = state.filter ?? "";
failuresOnly.checked = state.failuresOnly ?? false;
filter.addEventListener("input", () => save({ ...state, filter: filter.value }));
failuresOnly.addEventListener("change", () =>
  save({ ...state, failuresOnly: failuresOnly.checked }),
);
refresh.addEventListener("click", () => void channel.request("refresh", null));
page.replaceChildren(
  element("header", { class: "head" }, element("div", {}, title, status, problem, notes), refresh),
  element("div", { class: "filter" }, filter, failuresOnlyLabel, selection.allLabel),
  sliders.element,
  selection.element,
  grid.element,
);

channel.on("restarted", begin);
channel.on("rows", added => {
  rows.push(...added.rows);
  ownWeights = { ...ownWeights, ...added.weights };
  scheduleUpdate();
});
channel.on("ended", it => {
  end = it;
  scheduleUpdate();
});
channel.on("selected", it => {
  selected = it;
  scheduleUpdate(0);
});
channel.on("noted", it => {
  noted = it;
  scheduleUpdate(0);
});
channel.on("counted", it => {
  total = it;
  scheduleUpdate();
});
channel.on("filtered", showFiltered);
channel.request("load", null).then(begin, (error: Error) => (problem.textContent = error.message));

function begin(it: AttemptsView): void {
  view = it;
  rows = [];
  ownWeights = {};
  end = undefined;
  selected = it.selected;
  noted = it.noted;
  total = it.total;
  selection.clear();
  title.textContent = `Attempts: ${escapeInvisible(it.title)}`;
  page.setAttribute("aria-busy", "false");
  save({ ...state, subject: it.subject });
  if (it.filter !== undefined) showFiltered(it.filter);
}

function showFiltered(text: string): void {
  filter.value = text;
  failuresOnly.checked = false;
  save({ ...state, filter: text, failuresOnly: false });
}

/** Saves the state and shows what follows from it. */
function save(next: PageState, isOften = false): void {
  state = next;
  channel.saveState(state);
  if (isOften) scheduleUpdate(0);
  else update();
}

/** While rows arrive, the table is sorted a few times a second only. */
function scheduleUpdate(milliseconds = 250): void {
  timer ??= setTimeout(update, milliseconds);
}
let timer: ReturnType<typeof setTimeout> | undefined;

function update(): void {
  clearTimeout(timer);
  timer = undefined;
  const weights = { ...ownWeights, ...state.weights };
  const hasFloor = view?.hasFloor ?? false;
  totals = rows.map(it => (state.weights ? computeTotal(it, weights, hasFloor) : it.total));
  const columns = createColumns(rows, ownWeights, noted.notes);
  const sort = state.sort ?? firstSort;
  // rows without a reward stay in the order of their file
  const column =
    columns.find(it => it.name === sort.column) ??
    columns.find(it => it.name === "attempt") ??
    columns.find(it => it.name === "task")!;
  const matches = createMatcher({
    text: state.filter ?? "",
    failuresOnly: state.failuresOnly ?? false,
    notes: noted.notes,
  });
  const shown = rows.flatMap((it, i) => (matches(it) ? [i] : []));
  order = sortIndices(shown, i => [column.read(rows[i]!, totals[i]), totals[i]], sort.isDescending);
  showStatus();
  selection.update(order);
  const areScored = haveRewards(rows);
  failuresOnlyLabel.hidden = sliders.element.hidden = selection.allLabel.hidden = !areScored;
  sliders.update(weights, ownWeights, {
    current: describeOrder(rows, totals),
    own: describeOrder(
      rows,
      rows.map(it => it.total),
    ),
  });
  grid.update({
    columns,
    count: order.length,
    sort: { ...sort, column: column.name },
    getKey: position => order[position]!,
    createCell,
    createActions,
    getMenuContext,
  });
}

function showStatus(): void {
  const count = formatCount(rows.length, "attempt");
  const failures = rows.filter(it => it.success === false).length;
  const areScored = haveRewards(rows);
  status.textContent = [
    order.length === rows.length ? count : `${formatInteger(order.length)} of ${count}`,
    ...(areScored
      ? [formatCount(failures, "failure"), `profile ${view?.profile ?? ""}`]
      : ["no rewards"]),
    ...(end?.skipped ? [`${formatCount(end.skipped, areScored ? "line" : "row")} skipped`] : []),
    ...(end ? [] : [describeScoring()]),
  ].join(" · ");
  notes.replaceChildren(...(end?.notes ?? []).map(it => element("li", {}, escapeInvisible(it))));
  problem.textContent = [end?.problem, noted.problem]
    .flatMap(it => (it ? [`${escapeInvisible(it)}.`] : []))
    .join(" ");
}

const describeScoring = () =>
  total !== undefined && total > rows.length
    ? `scoring ${formatInteger(rows.length)} of ${formatInteger(total)}…`
    : "scoring…";

function createCell(position: number, column: Column): HTMLElement {
  const index = order[position]!;
  const row = rows[index]!;
  const text = formatCell(column, row, totals[index]);
  if (column.name === "task")
    return element(
      "td",
      { title: escapeInvisible(row.request) },
      createOpenLink(text, `Open the transcript of ${describe(row)}`, position, "transcript"),
      element("span", { class: "quiet" }, ` ${escapeInvisible(row.request)}`),
    );
  if (column.name === "success")
    return element(
      "td",
      { class: row.success === undefined ? undefined : row.success ? "good" : "bad" },
      selection.createCheckbox(index, describe(row)),
      text,
    );
  return element(
    "td",
    { class: column.isNumber ? "number" : undefined, title: findTitle(column, row, text) },
    text,
  );
}

function findTitle({ name }: Column, row: AttemptRow, text: string): string | undefined {
  if (name === "note") return text;
  return name === "error" ? describeFailure(row, text) : undefined;
}

/** What the cell has no room for; the reason stands in the cell itself if no call was refused. */
const describeFailure = ({ error, reason }: AttemptRow, text: string) =>
  error !== undefined && reason !== undefined ? `${text}\n${escapeInvisible(reason)}` : text;

const createActions = (position: number): readonly HTMLElement[] => {
  const index = order[position]!;
  const row = rows[index]!;
  const name = describe(row);
  const isThis = isSelected(row);
  const compare = element(
    "button",
    {
      class: "link",
      type: "button",
      "aria-pressed": String(isThis),
      "aria-label":
        selected && !isThis ? `Compare ${name} with the selected` : `Select ${name} for compare`,
    },
    isThis ? "Selected" : "Compare",
  );
  // the first attempt is selected, and the second is compared with it; the editor shows errors
  compare.addEventListener("click", () => {
    channel.request("compare", { row: index }).catch(() => {});
  });
  const group = createLink(
    () => void channel.request("openGroup", { row: index }),
    { "aria-label": `Show the group of ${name}` },
    "Group",
  );
  const note = createLink(
    () => void channel.request("note", { row: index }),
    { "aria-label": `Note on ${name}` },
    "Note",
  );
  return [
    createOpenLink("Step", `Step through ${name}`, position, "debugger"),
    ...(haveRewards(rows)
      ? [createOpenLink("Reward", `Show the reward of ${name}`, position, "reward")]
      : []),
    compare,
    note,
    ...(row.step === undefined ? [] : [group]),
  ];
};

/** Names the attempt for the commands of the context menu, some of which depend on the keys. */
function getMenuContext(position: number): object {
  const { line, step, attempt, part, task } = rows[order[position]!]!;
  return {
    webviewSection: "attempt",
    preventDefaultContextMenuItems: true,
    kind: "row",
    subject: view?.subject,
    row: { line, step, attempt, part, task },
    isScored: haveRewards(rows),
    isInRun: step !== undefined,
  };
}

const describe = ({ task, attempt }: AttemptRow) =>
  `${escapeInvisible(task)}${attempt === undefined ? "" : `, attempt ${attempt + 1}`}`;

const createOpenLink = (text: string, label: string, position: number, target: AttemptView) =>
  createLink(() => open(position, target), { "aria-label": label }, text);

function isSelected({ line, step, attempt }: AttemptRow): boolean {
  const row = selected?.row;
  return (
    row !== undefined &&
    (row.line ?? line.number) === line.number &&
    (row.step ?? step) === step &&
    (row.attempt ?? attempt) === attempt
  );
}

/** The editor shows the error of an attempt that cannot be opened. */
function open(position: number, target: AttemptView): void {
  channel.request("open", { row: order[position]!, view: target }).catch(() => {});
}
