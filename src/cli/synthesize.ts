/** `synthesize`: makes tasks with their teacher's trajectories and writes them, a line each, as they pass the screen. */
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Mistake } from "../mistake.ts";
import type { Synthesis } from "../synthesis/studio.ts";
import { synthesize as stream } from "../synthesis/synthesize.ts";
import { readTasks } from "../trajectory/file.ts";
import { LineWriter } from "../trajectory/lines.ts";
import type { Task } from "../trajectory/task.ts";
import { taskLine } from "../trajectory/taskLine.ts";
import { seedOf } from "./call.ts";
import type { Command, Terminal, Values } from "./command.ts";

const splits = ["train", "heldout-chain"] as const;

export const synthesize: Command = {
  usage: "synthesize --out F.tasks.jsonl --count N [--seed S] [--servers a,b] [--teacher graph] [--menu chain|full] [--split train|heldout-chain] [--resume] [--json]",
  summary: "Make tasks on the live servers, each with its teacher's trajectory, screened and replayed; the same seed gives the same bytes.",
  options: {
    out: { type: "string" },
    count: { type: "string" },
    seed: { type: "string" },
    servers: { type: "string" },
    teacher: { type: "string" },
    menu: { type: "string" },
    split: { type: "string" },
    resume: { type: "boolean" },
    json: { type: "boolean" },
  },
  async run(terminal, positionals, values) {
    if (positionals.length > 0) throw new Mistake(`synthesize takes no ${positionals[0]}`, `usage: prove-rl ${synthesize.usage}`);
    const count = countOf(values);
    const synthesis = synthesisOf(terminal, values);
    const file = fileOf(terminal, values);
    const report = await write(file, synthesis, count, terminal);
    if (values["json"]) terminal.print(JSON.stringify(report));
    else for (const line of readable(report)) terminal.print(line);
    return report.accepted < count ? 1 : 0;
  },
};

interface Report {
  readonly file: string;
  readonly accepted: number;
  readonly seconds: number;
  readonly rejected: Readonly<Record<string, number>>;
  readonly splits: Readonly<Record<string, number>>;
  readonly servers: Readonly<Record<string, number>>;
}

/** Appends tasks until there are as many as asked for. What the file holds already is made again and compared, not written. */
async function write(file: string, synthesis: Synthesis, count: number, { progress, say, signal }: Terminal): Promise<Report> {
  const writer = new LineWriter(file);
  if (writer.torn !== undefined) say(`${file} ended in a torn line, which was cut off`);
  const there = readTasks(file, { signal })[Symbol.asyncIterator]();
  const start = performance.now();
  const report = { file, accepted: 0, seconds: 0, rejected: {} as Record<string, number>, splits: {} as Record<string, number>, servers: {} as Record<string, number> };
  try {
    let written: Task | undefined = (await there.next()).value as Task | undefined;
    let breathed = performance.now();
    for await (const attempted of stream({ ...synthesis, signal })) {
      // attempts come without a pause: Ctrl-C and the editor's cancel are heard in this one
      if (performance.now() - breathed > 50) {
        await setImmediate();
        breathed = performance.now();
      }
      if (attempted.kind === "rejected") {
        tally(report.rejected, attempted.rejected.reason);
        continue;
      }
      const { task } = attempted;
      const line = taskLine(task);
      if (written === undefined) writer.append(line);
      else if (taskLine(written) !== line) throw otherwiseMade(file, written);
      if (written !== undefined) written = (await there.next()).value as Task | undefined;
      report.accepted++;
      tally(report.splits, task.split);
      tally(report.servers, task.servers[0]!.name);
      progress(`${report.accepted} of ${count} tasks`);
      if (report.accepted === count) break;
    }
  } finally {
    writer.close();
  }
  report.seconds = Math.round((performance.now() - start) / 10) / 100;
  return report;
}

const otherwiseMade = (file: string, { id }: Task): Mistake =>
  new Mistake(`${file} was made with other options, servers or phrases (task ${id} differs)`, "repeat the command that made it, or write to another file");

const tally = (counts: Record<string, number>, key: string): void => void (counts[key] = (counts[key] ?? 0) + 1);

function countOf(values: Values): number {
  const text = values["count"] as string | undefined;
  if (text === undefined) throw new Mistake("synthesize needs to know how many tasks to make", "add --count, such as --count 300");
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || !Number.isSafeInteger(count)) throw new Mistake(`--count ${text} is not a number of tasks`, "give a whole number from 1 on");
  return count;
}

function synthesisOf({ catalog, resources }: Terminal, values: Values): Synthesis {
  const names = (values["servers"] as string | undefined)?.split(",").map(it => it.trim()).filter(it => it !== "");
  const servers = (names ?? [...catalog.servers.keys()]).map(it => catalog.server(it).name);
  if (servers.length === 0) throw new Mistake("--servers names no server", `choose some of ${[...catalog.servers.keys()].join(", ")}`);
  const split = oneOf(values, "split", splits);
  oneOf(values, "teacher", ["graph"]);
  const menu = oneOf(values, "menu", ["chain", "full"]) ?? "chain";
  return { catalog, resources, seed: seedOf(values), servers: [...new Set(servers)], menu, ...(split ? { split } : {}) };
}

function oneOf<const T extends string>(values: Values, option: string, choices: readonly T[]): T | undefined {
  const given = values[option] as string | undefined;
  if (given === undefined || choices.includes(given as T)) return given as T | undefined;
  throw new Mistake(`there is no ${option} ${given}`, `choose ${choices.join(" or ")}`);
}

function fileOf({ cwd }: Terminal, values: Values): string {
  const out = values["out"] as string | undefined;
  if (!out) throw new Mistake("synthesize needs a file to write to", "add --out, such as --out prove/tasks/first.tasks.jsonl");
  const file = isAbsolute(out) ? out : join(cwd, out);
  if (existsSync(file) && !values["resume"]) throw new Mistake(`${out} exists already`, "add --resume to go on with it, or write to another file");
  return file;
}

function readable({ file, accepted, seconds, rejected, splits, servers }: Report): string[] {
  const counts = (of: Readonly<Record<string, number>>) => Object.entries(of).sort(([, a], [, b]) => b - a).map(([name, n]) => `${name} ${n}`).join(", ");
  return [`${accepted} tasks in ${file} (${seconds} s)`, `  by server: ${counts(servers)}`, `  by split: ${counts(splits)}`, `  rejected: ${counts(rejected) || "none"}`];
}
