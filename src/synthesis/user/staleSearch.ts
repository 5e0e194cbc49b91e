/**
 * Finds requests in which something that the user says no longer holds: a file is in another
 * folder, an event is on another day. The user knows that this may be so.
 */
import type { Json } from "../../environment/json.ts";
import { addDays } from "../../environment/time.ts";
import { formatReplyValue, formatValue } from "../text/formatValue.ts";
import { isRequest } from "../text/clauses.ts";
import { markVerbatim } from "../text/valueMarks.ts";
import { getEntityKey } from "./entityInstance.ts";
import { findsSomething, type FeasibilityResult } from "./feasibilityResult.ts";
import type { RecoveryRequest } from "./recoveryRequest.ts";
import { addPermission } from "./repairSearch.ts";

/** A request with a folder or a field that no longer holds, or undefined. */
export const findStaleIntent = (request: RecoveryRequest): FeasibilityResult | undefined =>
  findMovedIntent(request) ?? findOutdatedIntent(request);

/** A request for a file that is in another folder than the user says. */
function findMovedIntent(request: RecoveryRequest): FeasibilityResult | undefined {
  const { search, declaration, recoveries, check } = request;
  const { context, checker } = search;
  const { random, sample, known } = context;
  const input = declaration.inputs.find(it => it.isRequired && !it.isList);
  const moved = recoveries.moved?.find(
    it => it.entity === input?.entity && !checker.hiddenTools?.has(it.by),
  );
  const choices = (moved && sample.instances.get(moved.entity)) ?? [];
  if (!input || !moved || choices.length === 0) return undefined;
  const instance = random.pick(choices);
  const [folder, name] = splitPath(instance.id);
  const folders = [...new Set(choices.map(it => splitPath(it.id)[0]))].filter(
    it => it !== folder && it !== "" && !choices.some(other => other.id === `${it}/${name}`),
  );
  if (
    folder === "" ||
    name.startsWith(".") ||
    folders.length === 0 ||
    known.has(getEntityKey(instance))
  )
    return undefined;
  const stale = `${random.pick(folders)}/${name}`;
  const result = check({
    context: {
      ...context,
      wordings: new Map([
        [getEntityKey(instance), { text: markVerbatim(stale), isIdSpoken: true }],
      ]),
    },
    flow: { [input.key]: [instance] },
  });
  if (!result || !findsSomething(result) || !isRequest(result.intent.clause)) return undefined;
  const { intent } = result;
  if (intent.mentions.filter(it => it.instance.entity === input.entity).length > 1)
    return undefined;
  const refused = { ...intent.arguments, [input.key]: stale };
  const { outcome } = checker.forkSession().call(intent.tool.name, refused);
  const step = { name: moved.by, arguments: { [moved.argument]: name } };
  const found = checker.forkSession().call(step.name, step.arguments).outcome;
  const isOnly =
    found.kind === "ok" &&
    countPaths(found.value, name) === 1 &&
    showsText(found.value, instance.id);
  if (outcome.kind !== "refused" || outcome.type !== "not_found" || !isOnly) return undefined;
  if (intent.arguments[input.key] !== instance.id) return undefined;
  const told = moved.told.map(it =>
    it.replace("{name}", () => markVerbatim(name)).replace("{folder}", () => renderFolder(folder)),
  );
  return {
    ...result,
    intent: {
      ...intent,
      argumentTexts: { ...intent.argumentTexts, [input.key]: markVerbatim(instance.id) },
      clause: addPermission(intent.clause, random.pick(moved.say)),
      recovery: { sort: "stale", refused, steps: [step], told: [told] },
    },
  };
}

const renderFolder = (folder: string): string =>
  folder === "~" ? "your home folder" : markVerbatim(folder);

/** Folder and name of a path; no folder for a name alone. */
function splitPath(path: string): readonly [folder: string, name: string] {
  const slash = path.lastIndexOf("/");
  return [path.slice(0, Math.max(0, slash)), path.slice(slash + 1)];
}

const countPaths = (value: Json, name: string): number =>
  JSON.stringify(value).split(`/${name}"`).length - 1;

const showsText = (value: Json, text: string): boolean =>
  JSON.stringify(value).includes(JSON.stringify(text));

/** A request about an entity with a remark on one of its fields that is out of date. */
function findOutdatedIntent(request: RecoveryRequest): FeasibilityResult | undefined {
  const { search, recoveries, check } = request;
  const { now, persona, random, known } = search.context;
  const { outdated = {} } = recoveries;
  if (Object.keys(outdated).length === 0) return undefined;
  const result = check();
  if (!result || !findsSomething(result) || !isRequest(result.intent.clause)) return undefined;
  const { intent } = result;
  const mention = intent.mentions.find(it => outdated[it.instance.entity]);
  const isNamed = mention && !mention.isIdSpoken && mention.partialName === undefined;
  if (!isNamed || known.has(getEntityKey(mention.instance))) return undefined;
  const { entity, label, facts } = mention.instance;
  const { field, say, told } = outdated[entity]!;
  const value = facts[field];
  // what the request itself says of it, or changes, cannot be in doubt
  const isSaid = Object.keys(intent.arguments).includes(field) || /\d/.test(intent.clause);
  if (typeof value !== "string" || label === undefined || isSaid) return undefined;
  // what has begun is not thought to be on another day
  if (value <= now) return undefined;
  const day = addDays(value.slice(0, 10), random.pick([-2, -1, 1, 2, 7]));
  if (!/^\d{4}-\d{2}-\d{2}/.test(value) || day < now.slice(0, 10)) return undefined;
  const wrong = formatValue(day, { now, persona, random });
  const right = formatReplyValue(value, { now, random });
  return {
    ...result,
    intent: {
      ...intent,
      clause: `${intent.clause}; ${random.pick(say).replace(`{${field}}`, () => wrong)}`,
      recovery: {
        sort: "stale",
        steps: [],
        told: [
          told.map(it =>
            it.replace("{label}", () => markVerbatim(label)).replace(`{${field}}`, () => right),
          ),
        ],
      },
    },
  };
}
