/** The columns of the table with their texts, and the order and the filter of its rows. */
import type {
  AttemptNote,
  AttemptNotes,
  AttemptRow,
  PartWeights,
} from "../../src/protocol/attemptsPage.ts";
import type { GridColumn } from "../grid.ts";
import { escapeInvisible, formatFixed, formatReward } from "../text.ts";

interface RowFilter {
  /** Words and fields such as `server:banking`; all must match. */
  readonly text: string;
  readonly failuresOnly: boolean;
  readonly notes: AttemptNotes;
}

const fields: Readonly<Record<string, (row: AttemptRow, note?: AttemptNote) => string>> = {
  task: it => it.task,
  server: it => it.servers.join(" "),
  kind: it => it.kind ?? "",
  split: it => it.split ?? "",
  policy: it => it.policy,
  error: it => it.error ?? it.reason ?? "",
  note: (_, note) => (note ? formatNote(note) : ""),
  tag: (_, note) => (note?.tags ?? []).map(it => `#${it}`).join(" "),
};

/** A field with a quoted value, in which a quote is doubled, or what stands between spaces. */
const tokens = /(\w+):"((?:[^"]|"")*)"|(?:(\w+):)?(\S+)/g;

/**
 * Whether a row is shown. A field contains its value, and a quoted value is the whole field. A
 * token that is not a field is a word.
 */
export function createMatcher({
  text,
  failuresOnly,
  notes,
}: RowFilter): (row: AttemptRow) => boolean {
  const checks = [...text.toLowerCase().matchAll(tokens)].map(
    ([token, quotedName, quoted, name = quotedName, value]) => {
      const read = name !== undefined && Object.hasOwn(fields, name) ? fields[name]! : undefined;
      const readField = (row: AttemptRow) => read?.(row, notes[row.key]).toLowerCase() ?? "";
      if (!read)
        return (row: AttemptRow) =>
          getSearchText(row).includes(token) ||
          fields["note"]!(row, notes[row.key]).toLowerCase().includes(token);
      if (quoted === undefined) return (row: AttemptRow) => readField(row).includes(value!);
      const whole = quoted.replaceAll('""', '"');
      return (row: AttemptRow) => readField(row) === whole;
    },
  );
  return row => !(failuresOnly && row.success !== false) && checks.every(it => it(row));
}

const searchTexts = new WeakMap<AttemptRow, string>();

function getSearchText(row: AttemptRow): string {
  let text = searchTexts.get(row);
  if (text === undefined) {
    const { task, request, servers, kind, split, policy, error, reason, unscorable, note } = row;
    text = [task, request, ...servers, kind, split, policy, error, reason, unscorable, note]
      .filter(it => it !== undefined)
      .join(" ")
      .toLowerCase();
    searchTexts.set(row, text);
  }
  return text;
}

/** A sort key of a row: its values in order of precedence. */
type ReadSortKeys = (index: number) => readonly CellValue[];

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

/** What a cell shows; undefined values are empty and sorted last. */
type CellValue = string | number | undefined;

export interface Column extends GridColumn {
  /** `total` is that of the row under the current weights. */
  readonly read: (row: AttemptRow, total: number | undefined) => CellValue;
  /** The text of a value; its own text if this is absent. */
  readonly format?: (value: NonNullable<CellValue>, row: AttemptRow) => string;
}

const formatTotal = (value: NonNullable<CellValue>) => formatReward(Number(value));
const formatDecimals = (value: NonNullable<CellValue>) => formatFixed(Number(value), 2);

const stepColumn = createNumberColumn("step", "Step", 64, it => it.step);
const attemptColumn = createNumberColumn("attempt", "Attempt", 80, it =>
  it.attempt === undefined ? undefined : it.attempt + 1,
);
const advantageColumn = {
  ...createNumberColumn("advantage", "Advantage", 96, it => it.advantage),
  format: formatDecimals,
};
/** The total under the paper's profile, where the rows are scored under another one. */
const paperColumn = {
  ...createNumberColumn("paper", "Paper", 80, it => it.paper),
  format: formatTotal,
};

const successColumn: Column = {
  name: "success",
  title: "Success",
  width: 100,
  read: it => (it.success === undefined ? undefined : Number(it.success)),
  format: it => (it === 1 ? "yes" : "no"),
};
const rewardColumn: Column = {
  ...createNumberColumn("reward", "Reward", 80, (_, total) => total),
  format: formatTotal,
};
const scoreColumn: Column = {
  ...createNumberColumn("score", "Score", 96, it => it.score),
  format: it => String(it),
};

const errorColumn: Column = {
  name: "error",
  title: "First Error",
  width: 270,
  // many failures have no refused call
  read: ({ error, reason, unscorable, note }) =>
    note && error
      ? `${error} (${note})`
      : (error ?? reason ?? note ?? (unscorable && `no reward: ${unscorable}`)),
};
const taskColumn: Column = { name: "task", title: "Task", width: 330, read: it => it.task };

/** The verdict, the tags and the text of a note. */
const formatNote = ({ verdict, tags, text }: AttemptNote): string =>
  [...(verdict === undefined ? [] : [verdict]), ...tags.map(it => `#${it}`), text]
    .filter(it => it !== "")
    .join(" ");

const createNoteColumn = (notes: AttemptNotes): Column => ({
  name: "note",
  title: "Note",
  width: 200,
  read: ({ key }) => {
    const note = notes[key];
    return note && formatNote(note);
  },
});

const serverColumn: Column = {
  name: "server",
  title: "Server",
  width: 130,
  read: it => it.servers.join(", "),
};
const kindColumn: Column = { name: "kind", title: "Kind", width: 74, read: it => it.kind };

/** Whether the attempts are scored; rows that are still to come will be. */
export const haveRewards = (rows: readonly AttemptRow[]): boolean =>
  rows.length === 0 || rows.some(it => it.total !== undefined || it.unscorable !== undefined);

/** The columns for some rows; a column that would be empty is left out. */
export const createColumns = (
  rows: readonly AttemptRow[],
  weights: PartWeights,
  notes: AttemptNotes = {},
): readonly Column[] => [
  // what tells failures apart comes first, so that a narrow panel shows it
  ...(haveRewards(rows) ? [successColumn, rewardColumn] : []),
  ...(rows.some(it => it.score !== undefined) ? [scoreColumn] : []),
  errorColumn,
  ...(rows.some(it => Object.hasOwn(notes, it.key)) ? [createNoteColumn(notes)] : []),
  taskColumn,
  ...(rows.some(it => it.step !== undefined) ? [stepColumn] : []),
  ...(rows.some(it => it.attempt !== undefined) ? [attemptColumn] : []),
  ...(rows.some(it => it.paper !== undefined && it.paper !== it.total) ? [paperColumn] : []),
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
  ...(haveRewards(rows) ? [serverColumn, kindColumn] : []),
  { name: "policy", title: "Policy", width: 110, read: it => it.policy },
];

const createPartColumn = (name: string): Column => ({
  ...createNumberColumn(
    `part ${name}`,
    name,
    Math.max(60, 22 + 7.5 * name.length),
    it => it.scores[name],
  ),
  format: formatDecimals,
});

function createNumberColumn(
  name: string,
  title: string,
  width: number,
  read: Column["read"],
): Column {
  return { name, title, width, isNumber: true, read };
}

/** The text of a cell. */
export function formatCell(column: Column, row: AttemptRow, total: number | undefined): string {
  const value = column.read(row, total);
  if (value === undefined) return "";
  return column.format?.(value, row) ?? escapeInvisible(String(value));
}
