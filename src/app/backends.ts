/**
 * Installs a native backend with npm from the package list and hashes in `resources/backends`, in a
 * new folder that replaces nothing and is removed again if anything fails. Starts backends and
 * measures a pass with each, each in a process of its own, because a native library that crashes
 * takes the process with it.
 */
import { spawn } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { ProcessTree } from "../mcp/processTree.ts";
import { getBackendsFolder, listInstalledBackends, type NativeBackend } from "../run/backends.ts";
import { withWriteErrors } from "../storage/fileErrors.ts";
import { findProgram, findProcessStart } from "../storage/processes.ts";
import { parseJson } from "../storage/parseJson.ts";
import { readTextFile } from "../storage/textFiles.ts";
import { UserError } from "../userError.ts";
import type { AppContext } from "./context.ts";

interface InstallOptions {
  /** An npm cache, from which everything is installed without a network. */
  readonly cache: string | undefined;
  /** The TensorFlow library to build against; downloaded if absent. */
  readonly library: string | undefined;
  /** Whether to install without asking. */
  readonly isConfirmed: boolean | undefined;
}

/** What is installed from where, for the question before it. Sizes are those on the disk. */
function describeSource(
  name: NativeBackend,
  { cache, library }: Pick<InstallOptions, "cache" | "library">,
): string {
  const registry = cache === undefined ? "the npm registry" : `the npm cache ${cache}`;
  if (name === "webgpu") return `about 135 MB from ${registry}`;
  return `about 270 MB of packages from ${registry}, and ${
    library === undefined
      ? "the library TensorFlow 2.9.1 for CUDA 11 and cuDNN 8 (more than a gigabyte) from storage.googleapis.com, which an install script downloads and PROVE does not check"
      : `the library in ${library}`
  }`;
}

const packageFile = z.object({ dependencies: z.record(z.string(), z.string()) });

/** The package of a backend, and its version. */
export function readBackendPackage(
  resources: string,
  name: NativeBackend,
): { readonly package: string; readonly version: string } {
  const file = join(resources, "backends", name, "package.json");
  const { dependencies } = parseJson(packageFile, readTextFile(file), {
    file,
    noun: "a package list",
    remedy: "install PROVE again",
  });
  const [[packageName, version]] = Object.entries(dependencies) as [[string, string]];
  return { package: packageName, version };
}

