/**
 * The test runner that the extension host loads: runs the suites beside it and writes their results
 * to the file that INSIDE_RESULTS names.
 */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Mocha from "mocha";
import type { TestResult } from "./testResult.ts";

export async function run(): Promise<void> {
  const mocha = new Mocha({ timeout: 300_000 });
  for (const file of readdirSync(__dirname))
    if (file.endsWith(".test.cjs")) mocha.addFile(join(__dirname, file));
  const results: TestResult[] = [];
  await new Promise<void>(resolve => {
    const runner = mocha.run(() => resolve());
    runner.on("pass", test => results.push({ title: test.fullTitle() }));
    runner.on("fail", (test, error: Error) =>
      results.push({ title: test.fullTitle(), error: error.stack ?? error.message }),
    );
  });
  const file = process.env["INSIDE_RESULTS"];
  if (!file) throw new Error("INSIDE_RESULTS is not set");
  writeFileSync(file, JSON.stringify(results));
}
