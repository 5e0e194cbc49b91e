/** `backend`: installs, lists, checks and removes native backends of TensorFlow.js. */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  getBackendsFolder,
  listInstalledBackends,
  nativeBackends,
  type NativeBackend,
} from "../run/backends.ts";
import { UserError } from "../userError.ts";
import {
  checkBackend,
  checkBackends,
  installBackend,
  readBackendPackage,
  type CheckedBackend,
} from "../app/backends.ts";
import {
  argument,
  defineCommand,
  flag,
  option,
  optionalArgument,
  type CliContext,
  type OptionValues,
} from "./command.ts";
import { existingPath, oneOf, jsonFlag } from "./options.ts";

const actions = ["install", "list", "check", "remove"] as const;

const options = {
  from: option(
    "--from <folder>",
    "npm cache to install from, without a network; npm ci --cache FOLDER on another machine fills it",
    { parser: existingPath("an npm cache") },
  ),
  library: option(
    "--library <folder>",
    "TensorFlow library to build against: the folder of its C library (with include and lib), or the folder tensorflow of a Python that has it",
    { parser: existingPath("a TensorFlow library") },
  ),
  yes: flag("--yes", "install without asking"),
  inProcess: flag("--in-process", "check it in this process", { isHidden: true }),
  json: jsonFlag,
};

export const backend = defineCommand({
  name: "backend",
  description:
    "Install native backends of TensorFlow.js, which train on a graphics card: tensorflow (CUDA, Linux and Windows) or webgpu (Vulkan, Metal or Direct3D 12). Trainings with --backend auto use one if it is faster than WebAssembly here. Packages have fixed versions and are checked against the hashes in this program; the library that the install script of tensorflow downloads is not, and --library takes one of yours instead. They are installed into the folder of your user's application data, or the one that PROVE_BACKENDS names. check starts a backend and exits with 1 if it does not work.",
  arguments: [
    argument("<action>", "what to do", {
      parser: oneOf(actions, "there is no action"),
      required: "an action, such as list",
    }),
    optionalArgument("[backend]", "which one; check without it checks all that are installed", {
      parser: oneOf([...nativeBackends, "wasm"], "there is no native backend"),
    }),
  ],
  options,
  examples: [
    "backend install webgpu",
    "backend install tensorflow",
    "backend check",
    "backend remove webgpu",
  ],
  async run(context, [action, name], values) {
    switch (action) {
      case "install":
        return install(context, requireName(name, action), values);
      case "list":
        return list(context, values);
      case "check":
        return check(context, name, values);
      case "remove":
        return remove(context, requireName(name, action));
      default:
        throw new Error(`no such action: ${String(action satisfies never)}`);
    }
  },
});

function requireName(name: CheckedBackend | undefined, action: string): NativeBackend {
  if (name && name !== "wasm") return name;
  throw new UserError(
    `backend ${action} needs the name of a backend`,
    `give one of ${nativeBackends.join(", ")}`,
  );
}

async function install(
  context: CliContext,
  name: NativeBackend,
  { from, library, yes, json }: OptionValues<typeof options>,
): Promise<number> {
  if (library !== undefined && name !== "tensorflow")
    throw new UserError("--library is for tensorflow", "leave it out");
  const folder = await installBackend(context, name, {
    cache: from === undefined ? undefined : resolve(context.cwd, from),
    library: library === undefined ? undefined : resolve(context.cwd, library),
    isConfirmed: yes,
  });
  context.printNote(`installed in ${folder}`);
  return check(context, name, { json, inProcess: false });
}

function list(
  { print, resources }: CliContext,
  { json }: Pick<OptionValues<typeof options>, "json">,
): number {
  const folder = getBackendsFolder();
  const installed = listInstalledBackends(folder);
  const rows = nativeBackends.map(name => ({
    name,
    ...readBackendPackage(resources, name),
    ...(installed.includes(name) ? { folder: join(folder, name) } : {}),
  }));
  if (json) print(JSON.stringify(rows));
  else
    for (const it of rows)
      print(`${it.name.padEnd(11)} ${it.package}@${it.version}  ${it.folder ?? "not installed"}`);
  return 0;
}

/** Starts backends, each in a process of its own, and says what they compute on and how fast. */
async function check(
  context: CliContext,
  name: CheckedBackend | undefined,
  { json, inProcess }: Pick<OptionValues<typeof options>, "json" | "inProcess">,
): Promise<number> {
  const installed = listInstalledBackends(getBackendsFolder());
  const results =
    inProcess && name
      ? [await checkBackend(context, name)]
      : await checkBackends(context, name ? [name] : [...installed, "wasm"]);
  for (const it of results)
    if (json) context.print(JSON.stringify(it));
    else
      context.print(
        it.problem === undefined
          ? `${it.name.padEnd(11)} works on ${it.device}: ${it.milliseconds!.toFixed(1)} ms per pass`
          : `${it.name.padEnd(11)} does not work here: ${it.problem}`,
      );
  return results.some(it => it.problem !== undefined) ? 1 : 0;
}

function remove({ print }: CliContext, name: NativeBackend): number {
  const folder = getBackendsFolder();
  if (!listInstalledBackends(folder).includes(name))
    throw new UserError(`${name} is not installed in ${folder}`, "list shows what is");
  rmSync(join(folder, name), { recursive: true });
  print(`removed ${join(folder, name)}`);
  return 0;
}
