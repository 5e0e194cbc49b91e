/**
 * Native backends of TensorFlow.js that a user has installed: where they are, and which there are.
 * Installing them is left to the command-line program, starting them to the trainer.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export const nativeBackends = ["tensorflow", "webgpu"] as const;

export type NativeBackend = (typeof nativeBackends)[number];

/** The variable that names the folder of native backends. The editor sets it for its programs. */
export const backendsVariable = "PROVE_BACKENDS";

/** The folder of native backends; each that is installed has a folder of its name in it. */
export function getBackendsFolder(env: NodeJS.ProcessEnv = process.env): string {
  const chosen = env[backendsVariable];
  if (chosen) return chosen;
  const data =
    process.platform === "win32"
      ? (env["LOCALAPPDATA"] ?? join(homedir(), "AppData", "Local"))
      : process.platform === "darwin"
        ? join(homedir(), "Library", "Application Support")
        : (env["XDG_DATA_HOME"] ?? join(homedir(), ".local", "share"));
  return join(data, "prove-rl", "backends");
}

export const listInstalledBackends = (folder: string): readonly NativeBackend[] =>
  nativeBackends.filter(it => existsSync(join(folder, it)));
