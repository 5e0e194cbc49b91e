/**
 * `npm run test:engines`: installs HAProxy, and the Python packages that the engines' tests need
 * into `.engines`, checks the Python programs in `resources/python` and `test/lab`, builds the
 * Python package, and runs the tests in this folder.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { UserError } from "../../src/userError.ts";
import { isInstalled, installPackages } from "../systemPackages.ts";
import {
  installEnvironment,
  programs,
  python,
  verifiersPackages,
  verlPackages,
} from "./environment.ts";

process.chdir(join(import.meta.dirname, "../.."));
const config = "test/engines/pyproject.toml";
/** Tests that need packages of their own, which come before those of the environment. */
const others = { verl: verlPackages, verifiers: verifiersPackages };
const sources = [
  "resources/python",
  "test/lab",
  "test/engines",
  ...Object.keys(others).map(it => `test/engines/${it}`),
].flatMap(folder =>
  readdirSync(folder, { recursive: folder === "resources/python", encoding: "utf8" })
    .filter(it => it.endsWith(".py"))
    .map(it => `${folder}/${it}`),
);

// where Debian installs HAProxy, which is on root's PATH only
process.env["PATH"] = [process.env["PATH"], "/usr/sbin"].join(delimiter);

try {
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  if (!isInstalled("haproxy"))
    installPackages("the tests of the example for HAProxy need it", ["haproxy"], say);
  installEnvironment(say);
  const ruff = join(programs, "ruff");
  run(ruff, ["check", "--config", config, "--no-cache", "--quiet", ...sources]);
  run(ruff, ["format", "--check", "--config", config, "--no-cache", "--quiet", ...sources]);
  run(python, ["-m", "mypy", "--config-file", config, "--cache-dir", ".engines/mypy", ...sources]);
  // also builds the program that the other tests use
  run("npm", ["run", "--silent", "wheel"]);
  run("node", ["esbuild.mjs", "--lab"]);
  const pytest = ["-m", "pytest", "-c", config];
  const ignored = Object.keys(others).flatMap(it => ["--ignore", `test/engines/${it}`]);
  run(python, [...pytest, "test/engines", ...ignored]);
  for (const [name, packages] of Object.entries(others))
    run(python, [...pytest, `test/engines/${name}`], { PYTHONPATH: packages });
  run("vitest", ["run", "--config", "test/engines/vitest.config.ts"]);
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  process.stderr.write(`test:engines: ${error.what}\n  ${error.remedy}\n`);
  process.exitCode = 1;
}

/** Runs a program with this terminal. npm has put the project's own programs on PATH. */
function run(
  program: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): void {
  const { status, error } = spawnSync(program, args, {
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
    // the folders that are packaged stay free of compiled modules
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...variables },
  });
  if (error) throw error;
  if (status !== 0)
    throw new UserError(`${program} ${args.join(" ")} failed`, "see above what is wrong");
}
