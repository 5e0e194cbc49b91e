/**
 * TensorFlow's native library through `@tensorflow/tfjs-node-gpu`, loaded from a folder of the
 * person's choice: it is never part of the package.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import * as tf from "@tensorflow/tfjs-core";
import { UserError } from "../userError.ts";

const version = "4.22.0";

/**
 * Makes `tensorflow` this thread's backend. Unless `named` by the person, only with a GPU. Gives
 * what the person should know.
 */
export async function startTensorflow(
  folder: string | undefined,
  named: boolean,
): Promise<string[]> {
  if (folder === undefined)
    throw new UserError(
      "no folder with @tensorflow/tfjs-node-gpu is configured",
      `install @tensorflow/tfjs-node-gpu@${version} in a folder and name that folder`,
    );
  loadPackage(folder);
  if (!(await tf.setBackend("tensorflow"))) throw new Error("the tensorflow backend did not start");
  await tf.ready();
  // the package for GPUs runs on the processor, without a word, when CUDA's libraries are not those
  // it was built for
  if ((tf.backend() as unknown as { isUsingGpuDevice: boolean }).isUsingGpuDevice) return [];
  if (!named) throw new Error(`TensorFlow in ${folder} found no GPU that it can use`);
  return [`TensorFlow in ${folder} found no GPU that it can use and runs on the processor`];
}

/** Registers the backend on our own tfjs-core: both copies share one engine through a global. */
function loadPackage(folder: string): void {
  // functions that Node 23 removed from its util module and the package still calls
  const util = createRequire(import.meta.url)("node:util") as Record<string, unknown>;
  util["isNullOrUndefined"] ??= (value: unknown) => value === null || value === undefined;
  util["isArray"] ??= Array.isArray;
  const { warn } = console;
  // it registers every kernel and gradient a second time, with a warning for each
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
