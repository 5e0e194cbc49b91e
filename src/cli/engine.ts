/** `engine`: writes a folder with all that a training with TRL or verl needs. */
import { join } from "node:path";
import { defaultProfile, profiles } from "../reward/profiles.ts";
import { argument, defineCommand, option } from "./command.ts";
import { engineNames, prepareEngineFolder } from "../app/engineFolder.ts";
import { countOf, existingPath, oneOf, outputPath, wholeNumber } from "./options.ts";

export const engine = defineCommand({
  name: "engine",
  description:
    "Write a folder that trains a model with another training framework: data, settings, pinned requirements and a program that starts the service and the training. The settings are those of the paper, for a number of GPUs; --gpus 0 writes settings with which a CPU can try out a small model. The folder must be new or empty.",
  arguments: [
    argument("<action>", "what to do", {
      parser: oneOf(["prepare"], "there is no action"),
      required: "an action, prepare",
    }),
    argument("<engine>", "the training framework", {
      parser: oneOf(engineNames, "there is no training framework"),
      required: "a training framework, trl or verl",
    }),
  ],
  options: {
    tasks: option("--tasks <file>", "tasks file to train on: its split train", {
      parser: existingPath("a tasks file"),
      required: "a tasks file",
      example: "my.tasks.jsonl",
    }),
    model: option("--model <name>", "model folder, or name on the Hugging Face hub", {
      required: "a model",
      example: "Qwen/Qwen3-4B-Instruct-2507",
    }),
    out: option("--out <folder>", "folder to write to, which must be new or empty", {
      parser: outputPath("trl"),
      required: "a folder to write to",
      example: "trl",
    }),
    gpus: option("--gpus <n>", "GPUs of the machine; 0 for the CPU, with trl only", {
      parser: wholeNumber({ max: 64 }),
      default: 8,
    }),
    lora: option("--lora <rank>", "train LoRA adapters of this rank (default: all weights)", {
      parser: countOf("ranks"),
    }),
    stages: option(
      "--stages <stages>",
      "with trl: GRPO alone, or supervised fine-tuning before it",
      {
        parser: oneOf(["grpo", "sft,grpo"], "there are no stages"),
        default: "grpo",
      },
    ),
    profile: option("--profile <name>", "reward profile", {
      parser: oneOf(
        profiles.map(it => it.name),
        "there is no profile",
      ),
      default: defaultProfile.name,
    }),
  },
  examples: [
    "engine prepare trl --tasks my.tasks.jsonl --model Qwen/Qwen3-4B-Instruct-2507 --out trl",
    "engine prepare trl --stages sft,grpo --tasks my.tasks.jsonl --model ./qwen --out trl",
    "engine prepare verl --tasks my.tasks.jsonl --model Qwen/Qwen3-8B --out verl",
    "engine prepare trl --tasks my.tasks.jsonl --model ./tiny --gpus 0 --lora 8 --out trl",
  ],
  async run(context, [, engine], { tasks, model, out, gpus, lora, stages, profile }) {
    const { print, prove } = context;
    await prepareEngineFolder(context, {
      engine,
      tasks,
      model,
      out,
      gpus,
      loraRank: lora,
      stages: stages === "grpo" ? ["grpo"] : ["sft", "grpo"],
      profile,
      fixtures: join(prove, "fixtures"),
    });
    print(`${out} is ready. Install its packages and start the training:`);
    print(`  pip install -r ${join(out, "requirements.txt")}`);
    print(`  python ${join(out, "launch.py")}`);
    return 0;
  },
});
