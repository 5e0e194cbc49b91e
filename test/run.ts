/**
 * All tests: the packages are built, then the suites run at the same time; types and lint are
 * checked meanwhile. Ends with one line `N passed, N failed`. Knows how to run and count suites,
 * nothing of what they test.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { join } from "node:path";

interface Count {
  readonly passed: number;
  readonly failed: number;
}

const reports = mkdtempSync(join(tmpdir(), "prove-tests-"));
const total = { passed: 0, failed: 0 };
process.chdir(join(import.meta.dirname, ".."));

// the host takes a minute the first time, most of it waiting for downloads: begin at once, beside
// the other suites
const workbench = run("node", ["test/e2e/installPrerequisites.ts"]);
const typesAndLint = section("types and lint", async () => {
  const commands = ["tsc --noEmit", ...readLintCommands()].map(it => it.split(" "));
  const counts = await Promise.all(commands.map(([program, ...args]) => check(program!, args)));
  const passed = counts.filter(it => it.passed > 0).length;
  return { passed, failed: counts.length - passed };
});
await section("packages", () => check("npm", ["run", "--silent", "package"]));
// waits in the workbench have limits, so the units get the time that it leaves
await Promise.all([
  typesAndLint,
  section("units, contracts, goldens, conventions", () => suite("units", [], { niceness: 5 })),
  section("workbench host", async () => counted((await workbench) === 0)).then(() =>
    section("the packages, and the extension in a real workbench", () =>
      suite("workbench", ["--config", "test/e2e/vitest.config.ts"]),
    ),
  ),
]);
rmSync(reports, { recursive: true, force: true });
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;

async function section(title: string, work: () => Promise<Count>): Promise<void> {
  const start = performance.now();
  process.stdout.write(`\n== ${title}\n`);
  const { passed, failed } = await work();
  total.passed += passed;
  total.failed += failed;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(`== ${title}: ${passed} passed, ${failed} failed, ${seconds} s\n`);
}

/** The commands of `npm run lint`, which can run at the same time. */
function readLintCommands(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
    readonly scripts: { readonly lint: string };
  };
  return scripts.lint.split(" && ");
}

/** A program that passes or fails as a whole. */
async function check(program: string, args: readonly string[]): Promise<Count> {
  return counted((await run(program, args)) === 0);
}

function counted(passed: boolean): Count {
  return passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/**
 * A vitest suite, counted by its own report. What was skipped did not pass; a suite that ends badly
 * without a failed test has failed once.
 */
async function suite(name: string, args: readonly string[], options?: RunOptions): Promise<Count> {
  const report = join(reports, `${name}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const code = await run("vitest", ["run", ...reporters, ...args], options);
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numTotalTests, numPassedTests } = JSON.parse(readFileSync(report, "utf8")) as {
    numTotalTests: number;
    numPassedTests: number;
  };
  const failed = numTotalTests - numPassedTests;
  return { passed: numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
}

interface RunOptions {
  /** The nice value of the program and of those that it starts: higher gets less processor time. */
  readonly niceness: number;
}

/**
 * Runs a program with this terminal; resolves with its exit code. npm has put the project's own
 * programs on PATH.
 */
function run(program: string, args: readonly string[], options?: RunOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "inherit", "inherit"],
      // two suites cannot both redraw the last lines of a terminal
      env: { ...process.env, CI: "true" },
      shell: process.platform === "win32",
    });
    if (options && child.pid !== undefined) setPriority(child.pid, options.niceness);
    child.once("error", reject);
    child.once("exit", code => resolve(code ?? 1));
  });
}
