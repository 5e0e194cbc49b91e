/**
 * The references in a state: declares which table the ids at a path lead to, and finds the rows
 * that they lead to.
 */

/**
 * Tables by the path of the ids that lead to them, such as `"cards.*.account_id": "accounts"`. `*`
 * stands for every entry of a record or list, and a last `@` for the keys of a record instead of
 * its values. A table may be a path too (`orders.*.items`), and `a|b` is either of two tables.
 * Absent values are allowed.
 */
export type References = Readonly<Record<string, string>>;

/** The part of zod's refinement context that a check uses. */
export interface IssueContext {
  addIssue: (issue: {
    readonly code: "custom";
    readonly path: (string | number)[];
    readonly message: string;
  }) => void;
}

/** Creates a check for `superRefine` that reports dangling references. */
export function createReferenceCheck(
  references: References,
): (state: object, context: IssueContext) => void {
  return (state, context) => {
    for (const it of listDanglingReferences(references, state))
      context.addIssue({ code: "custom", path: it.path, message: describeDangling(it) });
  };
}

/** What an id may lead to. */
export interface ReferenceTarget {
  /** What a row is, such as `account`. */
  readonly noun: string;
  /** By id. */
  readonly rows: ReadonlyMap<string, Row>;
}

/** An id in a state that leads to a row. */
export interface Reference extends ReferenceTarget {
  /** The keys and indices that lead to the id, from the state. */
  readonly path: (string | number)[];
  readonly id: string;
  /** Whether the id is the key of an entry instead of its value. */
  readonly isKey: boolean;
}

/** A row of a table, with the keys that lead to it from the state. */
interface Row {
  readonly path: (string | number)[];
  readonly value: unknown;
}

export const describeDangling = ({ noun, id }: Reference): string => `there is no ${noun} ${id}`;

/** The references that lead to no row. */
export const listDanglingReferences = (references: References, state: object): Reference[] =>
  [...listReferences(references, state)].filter(it => !it.rows.has(it.id));

/** All references in a state, which need not match its schema. */
function* listReferences(references: References, state: object): Generator<Reference> {
  for (const [path, tables] of Object.entries(references)) {
    const isKey = path.endsWith("@");
    const target = findTarget(state, tables);
    for (const it of listEntries(state, path.split(".")))
      yield { path: it.path, id: String(it.value), isKey, ...target };
  }
}

/** What the id at a path may lead to; undefined where no reference is declared. */
export function findReferenceTarget(
  references: References,
  state: object,
  path: readonly (string | number)[],
  isKey: boolean,
): ReferenceTarget | undefined {
  const declared = Object.entries(references).find(([pattern]) => {
    const segments = pattern.split(".");
    return (
      pattern.endsWith("@") === isKey &&
      segments.length === path.length &&
      segments.every((it, i) => it === "*" || it === "@" || it === path[i])
    );
  });
  return declared && findTarget(state, declared[1]);
}

function findTarget(state: object, tables: string): ReferenceTarget {
  const names = tables.split("|");
  return { noun: getSingular(names[0]!.split(".").at(-1)!), rows: listRows(state, names) };
}

const listRows = (state: object, tables: readonly string[]): ReadonlyMap<string, Row> =>
  new Map(
    tables
      .flatMap(it => [...listEntries(state, [...it.split("."), "*"])])
      .map(it => [String(it.path.at(-1)), it]),
  );

/** The values at a path, with their own paths. */
function* listEntries(
  value: unknown,
  [segment, ...rest]: readonly string[],
  path: readonly (string | number)[] = [],
): Generator<Row> {
  if (value === undefined || value === null) return;
  if (segment === undefined) yield { path: [...path], value };
  else if (typeof value !== "object") return;
  else if (segment === "@")
    for (const key of Object.keys(value)) yield { path: [...path, key], value: key };
  else if (segment === "*")
    for (const [key, it] of Object.entries(value))
      yield* listEntries(it, rest, [...path, Array.isArray(value) ? Number(key) : key]);
  else if (Object.hasOwn(value, segment))
    yield* listEntries((value as Record<string, unknown>)[segment], rest, [...path, segment]);
}

/**
 * `account` for `accounts`, `person` for `people`, `category` for `categories`, `dish` for
 * `dishes`.
 */
const getSingular = (plural: string): string =>
  plural
    .replaceAll("_", " ")
    .replace(/people$/, "person")
    .replace(/ies$/, "y")
    .replace(/(?<=s|x|ch|sh)es$/, "")
    .replace(/(?<=[^s])s$/, "");
