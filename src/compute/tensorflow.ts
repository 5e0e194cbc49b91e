/**
 * Starts the native TensorFlow backend of `@tensorflow/tfjs-node-gpu` from a folder that the user
 * configures. The package is not part of the extension.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import * as tf from "@tensorflow/tfjs-core";
import { UserError } from "../userError.ts";

const version = "4.22.0";

/**
 * Makes `tensorflow` the backend of this thread, without a GPU only if the user chose it
 * explicitly. Returns notes for the user.
 */
export async function startTensorflow(
  folder: string | undefined,
  isExplicit: boolean,
): Promise<string[]> {
  if (folder === undefined)
    throw new UserError(
      "no folder with @tensorflow/tfjs-node-gpu is configured",
      `install @tensorflow/tfjs-node-gpu@${version} in a folder and name that folder`,
    );
  loadPackage(folder);
  if (!(await tf.setBackend("tensorflow"))) throw new Error("the tensorflow backend did not start");
  await tf.ready();
  // the package runs on the processor, without a warning, if the CUDA libraries are not the ones
  // that it was built for
  if ((tf.backend() as unknown as { isUsingGpuDevice: boolean }).isUsingGpuDevice) return [];
  if (!isExplicit) throw new Error(`TensorFlow in ${folder} found no GPU that it can use`);
  return [`TensorFlow in ${folder} found no GPU that it can use and runs on the processor`];
}

/** Registers the backend in our tfjs-core: both copies share one engine through a global. */
function loadPackage(folder: string): void {
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
    createRequire(join(folder, "any.js"))("@tensorflow/tfjs-node-gpu");
  } catch (cause) {
    throw new UserError(
      `@tensorflow/tfjs-node-gpu cannot be loaded from ${folder}`,
      `install version ${version} there, with its native library`,
      { cause },
    );
  } finally {
    console.warn = warn;
  }
}
