/**
 * `parsers`: the same fifty outputs of a model, in Hermes' syntax, through our reader and those of
 * other software. The outputs are those of the reader's own tests.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import type { Json } from "../../src/environment/json.ts";
import type { Call } from "../../src/environment/outcome.ts";
import { defineCommand, option } from "../../src/cli/command.ts";
import { readMessageText } from "../../src/policy/callText/callText.ts";
import { UserError } from "../../src/userError.ts";
import { readCallCases } from "../policy/callCases.ts";
import { pythonOption } from "./pythonProgram.ts";

/** What a parser makes of an output. */
interface Parsed {
  readonly calls: readonly Call[];
  /** Whether it says that something could not be read. */
  readonly isReported: boolean;
}

const outcomes = ["right", "wrong call executed", "dropped silently", "reported"] as const;
type Outcome = (typeof outcomes)[number];

type Cases = ReturnType<typeof readCallCases>;
type Tools = Cases["tools"];
type Results = Readonly<Record<string, readonly Parsed[] | string>>;

const isHermes = (message: string) =>
  message.includes("<tool_call>") && !/<function=|<\|/.test(message);

function judge(expected: readonly Call[], { calls, isReported }: Parsed): Outcome {
  const readable = expected.filter(it => it.name !== "");
  if (calls.some(it => !readable.some(own => isDeepStrictEqual(own, it))))
    return "wrong call executed";
  const isWhole = calls.length === readable.length && readable.length === expected.length;
  return isWhole ? "right" : isReported ? "reported" : "dropped silently";
}

function parseHere(message: string, tools: Tools): Parsed {
  const { calls } = readMessageText(message, { syntax: "hermes", tools });
  const named = calls.filter(it => it.name !== "");
  return { calls: toPlain(named), isReported: named.length < calls.length };
}

const toPlain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

interface AiSdkParser {
  readonly hermesProtocol: () => {
    parseGeneratedText(options: object): readonly {
      readonly type: string;
      readonly toolName?: string;
      readonly input?: string;
    }[];
  };
}

/** The parser of a folder into which npm has installed it; undefined if there is none. */
async function loadAiSdkParser(
  folder: string,
  tools: Tools,
): Promise<((text: string) => Parsed) | undefined> {
  const file = join(folder, "node_modules/@ai-sdk-tool/parser/dist/index.js");
  if (!existsSync(file)) return undefined;
  const { hermesProtocol } = (await import(pathToFileURL(file).href)) as AiSdkParser;
  const offered = tools.map(it => ({ type: "function", ...it }));
  return text => {
    let isReported = false;
    const onError = () => {
      isReported = true;
    };
    const parts = hermesProtocol().parseGeneratedText({
      text,
      tools: offered,
      options: { onError },
    });
    const calls = parts.filter(it => it.type === "tool-call");
    return {
      calls: calls.map(it => ({
        name: it.toolName ?? "",
        arguments: JSON.parse(it.input ?? "null") as Json,
      })),
      isReported,
    };
  };
}

/** What each parser in Python makes of each output, or why it could not be loaded. */
function parseInPython(python: string, program: string, messages: readonly string[]): Results {
  const { status, stdout, stderr } = spawnSync(python, [program], {
    input: JSON.stringify(messages),
    encoding: "utf8",
  });
  if (status !== 0)
    throw new UserError(
      `${python} cannot run the parsers: ${stderr.trim()}`,
      "name another Python",
    );
  return JSON.parse(stdout) as Results;
}

export const parsers = defineCommand({
  name: "parsers",
  description:
    "Send fifty outputs with Hermes' calls through our reader and through those of verl, TRL, renderers and @ai-sdk-tool/parser, as far as they are installed.",
  arguments: [],
  options: {
    python: pythonOption,
    packages: option("--packages <folder>", "folder into which npm installed @ai-sdk-tool/parser", {
      default: ".",
    }),
  },
  examples: ["parsers --python parsers/bin/python --packages parsers"],
  async run({ cwd, resources, print }, _positionals, { python, packages }) {
    const folder = join(resources, "..", "test");
    const { tools, cases } = readCallCases(join(folder, "policy"));
    const chosen = cases.filter(it => isHermes(it.message)).slice(0, 50);
    const aiSdk = await loadAiSdkParser(resolve(cwd, packages), tools);
    const messages = chosen.map(it => it.message);
    const results: Results = {
      PROVE: messages.map(it => parseHere(it, tools)),
      "@ai-sdk-tool/parser": aiSdk ? messages.map(aiSdk) : "it is not installed",
      ...parseInPython(python, join(folder, "lab", "call_parsers.py"), messages),
    };
    print(`| Parser | ${outcomes.join(" | ")} |`);
    print(`| --- |${" --- |".repeat(outcomes.length)}`);
    for (const [name, parsed] of Object.entries(results)) {
      if (typeof parsed === "string") {
        print(`${name} is left out: ${parsed}`);
        continue;
      }
      const judged = parsed.map((it, i) => judge(toPlain(chosen[i]!.calls), it));
      const counts = outcomes.map(outcome => judged.filter(it => it === outcome).length);
      print(`| ${name} | ${counts.join(" | ")} |`);
    }
    return 0;
  },
});
