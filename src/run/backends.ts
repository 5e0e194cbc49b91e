/**
 * The backends of TensorFlow.js: where a user has installed native ones, and the record of which
 * one a training or an evaluation computed with. Installing them is left to the command-line
 * program, starting them to the trainer.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { getDataFolder } from "../storage/dataFolder.ts";

export const nativeBackends = ["tensorflow", "webgpu"] as const;

export type NativeBackend = (typeof nativeBackends)[number];

/** The variable that names the folder of native backends. The editor sets it for its programs. */
const backendsVariable = "PROVE_BACKENDS";

/** The folder of native backends; each that is installed has a folder of its name in it. */
export function getBackendsFolder(env: NodeJS.ProcessEnv = process.env): string {
  const chosen = env[backendsVariable];
  if (chosen) return chosen;
  return join(getDataFolder(env), "backends");
}

export const listInstalledBackends = (folder: string): readonly NativeBackend[] =>
  nativeBackends.filter(it => existsSync(join(folder, it)));

export const computedWith = z.strictObject({
  backend: z.string(),
  device: z.string(),
  /** Why it was chosen, as far as that is not plain. */
  notes: z.array(z.string()),
});

export type ComputedWith = z.infer<typeof computedWith>;

/** Such as "wasm, the processor", followed by the notes. */
export const formatComputedWith = ({
  backend,
  device,
  notes,
}: Omit<ComputedWith, "notes"> & { readonly notes: readonly string[] }): string =>
  [`${backend}, ${device}`, ...notes].join("; ");
