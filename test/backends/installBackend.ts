/**
 * Installs native backends that compute on the processor into `.backends`, and runs programs with
 * one: TensorFlow is built against the library in the Python package `tensorflow-cpu`, WebGPU runs
 * on the software implementation that Chromium brings.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { NativeBackend } from "../../src/run/backends.ts";
import { findProgram } from "../../src/storage/processes.ts";
import { UserError } from "../../src/userError.ts";

const root = join(import.meta.dirname, "../..");
const packages = join(root, ".backends");
const chromium = "/usr/lib/chromium";

/** The folder that backends are installed in. */
export const backends = join(packages, "installed");

/** Installs a backend, if it is not. */
export function installBackend(name: NativeBackend): void {
  if (existsSync(join(backends, name))) return;
  const more = name === "tensorflow" ? ["--library", installLibrary()] : [];
  const env = createEnvironment(name);
  runProgram("node", ["dist/cli.js", "backend", "install", name, "--yes", ...more], env);
}

/** The folder of the Python package, which has the library and its headers. */
function installLibrary(): string {
  const target = join(packages, "tensorflow");
  mkdirSync(packages, { recursive: true });
  const pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", target];
  const safely = ["--only-binary", ":all:", "--require-hashes"];
  const requirements = join(import.meta.dirname, "library-requirements.txt");
  if (!existsSync(join(target, "tensorflow")))
    runProgram("python3", [...pip, ...safely, "--requirement", requirements]);
  return join(target, "tensorflow");
}

/** The variables of programs that use a backend. */
export function createEnvironment(name: NativeBackend): Record<string, string> {
  const isSoftware = name === "webgpu" && process.env["VK_ICD_FILENAMES"] === undefined;
  const icd = join(chromium, "vk_swiftshader_icd.json");
  if (isSoftware && !existsSync(icd))
    throw new UserError(
      `${icd} is missing`,
      "install the package chromium, or set VK_ICD_FILENAMES to a Vulkan driver",
    );
  return {
    BACKEND: name,
    PROVE_BACKENDS: backends,
    TF_CPP_MIN_LOG_LEVEL: "2",
    // node-gyp takes the headers of the system's Node, if they are there, instead of downloading
    ...(existsSync("/usr/include/node/node_api.h") ? { npm_config_nodedir: "/usr" } : {}),
    ...(isSoftware ? { VK_ICD_FILENAMES: icd, LD_LIBRARY_PATH: chromium } : {}),
  };
}

interface RunOptions {
  /** Whether stdout is returned instead of printed. */
  readonly stdout?: "inherit" | "pipe";
  /** Whether it may end with 1, having found something wrong. */
  readonly mayFail?: boolean;
}

/** Runs a program in the repository, with this terminal. */
export function runProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { stdout = "inherit", mayFail = false }: RunOptions = {},
): string {
  const result = spawnSync(findProgram(program, root) ?? program, args, {
    cwd: root,
    stdio: ["ignore", stdout, "inherit"],
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    env: { ...process.env, ...env },
  });
  if (result.error) throw result.error;
  if (result.status !== 0 && !(mayFail && result.status === 1))
    throw new UserError(`${program} ${args.join(" ")} failed`, "see above what is wrong");
  return result.stdout;
}
