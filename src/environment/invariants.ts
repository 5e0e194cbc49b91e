/**
 * Helpers for the invariants of servers: rules on a state, and rules on the rows a write changed.
 */
import { canonicalJson } from "./json.ts";
import type { Invariant } from "./server.ts";

/**
 * Creates an invariant of which a part concerns states and a part writes: `before` is absent for a
 * state that no write led to. It reports the first violation that is listed.
 */
export const defineRule = <World>(
  rule: string,
  listViolations: (world: World, before?: World) => Iterable<string>,
): Invariant<World> => ({
  rule,
  findViolation: (world, before) => findFirst(listViolations(world, before)),
});

/**
 * Creates an invariant that every state must meet. It reports the first violation that is listed.
 */
export const defineStateRule = <World>(
  rule: string,
  listViolations: (world: World) => Iterable<string>,
): Invariant<World> => ({
  rule,
  findViolation: world => findFirst(listViolations(world)),
});

/**
 * Creates an invariant that every write must meet. It reports the first violation that is listed.
 */
export const defineWriteRule = <World>(
  rule: string,
  listViolations: (world: World, before: World) => Iterable<string>,
): Invariant<World> => ({
  rule,
  findViolation: (world, before) =>
    before === undefined ? undefined : findFirst(listViolations(world, before)),
});

/** Creates an invariant that no write changes these parts of the state. */
export const defineConstantRule = <World extends object>(
  rule: string,
  keys: readonly (keyof World & string)[],
): Invariant<World> =>
  defineWriteRule(rule, (world, before) =>
    keys.filter(key => !isSameJson(world[key], before[key])).map(key => `${key} changed`),
  );

function findFirst<T>(items: Iterable<T>): T | undefined {
  for (const it of items) return it;
  return undefined;
}

interface RowChange<Row> {
  readonly id: string;
  /** Absent if the write added the row. */
  readonly before: Row | undefined;
  /** Absent if the write removed the row. */
  readonly after: Row | undefined;
}

type Rows<Row> = Readonly<Record<string, Row>>;

/** The rows that were added, changed or removed. Both states share the rows that were not. */
export function listChanges<Row>(before: Rows<Row>, after: Rows<Row>): RowChange<Row>[] {
  if (before === after) return [];
  const ids = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...ids]
    .map(id => ({ id, before: getRow(before, id), after: getRow(after, id) }))
    .filter(it => it.before !== it.after);
}

const getRow = <Row>(rows: Rows<Row>, id: string): Row | undefined =>
  Object.hasOwn(rows, id) ? rows[id] : undefined;

/** The rows that were added, with their ids. */
export const listAddedRows = <Row>(before: Rows<Row>, after: Rows<Row>): [string, Row][] =>
  listChanges(before, after).flatMap(it =>
    it.before === undefined ? [[it.id, it.after!] as [string, Row]] : [],
  );

/** The rows that were removed, with their ids. */
export const listRemovedRows = <Row>(before: Rows<Row>, after: Rows<Row>): [string, Row][] =>
  listAddedRows(after, before);

/** The rows that were changed, as they are and as they were before. */
export const listChangedRows = <Row>(
  before: Rows<Row>,
  after: Rows<Row>,
): [id: string, row: Row, previous: Row][] =>
  listChanges(before, after).flatMap(({ id, before: previous, after: row }) =>
    previous === undefined || row === undefined || isSameJson(previous, row)
      ? []
      : [[id, row, previous] as [string, Row, Row]],
  );

/** Whether two values are the same JSON. */
export const isSameJson = (a: unknown, b: unknown): boolean =>
  a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b));

/** The names of the fields that differ between two versions of a row. */
export const listChangedFields = (before: object, after: object): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    key =>
      !isSameJson(
        (before as Record<string, unknown>)[key],
        (after as Record<string, unknown>)[key],
      ),
  );
