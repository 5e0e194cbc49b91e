/**
 * Checks of the references in a state: declares which table the ids at a path lead to, and reports
 * every id that leads to no row.
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
  const rules = Object.entries(references).map(([path, tables]) => ({
    path: path.split("."),
    tables: tables.split("|").map(it => it.split(".")),
    noun: getSingular(tables.split("|")[0]!.split(".").at(-1)!),
  }));
  return (state, context) => {
    for (const { path, tables, noun } of rules) {
      const ids = new Set(tables.flatMap(it => [...listEntries(state, [...it, "@"])].map(getId)));
      for (const entry of listEntries(state, path))
        if (!ids.has(getId(entry)))
          context.addIssue({
            code: "custom",
            path: entry.path,
            message: `there is no ${noun} ${getId(entry)}`,
          });
    }
  };
}

interface Entry {
  readonly path: (string | number)[];
  readonly value: unknown;
}

const getId = ({ value }: Entry): string => String(value);

/** The values at a path, with their own paths. */
function* listEntries(
  value: unknown,
  [segment, ...rest]: readonly string[],
  path: readonly (string | number)[] = [],
): Generator<Entry> {
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
