/** What the page with the tables of a fixture shows, and its requests and events. Types only. */
import type { PageContract } from "./pageChannel.ts";

export type Scalar = string | number | boolean | null;

export interface FixtureField {
  readonly name: string;
  /**
   * `flag` is a value that is present or absent, such as `"muted": true`; `nested` is a list or a
   * record, which is edited as text.
   */
  readonly kind: "text" | "number" | "boolean" | "flag" | "choice" | "nested";
  /** Whether a row may lack it. */
  readonly isOptional: boolean;
  /** The values of a choice or a flag; for other fields those to suggest, which are ids of rows. */
  readonly choices?: readonly { readonly value: Scalar; readonly description?: string }[];
}

/** The value of a cell; for a list or a record, a short text of it. */
export type FixtureCell = Scalar | { readonly nested: string };

export interface FixtureRow {
  readonly id: string;
  /** By the names of fields; absent where the row lacks the field. */
  readonly cells: Readonly<Record<string, FixtureCell>>;
}

/** A collection of rows with the same fields. */
export interface FixtureTable {
  readonly name: string;
  readonly fields: readonly FixtureField[];
  readonly rows: readonly FixtureRow[];
}

/** A problem of the fixture, at the keys that lead to it from the state, or from the file. */
export interface FixtureMark {
  /** Absent where the problem is in no table. */
  readonly cell?: { readonly table: string; readonly row: string; readonly field?: string };
  /** Leads to the value in the text. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export interface FixtureView {
  /** The server and the name of the fixture. */
  readonly title: string;
  /** A fixture that ships is read-only. */
  readonly isEditable: boolean;
  readonly tables: readonly FixtureTable[];
  /** The parts of the state that are in no table. */
  readonly others: readonly string[];
  readonly marks: readonly FixtureMark[];
  /** Why there are no tables, where the text cannot be read. */
  readonly problem?: string;
}

/** Names a row, or a place in it. */
interface RowPlace {
  readonly table: string;
  readonly row: string;
}

export interface FixturePage extends PageContract {
  readonly requests: {
    /** The view, and the table that was asked for. */
    load: { params: null; result: { view: FixtureView; table: string | null } };
    /** Sets the value of a field, or removes the field. */
    setField: {
      params: RowPlace & { field: string; value?: Scalar | undefined };
      result: null;
    };
    /** Adds a row and returns its id. */
    addRow: { params: { table: string }; result: string };
    /** Adds a copy of a row after it and returns the id of the copy. */
    duplicateRow: { params: RowPlace; result: string };
    deleteRow: { params: RowPlace; result: null };
    save: { params: null; result: null };
    /** Opens the text of the fixture at a path. */
    openText: { params: { path: readonly (string | number)[] }; result: null };
    /** Copies a fixture that ships into the workspace, and opens the copy. */
    editCopy: { params: null; result: null };
  };
  readonly events: {
    changed: FixtureView;
    /** Shows a table. */
    reveal: string;
  };
}
