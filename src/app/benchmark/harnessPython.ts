/**
 * Finds a Python that has an official benchmark's packages, or installs them into a virtual
 * environment in the user's cache folder.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { ProcessTree } from "../../mcp/processTree.ts";
import { findProgram } from "../../storage/processes.ts";
import { withWriteErrors } from "../../storage/fileErrors.ts";
import { writeFileOver } from "../../storage/writtenFiles.ts";
import { UserError } from "../../userError.ts";
import type { AppContext } from "../context.ts";

/** The packages of a benchmark. */
export interface HarnessPackages {
  /** The package with the benchmark, as pip calls it, or that which it needs most. */
  readonly name: string;
  readonly version: string;
  /** Whether results of another version cannot be compared. */
  readonly isExact: boolean;
  /** The file in `prove_rl/benchmarks` that lists all packages with their versions. */
  readonly requirements: string;
  /** Modules without which it does not run. */
  readonly modules: readonly string[];
  /** Another package with the same module, and what it measures in its versions from `from` on. */
  readonly rival?: { readonly name: string; readonly from: number; readonly measures: string };
  /** What the installation takes, in MB. */
  readonly megabytes: number;
}

type Context = Pick<AppContext, "cwd" | "resources" | "printNote" | "showProgress" | "signal">;

const isWindows = process.platform === "win32";

/**
 * The path of a Python with the packages. `command` is the user's own choice: a Python that has
 * them, or one to create the environment with. Throws a `UserError` that says what is missing.
 */
export async function prepareHarnessPython(
  packages: HarnessPackages,
  command: string | undefined,
  context: Context,
): Promise<string> {
  const { name, version } = packages;
  const base = findPython(command, context.cwd);
  const found = await inspectPython(base, packages, context);
  if (found.version < "3.11")
    throw new UserError(
      `${base} is Python ${found.release}, and ${name} needs 3.11 or later`,
      "install a newer Python, and give its path with --python",
    );
  const { rival } = packages;
  if (command !== undefined && found.harness === null && found.rival !== null && rival)
    throw new UserError(
      `${base} has ${rival.name} ${found.rival}${Number.parseInt(found.rival, 10) >= rival.from ? `, which is ${rival.measures}` : ""}, and not ${name} ${version}: tasks and scores are others`,
      `leave out --python to have ${name} installed, or give a Python that has it`,
    );
  const fits = found.harness === version || (!packages.isExact && found.harness !== null);
  if (fits && found.missing.length === 0) return base;
  if (found.harness !== null && !fits)
    throw new UserError(
      `${base} has ${name} ${found.harness}, and results are compared with those of ${version} only`,
      `install ${name} ${version} there, or give another Python with --python`,
    );
  return installInto(join(getCacheFolder(), `${name}-${version}-py${found.release}`), base, {
    packages,
    context,
  });
}

function findPython(command: string | undefined, cwd: string): string {
  const name = command ?? (isWindows ? "python" : "python3");
  const found = findProgram(name, cwd);
  if (found !== undefined) return found;
  throw new UserError(
    `there is no program ${name}${command === undefined ? " in the folders of PATH" : ""}`,
    "install Python 3.11 or later, or give its path with --python",
  );
}

const inspection = z.object({
  release: z.string(),
  harness: z.string().nullable(),
  rival: z.string().nullable().default(null),
  missing: z.array(z.string()),
});

/** Works with every Python 3. */
const inspectionProgram = `
import json, sys
try:
    from importlib import metadata, util
    names = sys.argv[3:]
    missing = [it for it in names if util.find_spec(it) is None]
    def find_version(name):
        try:
            return metadata.version(name) if name else None
        except metadata.PackageNotFoundError:
            return None
    harness, rival = [find_version(it) for it in sys.argv[1:3]]
except ImportError:
    missing, harness, rival = [], None, None
print(json.dumps({"release": "%d.%d" % sys.version_info[:2], "harness": harness, "rival": rival, "missing": missing}))
`;

