/**
 * OpenTelemetry traces of agents, such as VS Code's Agent Debug Log and what Phoenix collects. An
 * agent is a rollout: its requests to a model, each with all messages before, and its tools.
 * Messages have the attributes of the GenAI conventions, of OpenInference or of OpenLLMetry.
 */
import { z } from "zod";
import { chatRowsSchema, isRecord, parseChatRows, parseOrUndefined } from "./chatRows.ts";
import { AgentSpans, listAgents, type Span } from "./otlpSpans.ts";
import { numberSchema, type Rollout, type RolloutFormat, taskColumns } from "./rollout.ts";

const documentSchema = z.looseObject({ resourceSpans: z.array(z.looseObject({})) });
const taskSchema = z.looseObject(taskColumns);

export const otlp: RolloutFormat = {
  name: "otlp",
  noun: "an OpenTelemetry trace",
  writer: "an exporter of OpenTelemetry",
  regroup: listAgents,
  parseRow(json, { check, omit, skip }) {
    if (!(json instanceof AgentSpans)) {
      check(documentSchema, json);
      return undefined;
    }
    const { id, agent, spans } = json;
    const rows = listMessages(json);
    if (!rows)
      return spans.some(isModelRequest)
        ? skip(`has no messages of ${id}, because content was not recorded,`)
        : undefined;
    const attributes = Object.assign(
      {},
      ...[...spans, ...(agent ? [agent] : [])].map(getAttributes),
    );
    const { task_id, turn } = check(taskSchema, {
      task_id: attributes["prove.task_id"],
      turn: attributes["prove.turn"],
    });
    return {
      id,
      task: task_id ?? undefined,
      turn: turn ?? undefined,
      policy: findText(attributes, modelKeys),
      menu: findMenu(attributes),
      prompt: [],
      completion: parseChatRows(check(chatRowsSchema, rows), omit),
      ...findEnd(json),
      score: findScore(spans),
    };
  },
};

const getAttributes = ({ attributes }: Span): Span["attributes"] => attributes;

const modelKeys = ["gen_ai.response.model", "gen_ai.request.model", "llm.model_name"] as const;

const findText = (
  attributes: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): string | undefined =>
  keys.map(it => attributes[it]).find((it): it is string => typeof it === "string" && it !== "");

const isModelRequest = ({ attributes }: Span): boolean =>
  ["chat", "generate_content", "text_completion"].some(
    it => it === attributes["gen_ai.operation.name"],
  ) || attributes["openinference.span.kind"] === "LLM";

/** The messages of an agent as chat messages: the history of its last request, and what followed. */
function listMessages({ agent, spans }: AgentSpans): readonly unknown[] | undefined {
  const inner = spans.filter(it => it !== agent);
  const requests = inner.filter(it => readSide(it, "output") ?? readSide(it, "input"));
  const used = requests.length > 0 || !agent ? requests : [agent];
  const start = used.findLastIndex(it => readSide(it, "input"));
  const first = start < 0 ? agent : used[start];
  const rows = [...((first && readSide(first, "input")) ?? [])];
  for (const [i, request] of used.entries()) {
    if (i < start) continue;
    rows.push(...(readSide(request, "output") ?? []));
    const next = used[i + 1];
    for (const it of inner)
      if (it.start >= request.start && (!next || it.start < next.start)) rows.push(...readTool(it));
  }
  return rows.length === 0 ? undefined : rows;
}

/** The result of a tool, if the span has one. */
function readTool({ attributes }: Span): readonly unknown[] {
  const isTool =
    attributes["gen_ai.operation.name"] === "execute_tool" ||
    attributes["openinference.span.kind"] === "TOOL";
  const content = attributes["gen_ai.tool.call.result"] ?? attributes["output.value"];
  if (!isTool || content === undefined) return [];
  return [
    {
      role: "tool",
      tool_call_id: findText(attributes, ["gen_ai.tool.call.id", "tool.id", "tool_call.id"]),
      name: findText(attributes, ["gen_ai.tool.name", "tool.name"]),
      content,
    },
  ];
}

/** What a model read, or what it answered, as chat messages; undefined if it was not recorded. */
function readSide({ attributes }: Span, side: "input" | "output"): readonly unknown[] | undefined {
  const json = attributes[`gen_ai.${side}.messages`];
  const list = typeof json === "string" ? parseOrUndefined(json) : json;
  if (Array.isArray(list) && list.length > 0) return list.flatMap(toChatRows);
  const openInference = unflatten(attributes, `llm.${side}_messages.`);
  if (openInference) return openInference.map(it => fromOpenInference(it));
  const prefix = side === "input" ? "gen_ai.prompt." : "gen_ai.completion.";
  const role = side === "input" ? "user" : "assistant";
  return unflatten(attributes, prefix)?.map(it => ({ role, ...toRecord(toLists(it)) }));
}

