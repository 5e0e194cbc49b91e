/**
 * A table as a grid of which only the visible rows exist, so that it scrolls smoothly whatever its
 * length. The arrow keys move between rows.
 */
import { element } from "./element.ts";
import { findFocused, giveFocus, hasFocused } from "./focus.ts";

export interface GridColumn {
  /** Unique among the columns. */
  readonly name: string;
  readonly title: string;
  readonly width: number;
  readonly isNumber?: true;
  /** What the title alone does not say. */
  readonly hint?: string;
}

/** The content of the grid. */
interface GridContent<Column extends GridColumn> {
  readonly columns: readonly Column[];
  /** Rows that stay below the head, each with a cell per column. */
  readonly summary?: readonly (readonly HTMLElement[])[];
  readonly count: number;
  readonly sort: { readonly column: string; readonly isDescending: boolean };
  /** Identifies a row while rows are sorted and filtered. */
  readonly getKey: (position: number) => number;
  readonly createCell: (position: number, column: Column) => HTMLElement;
  /** The buttons of a row. They lie over the right end of the row that is pointed at or focused. */
  readonly createActions: (position: number) => readonly HTMLElement[];
  /** What the commands of a row's context menu get. */
  readonly getMenuContext: (position: number) => object;
}

interface GridListeners {
  readonly onSort: (column: string) => void;
  readonly onOpen: (position: number) => void;
  /** The space bar was pressed on a row. */
  readonly onToggle?: (position: number, isRange: boolean) => void;
}

/** Pixels, as in the style sheet. */
const rowHeight = 26;
/** Rows beyond the visible ones on each side. */
const overscan = 8;

export class Grid<Column extends GridColumn> {
  readonly element: HTMLElement;
  readonly #listeners: GridListeners;
  readonly #columnGroup = element("colgroup");
  readonly #head = element("tr", { "aria-rowindex": "1" });
  readonly #headGroup = element("thead", {}, this.#head);
  readonly #body = element("tbody");
  readonly #table: HTMLTableElement;
  #content: GridContent<Column> | undefined;
  /** The row that the Tab key goes to, by its key. */
  #active: number | undefined;
  #isDrawing = false;

