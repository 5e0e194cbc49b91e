/**
 * `model`: describes a model folder, sets how a Hugging Face model reads conversations, and writes
 * folders of GGUF files and of models with their adapters.
 */
import { resolve } from "node:path";
import { omitUndefined } from "../environment/json.ts";
import { findModelFolder } from "../run/folder.ts";
import { getBackendsFolder } from "../run/backends.ts";
import { findAdaptedFolder, isAdapterFolder } from "../storage/adapterConfig.ts";
import { fillNewFolder } from "../storage/newFolder.ts";
import { UserError } from "../userError.ts";
import { defineCommand, option, optionalArgument, type CliContext } from "./command.ts";
import { countOf, existingPath, oneOf, outputPath, jsonFlag } from "./options.ts";

export const model = defineCommand({
  name: "model",
  description:
    "Describe the folder of a student, of a Hugging Face model or of adapters: its size, its limits, and how it writes calls. Refuses a model that cannot be used, also because a file of its weights is missing or incomplete. With options, set how a Hugging Face model reads conversations; the settings are stored in prove.json in its folder. With --merge, write a model with its adapters merged, as other programs load it. With --from-gguf, write a file of llama.cpp as such a folder.",
  arguments: [optionalArgument("[folder]", "run or model folder")],
  options: {
    template: option(
      "--template <template>",
      "chat template: the model's own, or PROVE's default one for models without tools",
      { parser: oneOf(["own", "default"], "there is no template") },
    ),
    tools: option(
      "--tools <style>",
      "how the model reads tools: as JSON Schemas, or as signatures in a fifth of the tokens, for a model that you train",
      { parser: oneOf(["json", "compact"], "tools cannot be shown as") },
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
    merge: option("--merge <folder>", "write the model with its adapters to this new folder", {
      parser: outputPath("models/merged"),
    }),
    fromGguf: option("--from-gguf <file>", "write this GGUF file as a folder, which --out names", {
      parser: existingPath("a GGUF file"),
    }),
    out: option("--out <folder>", "new folder for --from-gguf", {
      parser: outputPath("models/SmolLM2-135M"),
    }),
    json: jsonFlag,
  },
  examples: [
    "model models/Qwen3-0.6B",
    "model models/SmolLM2-135M --template default --context 2048",
    "model models/Qwen3-0.6B --tools compact",
    "model prove/runs/lora --merge models/merged",
    "model --from-gguf SmolLM2-135M-Instruct.Q8_0.gguf --out models/SmolLM2-135M",
  ],
  async run(context, [given], { json, merge, fromGguf, out, ...changes }) {
    const { cwd, print } = context;
    const folder = await findFolder(given, { fromGguf, out, cwd });
    const isChanged = Object.values(changes).some(it => it !== undefined);
    if (fromGguf !== undefined && !isChanged && (await hasUnusableChats(folder, context))) return 0;
    // loads the numerics
    const { checkStoredWeights, readModelFolder } = await import("../model/modelFolder.ts");
    const { countParameters } = await import("../model/transformer/architecture.ts");
    const { countAdapterParameters } = await import("../model/transformer/adapters.ts");
    if (isChanged) await setUp(folder, changes);
    if (merge !== undefined) await mergeAdapters(folder, resolve(cwd, merge), context);
    const stored = readModelFolder(merge === undefined ? folder : resolve(cwd, merge));
    await checkStoredWeights(stored);
    const { kind, config, chat, adapters } = stored;
    const description = {
      name: config.name,
      kind,
      parameters: countParameters(config.architecture),
      vocabulary: config.architecture.vocabulary,
      longest: config.architecture.context,
      calls: chat.callSyntax,
      ...(stored.kind === "student" ? {} : { tools: stored.settings.tools }),
      limits: chat.limits,
      trainings: config.training.length,
      ...(adapters
        ? {
            adapters: {
              rank: adapters.config.rank,
              alpha: adapters.config.alpha,
              base: adapters.base,
              parameters: countAdapterParameters(config.architecture, adapters.config),
            },
          }
        : {}),
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
    if (description.adapters) {
      const { rank, base, parameters } = description.adapters;
      print(`  adapters of rank ${rank} with ${format(parameters)} parameters, on ${base}`);
    }
    print(`  writes calls in the syntax ${description.calls}`);
    if (description.tools === "compact") print("  reads tools as signatures");
    print(
      `  reads ${format(limits.context)} tokens of at most ${format(description.longest)}: ${format(limits.prompt)} for the menu and the first turn, ${format(limits.sampled)} for its answers, ${format(limits.result)} for each result`,
    );
    return 0;
  },
});

/** The folder that is described: the given one, or a new one that is written from a GGUF file. */
async function findFolder(
  given: string | undefined,
  {
    fromGguf,
    out,
    cwd,
  }: {
    readonly fromGguf: string | undefined;
    readonly out: string | undefined;
    readonly cwd: string;
  },
): Promise<string> {
  const example = "prove-rl model --from-gguf FILE --out FOLDER";
  if (fromGguf === undefined) {
    if (out !== undefined)
      throw new UserError("--out names the folder for --from-gguf", `write ${example}`);
    if (given !== undefined) return findModelFolder(resolve(cwd, given));
    throw new UserError("model needs a run or model folder", `give it, or write ${example}`);
  }
  if (out === undefined || given !== undefined)
    throw new UserError("--from-gguf needs --out, the folder to write", `write ${example}`);
  const { convertGguf } = await import("../model/gguf/convert.ts");
  const [file, folder] = [resolve(cwd, fromGguf), resolve(cwd, out)];
  await fillNewFolder(folder, () => convertGguf(file, folder));
  return folder;
}

/** Whether the chats of a converted model cannot be written: says so, and what to do. */
async function hasUnusableChats(folder: string, { printNote }: CliContext): Promise<boolean> {
  const { readHuggingFaceFolder } = await import("../model/huggingface/folder.ts");
  try {
    readHuggingFaceFolder(folder);
    return false;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    printNote(`${folder} is written, but PROVE cannot use it yet: ${error.what}`);
    printNote(error.remedy);
    return true;
  }
}

const format = (n: number): string => n.toLocaleString("en");

/** Writes the settings if the model can be used with them. */
async function setUp(
  folder: string,
  changes: {
    readonly template?: "own" | "default" | undefined;
    readonly tools?: "json" | "compact" | undefined;
    readonly context?: number | undefined;
    readonly answers?: number | undefined;
    readonly result?: number | undefined;
  },
): Promise<void> {
  const { isHuggingFaceFolder, readHuggingFaceFolder } =
    await import("../model/huggingface/folder.ts");
  const { readHuggingFaceSettings, writeHuggingFaceSettings } =
    await import("../model/huggingface/folder.ts");
  const base = isAdapterFolder(folder) ? findAdaptedFolder(folder) : folder;
  if (!isHuggingFaceFolder(base))
    throw new UserError(
      `${folder} is not the folder of a Hugging Face model`,
      "leave out the options to describe it; those of a small student cannot be changed",
    );
  const settings = { ...readHuggingFaceSettings(folder), ...omitUndefined(changes) };
  readHuggingFaceFolder(base, settings);
  writeHuggingFaceSettings(folder, settings);
}

/** Writes the model in a folder with its adapters merged to a folder that is new or empty. */
async function mergeAdapters(folder: string, out: string, { dist }: CliContext): Promise<void> {
  const { startBackend } = await import("../compute/backend.ts");
  const { loadModel, readModelFolder, writeMergedModel } = await import("../model/modelFolder.ts");
  const stored = readModelFolder(folder);
  await startBackend("auto", {
    programs: dist,
    backends: getBackendsFolder(),
    sizes: stored.config.architecture,
  });
  const model = await loadModel(stored);
  await fillNewFolder(out, () => writeMergedModel(out, stored, model));
  model.dispose();
}
