/** The columns of the table: their texts, and the values that they are sorted by. */
import type { AttemptRow, PartWeights } from "../../src/protocol/attemptsPage.ts";
import { escapeInvisible, formatFixed } from "../text.ts";

/** What a cell shows; undefined values are empty and sorted last. */
export type CellValue = string | number | undefined;

export interface Column {
  /** Unique among the columns. */
  readonly name: string;
  readonly title: string;
  readonly width: number;
  readonly isNumber?: true;
  /** `total` is that of the row under the current weights. */
  readonly read: (row: AttemptRow, total: number | undefined) => CellValue;
  /** The text of a value; its own text if this is absent. */
  readonly format?: (value: NonNullable<CellValue>, row: AttemptRow) => string;
}

const formatDecimals = (value: NonNullable<CellValue>) => formatFixed(Number(value), 2);

const stepColumns: readonly Column[] = [
  { name: "step", title: "Step", width: 64, isNumber: true, read: it => it.step },
];

const groupColumns: readonly Column[] = [
  {
    name: "attempt",
    title: "Attempt",
    width: 80,
    isNumber: true,
    read: it => (it.attempt === undefined ? undefined : it.attempt + 1),
  },
];

const advantageColumn: Column = {
  name: "advantage",
  title: "Advantage",
  width: 96,
  isNumber: true,
  read: it => it.advantage,
  format: formatDecimals,
};

/** The columns for some rows; a column that would be empty is left out. */
export const createColumns = (
  rows: readonly AttemptRow[],
  weights: PartWeights,
): readonly Column[] => [
  { name: "task", title: "Task", width: 250, read: it => it.task },
  ...(rows.some(it => it.step !== undefined) ? stepColumns : []),
  ...(rows.some(it => it.attempt !== undefined) ? groupColumns : []),
  {
    name: "success",
    title: "Success",
    width: 80,
    read: it => (it.success === undefined ? undefined : Number(it.success)),
    format: it => (it === 1 ? "yes" : "no"),
  },
  {
    name: "reward",
    title: "Reward",
    width: 80,
    isNumber: true,
    read: (_, total) => total,
    format: it => formatFixed(Number(it)),
  },
  // the success of an attempt has a column of its own
  ...Object.keys(weights)
    .filter(it => it !== "success")
    .map(createPartColumn),
  ...(rows.some(it => it.advantage !== undefined) ? [advantageColumn] : []),
  {
    name: "calls",
    title: "Calls",
    width: 68,
    isNumber: true,
    read: it => it.calls,
    format: (it, { budget }) => (budget === undefined ? String(it) : `${it}/${budget}`),
  },
  {
    name: "error",
    title: "First Error",
    width: 300,
    read: it => it.error ?? (it.unscorable && `no reward: ${it.unscorable}`),
  },
  { name: "server", title: "Server", width: 130, read: it => it.servers.join(", ") },
  { name: "kind", title: "Kind", width: 74, read: it => it.kind },
  { name: "policy", title: "Policy", width: 110, read: it => it.policy },
];

const createPartColumn = (name: string): Column => ({
  name: `part ${name}`,
  title: name,
  width: Math.max(60, 22 + 7.5 * name.length),
  isNumber: true,
  read: it => it.scores[name],
  format: formatDecimals,
});

/** The text of a cell. */
export function formatCell(column: Column, row: AttemptRow, total: number | undefined): string {
  const value = column.read(row, total);
  if (value === undefined) return "";
  return column.format?.(value, row) ?? escapeInvisible(String(value));
}
