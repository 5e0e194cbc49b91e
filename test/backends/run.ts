/**
 * `npm run test:tensorflow` and `npm run test:webgpu`: install a native backend into `.backends`
 * and run the tests in this folder with it. TensorFlow is built against the library in the Python
 * package `tensorflow-cpu`; WebGPU runs on the software implementation that Chromium brings.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../src/storage/findProgram.ts";
import { UserError } from "../../src/userError.ts";

const root = join(import.meta.dirname, "../..");
const packages = join(root, ".backends");
const backends = join(root, ".backends", "installed");
const chromium = "/usr/lib/chromium";
const [name] = process.argv.slice(2);

try {
  if (name !== "tensorflow" && name !== "webgpu")
    throw new UserError(`there is no backend ${name}`, "give tensorflow or webgpu");
  run("npm", ["run", "--silent", "build"]);
  if (!existsSync(join(backends, name))) {
    const more = name === "tensorflow" ? ["--library", installLibrary()] : [];
    run("node", ["dist/cli.js", "backend", "install", name, "--yes", ...more]);
  }
  run("vitest", ["run", "--config", "test/backends/vitest.config.ts"]);
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  process.stderr.write(`test:${name}: ${error.what}\n  ${error.remedy}\n`);
  process.exitCode = 1;
}

/** The folder of the Python package, which has the library and its headers. */
function installLibrary(): string {
  const target = join(packages, "tensorflow");
  mkdirSync(packages, { recursive: true });
  if (!existsSync(join(target, "tensorflow")))
    run("python3", [
      "-m",
      "pip",
      "install",
      "--quiet",
      "--no-deps",
      "--target",
      target,
      "tensorflow-cpu==2.18.0",
    ]);
  return join(target, "tensorflow");
}

/** Runs a program with this terminal, in the environment that the backend needs. */
function run(program: string, args: readonly string[]): void {
  const isSoftware = name === "webgpu" && process.env["VK_ICD_FILENAMES"] === undefined;
  const icd = join(chromium, "vk_swiftshader_icd.json");
  if (isSoftware && !existsSync(icd))
    throw new UserError(
      `${icd} is missing`,
      "install the package chromium, or set VK_ICD_FILENAMES to a Vulkan driver",
    );
  const { status, error } = spawnSync(findProgram(program, root) ?? program, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      BACKEND: name,
      PROVE_BACKENDS: backends,
      TF_CPP_MIN_LOG_LEVEL: "2",
      // node-gyp takes the headers of the system's Node, if they are there, instead of downloading
      ...(existsSync("/usr/include/node/node_api.h") ? { npm_config_nodedir: "/usr" } : {}),
      ...(isSoftware ? { VK_ICD_FILENAMES: icd, LD_LIBRARY_PATH: chromium } : {}),
    },
  });
  if (error) throw error;
  if (status !== 0)
    throw new UserError(`${program} ${args.join(" ")} failed`, "see above what is wrong");
}
