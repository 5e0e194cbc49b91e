/**
 * A table of a server's state, declared once. It gives the parameter that takes an id, the refusal
 * of an unknown id, fields of results, and the tools that list rows and get one of them. Writes are
 * functions of their own.
 */
import { z } from "zod";
import { id, rowLimit, rowTotal, spokenId } from "../../environment/fieldSchemas.ts";
import type { Json } from "../../environment/json.ts";
import { createToolFactory, findEntity } from "../../environment/server.ts";
import { containsText, containsWords } from "../../environment/textSearch.ts";

type Row<World, Key extends keyof World> =
  World[Key] extends Readonly<Record<string, infer R>> ? R : never;

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
type Fields<World, R> = Readonly<Record<string, Field<World, R>>>;

/** A condition that an optional parameter of a list sets. */
interface Filter<World, R, V = unknown> {
  readonly schema: z.ZodType<V | undefined>;
  /** That of the schema if not given. */
  readonly description: string | undefined;
  /** Called with a value that is present. */
  readonly matches: (row: R, value: never, context: RowContext<World>) => boolean;
  /** Translates the value once, before any row is read. May refuse the call. */
  readonly resolve?: ((world: World, value: never) => unknown) | undefined;
  /** Every call sets the parameter. */
  readonly isRequired?: true;
}

type Get<World, R, T> = (row: R, world: World) => T;

/** The text of each row contains the value. */
export const contains = <World, R>(
  schema: z.ZodType<string | undefined>,
  description: string,
  get: Get<World, R, string | undefined>,
): Filter<World, R, string> => ({
  schema,
  description,
  matches: (row, value: string, { world }) => containsText(get(row, world) ?? "", value),
});

/** The text of each row contains every word of the value, in any order. */
export const containsAll = <World, R>(
  schema: z.ZodType<string | undefined>,
  description: string,
  get: Get<World, R, string>,
): Filter<World, R, string> => ({
  schema,
  description,
  matches: (row, value: string, { world }) => containsWords(get(row, world), value),
});

/** The field of each row equals the value, or what `resolve` makes of it. */
export const equals = <World, R, V>(
  schema: z.ZodType<V | undefined>,
  description: string | undefined,
  get: Get<World, R, Json | undefined>,
  resolve?: (world: World, value: V) => Json,
): Filter<World, R, V> => ({
  schema,
  description,
  matches: (row, value: Json, { world }) => get(row, world) === value,
  resolve,
});

/** Each row refers to the row of another table with that id, which must exist. */
export const refersTo = <World, R>(
  table: {
    readonly id: z.ZodType<string>;
    readonly find: (world: World, rowId: string) => unknown;
  },
  description: string | undefined,
  get: Get<World, R, string | undefined>,
): Filter<World, R, string> =>
  equals(table.id, description, get, (world, rowId) => {
    table.find(world, rowId);
    return rowId;
  });

/** Each row meets another condition on the value, or on what `resolve` makes of it. */
export const meets = <World, R, V, Resolved = V>(
  schema: z.ZodType<V | undefined>,
  description: string,
  matches: (row: R, value: Resolved, context: RowContext<World>) => boolean,
  resolve?: (world: World, value: V) => Resolved,
): Filter<World, R, V> => ({ schema, description, matches, resolve });

interface Selection<World, R> {
  readonly row: Fields<World, R>;
  /** The order of the rows; that of the state if there is none. */
  readonly order?: Order<World, R>;
  /** How many rows there are at most; in a list, if the call sets no limit. All if not given. */
  readonly limit?: number;
}

type Filters<World, R> = Readonly<Record<string, Filter<World, R>>>;
/** The values of the parameters that a call gives. */
type Values<F> = {
  readonly [K in keyof F]?: F[K] extends Filter<never, never, infer V> ? V : never;
};

interface ListOptions<World, R, F extends Filters<World, R>> extends Selection<World, R> {
  readonly summary: string;
  /** The parameter that sets another limit, if not the usual one. */
  readonly limitSchema?: z.ZodType<number | undefined>;
  /** The schema of the field `more`: how many rows the limit left out, absent if none. */
  readonly more?: z.ZodType;
  /** The parameters, each with the condition that it sets. */
  readonly filters: F;
  /** Refuses parameters before any row is read. */
  readonly check?: (args: Values<F>, world: World, now: string) => void;
  /** A condition on every row, which may depend on several parameters. */
  readonly where?: (row: R, args: Values<F>, context: RowContext<World>) => boolean;
  /** The key of the list in the result, if it is not the table's own. */
  readonly as?: string;
}

