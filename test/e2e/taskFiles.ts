/** Files for the workbench tests: tasks that the packaged program synthesizes, and the example. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repository } from "./packaged.ts";

/**
 * Returns the text of a file with tasks on the given servers, with short menus. The tasks of the
 * preset `student` fit the shipped student, and a fifth of them is held out.
 */
export function synthesizeTasks(
  count: number,
  servers: string,
  preset: "paper" | "student" = "paper",
): string {
  const folder = mkdtempSync(join(tmpdir(), "prove-tasks-"));
  try {
    const file = join(folder, "made.tasks.jsonl");
    const args = [
      "synthesize",
      "--out",
      file,
      "--count",
      String(count),
      "--seed",
      "1",
      "--servers",
      servers,
      "--menu",
      "chain",
      "--preset",
      preset,
    ];
    execFileSync(process.execPath, [join(repository, "dist/cli.js"), ...args], {
      cwd: folder,
      stdio: "pipe",
    });
    return readFileSync(file, "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The example workspace, by paths from its folder. */
export function readExample(): Record<string, string> {
  const folder = join(repository, "resources/example");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(it =>
    /\.jsonl?$/.test(it),
  );
  return Object.fromEntries(files.map(it => [it, readFileSync(join(folder, it), "utf8")]));
}
