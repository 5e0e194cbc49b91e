/** Checks a file of templates against the server that it is for. */
import type { Server, Tool } from "../../environment/server.ts";
import {
  getFixedArguments,
  getTemplateText,
  type ClauseTemplate,
  type ServerTemplates,
  type ToolTemplates,
} from "./templateSchema.ts";
import { findSlots } from "./templateText.ts";

/** What is wrong with a phrase file for this server, a line each. */
export function findTemplateErrors(templates: ServerTemplates, server: Server): string[] {
  const flaws: string[] = [];
  if (templates.server !== server.name)
    flaws.push(`server is ${templates.server}, not ${server.name}`);
  for (const [name, it] of Object.entries(templates.tools)) {
    const tool = server.tools.get(name);
    if (!tool) flaws.push(`${server.name} has no tool ${name}`);
    else flaws.push(...checkToolTemplates(tool, it).map(flaw => `${name}: ${flaw}`));
  }
  for (const [name, it] of Object.entries(templates.entities))
    for (const text of it.again ?? [])
      if (findSlots(text).length > 0)
        flaws.push(`entity ${name}: "${text}" is an again form with a slot`);
  for (const [name, it] of Object.entries(templates.entities))
    for (const text of it.short ?? [])
      if (findSlots(text).some(slot => slot !== "first" && slot !== "lower"))
        flaws.push(
          `entity ${name}: "${text}" is a short form with other slots than {first} and {lower}`,
        );
  return flaws;
}

function checkToolTemplates(tool: Tool, templates: ToolTemplates): string[] {
  const keys = Object.keys((tool.inputSchema["properties"] ?? {}) as object);
  const required = (tool.inputSchema["required"] ?? []) as readonly string[];
  const unknown = (text: string) =>
    findSlots(text)
      .filter(it => !keys.includes(it))
      .map(it => `"${text}" has a slot {${it}} that is no argument`);
  const lacks = (it: ClauseTemplate, but?: string) => {
    const said = [...findSlots(getTemplateText(it)), ...Object.keys(getFixedArguments(it))];
    return required
      .filter(key => key !== but && !said.includes(key))
      .map(key => `"${getTemplateText(it)}" does not say ${key}`);
  };
  const flaws = templates.forms.flatMap(it => [...unknown(getTemplateText(it)), ...lacks(it)]);
  flaws.push(...(templates.again ?? []).flatMap(it => unknown(getTemplateText(it))));
  for (const [key, it] of Object.entries(templates.missing ?? {})) {
    if (!required.includes(key)) flaws.push(`missing ${key} is no required argument`);
    flaws.push(
      ...it.forms.flatMap(form => [...unknown(getTemplateText(form)), ...lacks(form, key)]),
    );
    flaws.push(
      ...it.forms
        .filter(form => findSlots(getTemplateText(form)).includes(key))
        .map(form => `"${getTemplateText(form)}" says ${key}, which it should leave out`),
    );
    flaws.push(
      ...it.ask.flatMap(unknown),
      ...it.ask
        .filter(text => findSlots(text).includes(key))
        .map(text => `"${text}" says what it asks for`),
    );
    flaws.push(
      ...it.answer
        .filter(text => !findSlots(text).includes(key))
        .map(text => `"${text}" does not answer with {${key}}`),
    );
  }
  for (const kind of ["instead", "otherwise"] as const)
    for (const [key, list] of Object.entries(templates[kind] ?? {}))
      flaws.push(
        ...list
          .filter(text => !findSlots(text).includes(key))
          .map(text => `${kind} "${text}" does not say {${key}}`),
      );
  return flaws;
}
