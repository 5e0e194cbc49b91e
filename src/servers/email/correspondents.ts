/** The correspondents of the generated mailbox by role, and the names that templates contain. */
import { toSlug } from "../../environment/slug.ts";
import type { SharedCast } from "../shared/cast.ts";
import { senders } from "./senders.ts";

interface Correspondent {
  readonly name: string;
  readonly email: string;
  /** The name used in messages. */
  readonly shortName: string;
  readonly firm: string;
  readonly isNoReply?: boolean;
  readonly hasLeft?: boolean;
}

/** The second contact of the second client, who has left; mail to that address bounces. */
const leftRole = "client1b";

/** The correspondent with that role. */
export function findCorrespondent(cast: SharedCast, role: string): Correspondent {
  const place = /^place:(\w+)$/.exec(role);
  if (place) {
    const { name } = cast.getPlace(place[1]!);
    return { name, email: `office@${toSlug(name)}.example`, shortName: name, firm: name };
  }
  const [, kind, number, which] = /^([a-z]+)(\d*)([ab]?)$/.exec(role)!;
  const n = Number(number);
  const firm =
    kind === "client" ? cast.clients[n] : kind === "prospect" ? cast.prospects[n] : undefined;
  const person =
    firm?.contacts[which === "b" ? 1 : 0] ??
    (kind === "staff" ? cast.staff[n] : kind === "friend" ? cast.friends[n] : undefined);
  if (person)
    return {
      name: person.name,
      email: person.email,
      shortName: person.firstName,
      firm: firm?.name ?? cast.studio.name,
      hasLeft: role === leftRole,
    };
  const sender = senders[role]!;
  return { ...sender, shortName: sender.name, firm: sender.name };
}

/** Fills in the names of a template. */
export function fillTemplate(
  text: string,
  cast: SharedCast,
  { shortName, firm }: Pick<Correspondent, "shortName" | "firm">,
): string {
  return text.replaceAll(/\{([\w:]+)\}/g, (_, slot: string) => {
    if (slot === "they") return shortName;
    if (slot === "firm") return firm;
    if (slot === "me") return cast.user.firstName;
    if (slot.startsWith("email:"))
      return findCorrespondent(cast, slot.slice("email:".length)).email;
    if (/^client\d$/.test(slot)) return cast.clients[Number(slot.at(-1))]!.name;
    return findCorrespondent(cast, slot).shortName;
  });
}
