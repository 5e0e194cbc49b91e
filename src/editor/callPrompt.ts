/** Asks a person for a tool's arguments, one field at a time; Escape leaves without a call. Knows nothing of sessions but their state. */
import { CancellationError, window, type QuickPickItem } from "vscode";
import type { Json, JsonObject } from "../environment/json.ts";
import type { Tool } from "../environment/server.ts";
import { fieldsOf, idsFor, parseField, textOf, type Field } from "./form.ts";

/** The arguments that the person gave. Throws a `CancellationError` on Escape. */
export async function askArguments(tool: Tool, world: JsonObject): Promise<JsonObject> {
  const fields = fieldsOf(tool.inputSchema);
  const wanted = [...fields.filter(it => it.isRequired), ...(await optionalOnes(tool, fields))];
  const args: Record<string, Json> = {};
  for (const [i, field] of wanted.entries()) args[field.key] = await askField(field, world, `${tool.name} (${i + 1} of ${wanted.length})`);
  return args;
}

async function optionalOnes(tool: Tool, fields: readonly Field[]): Promise<readonly Field[]> {
  const optional = fields.filter(it => !it.isRequired);
  if (optional.length === 0) return [];
  const items = optional.map(field => ({ label: field.key, detail: field.description, field }));
  const chosen = await window.showQuickPick(items, { canPickMany: true, title: tool.name, placeHolder: "Which optional arguments to give; none is fine" });
  if (!chosen) throw new CancellationError();
  return chosen.map(it => it.field);
}

async function askField(field: Field, world: JsonObject, title: string): Promise<Json> {
  const other: QuickPickItem & { value?: Json } = { label: "Type another value…", alwaysShow: true };
  const ids = field.entity ? idsFor(field.entity, world) : [];
  const known: (QuickPickItem & { value?: Json })[] = field.choices
    ? field.choices.map(value => ({ label: textOf(value), value }))
    : ids.map(({ id, about }) => ({ label: id, description: about, value: id }));
  if (known.length) {
    const items = field.choices ? known : [...known, other];
    const chosen = await window.showQuickPick(items, { title, placeHolder: `${field.key}: ${field.description}`, matchOnDescription: true });
    if (!chosen) throw new CancellationError();
    if (chosen.value !== undefined) return chosen.value;
  }
  return typeField(field, title);
}

async function typeField(field: Field, title: string): Promise<Json> {
  const typed = await window.showInputBox({
    title,
    prompt: `${field.key}: ${field.description}`,
    ...(field.example ? { placeHolder: `for example ${field.example}` } : {}),
    ignoreFocusOut: true,
    validateInput(text) {
      const parsed = parseField(field, text);
      return "why" in parsed ? parsed.why : undefined;
    },
  });
  if (typed === undefined) throw new CancellationError();
  const parsed = parseField(field, typed);
  if ("why" in parsed) throw new Error(`${field.key} was let through: ${parsed.why}`);
  return parsed.value;
}
