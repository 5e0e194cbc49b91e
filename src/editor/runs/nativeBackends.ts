/**
 * Installs and removes native backends in a terminal, where the command-line program says what it
 * downloads, asks, and shows its progress.
 */
import { join } from "node:path";
import { window, type Uri } from "vscode";
import {
  getBackendsFolder,
  listInstalledBackends,
  nativeBackends,
  type NativeBackend,
} from "../../run/backends.ts";
import { UserError } from "../../userError.ts";
import { createEnvironment, findNode } from "../shared/program.ts";
import { pickOne } from "../shared/quickInput.ts";
import { getSetting } from "../shared/settings.ts";

const descriptions: Readonly<Record<NativeBackend, string>> = {
  tensorflow: "CUDA, on Linux and Windows; more than a gigabyte",
  webgpu: "Vulkan, Metal or Direct3D 12; about 135 MB",
};

const createItem = (name: NativeBackend) => ({
  label: name === "webgpu" ? "WebGPU" : "TensorFlow",
  description: descriptions[name],
  name,
});

/** Installs a backend that is not installed yet, and checks it. */
export async function installBackend(extensionUri: Uri): Promise<void> {
  const installed = listInstalledBackends(getBackendsFolder());
  const missing = nativeBackends.filter(it => !installed.includes(it));
  if (missing.length === 0)
    throw new UserError(
      "all native backends are installed",
      "use Remove GPU Backend… before you install one again",
    );
  const { name } = await pickOne(missing.map(createItem), {
    title: "Install GPU Backend",
    text: "Which backend to install",
  });
  await runInTerminal(extensionUri, ["backend", "install", name]);
}

export async function removeBackend(extensionUri: Uri): Promise<void> {
  const installed = listInstalledBackends(getBackendsFolder());
  if (installed.length === 0)
    throw new UserError(
      "no native backend is installed",
      "use Install GPU Backend… to install one",
    );
  const { name } = await pickOne(installed.map(createItem), {
    title: "Remove GPU Backend",
    text: "Which backend to remove",
  });
  await runInTerminal(extensionUri, ["backend", "remove", name]);
}

async function runInTerminal(extensionUri: Uri, args: readonly string[]): Promise<void> {
  const node = await findNode(getSetting("node"));
  const terminal = window.createTerminal({
    name: `prove-rl ${args.join(" ")}`,
    shellPath: node.path,
    shellArgs: [join(extensionUri.fsPath, "dist", "cli.js"), ...args],
    ...(node.isElectron ? { env: createEnvironment(node) } : {}),
    isTransient: true,
  });
  terminal.show();
}
