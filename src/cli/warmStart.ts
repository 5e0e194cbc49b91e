/** `warm-start`: trains the shipped student again on synthesized conversations. */
import { join, resolve } from "node:path";
import { readTrainingFile } from "../run/trainingFile.ts";
import { defineCommand, option } from "./command.ts";
import { countOf, existingPath, outputPath, positiveNumber, share, seedOption } from "./options.ts";
import { findModel, findShippedModel } from "../app/resources.ts";

export const warmStart = defineCommand({
  name: "warm-start",
  description:
    "Train a shipped student again on synthesized conversations: from random weights, which takes about an hour on two cores, or from a model. Writes the model to --out.",
  arguments: [],
  options: {
    tasks: option("--tasks <file>", "tasks file with the conversations", {
      parser: existingPath("a tasks file"),
      required: "a tasks file and a run folder",
      example: "prove/warm.tasks.jsonl",
    }),
    run: option("--run <folder>", "run folder to write", {
      parser: outputPath("prove/runs/warm"),
      required: "a tasks file and a run folder",
      example: "prove/runs/warm",
    }),
    out: option("--out <folder>", "model folder to write (default: the product's own student)", {
      parser: outputPath("prove/models/small"),
    }),
    from: option(
      "--from <model>",
      "model folder or shipped student to go on from (default: random weights)",
    ),
    seconds: option("--seconds <n>", "seconds of training", {
      parser: positiveNumber,
      default: 3600,
    }),
    seed: seedOption,
    workers: option("--workers <n>", "worker processes of the trainer", {
      parser: countOf("a number of workers"),
      default: 2,
    }),
    careless: option(
      "--careless <share>",
      "share of turns in which the teacher is careless, from 0 to 1",
      { parser: share, default: 0 },
    ),
    config: option("--config <file>", "training file whose settings of SFT to use", {
      parser: existingPath("a training file; docs/training.md lists the settings"),
    }),
  },
  examples: [
    "warm-start --tasks prove/warm.tasks.jsonl --run prove/runs/warm --out prove/models/small",
    "warm-start --from small --tasks my.tasks.jsonl --run first --out second --careless 0.9",
  ],
  async run(context, _positionals, { seconds, seed, workers, careless, config, ...paths }) {
    const { cwd, resources, print } = context;
    const [tasks, run] = [resolve(cwd, paths.tasks), resolve(cwd, paths.run)];
    const out = paths.out === undefined ? findShippedModel(resources) : resolve(cwd, paths.out);
    const sft =
      config === undefined
        ? {}
        : readTrainingFile(resolve(cwd, config), join(resources, "models")).sft;
    // loads the numerics
    const { trainWarmStart } = await import("../app/warmStart.ts");
    const { by, step, warning } = await trainWarmStart(
      {
        tasks,
        run,
        out,
        seed,
        workers,
        seconds,
        sft: { careless, ...sft },
        ...(paths.from === undefined ? {} : { from: findModel(paths.from, context) }),
      },
      context,
    );
    if (warning !== undefined) print(warning);
    if (by === "alarm") return 1;
    print(`${out} holds the student after ${step} steps`);
    return warning === undefined ? 0 : 1;
  },
});
