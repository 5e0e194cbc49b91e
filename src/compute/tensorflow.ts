/**
 * Starts the native TensorFlow backend, `@tensorflow/tfjs-node-gpu` or `@tensorflow/tfjs-node`,
 * from the folder that it is installed in. The packages are not part of the extension.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import * as tf from "@tensorflow/tfjs-core";
import { UserError } from "../userError.ts";
import { createMissingError, describeLoadError } from "./loadError.ts";

const packages = ["@tensorflow/tfjs-node-gpu", "@tensorflow/tfjs-node"] as const;

interface StartedTensorflow {
  readonly isUsingGpu: boolean;
  /** The version of the native library. */
  readonly version: string;
}

/** Makes `tensorflow` the backend of this thread. `folder` has one of the packages. */
export async function startTensorflow(folder: string | undefined): Promise<StartedTensorflow> {
  if (folder === undefined) throw createMissingError("tensorflow");
  // by default, TensorFlow takes all memory of a graphics card at once
  process.env["TF_FORCE_GPU_ALLOW_GROWTH"] ??= "true";
  loadPackage(folder);
  if (!(await tf.setBackend("tensorflow")))
    throw new UserError(
      "the tensorflow backend did not start",
      "remove it with prove-rl backend remove tensorflow, and install it again",
    );
  await tf.ready();
  // the package runs on the processor, without a warning, if the CUDA libraries are not the ones
  // that it was built for
  const { isUsingGpuDevice, binding } = tf.backend() as unknown as TensorflowBackend;
  return { isUsingGpu: isUsingGpuDevice, version: binding.TF_Version };
}

/** Internals of the backend that its types do not include. */
interface TensorflowBackend {
  readonly isUsingGpuDevice: boolean;
  readonly binding: { readonly TF_Version: string };
}

/** Registers the backend in our tfjs-core: both copies share one engine through a global. */
function loadPackage(folder: string): void {
  const name = packages.find(it => existsSync(join(folder, "node_modules", it, "package.json")));
  if (!name)
    throw new UserError(
      `${folder} has neither ${packages.join(" nor ")}`,
      "remove it with prove-rl backend remove tensorflow, and install it again",
    );
  // Node 23 removed these functions from its util module, and the package still calls them
  const util = createRequire(import.meta.url)("node:util") as Record<string, unknown>;
  util["isNullOrUndefined"] ??= (value: unknown) => value === null || value === undefined;
  util["isArray"] ??= Array.isArray;
  const { warn } = console;
  // the package registers every kernel and gradient a second time, with a warning for each
  console.warn = (...words: unknown[]) => {
    if (!String(words[0]).includes("already registered")) warn(...words);
  };
  try {
    createRequire(join(folder, "any.js"))(name);
  } catch (cause) {
    const reason = describeLoadError(cause);
    throw new UserError(
      `${name} cannot be loaded from ${folder}: ${reason}`,
      `its native library is missing or does not fit Node ${process.versions.node}: remove it with prove-rl backend remove tensorflow, and install it again`,
      { cause },
    );
  } finally {
    console.warn = warn;
  }
}
