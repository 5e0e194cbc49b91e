/** Statements for tools that take SQL, about the tables that results have named. */
import { getKeyword, getProperties } from "../../environment/schemaKeywords.ts";
import type { Tool } from "../../environment/server.ts";
import type { KnownTexts } from "./exampleArguments.ts";

/** Whether an argument is a statement of SQL. */
export function takesSql(
  key: string,
  { summary, inputSchema }: Pick<Tool, "summary" | "inputSchema">,
): boolean {
  const description = getKeyword(getProperties(inputSchema)[key] ?? {}, "description");
  return (
    /^sql$|_sql$/i.test(key) ||
    (/query|statement/i.test(key) && sqlWords.test(`${summary} ${description}`))
  );
}

const sqlWords = /\bSQL\b|\b(?:SELECT|INSERT|CREATE TABLE)\b/;

const maxTables = 6;

/**
 * Groups of statements of the same kind: what lists tables of SQLite and PostgreSQL, what reads,
 * what writes, and what defines. A tool takes a group if it takes all of it.
 */
export function listSqlQueries(
  texts: KnownTexts,
): readonly (readonly [string, readonly string[]])[] {
  const tables = [...texts]
    .filter(([place]) => /\b(?:table_?)?name$/i.test(place))
    .flatMap(([, it]) => [...it])
    .filter(it => /^[a-z_][a-z0-9_]{1,40}$/i.test(it));
  const known = [...new Set(tables)].slice(0, maxTables);
  const each = (write: (table: string) => string) => known.map(write);
  const groups: readonly (readonly [string, readonly string[]])[] = [
    [
      "sql reads",
      [
        ...each(it => `SELECT * FROM ${it} LIMIT 5`),
        ...each(it => `SELECT COUNT(*) AS total FROM ${it}`),
        ...each(it => `SELECT * FROM ${it} ORDER BY 1 DESC LIMIT 3`),
      ],
    ],
    ["sql lists", ["SELECT name FROM sqlite_master WHERE type = 'table'"]],
    [
      "sql lists of a schema",
      ["SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"],
    ],
    ["sql deletions", each(it => `DELETE FROM ${it}`)],
    [
      "sql definitions",
      [
        "CREATE TABLE meetings (id INTEGER PRIMARY KEY, title TEXT)",
        "CREATE TABLE reminders (id INTEGER PRIMARY KEY, text TEXT, due TEXT)",
      ],
    ],
  ];
  return groups.filter(([, it]) => it.length > 0);
}
