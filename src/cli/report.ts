/**
 * `report`: counts the tasks of a file and measures their shape, and how far the held-out ones are
 * from the training tasks.
 */
import { resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ReportCounts } from "../synthesis/pipeline/report/reportCounts.ts";
import { readTasks } from "../trajectory/file.ts";
import { UserError } from "../userError.ts";
import { createTokenCounter, estimateTokens, type TaskTokens } from "../app/taskTokens.ts";
import { argument, defineCommand, option } from "./command.ts";
import { existingPath, jsonFlag } from "./options.ts";
import {
  formatDemands,
  formatDistances,
  formatShape,
  type Report,
} from "../synthesis/pipeline/report/report.ts";

export const report = defineCommand({
  name: "report",
  description:
    "Count the tasks of a file by their properties and knobs, measure their shape (turns, calls, offered tools), and how far the tasks of each held-out split are from the training tasks of the file.",
  arguments: [
    argument("<file>", "tasks file to read", {
      parser: existingPath("a tasks file"),
      required: "a tasks file",
    }),
  ],
  options: {
    tokenizer: option(
      "--tokenizer <folder>",
      "count tokens with the tokenizer and chat template of this model folder (default: estimate them)",
      { parser: existingPath("a model folder") },
    ),
    json: jsonFlag,
  },
  examples: [
    "report my.tasks.jsonl",
    "report my.tasks.jsonl --tokenizer models/SmolLM2-135M",
    "report my.tasks.jsonl --json",
  ],
  async run(context, [file], { tokenizer, json }) {
    const { catalog, cwd, print, printNote, showProgress, signal } = context;
    const counts = new ReportCounts();
    const count =
      tokenizer === undefined
        ? estimateTokens(catalog)
        : await createTokenCounter(resolve(cwd, tokenizer), catalog);
    const tokens: TaskTokens[] = [];
    for await (const task of readTasks(resolve(cwd, file), { onTorn: printNote, signal })) {
      counts.countAccepted(task);
      tokens.push(count(task));
      showProgress(`read ${counts.accepted} tasks`);
      // lets an interruption be noticed
      if (counts.accepted % 100 === 0) await setImmediate();
    }
    if (counts.accepted === 0)
      throw new UserError(`${file} holds no tasks`, "give a file that prove-rl synthesize wrote");
    const { accepted, by, shape, demands, distances } = counts.summarizeTasks();
    const summary = {
      estimated: tokenizer === undefined,
      tools: summarize(tokens.map(it => it.tools)),
      prompt: summarize(tokens.map(it => it.prompt)),
      conversation: summarize(tokens.map(it => it.conversation)),
    };
    if (json)
      print(
        JSON.stringify({ file, tasks: accepted, by, shape, demands, distances, tokens: summary }),
      );
    else
      for (const line of [
        `${accepted} tasks`,
        ...Object.entries(by).map(([name, values]) => `  by ${name}: ${formatCounts(values)}`),
        ...formatMeasures({ shape, demands, distances }),
        ...formatTokens(summary),
      ])
        print(line);
    return 0;
  },
});

interface TokenSummary {
  readonly mean: number;
  readonly most: number;
}

const summarize = (counts: readonly number[]): TokenSummary => ({
  mean: Math.round(counts.reduce((sum, it) => sum + it, 0) / counts.length),
  most: counts.reduce((a, b) => Math.max(a, b), 0),
});

function formatTokens({
  estimated,
  tools,
  prompt,
  conversation,
}: Readonly<Record<"tools" | "prompt" | "conversation", TokenSummary>> & {
  readonly estimated: boolean;
}): string[] {
  const format = ({ mean, most }: TokenSummary) =>
    `${mean.toLocaleString("en")} on average, at most ${most.toLocaleString("en")}`;
  return [
    `  tokens${estimated ? ", estimated as one for every 3 bytes (--tokenizer counts them)" : ""}:`,
    `    offered tools: ${format(tools)}`,
    `    prompt with the tools and the first turn: ${format(prompt)}`,
    `    the teacher's whole conversation: ${format(conversation)}`,
  ];
}

export const formatCounts = (counts: Readonly<Record<string, number>> = {}): string =>
  Object.entries(counts)
    .map(([name, n]) => `${name} ${n}`)
    .join(", ");

/** The shape of the tasks, what they demand, and the table of distances, where a report has them. */
export function formatMeasures({
  shape,
  demands,
  distances,
}: Pick<Report, "shape" | "demands" | "distances">): string[] {
  const { headings, rows } = formatDistances(distances);
  const formatRow = (first: string, cells: readonly string[]) =>
    `    ${first.padEnd(16)}${cells.map(it => it.padStart(10)).join("")}`;
  return [
    ...(shape ? ["  shape:"] : []),
    ...(shape ? formatShape(shape).map(([name, text]) => `    ${name}: ${text}`) : []),
    ...(demands ? ["  demands:"] : []),
    ...(demands ? formatDemands(demands).map(([name, text]) => `    ${name}: ${text}`) : []),
    ...(rows.length === 0
      ? []
      : [
          "  distance to training, of the tasks with goals:",
          formatRow(
            "",
            headings.map(it => it.text),
          ),
          ...rows.map(({ split, cells }) => formatRow(split, cells)),
          ...headings.slice(1).map(it => `    ${it.text}: ${it.description}`),
        ]),
  ];
}
