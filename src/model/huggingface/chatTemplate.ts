/**
 * Renders chats with the Jinja template of a Hugging Face model folder, as
 * `apply_chat_template` of transformers does. The date that templates ask for is an argument, so
 * that the same chat always has the same text.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Environment, Interpreter, parse, tokenize } from "@huggingface/jinja";
import { z } from "zod";
import type { Json, JsonObject } from "../../environment/json.ts";
import { readJsonFile } from "../../storage/parseJson.ts";
import { readTextFile } from "../../storage/textFiles.ts";
import { UserError } from "../../userError.ts";
import { printAsPython, pythonFunctions } from "./pythonValues.ts";
import { runLimited } from "../../storage/runLimited.ts";

export interface TemplateInput {
  readonly messages: readonly JsonObject[];
  readonly tools: readonly Json[];
  /** Whether the text ends with the beginning of a message of the assistant. */
  readonly addGenerationPrompt: boolean;
  /** The date of the chat, `YYYY-MM-DDTHH:MM`. */
  readonly now: string;
}

export interface ChatTemplate {
  readonly source: string;
  /** Throws a `UserError` if the template raises an exception. */
  render(input: TemplateInput): string;
}

/** Which template is used: the model's own, or the default one of this program. */
type TemplateChoice = "own" | "default";

const specialToken = z.union([z.string(), z.looseObject({ content: z.string() })]).nullish();
const tokenizerConfig = z.looseObject({
  chat_template: z
    .union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))])
    .nullish(),
  bos_token: specialToken,
  eos_token: specialToken,
  pad_token: specialToken,
  unk_token: specialToken,
});
const specialTokens = tokenizerConfig.omit({ chat_template: true });

const tokenNames = ["bos_token", "eos_token", "pad_token", "unk_token"] as const;

const remedyWithoutTools =
  "choose PROVE's default template with prove-rl model FOLDER --template default, or choose a model that is made for tools";

/** Reads the chat template of a folder. Throws a `UserError` if it has none, or a broken one. */
export function readChatTemplate(folder: string, choice: TemplateChoice): ChatTemplate {
  const tokens = readSpecialTokens(folder);
  if (choice === "default") return parseTemplate(folder, defaultTemplate, tokens);
  const source = readTemplateText(folder);
  if (source === undefined)
    throw new UserError(`the model in ${folder} has no chat template`, remedyWithoutTools);
  return parseTemplate(folder, source, tokens);
}

/** The file of the template for chats with tools, if a model has several, and that of the default. */
export const templateFiles = ["additional_chat_templates/tool_use.jinja", "chat_template.jinja"];

function readTemplateText(folder: string): string | undefined {
  const file = templateFiles.map(it => join(folder, it)).find(it => existsSync(it));
  if (file !== undefined) return readTextFile(file);
  const { chat_template: template } = readTokenizerConfig(folder);
  if (typeof template === "string") return template;
  const find = (name: string) => template?.find(it => it.name === name)?.template;
  return find("tool_use") ?? find("default");
}

function readTokenizerConfig(folder: string): z.infer<typeof tokenizerConfig> {
  const file = join(folder, "tokenizer_config.json");
  if (!existsSync(file)) return {};
  return readJsonFile(tokenizerConfig, file, {
    noun: "the configuration of a tokenizer",
    remedy: "download the whole model folder again",
  });
}

/** The texts of the special tokens that templates name. */
export function readSpecialTokens(folder: string): Readonly<Record<string, string>> {
  const file = join(folder, "special_tokens_map.json");
  const own = readTokenizerConfig(folder);
  const more = existsSync(file) ? readJsonFile(specialTokens, file) : {};
  return Object.fromEntries(
    tokenNames.flatMap(name => {
      const token = own[name] ?? more[name];
      if (token === undefined || token === null) return [];
      return [[name, typeof token === "string" ? token : token.content]];
    }),
  );
}

function parseTemplate(
  folder: string,
  source: string,
  tokens: Readonly<Record<string, string>>,
): ChatTemplate {
  // the same options as in transformers
  const program = withTemplateErrors(folder, () =>
    runLimited(renderMs, () =>
      printAsPython(parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }))),
    ),
  );
  return {
    source,
    render({ messages, tools, addGenerationPrompt, now }) {
      const environment = new Environment();
      const variables = {
        ...pythonFunctions,
        ...createGlobals(now),
        ...tokens,
        messages,
        ...(tools.length > 0 ? { tools } : {}),
        add_generation_prompt: addGenerationPrompt,
        // models that can think first answer at once: attempts are short
        enable_thinking: false,
      };
      return withTemplateErrors(folder, () => {
        for (const [name, value] of Object.entries(variables)) environment.set(name, value);
        const interpreter = new Interpreter(environment);
        const { value } = runLimited(renderMs, () => interpreter.run(program)) as { value: string };
        if (value.length <= maxRenderedLength) return value;
        throw new Error(
          `the text has ${value.length} characters, and ${maxRenderedLength} are the most`,
        );
      });
    },
  };
}

