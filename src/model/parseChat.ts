/** Parses what the student writes: a message with its calls, or text. */
import type { AssistantMessage, Call } from "../policy/policy.ts";
import { IdAliases } from "./idAliases.ts";
import { marks, type Mark, type Tokenizer } from "./tokenizer.ts";
import { parseArgument, type Tool } from "./valueText.ts";

/**
 * Whether a message ends with this id: it is complete, or breaks off with a mark that is not the
 * policy's to write.
 */
export const isMessageEnd = (id: number): boolean =>
  id < marks.length && !withinMessages.has(marks[id]!);

const withinMessages: ReadonlySet<Mark> = new Set<Mark>(["<call>", "<also>", "<arg>", "<fin>"]);

/**
 * A student's message, from the ids it wrote. What cannot be parsed is a call with the name ""
 * whose argument is the text.
 */
export function parseMessage(
  tokenizer: Tokenizer,
  tools: readonly Tool[],
  ids: readonly number[],
  aliases = new IdAliases(),
): Pick<AssistantMessage, "text" | "calls"> {
  const end = ids.at(-1);
  const [first, ...body] = ids;
  if (
    first === tokenizer.markId("<fin>") &&
    end === tokenizer.markId("<eot>") &&
    body.slice(0, -1).every(id => tokenizer.isText(id))
  )
    return {
      text: aliases.restoreIds(tokenizer.decode(body.slice(0, -1)).replace(/^ /, "")),
      calls: [],
    };
  if (first !== tokenizer.markId("<call>") || end !== tokenizer.markId("<eoc>"))
    return { text: "", calls: [createUnparsedCall(tokenizer, ids)] };
  const blocks = splitIds(body.slice(0, -1), id => id === tokenizer.markId("<also>"));
  return {
    text: "",
    calls: blocks.map(
      block => parseCall(tokenizer, tools, block, aliases) ?? createUnparsedCall(tokenizer, block),
    ),
  };
}

const createUnparsedCall = (tokenizer: Tokenizer, ids: readonly number[]): Call => ({
  name: "",
  arguments: { unparsed: tokenizer.decode(ids) },
});

function parseCall(
  tokenizer: Tokenizer,
  tools: readonly Tool[],
  block: readonly number[],
  aliases: IdAliases,
): Call | undefined {
  const isKey = (id: number) =>
    tokenizer.keyOf(id) !== undefined || id === tokenizer.markId("<arg>");
  const parts: number[][] = [[]];
  for (const id of block) {
    if (isKey(id)) parts.push([]);
    parts.at(-1)!.push(id);
  }
  const [head, ...pairs] = parts as [number[], ...number[][]];
  const name = parseName(tokenizer, head);
  if (name === undefined) return undefined;
  const properties = (tools.find(it => it.name === name)?.inputSchema["properties"] ??
    {}) as Record<string, Tool["inputSchema"]>;
  const args: Record<string, Call["arguments"]> = Object.create(null) as Record<string, never>;
  for (const pair of pairs) {
    const known = tokenizer.keyOf(pair[0]!);
    if (!pair.slice(1).every(id => tokenizer.isText(id))) return undefined;
    const text = tokenizer.decode(pair.slice(1));
    const at = known === undefined ? text.indexOf("=") : -1;
    const key = known ?? text.slice(1, Math.max(at, 1));
    if (key === "" || Object.hasOwn(args, key)) return undefined;
    args[key] = parseArgument(
      aliases.restoreIds(text.slice(at + 1).replace(/^ /, "")),
      Object.hasOwn(properties, key) ? properties[key] : undefined,
    );
  }
  return { name, arguments: { ...args } };
}

function parseName(tokenizer: Tokenizer, head: readonly number[]): string | undefined {
  if (head.length === 1 && tokenizer.nameOf(head[0]!) !== undefined)
    return tokenizer.nameOf(head[0]!);
  if (head.length === 0 || !head.every(id => tokenizer.isText(id))) return undefined;
  const name = tokenizer.decode(head).trim();
  return /^[\w.-]{1,64}$/.test(name) ? name : undefined;
}

function splitIds(ids: readonly number[], isAt: (id: number) => boolean): number[][] {
  const blocks: number[][] = [[]];
  for (const id of ids) {
    if (isAt(id)) blocks.push([]);
    else blocks.at(-1)!.push(id);
  }
  return blocks;
}