interface RelatedOptions<World, R> extends Selection<World, R> {
  /** Whether a row belongs to the other table's row, which is that of the context. */
  readonly where: (row: R, owner: RowContext<World>) => boolean;
  readonly description?: string;
  /** The field is there even if no rows are. */
  readonly isRequired?: true;
}

/** An order of rows: by a value, then by id. */
interface Order<World, R> {
  readonly get: (row: R, context: RowContext<World>) => string | number | undefined;
  readonly compare: (a: KeyedRow<R>, b: KeyedRow<R>) => number;
}
/** A row with the value that it is ordered by. */
interface KeyedRow<R> {
  readonly id: string;
  readonly row: R;
  readonly key: string | number | undefined;
}

/** Orders rows by a value, the smallest first. Rows without a value come last. */
export const ascending = <World, R>(get: Order<World, R>["get"]): Order<World, R> => ({
  get,
  compare: compareKeys,
});

/** Orders rows by a value, the largest first; with `latestId`, equal ones by the largest id. */
export const descending = <World, R>(
  get: Order<World, R>["get"],
  { latestId = false } = {},
): Order<World, R> => ({
  get,
  compare: latestId ? (a, b) => compareKeys(b, a) : compareKeysDescending,
});

function compareKeys({ key: x, id: a }: KeyedRow<unknown>, { key: y, id: b }: KeyedRow<unknown>) {
  if (x === y) return a < b ? -1 : 1;
  if (x === undefined || y === undefined) return x === undefined ? 1 : -1;
  return x < y ? -1 : 1;
}

const compareKeysDescending = (a: KeyedRow<unknown>, b: KeyedRow<unknown>): number =>
  a.key === b.key ? (a.id < b.id ? -1 : 1) : compareKeys(b, a);

interface TableOptions<World, R> {
  /** What a row is: `x-entity` of its ids. */
  readonly entity: string;
  /** What texts call it, if not by the entity's name. */
  readonly noun?: string;
  /** The tool that gives the ids of rows. */
  readonly idsFrom: string;
  /** The description of the parameter that takes an id, if the tool's name does not say enough. */
  readonly description?: string;
  /** The hint of a refused id, if the tool's name does not say enough. */
  readonly hint?: string;
  /** Whether people know and use the ids, such as order numbers. */
  readonly isSpoken?: true;
  /** Refuses a row that exists, such as one that the user may not see. */
  readonly check?: (row: R, id: string, world: World) => void;
}

