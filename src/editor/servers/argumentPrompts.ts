/**
 * Asks the person for a tool's arguments, one question at a time. The back button returns to the
 * previous question, Escape cancels the call.
 */
import type { QuickPickItem } from "vscode";
import type { Json, JsonObject } from "../../environment/json.ts";
import type { JsonSchema } from "../../environment/server.ts";
import { BackNavigation, askText, pickMany, pickOne, type Question } from "../shared/quickInput.ts";
import { formatJson } from "../shared/jsonValues.ts";
import { describeType, parseField, readForm, type Field } from "./argumentForm.ts";
import type { Entity } from "./entities.ts";
import type { ArgumentDrafts } from "./storedSessions.ts";

interface ArgumentRequest {
  readonly tool: { readonly name: string; readonly inputSchema: JsonSchema };
  /** Lists the entities of a kind, for fields that identify one. */
  readonly entities: (kind: string) => Promise<readonly Entity[]>;
  /** The session's time, `YYYY-MM-DDTHH:MM`, if it has one. */
  readonly now?: string;
  /** Keeps what is typed until the form is finished. */
  readonly drafts: ArgumentDrafts;
  /** Whether the first question goes back to one before the form, by a `BackNavigation`. */
  readonly hasBack?: boolean;
}

/** The part of a question that says where it belongs in the series. */
type QuestionFrame = Required<Pick<Question, "title" | "hasBack">>;

type FieldOf<Kind extends Field["kind"]> = Extract<Field, { kind: Kind }>;

/** Asks for all arguments of a tool. Throws a `CancellationError` on Escape. */
export async function askArguments(request: ArgumentRequest): Promise<JsonObject> {
  const { tool, drafts, hasBack = false } = request;
  const frame = { title: tool.name, hasBack };
  const args = await new ArgumentPrompts(request).askFields(readForm(tool), frame);
  drafts.clear(tool.name);
  return args;
}

class ArgumentPrompts {
  readonly #request: ArgumentRequest;

  constructor(request: ArgumentRequest) {
    this.#request = request;
  }

  /** Asks for the required fields and for those optional ones that the person chooses. */
  async askFields(fields: readonly Field[], frame: QuestionFrame): Promise<JsonObject> {
    const optional = fields.filter(it => !it.isRequired);
    const required = fields.filter(it => it.isRequired);
    // question -1 asks which optional fields to fill in
    const first = optional.length ? -1 : 0;
    let chosen = fields;
    const values = new Map<Field, Json>();
    for (let i = first; i < chosen.length;) {
      const isNumbered = i >= 0 && chosen.length > 1;
      const question = {
        title: isNumbered ? `${frame.title} (${i + 1} of ${chosen.length})` : frame.title,
        hasBack: frame.hasBack || i > first,
      };
      try {
        if (i < 0)
          chosen = [...required, ...(await pickOptional(optional, [...values.keys()], question))];
        else
          values.set(
            chosen[i]!,
            await this.#askField(chosen[i]!, question, values.get(chosen[i]!)),
          );
        i++;
      } catch (error) {
        if (!(error instanceof BackNavigation) || i <= first) throw error;
        i--;
      }
    }
    return Object.fromEntries(chosen.map(it => [it.key, values.get(it)!]));
  }

