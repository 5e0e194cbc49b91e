/** `plan`: prints what a training needs and how long a step takes, before it is started. */
import { formatPlan } from "../run/trainingPlan.ts";
import { chooseTraining, trainingOptions } from "./chooseTraining.ts";
import { defineCommand } from "./command.ts";
import { jsonFlag } from "./sharedOptions.ts";

export const plan = defineCommand({
  name: "plan",
  description:
    "Print what a training needs before it is started: parameters, tokens of a step, memory for weights, gradients, optimizer, activations and sampling, and the seconds of a step, from a short measurement on the chosen backend. If it does not fit this machine, the nearest setting that does. Takes the options of train.",
  arguments: [],
  options: { ...trainingOptions, json: jsonFlag },
  examples: [
    "plan --tasks my.tasks.jsonl --from models/smollm2 --lora 8",
    "plan --config first.train.json --json",
  ],
  async run(context, _positionals, { json, ...options }) {
    const { config, model } = await chooseTraining(context, options);
    // loads the numerics
    const { makePlan } = await import("../app/makePlan.ts");
    const made = await makePlan(config, model, context);
    if (json) context.print(JSON.stringify(made));
    else for (const line of formatPlan(made)) context.print(line);
    return made.fits ? 0 : 1;
  },
});
