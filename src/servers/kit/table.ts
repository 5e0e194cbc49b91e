/**
 * A table of a server's state, declared once. It gives the parameter that takes an id, the refusal
 * of an unknown id, fields of results, and the tools that list rows and get one of them. Writes are
 * functions of their own.
 */
import { z } from "zod";
import { id, rowLimit } from "../../environment/fieldSchemas.ts";
import type { Json } from "../../environment/json.ts";
import { createToolFactory, findEntity } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";

type Row<World, Key extends keyof World> =
  World[Key] extends Readonly<Record<string, infer R>> ? R : never;
type Entry<R> = readonly [id: string, row: R];

/** What a field is computed from, besides the row. */
export interface RowContext<World> {
  readonly id: string;
  readonly world: World;
  readonly now: string;
}

type ComputedField<World, R> = readonly [
  schema: z.ZodType,
  compute: (row: R, context: RowContext<World>) => unknown,
];
/** A field of a result: the row's own field of that name, or what is computed from the row. */
type Field<World, R> = z.ZodType | ComputedField<World, R>;
/** Fields of a result, by name. Those whose value is undefined are left out. */
export type Fields<World, R> = Readonly<Record<string, Field<World, R>>>;

/** A condition that an optional parameter of a list sets. */
interface Filter<World, R> {
  readonly schema: z.ZodType;
  readonly description: string;
  /** Called with a value that is present. */
  readonly matches: (row: R, value: never, context: RowContext<World>) => boolean;
  /** Translates the value once, before any row is read. May refuse the call. */
  readonly resolve?: ((world: World, value: never) => unknown) | undefined;
}

type Get<World, R, T> = (row: R, world: World) => T;

/** The text of each row contains the value. */
export const contains = <World, R>(
  schema: z.ZodType<string>,
  description: string,
  get: Get<World, R, string | undefined>,
): Filter<World, R> => ({
  schema,
  description,
  matches: (row, value: string, { world }) => containsText(get(row, world) ?? "", value),
});

/** The field of each row equals the value, or what `resolve` makes of it. */
export const equals = <World, R, V>(
  schema: z.ZodType<V>,
  description: string,
  get: Get<World, R, Json | undefined>,
  resolve?: (world: World, value: V) => Json,
): Filter<World, R> => ({
  schema,
  description,
  matches: (row, value: Json, { world }) => get(row, world) === value,
  resolve,
});

/** Each row meets another condition. */
export const meets = <World, R, V>(
  schema: z.ZodType<V>,
  description: string,
  matches: (row: R, value: V, context: RowContext<World>) => boolean,
): Filter<World, R> => ({ schema, description, matches });

interface Selection<World, R> {
  readonly row: Fields<World, R>;
  /** The order of the rows; that of the state if there is none. */
  readonly order?: (a: Entry<R>, b: Entry<R>) => number;
  /** How many rows there are at most; in a list, if the call sets no limit. All if not given. */
  readonly limit?: number;
}

interface ListOptions<World, R> extends Selection<World, R> {
  readonly summary: string;
  /** The parameters, each with the condition that it sets. */
  readonly filters: Readonly<Record<string, Filter<World, R>>>;
  /** A condition on every row, which may depend on several parameters. */
  readonly where?: (
    row: R,
    args: Readonly<Record<string, unknown>>,
    context: RowContext<World>,
  ) => boolean;
  /** The key of the list in the result, if it is not the table's own. */
  readonly as?: string;
}

interface RelatedOptions<World, R> extends Selection<World, R> {
  /** Whether a row belongs to the other table's row, which is that of the context. */
  readonly where: (row: R, owner: RowContext<World>) => boolean;
  readonly description?: string;
}

/** Orders rows by a value, then by id. Rows without a value come last. */
export const ascending =
  <R>(get: (row: R) => string | number | undefined) =>
  ([a, x]: Entry<R>, [b, y]: Entry<R>): number =>
    compare(get(x), get(y)) || (a < b ? -1 : 1);

/** Orders rows by a value, the largest first, then by id; with `latestId`, the largest id first. */
export const descending =
  <R>(get: (row: R) => string | number, { latestId = false } = {}) =>
  ([a, x]: Entry<R>, [b, y]: Entry<R>): number =>
    compare(get(y), get(x)) || (a < b !== latestId ? -1 : 1);

function compare(a: string | number | undefined, b: string | number | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1;
  return a < b ? -1 : 1;
}

interface TableOptions {
  /** What a row is, in one word. */
  readonly entity: string;
  /** The tool that gives the ids of rows. */
  readonly idsFrom: string;
  /** The hint of a refused id, if the tool's name does not say enough. */
  readonly hint?: string;
}

