/**
 * Asks a person for a tool's arguments, one question at a time, each part in its own way; the back
 * button goes to the question before, Escape leaves without a call. Knows nothing of sessions.
 */
import type { QuickPickItem } from "vscode";
import type { Json, JsonObject } from "../../environment/json.ts";
import type { JsonSchema } from "../../environment/server.ts";
import type { Entity } from "./entities.ts";
import { formOf, parseField, textOf, typeName, type Field } from "./form.ts";
import { BackNavigation, pickOne, pickMany, askText, type Question } from "../shared/quickInput.ts";

export interface Asked {
  readonly tool: { readonly name: string; readonly inputSchema: JsonSchema };
  /** The entities to choose from where a part names one. */
  readonly entities: (kind: string) => readonly Entity[];
  /** The session's time, `YYYY-MM-DDTHH:MM`, where it has one. */
  readonly now?: string;
}

/** Where a question stands among the others. */
interface Place {
  readonly title: string;
  readonly hasBack: boolean;
}

/** The arguments that the person gave. Throws a `CancellationError` on Escape. */
export async function askArguments(asked: Asked): Promise<JsonObject> {
  return askFields(asked, formOf(asked.tool), { title: asked.tool.name, hasBack: false });
}

/** Required parts and those optional ones that the person wants. */
async function askFields(
  asked: Asked,
  fields: readonly Field[],
  place: Place,
): Promise<JsonObject> {
  const optional = fields.filter(it => !it.isRequired);
  let wanted: readonly Field[] = fields;
  const given = new Map<Field, Json>();
  for (let i = optional.length ? -1 : 0; i < wanted.length;) {
    const here = {
      title:
        i < 0 || wanted.length === 1
          ? place.title
          : `${place.title} (${i + 1} of ${wanted.length})`,
      hasBack: place.hasBack || i > (optional.length ? -1 : 0),
    };
    try {
      if (i < 0)
        wanted = fields
          .filter(it => it.isRequired)
          .concat(await chooseOptional(optional, [...given.keys()], here));
      else given.set(wanted[i]!, await askField(asked, wanted[i]!, here, given.get(wanted[i]!)));
      i++;
    } catch (error) {
      if (!(error instanceof BackNavigation) || !here.hasBack || i <= (optional.length ? -1 : 0))
        throw error;
      i--;
    }
  }
  return Object.fromEntries(wanted.map(it => [it.key, given.get(it)!]));
}

async function chooseOptional(
  optional: readonly Field[],
  before: readonly Field[],
  place: Place,
): Promise<readonly Field[]> {
  const items = optional.map(field => ({ label: field.key, detail: field.description, field }));
  const question = { ...place, text: "Which optional arguments to give; none is fine" };
  const chosen = await pickMany(items, question, {
    selected: items.filter(it => before.includes(it.field)),
  });
  return chosen.map(it => it.field);
}

function askField(asked: Asked, field: Field, place: Place, before?: Json): Promise<Json> {
  const question = { ...place, text: `${field.key}: ${field.description}` };
  switch (field.kind) {
    case "choice":
      return askChoice(field.choices, question);
    case "list":
      return askList(asked, field, question);
    case "record":
      return askFields(asked, field.fields, { ...place, title: `${place.title} › ${field.key}` });
    case "either":
      return askEither(asked, field, place, question);
    case "text":
    case "day":
    case "minute":
    case "number":
    case "json":
      return field.entity
        ? askEntity(asked, field, question, before)
        : typeField(asked, field, question, before);
    default:
      throw new Error(`no question for ${JSON.stringify(field satisfies never)}`);
  }
}

async function askChoice(choices: readonly Json[], question: Question): Promise<Json> {
  if (choices.length === 1) return choices[0]!;
  return (
    await pickOne(
      choices.map(value => ({ label: textOf(value), value })),
      question,
    )
  ).value;
}

const other: QuickPickItem & { readonly id?: string } = {
  label: "Type another value…",
  alwaysShow: true,
};

async function askEntity(
  asked: Asked,
  field: Field,
  question: Question,
  before?: Json,
): Promise<Json> {
  const known = asked
    .entities(field.entity!)
    .map(({ id, about }) => ({ label: id, description: about, id }));
  if (known.length === 0) return typeField(asked, field, question, before);
  const chosen = await pickOne([...known, other], question);
  return chosen.id ?? typeField(asked, field, { ...question, hasBack: true }, before);
}

