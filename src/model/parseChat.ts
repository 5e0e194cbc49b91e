/** Parses the token ids that the student writes into a message: calls, or text for the user. */
import type { Call } from "../environment/outcome.ts";
import type { AssistantMessage } from "../policy/policy.ts";
import { IdAliases } from "./idAliases.ts";
import { marks, type Mark, type Tokenizer } from "./tokenizer.ts";
import { parseArgument, type Tool } from "./valueText.ts";

/**
 * Whether a message ends with this id: with its end mark, or with a mark that a policy must not
 * write.
 */
export const isMessageEnd = (id: number): boolean =>
  id < marks.length && !marksInMessages.has(marks[id]!);

const marksInMessages: ReadonlySet<Mark> = new Set<Mark>(["<call>", "<also>", "<arg>", "<fin>"]);

/**
 * Parses a message of the student. Ids that cannot be parsed become a call with an empty name whose
 * argument is their text.
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
    const knownKey = tokenizer.keyOf(pair[0]!);
    if (!pair.slice(1).every(id => tokenizer.isText(id))) return undefined;
    const text = tokenizer.decode(pair.slice(1));
    const equalsSign = knownKey === undefined ? text.indexOf("=") : -1;
    const key = knownKey ?? text.slice(1, Math.max(equalsSign, 1));
    if (key === "" || Object.hasOwn(args, key)) return undefined;
    args[key] = parseArgument(
      aliases.restoreIds(text.slice(equalsSign + 1).replace(/^ /, "")),
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

function splitIds(ids: readonly number[], isSeparator: (id: number) => boolean): number[][] {
  const blocks: number[][] = [[]];
  for (const id of ids) {
    if (isSeparator(id)) blocks.push([]);
    else blocks.at(-1)!.push(id);
  }
  return blocks;
}
