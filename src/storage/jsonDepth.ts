/**
 * Limits how deeply JSON from outside is nested. Most code that walks a value is recursive, so that
 * some thousand levels, which take a few kilobytes, would exhaust the stack. What models, files and
 * other programs supply is therefore checked where it enters.
 */
import { parseCallJson } from "./exactJson.ts";

/**
 * The most levels of lists and records: in the arguments or the result of a call, in a line or a
 * document, which contains such values, and in a message of another program, which may contain
 * lines. The product's own files have at most 15.
 */
const depthLimits = { value: 64, document: 96, message: 128 } as const;

type DepthLimit = keyof typeof depthLimits;

/** Stands for arguments, or a part of a message, that were nested too deeply. */
export const tooDeepText = "(nested too deeply)";

export const isTooDeep = (value: unknown, limit: DepthLimit): boolean =>
  listContainers(value, depthLimits[limit] + 1).length > 0;

/** What is wrong with a value that is nested too deeply. */
export const describeTooDeep = (limit: DepthLimit): string =>
  `nested more than ${depthLimits[limit]} levels deep`;

/** The arguments of a call, or a text in place of those that are nested too deeply. */
export const replaceTooDeep = <T>(args: T): T | typeof tooDeepText =>
  isTooDeep(args, "value") ? tooDeepText : args;

/**
 * The value of the JSON text of a message. What is nested too deeply in it is replaced by a text,
 * so that the rest of the message can still be answered. Throws a `SyntaxError`.
 */
export function parseMessageJson(text: string, parse = parseCallJson): unknown {
  const message = parse(text);
  for (const it of listContainers(message, depthLimits.message))
    for (const key of Object.keys(it)) if (isContainer(it[key])) it[key] = tooDeepText;
  return message;
}

type Container = Record<string, unknown>;

const isContainer = (value: unknown): value is Container =>
  value !== null && typeof value === "object";

/** The lists and records at a level; the value itself is at level 1. */
function listContainers(value: unknown, level: number): readonly Container[] {
  let containers = isContainer(value) ? [value] : [];
  for (let at = 1; at < level && containers.length > 0; at++) {
    const inside: Container[] = [];
    for (const it of containers)
      for (const child of Object.values(it)) if (isContainer(child)) inside.push(child);
    containers = inside;
  }
  return containers;
}
