/**
 * Computes digests of the chat format and of tools, because a model is used only with the format
 * and the tools that it was trained on.
 */
import { hash } from "node:crypto";
import type { Conversation } from "../../policy/policy.ts";
import { encodeChat, studentLimits } from "./compactChat.ts";
import type { Tokenizer } from "./tokenizer.ts";
import type { Tool } from "./valueText.ts";

/**
 * The hash of the tokenizer and of a sample conversation in the chat format. It changes when the
 * format encodes the sample differently.
 */
export function computeChatDigest(tokenizer: Tokenizer): string {
  return hash(
    "sha256",
    JSON.stringify([
      tokenizer.digest,
      studentLimits,
      encodeChat(tokenizer, sampleConversation).ids,
    ]),
    "hex",
  ).slice(0, 16);
}

/**
 * The hash of tools as a student sees them: names, keys, types and the order of results, but not
 * their descriptions.
 */
export function computeToolsDigest(tools: Iterable<Tool>): string {
  const shapes = [...tools].map(({ name, inputSchema, outputSchema }) => [
    name,
    extractShape(inputSchema),
    extractShape(outputSchema),
  ]);
  return hash("sha256", JSON.stringify(shapes), "hex").slice(0, 16);
}

const shapeKeywords = new Set([
  "type",
  "properties",
  "required",
  "items",
  "anyOf",
  "oneOf",
  "enum",
  "const",
  "x-entity",
  "x-label",
]);

function extractShape(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(extractShape);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.entries(schema).flatMap(([key, it]) => {
    if (!shapeKeywords.has(key)) return [];
    return [
      [
        key,
        key === "properties"
          ? Object.entries(it as object).map(([name, property]) => [name, extractShape(property)])
          : extractShape(it),
      ],
    ];
  });
}

const sampleConversation = ((): Conversation => {
  const property = (type: string, more: object = {}) => ({ type, ...more });
  const tool = {
    name: "specimen_tool",
    inputSchema: {
      type: "object",
      properties: {
        text: property("string"),
        amount: property("number"),
        flag: property("boolean"),
        list: property("array"),
      },
      required: ["text"],
    },
    outputSchema: {
      type: "object",
      properties: {
        rows: {
          type: "array",
          items: {
            type: "object",
            properties: {
              name: property("string", { "x-label": "row" }),
              row_id: property("string", { "x-entity": "row" }),
              size: property("number"),
            },
          },
        },
      },
    },
  } as unknown as Tool;
  const call = { kind: "call" as const, message: 0, name: tool.name, digest: "" };
  return {
    header: {
      kind: "header",
      format: "prove/trajectory@1",
      id: "",
      task: "",
      servers: [],
      catalog: "",
      seed: 0,
      menu: [],
      policy: "",
    },
    tools: [tool],
    now: "2026-01-02T03:04",
    events: [
      { kind: "user", text: "Ask 12.5 of row_107" },
      { kind: "assistant", message: 0, text: "" },
      {
        ...call,
        arguments: { text: "a b", amount: 12.5, flag: true, list: ["a", "b"] },
        outcome: {
          kind: "ok",
          value: { rows: [{ name: "One", row_id: "row_107", size: 3 }] },
        },
      },
      { ...call, arguments: {}, outcome: { kind: "refused", message: "no" } },
      { kind: "assistant", message: 1, text: "Done" },
      { kind: "user", text: "Thanks" },
    ],
  };
})();