  #askField(field: Field, frame: QuestionFrame, previous?: Json): Promise<Json> {
    const question = { ...frame, text: `${field.key}: ${field.description}` };
    switch (field.kind) {
      case "choice":
        return pickChoice(field.choices, question);
      case "list":
        return this.#askList(field, question);
      case "record":
        return this.askFields(field.fields, { ...frame, title: `${frame.title} › ${field.key}` });
      case "either":
        return this.#askBranch(field, question);
      case "text":
      case "day":
      case "minute":
      case "number":
      case "json":
        return field.entity
          ? this.#pickEntity(field, question, previous)
          : this.#askTypedField(field, question, previous);
      default:
        throw new Error(`no question for ${JSON.stringify(field satisfies never)}`);
    }
  }

  async #pickEntity(field: Field, question: Question, previous?: Json): Promise<Json> {
    const entities = await this.#createEntityItems(field.entity!);
    if (entities.length === 0) return this.#askTypedField(field, question, previous);
    let typed = "";
    const { value } = await pickOne([...entities, otherValue], question, it => (typed = it));
    if (value !== undefined) return value;
    // what was typed to find the value is the value if it is not among them
    return this.#askTypedField(field, { ...question, hasBack: true }, typed || previous);
  }

  async #askBranch(field: FieldOf<"either">, question: Question & QuestionFrame): Promise<Json> {
    const items = field.branches.map(branch => ({
      label:
        branch.kind === "choice" && branch.choices.length === 1
          ? formatJson(branch.choices[0]!)
          : ((branch.schema["title"] as string | undefined) ?? describeType(branch.schema)),
      branch,
    }));
    const { branch } = await pickOne(items, question);
    return this.#askField(branch, { title: question.title, hasBack: true });
  }

  /** Asks for a list: in one question if its items can be listed, otherwise item by item. */
  async #askList(field: FieldOf<"list">, question: Question & QuestionFrame): Promise<Json> {
    const choices = await this.#createListChoices(field.item);
    if (choices.length) {
      const picked = await pickMany(choices, question, {
        validate: picks => field.validate(picks.map(it => it.value)),
      });
      return picked.map(it => it.value);
    }
    const items: Json[] = [];
    while (items.length < field.maxItems) {
      const frame = {
        title: `${question.title} › ${field.key} ${items.length + 1}`,
        hasBack: items.length > 0 || question.hasBack,
      };
      try {
        const item = await this.#askItem(field, items, frame);
        if (item === undefined) break;
        items.push(item);
      } catch (error) {
        if (!(error instanceof BackNavigation) || items.length === 0) throw error;
        items.pop();
      }
    }
    return items;
  }

  /** Asks for the next item of a list; resolves to undefined if the person adds no more. */
  async #askItem(
    { item, validate, minItems }: FieldOf<"list">,
    items: readonly Json[],
    frame: QuestionFrame,
  ): Promise<Json | undefined> {
    const text = `${item.key}: ${item.description}`;
    const mayEnd = items.length >= minItems && validate([...items]) === undefined;
    if (typedKinds.has(item.kind)) return askTypedItem(item, { ...frame, text }, mayEnd);
    if (mayEnd) {
      const add = { label: items.length ? "Add another" : "Add one" };
      const end = { label: items.length ? "Done" : "None" };
      if ((await pickOne([add, end], { ...frame, text })) !== add) return undefined;
    }
    // the title of the item already ends with the key of the list
    return item.kind === "record"
      ? this.askFields(item.fields, { ...frame, hasBack: true })
      : this.#askField(item, { ...frame, hasBack: true });
  }

  /** `previous` is an earlier answer, or a text that was typed already. */
  async #askTypedField(field: Field, question: Question, previous?: Json): Promise<Json> {
    const { now, tool, drafts } = this.#request;
    // a day or time is most often near the session's own
    const start = { day: now?.slice(0, 10), minute: now }[field.kind as string];
    const draft = drafts.get(tool.name, field.key);
    const value = previous === undefined ? (draft ?? start) : formatJson(previous);
    const text = await askText(question, {
      ...(value ? { value } : {}),
      ...createPlaceholder(field),
      onType: it => drafts.set(tool.name, field.key, it),
      validate: it => findError(field, it),
    });
    return parseValidText(field, text);
  }

  /** The values that a list's item can be chosen from; none if it must be typed. */
  async #createListChoices(
    item: Field,
  ): Promise<readonly (QuickPickItem & { readonly value: Json })[]> {
    if (item.kind === "choice") return createChoiceItems(item.choices);
    return item.entity ? this.#createEntityItems(item.entity) : [];
  }

  async #createEntityItems(kind: string) {
    const entities = await this.#request.entities(kind);
    return entities.map(({ id, description }) => ({ label: id, description, value: id as Json }));
  }
}

/** The kinds of list items that are typed, so that an empty text can end the list. */
const typedKinds: ReadonlySet<Field["kind"]> = new Set(["text", "number", "day", "minute"]);

async function pickOptional(
  optional: readonly Field[],
  selected: readonly Field[],
  frame: QuestionFrame,
): Promise<readonly Field[]> {
  const items = optional.map(field => ({ label: field.key, detail: field.description, field }));
  const question = { ...frame, text: "Which optional arguments to fill in (none is fine)" };
  const picked = await pickMany(items, question, {
    selected: items.filter(it => selected.includes(it.field)),
  });
  return picked.map(it => it.field);
}

const createChoiceItems = (choices: readonly Json[]) =>
  choices.map(value => ({ label: formatJson(value), value }));

async function pickChoice(choices: readonly Json[], question: Question): Promise<Json> {
  if (choices.length === 1) return choices[0]!;
  return (await pickOne(createChoiceItems(choices), question)).value;
}

const otherValue: QuickPickItem & { readonly value?: Json } = {
  label: "Type another value…",
  alwaysShow: true,
};

/** Asks for a typed item of a list; an empty text ends the list if it may end here. */
async function askTypedItem(
  item: Field,
  question: Question,
  mayEnd: boolean,
): Promise<Json | undefined> {
  const prompt = mayEnd ? `${question.text} — leave empty to finish` : question.text;
  const text = await askText(
    { ...question, text: prompt },
    {
      ...createPlaceholder(item),
      validate: it => (it === "" && mayEnd ? undefined : findError(item, it)),
    },
  );
  return text === "" && mayEnd ? undefined : parseValidText(item, text);
}

const createPlaceholder = (field: Field) => {
  const format = {
    day: "YYYY-MM-DD",
    minute: "YYYY-MM-DDTHH:MM",
    number: describeType(field.schema),
    json: "written as JSON",
  }[field.kind as string];
  const placeholder = field.example ? `for example ${field.example}` : format;
  return placeholder === undefined ? {} : { placeholder };
};

function findError(field: Field, text: string): string | undefined {
  const result = parseField(field, text);
  return "error" in result ? result.error : undefined;
}

function parseValidText(field: Field, text: string): Json {
  const result = parseField(field, text);
  if ("error" in result) throw new Error(`${field.key} passed validation: ${result.error}`);
  return result.value;
}
