/** Imports rollouts in tests, as `import` does. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importTasks } from "../../../src/cli/import.ts";
import type { ImportReport } from "../../../src/app/importRollouts.ts";
import { readTrajectories } from "../../../src/trajectory/file.ts";
import { listCalls, type Trajectory } from "../../../src/trajectory/trajectory.ts";
import { runCommand } from "../terminal.ts";

let written = 0;

/** Imports a file of the folder `cwd`, and returns what was printed and whether a file was written. */
export async function importFile(cwd: string, format: string, from: string) {
  const out = `${++written}.trajectory.jsonl`;
  const ran = await runCommand(importTasks, [format, from, "--out", out, "--json"], { cwd });
  const report = JSON.parse(ran.out[0]!) as ImportReport;
  return {
    ...ran,
    report,
    file: join(cwd, out),
    scores: report.attempts.map(it => it.reported),
    exists: existsSync(join(cwd, out)),
  };
}

/**
 * Imports rows, or the file or folder of that name with more options, and returns the conversations
 * and how they ended as well.
 */
export async function importRows(cwd: string, format: string, ...rows: readonly unknown[]) {
  const isPath = typeof rows[0] === "string";
  const from = isPath ? (rows[0] as string) : `${++written}.jsonl`;
  if (!isPath) writeFileSync(join(cwd, from), rows.map(it => `${JSON.stringify(it)}\n`).join(""));
  const out = `${++written}.trajectory.jsonl`;
  const more = isPath ? (rows.slice(1) as readonly string[]) : [];
  const args = [format, from, "--out", out, "--json", ...more];
  const ran = await runCommand(importTasks, args, { cwd });
  const trajectories: Trajectory[] = [];
  if (existsSync(join(cwd, out)))
    for await (const it of readTrajectories(join(cwd, out))) trajectories.push(it);
  return {
    ...ran,
    report: JSON.parse(ran.out[0]!) as ImportReport,
    conversations: trajectories.map(showConversation),
    ends: trajectories.map(({ events }) => {
      const end = events.at(-1);
      return end?.kind === "ended" ? end.by : undefined;
    }),
  };
}

/** What is said, and each call with its result. */
function showConversation(trajectory: Trajectory): readonly unknown[] {
  const calls = listCalls(trajectory);
  let at = 0;
  return trajectory.events.flatMap((it): unknown[] => {
    if (it.kind === "user") return [`user: ${it.text}`];
    if (it.kind === "assistant") return it.text === "" ? [] : [`assistant: ${it.text}`];
    if (it.kind !== "call") return [];
    const { name, arguments: args, outcome } = calls[at++]!;
    return [[name, args, outcome.kind === "ok" ? outcome.value : outcome.message]];
  });
}
