/**
 * Each chat template of the installed trl gives the text that transformers gives, or a model with
 * it is refused with the reason. Prints a table.
 */
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/environment/json.ts";
import { createHuggingFaceFormat } from "../../src/model/huggingface/chatFormat.ts";
import { readChatTemplate, type ChatTemplate } from "../../src/model/huggingface/chatTemplate.ts";
import { readHuggingFaceTokenizer } from "../../src/model/huggingface/tokenizer.ts";
import { UserError } from "../../src/userError.ts";
import { emptyFolder } from "../cli/program.ts";
import { getFamilyFolder } from "../model/huggingface/families.ts";
import { python } from "./environment.ts";

interface Chat {
  readonly name: string;
  readonly messages: readonly JsonObject[];
  /** What transformers renders, unless there is an error. */
  readonly text?: string;
  readonly error?: string;
}

interface Reference {
  readonly version: string;
  readonly now: string;
  readonly tool: Json;
  readonly tokens: Readonly<Record<string, string>>;
  readonly templates: readonly {
    readonly name: string;
    readonly source: string;
    readonly chats: readonly Chat[];
  }[];
}

function readReference(): Reference {
  const file = join(emptyFolder(), "templates.json");
  const program = join(import.meta.dirname, "chat_templates.py");
  const { status, stderr } = spawnSync(python, [program, file], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return JSON.parse(readFileSync(file, "utf8")) as Reference;
}

const { version, now, tool, tokens, templates } = readReference();
const control = /<\/?[|｜]?[^<>|｜\s{}]+[|｜]?>/g;
const rows: string[] = [];

/** A folder with the template and a tokenizer whose control tokens are those of the template. */
function createFolder(source: string): string {
  const folder = emptyFolder();
  cpSync(getFamilyFolder("qwen"), folder, { recursive: true });
  writeFileSync(join(folder, "chat_template.jinja"), source);
  writeFileSync(join(folder, "tokenizer_config.json"), JSON.stringify(tokens));
  const file = join(folder, "tokenizer.json");
  const own = JSON.parse(readFileSync(file, "utf8")) as object;
  const texts = new Set([...Object.values(tokens), ...(source.match(control) ?? [])]);
  const added = [...texts].map((content, i) => ({ id: 5000 + i, content, special: true }));
  writeFileSync(file, JSON.stringify({ ...own, added_tokens: added }));
  return folder;
}

function refuse(folder: string, template: ChatTemplate): string | undefined {
  const tokenizer = readHuggingFaceTokenizer(folder);
  const limits = { prompt: 4000, sampled: 1000, result: 600, turn: 4000, context: 16_000 };
  try {
    createHuggingFaceFormat({ folder, tokenizer, template, endIds: [], limits });
    return undefined;
  } catch (error) {
    if (error instanceof UserError)
      return error.what.replace(`the chat template of ${folder} `, "");
    throw error;
  }
}

test.each(templates)("$name", ({ name, source, chats }) => {
  const folder = createFolder(source);
  const template = readChatTemplate(folder, "own");
  const refused = refuse(folder, template);
  const render = (messages: readonly JsonObject[]): string | undefined => {
    const addGenerationPrompt = messages.at(-1)!["role"] !== "assistant";
    try {
      return template.render({ messages, tools: [tool], addGenerationPrompt, now });
    } catch (error) {
      if (error instanceof UserError) return undefined;
      throw error;
    }
  };
  const others = chats.filter(it => render(it.messages) !== it.text);
  rows.push(
    `${name.padEnd(36)} ${chats.length - others.length}/${chats.length} equal  ${refused ?? "used"}`,
  );
  // what cannot be rendered here, with a message of the system, transformers cannot render either
  const isBroken = /cannot be rendered/.test(refused ?? "");
  const rendered = chats.filter(it => it.messages[0]!["role"] === "system" && !it.error);
  const wrong = refused === undefined ? others : isBroken ? rendered : [];
  expect(wrong.map(it => it.name)).toEqual([]);
});

test("the table", () => {
  expect(rows).toHaveLength(templates.length);
  process.stdout.write(`trl ${version}\n${rows.join("\n")}\n`);
});
