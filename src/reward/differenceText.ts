/** Says in words where the final state differs from that of the goals, and which call did it. */
import type { Attempt } from "../trajectory/attempt.ts";
import { EntityNames } from "./entityNames.ts";
import { formatPointer, type WorldDifference } from "./worldDifference.ts";

/** Describes a difference, such as "account acc_677 (Savings): balance is 600, should be 640". */
export function describeDifference(
  server: string,
  { path, found, wanted, isNew }: WorldDifference,
  attempt: Attempt,
): string {
  const names = new EntityNames(attempt);
  const { subject, field } = names.describePlace(server, path, found ?? wanted ?? null);
  const place = field === undefined ? subject : `${subject || server}: ${field}`;
  const call = findChange(formatPointer(server, path), attempt);
  const changed = call === undefined ? "no call changed it" : `changed by call ${call + 1}`;
  if (isNew) {
    const record = names.formatRecord(wanted!);
    return path.length === 1
      ? `${addArticle(names.findKind(server, path[0]!))} is missing: ${record}`
      : `${place} lacks ${record} (${changed})`;
  }
  if (found === undefined)
    return field === undefined
      ? `${place} is missing (${call === undefined ? "no call added it" : `removed by call ${call + 1}`})`
      : `${place} is missing, should be ${names.formatValue(wanted!)} (${changed})`;
  if (wanted === undefined)
    return field === undefined
      ? `${place} should not be there (${call === undefined ? "no call removed it" : `added by call ${call + 1}`})`
      : `${place} is ${names.formatValue(found)}, should not be there (${changed})`;
  return `${place} is ${names.formatValue(found)}, should be ${names.formatValue(wanted)} (${changed})`;
}

/** The call that changed a part of the state last. */
function findChange(pointer: string, attempt: Attempt): number | undefined {
  const call = attempt
    .listPatches()
    .findLastIndex(patches => patches.some(it => areNested(it.path, pointer)));
  return call < 0 ? undefined : call;
}

const areNested = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

const addArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