/** Creates a function that declares tables of the state of this schema. */
export const createTableFactory =
  <S extends z.ZodType<object>>(schema: S) =>
  <Key extends keyof z.output<S> & string>(
    key: Key,
    options: TableOptions<z.output<S>, Row<z.output<S>, Key>>,
  ) => {
    type World = z.output<S>;
    type R = Row<World, Key>;
    const { entity, idsFrom, noun = entity, hint = `${idsFrom} gives the ids`, check } = options;
    const { description = `${capitalize(noun)} id, as ${idsFrom} gives it` } = options;
    const createId = options.isSpoken ? spokenId : id;
    const tool = createToolFactory(schema);
    const rowsOf = (world: World) => world[key] as Readonly<Record<string, R>>;
    const idParameter = createId(entity).describe(description);
    const find = (world: World, rowId: string): R => {
      const row = findEntity(rowsOf(world), rowId, noun, hint);
      check?.(row, rowId, world);
      return row;
    };

    const createSelect = ({ row, order, limit: defaultLimit }: Selection<World, R>) => {
      const project = createProjection(row);
      return (
        { world, now }: Omit<RowContext<World>, "id">,
        isSelected: (row: R, id: string) => boolean,
        limit = defaultLimit,
      ): { rows: Record<string, unknown>[]; total: number } => {
        const all = rowsOf(world);
        const selected: KeyedRow<R>[] = [];
        const context = { id: "", world, now };
        for (const id of Object.keys(all)) {
          const it = all[id]!;
          if (!isSelected(it, id)) continue;
          context.id = id;
          selected.push({ id, row: it, key: order?.get(it, context) });
        }
        if (order) selected.sort(order.compare);
        const count = Math.min(selected.length, limit ?? Infinity);
        const rows: Record<string, unknown>[] = [];
        for (let i = 0; i < count; i++) {
          const { id, row: it } = selected[i]!;
          rows.push(project(it, { id, world, now }));
        }
        return { rows, total: selected.length };
      };
    };

    return {
      /** The parameter that takes an id of this table. */
      id: idParameter,
      /** The field with the id of the row. */
      idField: [
        createId(entity),
        (_: unknown, context: { readonly id: string }) => context.id,
      ] as const,
      /** The row with that id, or a refusal. */
      find,
      /** Declares fields that several results share. */
      fields: <F extends Fields<World, R>>(fields: F): F => fields,
      /** The fields of one row. */
      show: (fields: Fields<World, R>, world: World, rowId: string, now: string) =>
        createProjection(fields)(find(world, rowId), { id: rowId, world, now }),
      /**
       * A field with the rows of this table that belong to a row of another; absent if none do,
       * unless it is required.
       */
      related(selection: RelatedOptions<World, R>) {
        const { row, description, where, isRequired } = selection;
        const select = createSelect(selection);
        const list = z.array(z.object(getSchemas(row)));
        const rows = isRequired ? list : list.optional();
        return [
          description === undefined ? rows : rows.describe(description),
          (_: unknown, owner: RowContext<World>) => {
            const { rows: selected } = select(owner, it => where(it, owner));
            return selected.length === 0 && !isRequired ? undefined : selected;
          },
        ] as const;
      },
      /** A tool that lists rows. */
      list<const F extends Filters<World, R>>(selection: ListOptions<World, R, F>) {
        const { summary, filters, check, where, row, limit, more, as = key } = selection;
        const select = createSelect(selection);
        const conditions = Object.entries(filters);
        const input: Record<string, z.ZodType> = Object.fromEntries(
          conditions.map(([name, { schema, description, isRequired }]) => {
            const parameter = isRequired ? schema : schema.optional();
            return [name, description === undefined ? parameter : parameter.describe(description)];
          }),
        );
        const list = z.array(z.object(getSchemas(row)));
        if (limit !== undefined) input["limit"] = selection.limitSchema ?? rowLimit(limit);
        return tool({
          effect: "read",
          summary,
          input,
          returns: {
            total: rowTotal(as),
            [as]: list,
            ...(more ? { more: more.optional() } : {}),
          },
          run(world, args: Readonly<Record<string, unknown>>, { now }) {
            const values = args as Values<F>;
            check?.(values, world, now);
            const given = conditions.flatMap(([name, { matches, resolve }]) => {
              const value = args[name] as never;
              if (value === undefined) return [];
              return [{ matches, value: (resolve ? resolve(world, value) : value) as never }];
            });
            const context = { id: "", world, now };
            const isSelected = (it: R, rowId: string) => {
              context.id = rowId;
              for (const { matches, value } of given)
                if (!matches(it, value, context)) return false;
              return !where || where(it, values, context);
            };
            const limitArgument = args["limit"] as number | undefined;
            const { rows, total } = select({ world, now }, isSelected, limitArgument);
            const omitted = total - rows.length;
            return { total, [as]: rows, ...(more && omitted > 0 ? { more: omitted } : {}) };
          },
        });
      },
      /** A tool that gets one row by its id. */
      get({ summary, row }: { readonly summary: string; readonly row: Fields<World, R> }) {
        const parameter = `${entity}_id`;
        const project = createProjection(row);
        return tool({
          effect: "read",
          summary,
          input: { [parameter]: idParameter },
          returns: getSchemas(row),
          run(world, args: Readonly<Record<string, unknown>>, { now }) {
            const rowId = args[parameter] as string;
            return project(find(world, rowId), { id: rowId, world, now });
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

/** A function that gives the fields of a row. Created once, because it runs for every row. */
function createProjection<World, R>(
  fields: Fields<World, R>,
): (row: R, context: RowContext<World>) => Record<string, unknown> {
  const columns = Object.entries(fields).map(([key, it]) => ({
    key,
    compute: isComputed(it) ? it[1] : (row: R) => (row as Record<string, unknown>)[key],
  }));
  return (row, context) => {
    const result: Record<string, unknown> = {};
    for (const { key, compute } of columns) {
      const value = compute(row, context);
      if (value !== undefined) result[key] = value;
    }
    return result;
  };
}

const capitalize = (text: string): string => text[0]!.toUpperCase() + text.slice(1);