  constructor(label: string, listeners: GridListeners) {
    this.#listeners = listeners;
    this.#table = element(
      "table",
      { role: "grid", "aria-label": label },
      this.#columnGroup,
      this.#headGroup,
      this.#body,
    );
    this.element = element("div", { class: "rows" }, this.#table);
    this.element.addEventListener("scroll", () => this.#scheduleDrawing());
    new ResizeObserver(() => this.#scheduleDrawing()).observe(this.element);
    this.element.addEventListener("keydown", it => this.#handleKey(it));
    this.#body.addEventListener("dblclick", ({ target }) => {
      // a control has been clicked twice
      if (target instanceof Element && target.closest("button, input")) return;
      const position = this.#findPosition(target);
      if (position !== undefined) listeners.onOpen(position);
    });
    this.#body.addEventListener("focusin", ({ target }) => {
      const position = this.#findPosition(target);
      if (position !== undefined) this.#activate(position);
    });
  }

  /** Shows other content; the scroll position stays. */
  update(content: GridContent<Column>): void {
    this.#content = content;
    this.#columnGroup.replaceChildren(
      // the buttons take no room of their own
      ...[...content.columns.map(it => it.width), 0].map(width => {
        const column = element("col");
        column.style.width = `${width}px`;
        return column;
      }),
    );
    const width = content.columns.reduce((sum, it) => sum + it.width, 0);
    this.#table.style.width = `${width}px`;
    const { count, summary = [] } = content;
    this.#table.setAttribute("aria-rowcount", String(count + 1 + summary.length));
    this.#drawHead(content);
    this.#draw();
  }

  #drawHead({ columns, sort, summary = [] }: GridContent<Column>): void {
    const focused = hasFocused(this.#head)
      ? (findFocused() as HTMLElement).dataset["column"]
      : undefined;
    const cells = columns.map(it => this.#createHeadCell(it, sort));
    const actions = element("th", { scope: "col", class: "actions", "aria-label": "Open" });
    this.#head.replaceChildren(...cells, actions);
    const rows = summary.map((it, i) =>
      element("tr", { "aria-rowindex": String(i + 2) }, ...it, element("td", { class: "actions" })),
    );
    this.#headGroup.replaceChildren(this.#head, ...rows);
    if (focused !== undefined)
      giveFocus(this.#head.querySelector<HTMLElement>(`[data-column="${CSS.escape(focused)}"]`));
  }

  #createHeadCell(
    { name, title, isNumber, hint }: GridColumn,
    { column, isDescending }: GridContent<Column>["sort"],
  ) {
    const isSorted = name === column;
    const button = element(
      "button",
      { class: "sort", type: "button", title: hint ?? title, "data-column": name },
      title,
      element("span", { "aria-hidden": "true" }, isSorted ? (isDescending ? " ↓" : " ↑") : ""),
    );
    button.addEventListener("click", () => this.#listeners.onSort(name));
    return element(
      "th",
      {
        scope: "col",
        class: isNumber ? "number" : undefined,
        "aria-sort": isSorted ? (isDescending ? "descending" : "ascending") : undefined,
      },
      button,
    );
  }

  #scheduleDrawing(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#draw();
    });
  }

  #draw(): void {
    const content = this.#content;
    if (!content) return;
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / rowHeight) - overscan);
    const last = Math.min(
      content.count,
      Math.ceil((scrollTop + clientHeight) / rowHeight) + overscan,
    );
    const hadFocus = hasFocused(this.#body);
    const positions = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
    const isActiveShown = positions.some(it => content.getKey(it) === this.#active);
    const old = new Map(this.#listRows().map(it => [it.dataset["key"], it]));
    // an element that stays keeps the focus, and a click that has begun on it is not lost
    const rows = positions.map((position, i) => {
      const isStop = isActiveShown
        ? content.getKey(position) === this.#active
        : !hadFocus && i === 0;
      const row = this.#createRow(position, content, isStop);
      const drawn = old.get(row.dataset["key"]);
      return drawn?.isEqualNode(row) ? drawn : row;
    });
    const columns = content.columns.length + 1;
    updateChildren(this.#body, [
      createSpacer(first * rowHeight, columns),
      ...rows,
      createSpacer((content.count - last) * rowHeight, columns),
    ]);
    if (!hadFocus || hasFocused(this.#body)) return;
    const active = this.#body.querySelector<HTMLElement>("tr[tabindex='0']");
    if (active) giveFocus(active, { preventScroll: true });
    else this.#focusTable();
  }

  /** Keeps the keys working after the focused row has scrolled out of sight. */
  #focusTable(): void {
    this.#table.tabIndex = -1;
    giveFocus(this.#table, { preventScroll: true });
  }

  #createRow(
    position: number,
    {
      columns,
      summary = [],
      getKey,
      createCell,
      createActions,
      getMenuContext,
    }: GridContent<Column>,
    isStop: boolean,
  ): HTMLElement {
    const row = element(
      "tr",
      {
        "aria-rowindex": String(position + 2 + summary.length),
        "data-position": String(position),
        "data-key": String(getKey(position)),
        "data-vscode-context": JSON.stringify(getMenuContext(position)),
        tabindex: "-1",
      },
      ...columns.map(it => createCell(position, it)),
      element(
        "td",
        { class: "actions" },
        element("div", { class: "buttons" }, ...createActions(position)),
      ),
    );
    setTabStop(row, isStop);
    return row;
  }

  #listRows(): HTMLElement[] {
    return [...this.#body.querySelectorAll<HTMLElement>("tr[data-key]")];
  }

  #findPosition(target: EventTarget | null): number | undefined {
    const row = target instanceof Element ? target.closest<HTMLElement>("tr[data-position]") : null;
    return row ? Number(row.dataset["position"]) : undefined;
  }

  #activate(position: number): void {
    this.#active = this.#content?.getKey(position);
    for (const it of this.#listRows()) setTabStop(it, it.dataset["key"] === String(this.#active));
  }

  #handleKey(event: KeyboardEvent): void {
    const content = this.#content;
    if (!content || this.#head.contains(event.target as Node)) return;
    const current = this.#findActivePosition(content);
    if (event.key === "Enter" && (event.target as Element).matches("tr") && current >= 0) {
      event.preventDefault();
      return this.#listeners.onOpen(current);
    }
    const { onToggle } = this.#listeners;
    if (event.key === " " && (event.target as Element).matches("tr") && current >= 0 && onToggle) {
      event.preventDefault();
      return onToggle(current, event.shiftKey);
    }
    const { offsetHeight } = this.#headGroup;
    const page = Math.max(
      1,
      Math.floor((this.element.clientHeight - offsetHeight) / rowHeight) - 1,
    );
    const target = {
      ArrowDown: current + 1,
      ArrowUp: current - 1,
      PageDown: current + page,
      PageUp: current - page,
      Home: 0,
      End: content.count - 1,
    }[event.key];
    if (target === undefined || content.count === 0) return;
    event.preventDefault();
    this.#focusRow(Math.min(content.count - 1, Math.max(0, target)), content);
  }

  #findActivePosition({ count, getKey }: GridContent<Column>): number {
    for (let position = 0; position < count; position++)
      if (getKey(position) === this.#active) return position;
    return -1;
  }

  #focusRow(position: number, { getKey }: GridContent<Column>): void {
    const top = position * rowHeight;
    const headHeight = this.#headGroup.offsetHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + rowHeight + headHeight > scrollTop + clientHeight)
      this.element.scrollTop = top + rowHeight + headHeight - clientHeight;
    this.#active = getKey(position);
    this.#draw();
    this.#body
      .querySelector<HTMLElement>(`tr[data-key="${getKey(position)}"]`)
      ?.focus({ preventScroll: true });
  }
}

/** The Tab key goes to one row only, and to its buttons. */
function setTabStop(row: HTMLElement, isStop: boolean): void {
  row.tabIndex = isStop ? 0 : -1;
  for (const it of row.querySelectorAll<HTMLElement>("button, input"))
    it.tabIndex = isStop ? 0 : -1;
}

/** Replaces the children of an element, and leaves those in place that it has already. */
function updateChildren(parent: Element, children: readonly Element[]): void {
  const kept = new Set(children);
  for (const it of Array.from(parent.children).filter(it => !kept.has(it))) it.remove();
  children.forEach((it, i) => {
    if (parent.children[i] !== it) parent.insertBefore(it, parent.children[i] ?? null);
  });
}

function createSpacer(height: number, columns: number): HTMLElement {
  const cell = element("td", { colspan: String(columns) });
  cell.style.height = `${height}px`;
  return element("tr", { class: "spacer", "aria-hidden": "true" }, cell);
}
