/** Imports rollouts in tests, as `import` does. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { importTasks } from "../../../src/cli/import.ts";
import type { ImportReport } from "../../../src/app/importRollouts.ts";
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
    scores: report.attempts.map(it => it.reported),
    exists: existsSync(join(cwd, out)),
  };
}
