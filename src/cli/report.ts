/**
 * `report`: counts the tasks of a file and measures their shape, and how far the held-out ones are
 * from the training tasks.
 */
import { resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ReportCounts } from "../synthesis/pipeline/report/reportCounts.ts";
import { readTasks } from "../trajectory/file.ts";
import { UserError } from "../userError.ts";
import { argument, defineCommand } from "./command.ts";
import { existingPath, jsonFlag } from "./options.ts";
import { formatDistances, formatShape, type Report } from "../synthesis/pipeline/report/report.ts";

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
  options: { json: jsonFlag },
  examples: ["report my.tasks.jsonl", "report my.tasks.jsonl --json"],
  async run({ cwd, print, printNote, showProgress, signal }, [file], { json }) {
    const counts = new ReportCounts();
    for await (const task of readTasks(resolve(cwd, file), { onTorn: printNote, signal })) {
      counts.countAccepted(task);
      showProgress(`read ${counts.accepted} tasks`);
      // lets an interruption be noticed
      if (counts.accepted % 100 === 0) await setImmediate();
    }
    if (counts.accepted === 0)
      throw new UserError(`${file} holds no tasks`, "give a file that prove-rl synthesize wrote");
    const { accepted, by, shape, distances } = counts.summarizeTasks();
    if (json) print(JSON.stringify({ file, tasks: accepted, by, shape, distances }));
    else
      for (const line of [
        `${accepted} tasks`,
        ...Object.entries(by).map(([name, values]) => `  by ${name}: ${formatCounts(values)}`),
        ...formatMeasures({ shape, distances }),
      ])
        print(line);
    return 0;
  },
});

export const formatCounts = (counts: Readonly<Record<string, number>> = {}): string =>
  Object.entries(counts)
    .map(([name, n]) => `${name} ${n}`)
    .join(", ");

/** The shape of the tasks, and the table of distances, where the report has them. */
export function formatMeasures({
  shape,
  distances,
}: Pick<Report, "shape" | "distances">): string[] {
  const { headings, rows } = formatDistances(distances);
  const formatRow = (first: string, cells: readonly string[]) =>
    `    ${first.padEnd(16)}${cells.map(it => it.padStart(10)).join("")}`;
  return [
    ...(shape ? ["  shape:"] : []),
    ...(shape ? formatShape(shape).map(([name, text]) => `    ${name}: ${text}`) : []),
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