/** Installs a backend and returns its folder. Throws a `UserError` if it is installed already. */
export async function installBackend(
  context: InstallContext,
  name: NativeBackend,
  { cache, library, isConfirmed }: InstallOptions,
): Promise<string> {
  const root = getBackendsFolder();
  const target = join(root, name);
  if (listInstalledBackends(root).includes(name))
    throw new UserError(
      `${name} is installed in ${target}`,
      `remove it first with prove-rl backend remove ${name}`,
    );
  if (library !== undefined) findLibraryFiles(library); // refuses another folder before anything
  await askWhetherToInstall(context, name, target, { cache, library, isConfirmed });
  const folder = withWriteErrors(root, () => {
    mkdirSync(root, { recursive: true });
    removeLeftovers(root);
    return mkdtempSync(join(root, `${leftoverPrefix}${process.pid}-`));
  });
  try {
    for (const file of ["package.json", "package-lock.json"])
      copyFileSync(join(context.resources, "backends", name, file), join(folder, file));
    const offline = cache === undefined ? [] : ["--offline", "--cache", cache];
    const scripts = name === "tensorflow" && library === undefined ? [] : ["--ignore-scripts"];
    await runNpm(context, folder, ["ci", "--no-audit", "--no-fund", ...offline, ...scripts]);
    if (library !== undefined) await buildAgainst(context, folder, library);
    renameSync(folder, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return target;
}

interface InstallContext extends AppContext {
  /** Asks a yes-or-no question. Undefined if nobody can be asked. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Called when the work may take long to end after `signal` was aborted. */
  readonly allowLateEnd: () => void;
}

async function askWhetherToInstall(
  { confirm, printNote, resources }: InstallContext,
  name: NativeBackend,
  target: string,
  options: InstallOptions,
): Promise<void> {
  const { package: packageName, version } = readBackendPackage(resources, name);
  printNote(
    `${packageName}@${version} for the backend ${name}: ${describeSource(name, options)}. It goes to ${target}.`,
  );
  if (options.isConfirmed) return;
  if (!confirm)
    throw new UserError("nobody was asked whether to install this", "give --yes to install it");
  if (!(await confirm("install it?")))
    throw new UserError("nothing was installed", "answer y to install it");
}

/** The beginning of the names of folders that are being installed. The process follows. */
const leftoverPrefix = ".installing-";

/** Removes folders of installations that were interrupted. */
function removeLeftovers(root: string): void {
  for (const it of readdirSync(root)) {
    if (!it.startsWith(leftoverPrefix)) continue;
    const [pid] = it.slice(leftoverPrefix.length).split("-");
    if (findProcessStart(Number(pid)) !== undefined) continue;
    // npm may still be writing, if only the program that started it was killed
    rmSync(join(root, it), { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

interface LibraryFiles {
  readonly include: string;
  /** The libraries by the names that the package links and loads. */
  readonly libraries: readonly (readonly [name: string, file: string])[];
}

/** The files of a TensorFlow library in either layout. */
function findLibraryFiles(folder: string): LibraryFiles {
  const include = join(folder, "include");
  const inPackage = [
    ["libtensorflow.so", join(folder, "libtensorflow_cc.so.2")],
    ["libtensorflow_framework.so", join(folder, "libtensorflow_framework.so.2")],
  ] as const;
  const hasHeader = existsSync(join(include, "tensorflow", "c", "c_api.h"));
  if (hasHeader && inPackage.every(([, it]) => existsSync(it)))
    return { include, libraries: inPackage };
  const lib = join(folder, "lib");
  if (hasHeader && existsSync(join(lib, "libtensorflow.so")))
    return {
      include,
      libraries: readdirSync(lib)
        .filter(it => it.startsWith("libtensorflow"))
        .map(it => [it, join(lib, it)] as const),
    };
  throw new UserError(
    `${folder} is not a TensorFlow library: it needs include/tensorflow/c/c_api.h and either lib/libtensorflow.so or libtensorflow_cc.so.2`,
    "unpack TensorFlow's C library there, or name the folder tensorflow in the site-packages of a Python that has it",
  );
}

/** Puts a library where the package expects it, and compiles the package's binding to it. */
async function buildAgainst(
  context: InstallContext,
  folder: string,
  library: string,
): Promise<void> {
  const packageFolder = join(
    folder,
    "node_modules",
    readBackendPackage(context.resources, "tensorflow").package,
  );
  const { include, libraries } = findLibraryFiles(library);
  const lib = join(packageFolder, "deps", "lib");
  context.showProgress("copying the TensorFlow library");
  withWriteErrors(lib, () => {
    mkdirSync(lib, { recursive: true });
    cpSync(include, join(packageFolder, "deps", "include"), { recursive: true });
    for (const [name, file] of libraries) {
      // the loader looks for the name that the library gives itself
      const own = file.slice(dirname(file).length + 1);
      cpSync(file, join(lib, own), { verbatimSymlinks: true });
      if (own !== name) symlinkSync(own, join(lib, name));
    }
  });
  // npm brings node-gyp, and passes it to node-pre-gyp
  await runNpm(context, packageFolder, [
    "exec",
    "--offline",
    "--call",
    "node-pre-gyp install --build-from-source",
  ]);
}

const logLimit = 4_000;

/** Runs npm in a folder. Prints the end of its output and throws a `UserError` if it fails. */
async function runNpm(
  { signal, showProgress, printNote, allowLateEnd }: InstallContext,
  cwd: string,
  args: readonly string[],
): Promise<void> {
  const { program, first } = findNpm(cwd);
  showProgress(`npm ${args[0]}`);
  allowLateEnd(); // processes of npm are ended, and its folder is removed
  const child = spawn(program, [...first, ...args], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
    env: createNpmEnvironment(),
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-logLimit);
      showProgress(text.trim().split("\n").at(-1)!.slice(0, 80));
    });
  const tree = child.pid === undefined ? undefined : new ProcessTree(child.pid);
  const stop = () => (tree?.refresh(), tree?.kill("SIGTERM"));
  signal.addEventListener("abort", stop, { once: true });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    signal.throwIfAborted();
    if (code === 0) return;
    printNote(log.trim());
    throw new UserError(
      `npm ${args[0]} ended with code ${code}`,
      "correct what npm says above, then run the same command again",
    );
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Without the settings that the npm scripts of another project pass on. */
const createNpmEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([key]) => !/^npm_(?:package|lifecycle|config_(?:local_)?prefix)/.test(key),
    ),
  );

/** npm as a program; on Windows, where it is a script, as one that this Node runs. */
function findNpm(cwd: string): { readonly program: string; readonly first: readonly string[] } {
  const script = join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js");
  if (process.platform === "win32" && existsSync(script))
    return { program: process.execPath, first: [script] };
  const program = findProgram("npm", cwd);
  if (program === undefined)
    throw new UserError(
      "npm is not in the folders of PATH",
      "install Node.js with npm, then run the same command again",
    );
  return { program, first: [] };
}

const backendCheck = z.object({
  name: z.string(),
  device: z.string().optional(),
  hasGpu: z.boolean().optional(),
  milliseconds: z.number().optional(),
  /** Why it does not work. */
  problem: z.string().optional(),
});

export type BackendCheck = z.infer<typeof backendCheck>;

export type CheckedBackend = NativeBackend | "wasm";

/** Checks backends one after the other. */
export async function checkBackends(
  context: AppContext,
  names: readonly CheckedBackend[],
): Promise<readonly BackendCheck[]> {
  const checks: BackendCheck[] = [];
  for (const name of names) {
    context.showProgress(`checking ${name}`);
    checks.push(await checkInProcess(context, name));
  }
  return checks;
}

async function checkInProcess(
  { program, signal }: AppContext,
  name: CheckedBackend,
): Promise<BackendCheck> {
  const args = [program, "backend", "check", name, "--in-process", "--json"];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    signal,
  });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const end = await new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, by) => resolve(by ?? `code ${code}`));
  });
  // native libraries print to stdout, too
  const line = output.split("\n").find(it => it.startsWith("{"));
  if (line !== undefined) return backendCheck.parse(JSON.parse(line));
  const last = errors.trim().slice(-500);
  return { name, problem: `its process ended with ${end}${last === "" ? "" : `: ${last}`}` };
}

/** Starts one backend in this process. */
export async function checkBackend(
  { dist }: AppContext,
  name: CheckedBackend,
): Promise<BackendCheck> {
  const { startBackend } = await import("../compute/backend.ts");
  const { measurePass } = await import("../compute/backend.ts");
  try {
    const { device, hasGpu, check } = await startBackend(name, {
      programs: dist,
      backends: getBackendsFolder(),
    });
    const milliseconds = 1000 * (await measurePass());
    check?.();
    return { name, device, hasGpu, milliseconds };
  } catch (error) {
    return { name, problem: error instanceof Error ? error.message : String(error) };
  }
}
