/**
 * `npm run engines:newest`: says what breaks with the newest versions of the trainers. Each gets a
 * virtual environment in `.engines/newest` with its newest version and what that needs; all other
 * packages are those of the engines' tests. Then the trainer's tests are run.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { UserError } from "../../src/userError.ts";
import {
  installEnvironment,
  newestFolder,
  python,
  verifiersPackages,
  verlPackages,
} from "./environment.ts";

interface Trainer {
  readonly packages: readonly string[];
  /** In this folder. */
  readonly tests: readonly string[];
  /** Where its tested version is, if that is not the environment of the tests. */
  readonly tested?: string;
}

const trainers: readonly Trainer[] = [
  {
    packages: ["trl", "transformers", "accelerate", "datasets", "peft"],
    tests: ["test_trl.py", "test_service.py"],
  },
  { packages: ["openenv"], tests: ["test_openenv.py"] },
  { packages: ["verifiers"], tests: ["verifiers"], tested: verifiersPackages },
  { packages: ["verl", "ray"], tests: ["verl"], tested: verlPackages },
];

process.chdir(join(import.meta.dirname, "../.."));
const say = (line: string) => void process.stdout.write(`${line}\n`);
const chosen = process.argv.slice(2);
try {
  installEnvironment(say);
  run("npm", ["run", "--silent", "build"]);
  rmSync(newestFolder, { recursive: true, force: true });
  const results = trainers
    .filter(it => chosen.length === 0 || it.packages.some(name => chosen.includes(name)))
    .map(it => `${tryNewest(it)}: ${listVersions(it)}`);
  for (const it of results) say(it);
  process.exitCode = results.every(it => it.startsWith("passed")) ? 0 : 1;
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  process.stderr.write(`engines:newest: ${error.what}\n  ${error.remedy}\n`);
  process.exitCode = 1;
}

function findFolder({ packages }: Trainer): string {
  return join(newestFolder, packages[0]!);
}

function findPython(trainer: Trainer): string {
  return join(findFolder(trainer), relative(dirname(newestFolder), python));
}

/** Installs the newest version and runs the tests, which print what fails. */
function tryNewest(trainer: Trainer): "passed" | "not installed" | "failed" {
  const { packages, tests } = trainer;
  say(`\n${packages.join(", ")}`);
  mkdirSync(newestFolder, { recursive: true });
  run(python, ["-m", "venv", findFolder(trainer)]);
  const newest = findPython(trainer);
  const findPackages = ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"];
  writeFileSync(
    join(readOutput(newest, findPackages), "tests.pth"),
    readOutput(python, findPackages),
  );
  const install = ["-m", "pip", "install", "--quiet", "--upgrade", ...packages];
  const { status: installed, stderr } = spawnSync(newest, install, { encoding: "utf8" });
  if (installed !== 0) {
    say(stderr);
    return "not installed";
  }
  const pytest = ["-m", "pytest", "-c", "test/engines/pyproject.toml"];
  const { status } = spawnSync(newest, [...pytest, ...tests.map(it => `test/engines/${it}`)], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
  });
  return status === 0 ? "passed" : "failed";
}

/** The versions that were tried, and those of the tests where they are others. */
function listVersions(trainer: Trainer): string {
  const program = `import sys
from importlib.metadata import version
for name in sys.argv[1:]: print(version(name))`;
  const read = (path: string, variables: Readonly<Record<string, string>>) =>
    readOutput(path, ["-c", program, ...trainer.packages], variables).split("\n");
  const tested = read(python, trainer.tested ? { PYTHONPATH: trainer.tested } : {});
  const found = read(findPython(trainer), {});
  return trainer.packages
    .map((name, i) => {
      const note = found[i] === tested[i] ? "" : ` (the tests use ${tested[i]})`;
      return `${name} ${found[i]}${note}`;
    })
    .join(", ");
}

function readOutput(
  program: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): string {
  const env = { ...process.env, ...variables };
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", env });
  if (error) throw error;
  if (status !== 0) throw new UserError(`${program} failed: ${stderr}`, "see above what is wrong");
  return stdout.trim();
}

function run(program: string, args: readonly string[]): void {
  const { status, error } = spawnSync(program, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (error) throw error;
  if (status !== 0)
    throw new UserError(`${program} ${args.join(" ")} failed`, "see above what is wrong");
}
