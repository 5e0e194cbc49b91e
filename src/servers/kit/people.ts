/** Finds people by what others call them: a full name or an e-mail address. */
import { getOriginal } from "../../environment/draft.ts";

/** The id of the person with that full name or e-mail address, in any case. */
export function findIdByName(
  people: Readonly<Record<string, { readonly name: string; readonly email: string }>>,
  nameOrEmail: string,
): string | undefined {
  const searched = nameOrEmail.trim().toLowerCase();
  return Object.entries(getOriginal(people)).find(
    ([, it]) => it.name.toLowerCase() === searched || it.email.toLowerCase() === searched,
  )?.[0];
}