async function askEither(
  asked: Asked,
  field: Extract<Field, { kind: "either" }>,
  place: Place,
  question: Question,
): Promise<Json> {
  const items = field.branches.map(branch => ({
    label:
      branch.kind === "choice" && branch.choices.length === 1
        ? textOf(branch.choices[0]!)
        : ((branch.schema["title"] as string | undefined) ?? typeName(branch.schema)),
    branch,
  }));
  const { branch } = await pickOne(items, question);
  return askField(asked, branch, { ...place, hasBack: true });
}

/** A list of what can be chosen from is chosen at once; any other is given item by item. */
async function askList(
  asked: Asked,
  field: Extract<Field, { kind: "list" }>,
  question: Question,
): Promise<Json> {
  const { item } = field;
  const known =
    item.kind === "choice"
      ? item.choices.map(value => ({ label: textOf(value), value }))
      : item.entity
        ? asked
            .entities(item.entity)
            .map(({ id, about }) => ({ label: id, description: about, value: id as Json }))
        : [];
  if (known.length)
    return (
      await pickMany(known, question, {
        validate: chosen => field.complaint(chosen.map(it => it.value)),
      })
    ).map(it => it.value);
  const items: Json[] = [];
  while (items.length < field.most) {
    const place = {
      title: `${question.title ?? ""} › ${field.key} ${items.length + 1}`,
      hasBack: items.length > 0 || question.hasBack === true,
    };
    try {
      const next = await askItem(asked, field, items, place);
      if (next === undefined) break;
      items.push(next);
    } catch (error) {
      if (!(error instanceof BackNavigation) || items.length === 0) throw error;
      items.pop();
    }
  }
  return items;
}

/** One item more, or undefined where the person has given all. */
async function askItem(
  asked: Asked,
  { item, complaint, least }: Extract<Field, { kind: "list" }>,
  before: readonly Json[],
  place: Place,
): Promise<Json | undefined> {
  const text = `${item.key}: ${item.description}`;
  const mayEnd = before.length >= least && complaint([...before]) === undefined;
  if (
    item.kind === "text" ||
    item.kind === "number" ||
    item.kind === "day" ||
    item.kind === "minute"
  ) {
    const typed = await askText(
      { ...place, text: mayEnd ? `${text} — leave empty when all are given` : text },
      {
        ...placeholderOf(item),
        validate: typed => {
          if (typed === "" && mayEnd) return undefined;
          const parsed = parseField(item, typed);
          return "why" in parsed ? parsed.why : undefined;
        },
      },
    );
    return typed === "" && mayEnd ? undefined : valueOf(item, typed);
  }
  if (mayEnd) {
    const more = { label: before.length ? "Add another" : "Add one" };
    const chosen = await pickOne([more, { label: before.length ? "That is all" : "None" }], {
      ...place,
      text,
    });
    if (chosen !== more) return undefined;
  }
  // an item is titled by its number, not by its list's name once more
  return item.kind === "record"
    ? askFields(asked, item.fields, { ...place, hasBack: true })
    : askField(asked, item, { ...place, hasBack: true });
}

async function typeField(
  { now }: Asked,
  field: Field,
  question: Question,
  before?: Json,
): Promise<Json> {
  // a day and a time are told nearest to the session's own
  const start =
    field.kind === "day" ? now?.slice(0, 10) : field.kind === "minute" ? now : undefined;
  const typed = await askText(question, {
    ...(before !== undefined ? { value: textOf(before) } : start ? { value: start } : {}),
    ...placeholderOf(field),
    validate(text) {
      const parsed = parseField(field, text);
      return "why" in parsed ? parsed.why : undefined;
    },
  });
  return valueOf(field, typed);
}

const placeholderOf = (field: Field) => {
  const form = {
    day: "YYYY-MM-DD",
    minute: "YYYY-MM-DDTHH:MM",
    number: typeName(field.schema),
    json: "written as JSON",
  }[field.kind as string];
  const placeholder = field.example ? `for example ${field.example}` : form;
  return placeholder === undefined ? {} : { placeholder };
};

function valueOf(field: Field, typed: string): Json {
  const parsed = parseField(field, typed);
  if ("why" in parsed) throw new Error(`${field.key} was let through: ${parsed.why}`);
  return parsed.value;
}