async function inspectPython(
  python: string,
  { name, modules, rival }: HarnessPackages,
  context: Context,
): Promise<z.infer<typeof inspection> & { readonly version: string }> {
  const { code, output } = await runProgram(
    python,
    ["-E", "-c", inspectionProgram, name, rival?.name ?? "", ...modules],
    context,
  );
  const found = code === 0 ? inspection.safeParse(parseLastLine(output)).data : undefined;
  if (!found)
    throw new UserError(
      `${python} is not a Python 3 (${output.trim().split("\n").at(-1) ?? ""})`,
      "give the path of Python 3.11 or later with --python",
    );
  // 3.9 comes before 3.11
  const version = found.release.replaceAll(/\d+/g, it => it.padStart(2, "0")).replace(/^0/, "");
  return { ...found, version };
}

function parseLastLine(output: string): unknown {
  try {
    return JSON.parse(output.trim().split("\n").at(-1)!);
  } catch {
    return undefined;
  }
}

/** Creates the environment unless it is there with the same packages. */
async function installInto(
  folder: string,
  base: string,
  { packages, context }: { readonly packages: HarnessPackages; readonly context: Context },
): Promise<string> {
  const python = join(folder, isWindows ? "Scripts/python.exe" : "bin/python");
  const list = join(context.resources, "python/prove_rl/benchmarks", packages.requirements);
  // written last, so that an interrupted installation is repeated
  const marker = join(folder, "installed.txt");
  const expected = readFileSync(list, "utf8");
  if (existsSync(marker) && readFileSync(marker, "utf8") === expected && existsSync(python))
    return python;
  context.printNote(
    `installing ${packages.name} ${packages.version} and what it needs into ${folder}, once: about ${packages.megabytes} MB`,
  );
  withWriteErrors(folder, () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  });
  const run = async (program: string, args: readonly string[], what: string, remedy: string) => {
    context.showProgress(what);
    const { code, output } = await runProgram(program, args, context);
    if (code === 0) return;
    const lines = output.trim().split("\n").slice(-2).join("; ");
    throw new UserError(`${what} failed (${lines})`, remedy);
  };
  await run(
    base,
    ["-E", "-m", "venv", folder],
    "creating a virtual environment",
    "install the module venv of Python; on Debian and Ubuntu it is in the package python3-venv",
  );
  // building a package from its sources could run any code
  const safely = ["--no-deps", "--only-binary", ":all:", "--require-hashes"];
  const pip = ["-E", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...safely];
  await run(
    python,
    // modules are compiled when they are first imported, and most never are
    [...pip, "--no-compile", "--requirement", list],
    "installing packages with pip",
    `check that pip reaches its package index, or run pip install ${safely.join(" ")} -r ${list} in an environment of your own and give its Python with --python`,
  );
  writeFileOver(marker, expected);
  return python;
}

/** The folder of this product in the user's cache. */
function getCacheFolder(): string {
  const { env, platform } = process;
  const folder =
    platform === "win32"
      ? env["LOCALAPPDATA"] || join(homedir(), "AppData", "Local")
      : platform === "darwin"
        ? join(homedir(), "Library", "Caches")
        : env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(folder, "prove-rl");
}

/** Runs a program to its end. Its output is stdout and stderr together. */
async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, signal }: Pick<Context, "cwd" | "signal">,
): Promise<{ readonly code: number | null; readonly output: string }> {
  signal.throwIfAborted();
  const child = spawn(program, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    detached: !isWindows,
    windowsHide: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (it: string) => (output = (output + it).slice(-20_000)));
  const tree = child.pid === undefined ? undefined : new ProcessTree(child.pid);
  const kill = () => tree?.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  try {
    const code = await new Promise<number | null>(resolve => {
      child.once("error", error => {
        output += error.message;
        resolve(null);
      });
      child.once("close", resolve);
    });
    signal.throwIfAborted();
    return { code, output };
  } finally {
    signal.removeEventListener("abort", kill);
  }
}
