/** Checks the templates of a server against the tools that they are for. */
import type { Server, Tool } from "../../environment/server.ts";
import { findClauseErrors } from "./clauseErrors.ts";
import {
  getFixedArguments,
  getTemplateText,
  type ClauseTemplate,
  type ServerTemplates,
  type ToolTemplates,
} from "./templateSchema.ts";
import { findSlots } from "./templateText.ts";

/** Returns one message per error. */
export function findTemplateErrors(templates: ServerTemplates, server: Server): string[] {
  const errors: string[] = [];
  if (templates.server !== server.name)
    errors.push(`server is ${templates.server}, not ${server.name}`);
  for (const [name, it] of Object.entries(templates.tools)) {
    const tool = server.tools.get(name);
    if (!tool) errors.push(`${server.name} has no tool ${name}`);
    else errors.push(...checkToolTemplates(tool, it).map(error => `${name}: ${error}`));
  }
  return [...errors, ...checkEntityTemplates(templates)];
}

function checkEntityTemplates({ entities }: ServerTemplates): string[] {
  const errors: string[] = [];
  for (const [name, it] of Object.entries(entities))
    for (const text of it.again ?? [])
      if (findSlots(text).length > 0)
        errors.push(`entity ${name}: "${text}" is an again form with a slot`);
  for (const [name, it] of Object.entries(entities))
    for (const text of it.short ?? [])
      if (findSlots(text).some(slot => slot !== "first" && slot !== "lower"))
        errors.push(
          `entity ${name}: "${text}" is a short form with other slots than {first} and {lower}`,
        );
  return errors;
}

type MissingTemplates = NonNullable<ToolTemplates["missing"]>[string];

function checkToolTemplates(tool: Tool, templates: ToolTemplates): string[] {
  const errors = templates.forms.flatMap(it => [
    ...findUnknownSlots(getTemplateText(it), tool),
    ...findUnsaidArguments(it, tool),
    ...findClauseErrors(getTemplateText(it)),
  ]);
  errors.push(
    ...(templates.again ?? [])
      .map(getTemplateText)
      .flatMap(it => [...findUnknownSlots(it, tool), ...findClauseErrors(it)]),
  );
  for (const [key, it] of Object.entries(templates.missing ?? {}))
    errors.push(...checkMissingTemplates(key, it, tool));
  for (const kind of ["instead", "otherwise"] as const)
    for (const [key, list] of Object.entries(templates[kind] ?? {}))
      errors.push(
        ...list
          .filter(text => !findSlots(text).includes(key))
          .map(text => `${kind} "${text}" does not say {${key}}`),
      );
  return errors;
}

function checkMissingTemplates(
  key: string,
  { forms, ask, answer }: MissingTemplates,
  tool: Tool,
): string[] {
  const isSaid = (text: string) => findSlots(text).includes(key);
  return [
    ...(listRequiredKeys(tool).includes(key) ? [] : [`missing ${key} is no required argument`]),
    ...forms.flatMap(it => [
      ...findUnknownSlots(getTemplateText(it), tool),
      ...findUnsaidArguments(it, tool, key),
      ...findClauseErrors(getTemplateText(it)),
    ]),
    ...forms
      .map(getTemplateText)
      .filter(isSaid)
      .map(text => `"${text}" says ${key}, which it should leave out`),
    ...ask.flatMap(text => findUnknownSlots(text, tool)),
    ...ask.filter(isSaid).map(text => `"${text}" says what it asks for`),
    ...answer.filter(text => !isSaid(text)).map(text => `"${text}" does not answer with {${key}}`),
  ];
}

function findUnknownSlots(text: string, tool: Tool): string[] {
  const keys = Object.keys((tool.inputSchema["properties"] ?? {}) as object);
  return findSlots(text)
    .filter(it => !keys.includes(it))
    .map(it => `"${text}" has a slot {${it}} that is no argument`);
}

function findUnsaidArguments(template: ClauseTemplate, tool: Tool, withheld?: string): string[] {
  const text = getTemplateText(template);
  const keys = [...findSlots(text), ...Object.keys(getFixedArguments(template))];
  return listRequiredKeys(tool)
    .filter(key => key !== withheld && !keys.includes(key))
    .map(key => `"${text}" does not say ${key}`);
}

const listRequiredKeys = (tool: Tool) => (tool.inputSchema["required"] ?? []) as readonly string[];
