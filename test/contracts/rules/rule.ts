/**
 * Rules of a server as its tools' texts state them: what the read tools show before and after a
 * call, and what the call must have done to it. They know the tools and not the state behind them.
 */
import type { JsonObject } from "../../../src/environment/json.ts";

/** Calls a read tool, by its name without that of the server, which must succeed. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- says what the tool returns
export type Read = <T>(tool: string, args?: JsonObject) => T;

/** The value of a read tool, or undefined if it refuses. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- says what the tool returns
export type Attempt = <T>(tool: string, args?: JsonObject) => T | undefined;

/** How rules see a session. */
export interface Look {
  readonly read: Read;
  readonly tryRead: Attempt;
  /** Makes a call on a copy of the session, and returns what it says if it is refused. */
  readonly askRefusal: (tool: string, args: JsonObject) => string;
}

/** A write that succeeded. `args` and `value` have the names that the tool's schemas have. */
export interface Made {
  readonly tool: string;
  readonly args: Values;
  readonly value: Values;
}

/** The values of arguments and results; which types they have depends on the tool. */
export interface Values {
  // oxlint-disable-next-line typescript/no-explicit-any -- each rule knows the tools that it reads
  readonly [name: string]: any;
}

/** The rules of one session of a server. */
export interface Rules {
  readonly see: () => unknown;
  readonly findWrongs: (before: unknown, after: unknown, made: Made) => Iterable<string>;
}

export type CreateRules = (look: Look) => Rules;

/**
 * Rules from what they see of the session, and from what is wrong with what a write has done to
 * that; nothing if it is as the texts say.
 */
export const defineRules = <Seen>(
  see: () => Seen,
  findWrongs: (before: Seen, after: Seen, made: Made) => Iterable<string>,
): Rules => ({ see, findWrongs: findWrongs as Rules["findWrongs"] });

export const sum = (amounts: Iterable<number>): number =>
  Math.round([...amounts].reduce((total, it) => total + it, 0) * 100) / 100;

/** Whether two amounts are the same in cents. */
export const isSame = (a: number | undefined, b: number | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && Math.abs(a - b) < 0.005);

export const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** By id, what changed between two looks at a table; undefined where there was or is no row. */
export function* listChanges<Row>(
  before: ReadonlyMap<string, Row>,
  after: ReadonlyMap<string, Row>,
): Generator<readonly [id: string, before: Row | undefined, after: Row | undefined]> {
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(id), after.get(id)];
    if (!isEqual(was, is)) yield [id, was, is];
  }
}
