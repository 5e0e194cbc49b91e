/**
 * Loaded by the extension host in place of a test runner's own: runs the suites beside it and
 * leaves their results in the file that INSIDE_RESULTS names.
 */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Mocha from "mocha";
import type { Result } from "./result.ts";

export async function run(): Promise<void> {
  const mocha = new Mocha({ timeout: 60_000 });
  for (const file of readdirSync(__dirname))
    if (file.endsWith(".test.cjs")) mocha.addFile(join(__dirname, file));
  const results: Result[] = [];
  await new Promise<void>(resolve => {
    const runner = mocha.run(() => resolve());
    runner.on("pass", test => results.push({ title: test.fullTitle() }));
    runner.on("fail", (test, error: Error) =>
      results.push({ title: test.fullTitle(), error: error.stack ?? error.message }),
    );
  });
  const file = process.env["INSIDE_RESULTS"];
  if (!file) throw new Error("INSIDE_RESULTS names no file");
  writeFileSync(file, JSON.stringify(results));
}