/** What transformers defines for templates. */
const createGlobals = (now: string) => ({
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  range: createRange,
  raise_exception(message: string): never {
    throw new TemplateException(message);
  },
  strftime_now: (format: string) => formatTime(format, now),
});

/** The most numbers of a range: the limit of the sandbox in which transformers renders templates. */
const maxRange = 100_000;

/** The numbers of Python's `range`. */
function createRange(...args: readonly number[]): readonly number[] {
  if (args.length < 1 || args.length > 3) throw new Error("range() takes one to three numbers");
  if (!args.every(it => Number.isInteger(it))) throw new Error("range() takes whole numbers only");
  const [first = 0, second, step = 1] = args;
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  if (step === 0) throw new Error("the step of range() must not be 0");
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (length > maxRange) throw new Error(`range() has ${length} numbers, more than ${maxRange}`);
  return Array.from({ length }, (_, i) => start + i * step);
}

/** A text of this length fits no context. */
const maxRenderedLength = 4_000_000;

/** A chat takes milliseconds. */
const renderMs = 2_000;

/** An exception that a template raises on purpose. */
class TemplateException extends Error {}

function withTemplateErrors<T>(folder: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    const { message } = cause as Error;
    throw new UserError(
      cause instanceof TemplateException
        ? `the chat template of ${folder} refuses the conversation: ${message}`
        : `the chat template of ${folder} cannot be rendered: ${message}`,
      remedyWithoutTools,
      { cause },
    );
  }
}

const monthNames =
  "January February March April May June July August September October November December".split(
    " ",
  );
const dayNames = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/** As Python's `strftime` in English. Throws if a directive is not one that templates use. */
function formatTime(format: string, now: string): string {
  const [year, month, day, hour, minute] = now.split(/[-T:]/) as [string, ...string[]];
  const date = new Date(`${now}Z`);
  const monthName = monthNames[Number(month) - 1] ?? "";
  const dayName = dayNames[date.getUTCDay()] ?? "";
  const hours = Number(hour);
  const values: Readonly<Record<string, string | undefined>> = {
    "%Y": year,
    "%y": year.slice(2),
    "%m": month,
    "%d": day,
    "%H": hour,
    "%I": String(hours % 12 || 12).padStart(2, "0"),
    "%p": hours < 12 ? "AM" : "PM",
    "%M": minute,
    "%S": "00",
    "%B": monthName,
    "%b": monthName.slice(0, 3),
    "%A": dayName,
    "%a": dayName.slice(0, 3),
    "%%": "%",
  };
  // a minus leaves out the zero at the beginning
  return format.replace(/%(-?)([A-Za-z%])/g, (directive, minus: string, letter: string) => {
    const value = values[`%${letter}`];
    if (value === undefined) throw new Error(`strftime_now does not know ${directive}`);
    return minus ? value.replace(/^0/, "") : value;
  });
}

// The chat template for models whose own one does not show tools: turns between `<|im_start|>` and
// `<|im_end|>`, tools as JSON in the system turn, calls as JSON between `<tool_call>` tags.

export const defaultTemplate = String.raw`{%- set hasSystem = messages[0].role == 'system' -%}
{{- '<|im_start|>system\n' -}}
{{- messages[0].content if hasSystem else 'You are an assistant.' -}}
{%- if tools -%}
  {{- '\n\nTools that you can call, one in each line:\n' -}}
  {%- for tool in tools -%}
    {{- tool | tojson + '\n' -}}
  {%- endfor -%}
  {{- 'Write a call like this:\n<tool_call>\n{"name": "tool", "arguments": {"key": "value"}}\n</tool_call>' -}}
{%- endif -%}
{{- '<|im_end|>\n' -}}
{%- for message in (messages[1:] if hasSystem else messages) -%}
  {{- '<|im_start|>' + message.role + '\n' + message.content -}}
  {%- for call in message.tool_calls or [] -%}
    {{- '\n' if message.content or not loop.first else '' -}}
    {{- '<tool_call>\n{"name": ' + (call.function.name | tojson) -}}
    {{- ', "arguments": ' + (call.function.arguments | tojson) + '}\n</tool_call>' -}}
  {%- endfor -%}
  {{- '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\n' -}}
{%- endif -%}
`;