/** A message with parts as chat messages, of which each result is one. */
function toChatRows(message: unknown): readonly unknown[] {
  if (!isRecord(message) || !Array.isArray(message["parts"])) return [message];
  const parts = message["parts"].filter(isRecord);
  const results = parts.filter(it => it["type"] === "tool_call_response");
  const calls = parts.filter(it => it["type"] === "tool_call");
  const content = parts
    .filter(it => !results.includes(it) && !calls.includes(it))
    .map(it => (it["type"] === "text" ? { type: "text", text: it["content"] } : { ...it }));
  const rows = results.map(it => ({
    role: "tool",
    tool_call_id: it["id"],
    content: it["response"] ?? it["result"] ?? it["content"] ?? "",
  }));
  if (message["role"] === "tool" || (results.length > 0 && content.length + calls.length === 0))
    return rows;
  return [
    ...rows,
    {
      role: message["role"],
      content,
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(({ id, name, arguments: args }) => ({
              id,
              function: { name, arguments: args },
            })),
          }),
    },
  ];
}

/** The tree of the attributes under a prefix whose keys have indexes, as a list. */
function unflatten(attributes: Span["attributes"], prefix: string): readonly unknown[] | undefined {
  const root: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of Object.entries(attributes)) {
    if (!key.startsWith(prefix)) continue;
    const path = key.slice(prefix.length).split(".");
    let node = root;
    for (const it of path.slice(0, -1))
      node = (isRecord(node[it]) ? node[it] : (node[it] = Object.create(null))) as typeof root;
    node[path.at(-1)!] = value;
  }
  const list = toList(root);
  return list.length === 0 ? undefined : list;
}

/** The values of indexes, in their order. */
const toList = (node: unknown): readonly unknown[] =>
  isRecord(node)
    ? Object.entries(node)
        .filter(([key]) => /^\d+$/.test(key))
        .toSorted(([a], [b]) => Number(a) - Number(b))
        .map(([, it]) => it)
    : [];

const toRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  isRecord(value) ? value : {};

/** A message of OpenLLMetry, whose calls are the values of indexes. */
function toLists(message: unknown): unknown {
  const { tool_calls: calls, ...rest } = toRecord(message);
  return calls === undefined ? rest : { ...rest, tool_calls: toList(calls) };
}

/** The message of OpenInference's attributes. */
function fromOpenInference(entry: unknown): unknown {
  const { role, content, contents, tool_calls, tool_call_id, name } = toRecord(
    toRecord(entry)["message"],
  );
  const parts = toList(contents).map(it => toRecord(toRecord(it)["message_content"]));
  const calls = toList(tool_calls).map(it => toRecord(toRecord(it)["tool_call"]));
  return {
    role: role ?? "user",
    content: content ?? parts,
    tool_call_id,
    name,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function findMenu(attributes: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const json = attributes["gen_ai.tool.definitions"];
  const list = typeof json === "string" ? parseOrUndefined(json) : json;
  const tools = Array.isArray(list)
    ? (list as readonly unknown[])
    : (unflatten(attributes as Span["attributes"], "llm.tools.") ?? []).map(it =>
        parseOrUndefined(String(toRecord(toRecord(it)["tool"])["json_schema"])),
      );
  const names = tools.flatMap(it => {
    const tool = toRecord(it);
    return findText({ name: toRecord(tool["function"])["name"] ?? tool["name"] }, ["name"]) ?? [];
  });
  return names.length === 0 ? undefined : names;
}

function findEnd({ agent, spans }: AgentSpans): Pick<Rollout, "end"> {
  const last = spans.findLast(isModelRequest);
  const error = agent?.error ?? last?.error;
  if (error !== undefined) return { end: { kind: "ended", by: "fault", fault: error } };
  const reasons = last?.attributes["gen_ai.response.finish_reasons"];
  return (Array.isArray(reasons) && reasons.includes("length")) || reasons === '["length"]'
    ? { end: { kind: "ended", by: "limit" } }
    : {};
}

/** The score of an evaluation, as the GenAI conventions have it. */
function findScore(spans: readonly Span[]): number | undefined {
  const values = spans
    .flatMap((it): Span["attributes"][] => [it.attributes, ...it.events.map(e => e.attributes)])
    .map(it => it["gen_ai.evaluation.score.value"])
    .filter(it => it !== undefined);
  return numberSchema.safeParse(values.at(-1)).data ?? undefined;
}
