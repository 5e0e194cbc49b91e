/** `model`: describes a model folder, and sets how a Hugging Face model reads conversations. */
import { resolve } from "node:path";
import { omitUndefined } from "../environment/json.ts";
import { UserError } from "../userError.ts";
import { argument, defineCommand, option } from "./command.ts";
import { countOf, oneOf } from "./parsers.ts";
import { jsonFlag } from "./sharedOptions.ts";

export const model = defineCommand({
  name: "model",
  description:
    "Describe the folder of a student or of a Hugging Face model: its size, its limits, and how it writes calls. With options, set how a Hugging Face model reads conversations; the settings are stored in prove.json in its folder.",
  arguments: [argument("<folder>", "model folder", { required: "a model folder" })],
  options: {
    template: option(
      "--template <template>",
      "chat template: the model's own, or PROVE's default one for models without tools",
      { parser: oneOf(["own", "default"], "there is no template") },
    ),
    context: option("--context <n>", "tokens of a conversation, at most those of the model", {
      parser: countOf("a number of tokens"),
    }),
    answers: option("--answers <n>", "tokens that the model may write in an attempt", {
      parser: countOf("a number of tokens"),
    }),
    result: option("--result <n>", "tokens of one result; longer ones are shortened", {
      parser: countOf("a number of tokens"),
    }),
    json: jsonFlag,
  },
  examples: [
    "model models/Qwen3-0.6B",
    "model models/SmolLM2-135M --template default --context 2048",
  ],
  async run({ cwd, print }, [given], { json, ...changes }) {
    const folder = resolve(cwd, given);
    // loads the numerics
    const { readModelFolder } = await import("../model/modelFolder.ts");
    const { countParameters } = await import("../model/architecture.ts");
    if (Object.values(changes).some(it => it !== undefined)) await setUp(folder, changes);
    const { kind, config, chat } = readModelFolder(folder);
    const description = {
      name: config.name,
      kind,
      parameters: countParameters(config.architecture),
      vocabulary: config.architecture.vocabulary,
      longest: config.architecture.context,
      calls: chat.callSyntax,
      limits: chat.limits,
      trainings: config.training.length,
    };
    if (json) {
      print(JSON.stringify(description));
      return 0;
    }
    const { limits } = description;
    print(`${config.name}: ${kind === "student" ? "a small student" : "a Hugging Face model"}`);
    print(
      `  ${format(description.parameters)} parameters, ${format(description.vocabulary)} tokens`,
    );
    print(`  writes calls in the syntax ${description.calls}`);
    print(
      `  reads ${format(limits.context)} tokens of at most ${format(description.longest)}: ${format(limits.prompt)} for the menu and the first turn, ${format(limits.sampled)} for its answers, ${format(limits.result)} for each result`,
    );
    return 0;
  },
});

const format = (n: number): string => n.toLocaleString("en");

/** Writes the settings if the model can be used with them. */
async function setUp(
  folder: string,
  changes: {
    readonly template?: "own" | "default" | undefined;
    readonly context?: number | undefined;
    readonly answers?: number | undefined;
    readonly result?: number | undefined;
  },
): Promise<void> {
  const { isHuggingFaceFolder, readHuggingFaceFolder } =
    await import("../model/huggingface/folder.ts");
  const { readHuggingFaceSettings, writeHuggingFaceSettings } =
    await import("../model/huggingface/settings.ts");
  if (!isHuggingFaceFolder(folder))
    throw new UserError(
      `${folder} is not the folder of a Hugging Face model`,
      "leave out the options to describe it; those of a small student cannot be changed",
    );
  const settings = { ...readHuggingFaceSettings(folder), ...omitUndefined(changes) };
  readHuggingFaceFolder(folder, settings);
  writeHuggingFaceSettings(folder, settings);
}
