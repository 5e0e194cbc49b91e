/**
 * All tests: packages, types and lint at the same time, then the suites, the packaged extension
 * last. Ends with one line `N passed, N failed`. Knows how to run and count suites, nothing of what
 * they test.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** A part of the tests. What it prints comes out in one piece. */
interface Section {
  readonly title: string;
  readonly work: (print: Print) => Promise<Count>;
}
type Print = (output: string | Uint8Array) => void;

process.chdir(join(import.meta.dirname, ".."));
const reports = mkdtempSync(join(tmpdir(), "prove-tests-"));
const total = { passed: 0, failed: 0 };

// the host takes a minute the first time, most of it waiting for downloads: begin at once, beside
// the other suites
const hostOutput: (string | Uint8Array)[] = [];
const host = check(it => void hostOutput.push(it), "node", ["test/e2e/installPrerequisites.ts"]);
await runTogether(
  { title: "packages", work: print => check(print, "npm", ["run", "--silent", "package"]) },
  { title: "types and lint", work: checkSources },
);
await runTogether({
  title: "units, contracts, goldens, conventions",
  work: print => suite(print, "units", []),
});
await runTogether({
  title: "workbench host",
  work: async print => {
    const count = await host;
    for (const it of hostOutput) print(it);
    return count;
  },
});
await runTogether({
  title: "the packages, and the extension in a real workbench",
  work: print => suite(print, "workbench", ["--config", "test/e2e/vitest.config.ts"]),
});
rmSync(reports, { recursive: true, force: true });
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;

/** Runs sections at the same time. Each prints when those before it have ended. */
async function runTogether(...sections: readonly Section[]): Promise<void> {
  let before: Promise<void> = Promise.resolve();
  for (const it of sections) before = runSection(it, before);
  await before;
}

async function runSection({ title, work }: Section, before: Promise<void>): Promise<void> {
  const start = performance.now();
  let held: (string | Uint8Array)[] | undefined = [];
  const print: Print = output => {
    if (held) held.push(output);
    else process.stdout.write(output);
  };
  print(`\n== ${title}\n`);
  const end = work(print).then(({ passed, failed }) => {
    total.passed += passed;
    total.failed += failed;
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    print(`== ${title}: ${passed} passed, ${failed} failed, ${seconds} s\n`);
  });
  await before;
  for (const it of held) process.stdout.write(it);
  held = undefined;
  await end;
}

/** The types, and what `npm run lint` runs, at the same time. */
async function checkSources(print: Print): Promise<Count> {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
    readonly scripts: { readonly lint: string };
  };
  const commands = [...scripts.lint.split(" && "), "tsc --noEmit"].map(it => it.split(" "));
  const counts = await Promise.all(
    commands.map(([program, ...args]) => check(print, program!, args)),
  );
  const passed = counts.filter(it => it.passed > 0).length;
  return { passed, failed: counts.length - passed };
}

/** A program that passes or fails as a whole. */
async function check(print: Print, program: string, args: readonly string[]): Promise<Count> {
  return (await run(print, program, args)) === 0
    ? { passed: 1, failed: 0 }
    : { passed: 0, failed: 1 };
}

/**
 * A vitest suite, counted by its own report. What was skipped did not pass; a suite that ends badly
 * without a failed test has failed once.
 */
async function suite(print: Print, name: string, args: readonly string[]): Promise<Count> {
  const report = join(reports, `${name}.json`);
  const code = await run(print, "vitest", [
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...args,
  ]);
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numTotalTests, numPassedTests } = JSON.parse(readFileSync(report, "utf8")) as {
    numTotalTests: number;
    numPassedTests: number;
  };
  const failed = numTotalTests - numPassedTests;
  return { passed: numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
}

/** Runs a program; resolves with its exit code. npm has put the project's own programs on PATH. */
function run(print: Print, program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
      env: process.stdout.isTTY ? { FORCE_COLOR: "1", ...process.env } : process.env,
    });
    child.stdout.on("data", print);
    child.stderr.on("data", print);
    child.once("error", reject);
    child.once("close", code => resolve(code ?? 1));
  });
}
