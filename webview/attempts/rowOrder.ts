/** Selects the rows that match a filter, and sorts them. */
import type { AttemptRow } from "../../src/protocol/attemptsPage.ts";
import type { CellValue } from "./columns.ts";

export interface RowFilter {
  /** Words and fields such as `server:banking`; all must match. */
  readonly text: string;
  readonly failuresOnly: boolean;
}

const fields: Readonly<Record<string, (row: AttemptRow) => string>> = {
  task: it => it.task,
  server: it => it.servers.join(" "),
  kind: it => it.kind ?? "",
  split: it => it.split ?? "",
  policy: it => it.policy,
  error: it => it.error ?? "",
};

/** Whether a row is shown. A token that is not a field is a word. */
export function createMatcher({ text, failuresOnly }: RowFilter): (row: AttemptRow) => boolean {
  const checks = text
    .toLowerCase()
    .split(/\s+/)
    .filter(it => it !== "")
    .map(token => {
      const [, name, value] = /^(\w+):(.*)$/.exec(token) ?? [];
      const read = name !== undefined && Object.hasOwn(fields, name) ? fields[name]! : undefined;
      return read
        ? (row: AttemptRow) => read(row).toLowerCase().includes(value!)
        : (row: AttemptRow) => getSearchText(row).includes(token);
    });
  return row => !(failuresOnly && row.success !== false) && checks.every(it => it(row));
}

const searchTexts = new WeakMap<AttemptRow, string>();

function getSearchText(row: AttemptRow): string {
  let text = searchTexts.get(row);
  if (text === undefined) {
    const { task, request, servers, kind, split, policy, error, unscorable } = row;
    text = [task, request, ...servers, kind, split, policy, error, unscorable]
      .filter(it => it !== undefined)
      .join(" ")
      .toLowerCase();
    searchTexts.set(row, text);
  }
  return text;
}

/** A sort key of a row: its values in order of precedence. */
export type ReadSortKeys = (index: number) => readonly CellValue[];

/** Sorts indices of rows. Rows without a value come last in both directions. */
export function sortIndices(
  indices: readonly number[],
  readKeys: ReadSortKeys,
  isDescending: boolean,
): readonly number[] {
  const keyed = indices.map(index => ({ index, keys: readKeys(index) }));
  const sign = isDescending ? -1 : 1;
  keyed.sort((a, b) => {
    for (let i = 0; i < a.keys.length; i++) {
      const order = compareValues(a.keys[i], b.keys[i], i === 0 ? sign : 1);
      if (order !== 0) return order;
    }
    return a.index - b.index;
  });
  return keyed.map(it => it.index);
}

function compareValues(a: CellValue, b: CellValue, sign: number): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  return sign * (a < b ? -1 : 1);
}
