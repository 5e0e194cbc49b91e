/** The virtual environment of the engines' tests: where it is, and how it is created. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTrlRequirements } from "../../src/engine/trl.ts";
import { findProgram } from "../../src/storage/processes.ts";
import { UserError } from "../../src/userError.ts";

const root = join(import.meta.dirname, "../..");
const folder = join(root, ".engines");
/** The packages of verl, which come before those of the environment where they are used. */
export const verlPackages = join(folder, "verl");
/** The packages of verifiers, in the same way. */
export const verifiersPackages = join(folder, "verifiers");
/** The virtual environments of `npm run engines:newest`. */
export const newestFolder = join(folder, "newest");
/** What pip installs, one call for each file, before the packages of a training with TRL. */
const requirements = [
  { file: join(import.meta.dirname, "requirements.txt"), options: ["--no-deps"] },
  {
    file: join(import.meta.dirname, "requirements-verl.txt"),
    options: ["--no-deps", "--target", verlPackages],
  },
  {
    file: join(import.meta.dirname, "requirements-verifiers.txt"),
    options: ["--no-deps", "--target", verifiersPackages],
  },
  {
    file: join(import.meta.dirname, "requirements-deepspeed.txt"),
    options: ["--no-deps", "--target", join(folder, "deepspeed")],
  },
];
/** Says what is installed. It is written last, so that an interrupted installation is repeated. */
const marker = join(folder, "installed.txt");

/** The folder of the environment's programs. */
export const programs = join(folder, process.platform === "win32" ? "Scripts" : "bin");
export const python = join(programs, process.platform === "win32" ? "python.exe" : "python");

/** Creates the environment, if the packages that it should have are not installed yet. */
export function installEnvironment(say: (line: string) => void): void {
  const base = findPython();
  const trl = createTrlRequirements(0);
  const files = requirements.map(it => readFileSync(it.file, "utf8"));
  const expected = [base, ...files, trl].join("\n");
  if (readMarker() === expected && runPython(python, ["-c", ""]).status === 0) return;
  say("installing the Python packages into .engines");
  rmSync(folder, { recursive: true, force: true });
  check(
    runPython(base, ["-m", "venv", folder]),
    "a virtual environment cannot be created",
    "install the module venv of Python; on Debian and Ubuntu it is in the package python3-venv",
  );
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
  for (const args of [
    ...requirements.map(({ file, options }) => [...options, "--requirement", file]),
    trl.trim().split("\n"),
  ])
    check(
      runPython(python, [...pip, ...args]),
      "the Python packages cannot be installed",
      "check that pip reaches its package index, then run npm run test:engines again",
    );
  writeFileSync(marker, expected);
}

/** The Python of this machine, new enough for the packages. */
function findPython(): string {
  const names = process.platform === "win32" ? ["python"] : ["python3"];
  const found = names.map(it => findProgram(it, root)).find(it => it !== undefined);
  const isNewEnough = "import sys; sys.exit(sys.version_info < (3, 11))";
  if (found !== undefined && runPython(found, ["-c", isNewEnough]).status === 0) return found;
  throw new UserError(
    found === undefined
      ? `there is no ${names.join(" or ")} in the folders of PATH`
      : `${found} is not Python 3.11 or later`,
    "install Python 3.11 or later, then run npm run test:engines again",
  );
}

const readMarker = () => (existsSync(marker) ? readFileSync(marker, "utf8") : undefined);

const runPython = (program: string, args: readonly string[]) =>
  spawnSync(program, args, { cwd: root, encoding: "utf8" });

function check(
  { status, stdout, stderr, error }: ReturnType<typeof runPython>,
  what: string,
  remedy: string,
): void {
  if (status === 0) return;
  throw new UserError(`${what}:\n${error?.message ?? `${stdout}${stderr}`.trim()}\n`, remedy);
}
