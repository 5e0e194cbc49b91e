/** What a call that updates a row would change. */
import { refuse } from "../../environment/server.ts";

/** The names of the fields that the values change; refuses a call that changes none. */
export function listChangedNames<Values extends object>(
  row: { readonly [K in keyof Values]?: unknown },
  values: Values,
  { subject, hint }: { readonly subject: string; readonly hint: string },
): (keyof Values & string)[] {
  const names = Object.keys(values) as (keyof Values & string)[];
  if (names.length === 0) refuse("invalid_params", "nothing to change is given", hint);
  const changed = names.filter(it => JSON.stringify(values[it]) !== JSON.stringify(row[it]));
  if (changed.length === 0) refuse("conflict", `${subject} is like that already`);
  return changed;
}
