/** The rows of the table that are selected with their checkboxes, and what can be done with them. */
import { createButton, element } from "../element.ts";
import { formatInteger } from "../text.ts";

interface SelectionListeners {
  /** Other rows are selected. */
  readonly onChange: () => void;
  readonly onWrite: (what: "writeTasks" | "writeConversations", rows: number[]) => void;
}

export class RowSelection {
  /** What can be done with the selected rows; hidden without any. */
  readonly element: HTMLElement;
  /** The checkbox that selects all rows that are shown. */
  readonly allLabel: HTMLElement;
  readonly #listeners: SelectionListeners;
  readonly #all = element("input", { type: "checkbox" });
  readonly #count = element("span", { role: "status" });
  /** Rows by their places among all rows, in the order of the table when they are used. */
  readonly #selected = new Set<number>();
  /** The rows that are shown, in their order. */
  #shown: readonly number[] = [];
  /** Where a range begins. */
  #anchor: number | undefined;

  constructor(listeners: SelectionListeners) {
    this.#listeners = listeners;
    this.#all.addEventListener("change", () => {
      for (const it of this.#shown)
        if (this.#all.checked) this.#selected.add(it);
        else this.#selected.delete(it);
      listeners.onChange();
    });
    this.allLabel = element("label", {}, this.#all, "Select all");
    this.element = element(
      "div",
      { class: "selection" },
      this.#count,
      createButton("New Tasks File From Selection…", () =>
        listeners.onWrite("writeTasks", this.#list()),
      ),
      createButton("New Fine-Tuning File From Selection…", () =>
        listeners.onWrite("writeConversations", this.#list()),
      ),
    );
  }

  /** Shows the selection among the rows that are shown now. Rows that are hidden stay selected. */
  update(shown: readonly number[]): void {
    this.#shown = shown;
    const count = shown.filter(it => this.#selected.has(it)).length;
    this.#all.checked = count > 0 && count === shown.length;
    this.#all.indeterminate = count > 0 && count < shown.length;
    this.element.hidden = this.#selected.size === 0;
    const hidden = this.#selected.size - count;
    this.#count.textContent = `${formatInteger(this.#selected.size)} selected${hidden > 0 ? `, ${formatInteger(hidden)} of them not shown` : ""}`;
  }

  /** All rows are void. */
  clear(): void {
    this.#selected.clear();
    this.#anchor = undefined;
  }

  has(row: number): boolean {
    return this.#selected.has(row);
  }

  /** Selects a row or not, with Shift those from the last one on, too. */
  toggle(row: number, isRange: boolean): void {
    const isSelected = !this.#selected.has(row);
    const [from, to] = [this.#shown.indexOf(this.#anchor ?? row), this.#shown.indexOf(row)];
    const rows =
      isRange && from >= 0 ? this.#shown.slice(Math.min(from, to), Math.max(from, to) + 1) : [row];
    for (const it of rows)
      if (isSelected) this.#selected.add(it);
      else this.#selected.delete(it);
    this.#anchor = row;
    this.#listeners.onChange();
  }

  /** The checkbox of a row. */
  createCheckbox(row: number, name: string): HTMLElement {
    const box = element("input", {
      type: "checkbox",
      "aria-label": `Select ${name}`,
      // rows are drawn again if their attributes differ
      checked: this.has(row),
    });
    box.addEventListener("click", event => this.toggle(row, event.shiftKey));
    return box;
  }

  #list(): number[] {
    return [...this.#selected].toSorted((a, b) => a - b);
  }
}