/** Creates a function that declares tables of the state of this schema. */
export const createTableFactory =
  <S extends z.ZodType<object>>(schema: S) =>
  <Key extends keyof z.output<S> & string>(
    key: Key,
    { entity, idsFrom, hint = `${idsFrom} gives the ids` }: TableOptions,
  ) => {
    type World = z.output<S>;
    type R = Row<World, Key>;
    const tool = createToolFactory(schema);
    const rowsOf = (world: World) => world[key] as Readonly<Record<string, R>>;
    const idParameter = id(entity).describe(`${capitalize(entity)} id, as ${idsFrom} gives it`);
    const find = (world: World, rowId: string): R => findEntity(rowsOf(world), rowId, entity, hint);

    const select = (
      { world, now }: Omit<RowContext<World>, "id">,
      isSelected: (row: R, id: string) => boolean,
      { row, order, limit }: Selection<World, R>,
    ): Record<string, unknown>[] => {
      const entries = Object.entries(rowsOf(world)).filter(([rowId, it]) => isSelected(it, rowId));
      if (order) entries.sort(order);
      return entries.slice(0, limit).map(([rowId, it]) => show(row, it, { id: rowId, world, now }));
    };

    return {
      /** The parameter that takes an id of this table. */
      id: idParameter,
      /** The field with the id of the row. */
      idField: [id(entity), (_: unknown, context: { readonly id: string }) => context.id] as const,
      find,
      /** Declares fields that several results share. */
      fields: (fields: Fields<World, R>) => fields,
      /** The fields of one row. */
      show: (fields: Fields<World, R>, world: World, rowId: string, now = "") =>
        show(fields, find(world, rowId), { id: rowId, world, now }),
      /** A field with the rows of this table that belong to a row of another; absent if none do. */
      related(options: RelatedOptions<World, R>) {
        const { row, description, where } = options;
        const rows = z.array(z.object(getSchemas(row))).optional();
        return [
          description === undefined ? rows : rows.describe(description),
          (_: unknown, owner: RowContext<World>) => {
            const selected = select(owner, it => where(it, owner), options);
            return selected.length === 0 ? undefined : selected;
          },
        ] as const;
      },
      /** A tool that lists rows. */
      list(options: ListOptions<World, R>) {
        const { summary, filters, where, row, limit, as = key } = options;
        const conditions = Object.entries(filters);
        const input = Object.fromEntries(
          conditions.map(([name, it]) => [name, it.schema.optional().describe(it.description)]),
        );
        return tool({
          effect: "read",
          summary,
          input: limit === undefined ? input : { ...input, limit: rowLimit(limit) },
          returns: { [as]: z.array(z.object(getSchemas(row))) },
          run(world, args: Readonly<Record<string, unknown>>, { now }) {
            const given = conditions.flatMap(([name, { matches, resolve }]) => {
              const value = args[name] as never;
              if (value === undefined) return [];
              return [{ matches, value: (resolve ? resolve(world, value) : value) as never }];
            });
            const isSelected = (it: R, rowId: string) => {
              const context = { id: rowId, world, now };
              return (
                given.every(({ matches, value }) => matches(it, value, context)) &&
                (!where || where(it, args, context))
              );
            };
            const count = (args["limit"] as number | undefined) ?? limit;
            const selection = count === undefined ? options : { ...options, limit: count };
            return { [as]: select({ world, now }, isSelected, selection) };
          },
        });
      },
      /** A tool that gets one row by its id. */
      get({ summary, row }: { readonly summary: string; readonly row: Fields<World, R> }) {
        const parameter = `${entity}_id`;
        return tool({
          effect: "read",
          summary,
          input: { [parameter]: idParameter },
          returns: getSchemas(row),
          run(world, args: Readonly<Record<string, unknown>>, { now }) {
            const rowId = args[parameter] as string;
            return show(row, find(world, rowId), { id: rowId, world, now });
          },
        });
      },
    };
  };

const isComputed = <World, R>(field: Field<World, R>): field is ComputedField<World, R> =>
  Array.isArray(field);

/** The schemas of fields, for a tool's `returns`. */
export const getSchemas = (fields: Fields<never, never>): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(fields).map(([key, it]) => [key, isComputed(it) ? it[0] : it]));

function show<World, R>(
  fields: Fields<World, R>,
  row: R,
  context: RowContext<World>,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const field = fields[key]!;
    const value = isComputed(field)
      ? field[1](row, context)
      : (row as Record<string, unknown>)[key];
    if (value !== undefined) result[key] = value;
  }
  return result;
}

const capitalize = (text: string): string => text[0]!.toUpperCase() + text.slice(1);
