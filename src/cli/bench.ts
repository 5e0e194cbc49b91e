/**
 * `bench`: measures speed and memory, and prints one JSON line per figure. Nothing is asserted,
 * because figures depend on the machine, which each line names.
 */
import { createFigure, type BenchmarkRow } from "../app/bench/benchmark.ts";
import { measureEnvironment } from "../app/bench/environment.ts";
import { measureServedTasks } from "../app/bench/service.ts";
import { measureSynthesis } from "../app/bench/synthesis.ts";
import { UserError } from "../userError.ts";
import { defineCommand, option, optionalArgument, type CliContext } from "./command.ts";
import { countOf, oneOf } from "./options.ts";

interface GroupOptions {
  readonly tasks: number | undefined;
  readonly workers: number | undefined;
}

const groups: Readonly<
  Record<
    "environment" | "synthesis" | "training" | "service",
    (context: CliContext, options: GroupOptions) => AsyncGenerator<BenchmarkRow>
  >
> = {
  environment: (context, { tasks }) => measureEnvironment(context, tasks),
  synthesis: measureSynthesis,
  async *training(context) {
    // loads the numerics
    const { measureTraining } = await import("../app/bench/training.ts");
    yield* measureTraining(context);
  },
  service: (context, { workers = 1 }) => measureServedTasks(context, workers),
};
const groupNames = Object.keys(groups) as (keyof typeof groups)[];

export const bench = defineCommand({
  name: "bench",
  description:
    "Measure speed and memory. Prints one JSON line per figure: the median of the runs, the runs, and the machine.",
  arguments: [
    optionalArgument("[group]", "measure only this group", {
      parser: oneOf(groupNames, "there is no benchmark"),
    }),
  ],
  options: {
    tasks: option("--tasks <n>", "for environment: tasks of the data set (default: 3000)", {
      parser: countOf("a number of tasks"),
    }),
    workers: option("--workers <n>", "for service: its worker processes (default: 1)", {
      parser: countOf("a number of processes"),
    }),
  },
  examples: ["bench", "bench environment", "bench service --workers 2"],
  async run(context, [group], options) {
    if (options.workers !== undefined && group !== "service")
      throw new UserError("--workers is for service", "write prove-rl bench service");
    for (const name of group === undefined ? groupNames : [group])
      for await (const row of groups[name](context, options)) {
        context.signal.throwIfAborted();
        context.print(JSON.stringify(createFigure(row)));
      }
    return 0;
  },
});
