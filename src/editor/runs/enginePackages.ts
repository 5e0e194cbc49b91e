/** Checks that a Python has the packages that a training in another engine needs. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { findProgram } from "../../storage/findProgram.ts";
import { ActionableError } from "../shared/report.ts";

/** A line of requirements.txt: `trl[vllm]==1.9.0`. */
const requirement = /^([\w.-]+)(?:\[([\w,-]+)\])?(?:==(\S+))?/;

/** Names the versions that a Python has of the packages that it gets as arguments. */
const program = `
import json, sys
found = {}
if sys.version_info >= (3, 10):
    from importlib import metadata
    for name in sys.argv[1:]:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
print(json.dumps({"version": ".".join(map(str, sys.version_info[:3])), "isNew": sys.version_info >= (3, 10), "found": found}))
`;

const answerSchema = z.object({
  version: z.string(),
  isNew: z.boolean(),
  found: z.record(z.string(), z.string()),
});

export interface EnginePython {
  readonly path: string;
  /** Packages in other versions than those that were tested, such as "trl 1.18.0 instead of 1.9.0". */
  readonly differences: readonly string[];
}

const settingsButton = {
  title: "Open Settings",
  command: "workbench.action.openSettings",
  arguments: ["prove.python"],
};

/**
 * The Python that the setting names, or else the one on the PATH. Throws an `ActionableError` if it
 * does not exist, is too old, or lacks packages of a run folder's requirements.txt.
 */
export async function findEnginePython(chosen: string, folder: string): Promise<EnginePython> {
  const names = process.platform === "win32" ? ["python"] : ["python3", "python"];
  const path = (chosen ? [chosen] : names)
    .map(it => findProgram(it, homedir()))
    .find(it => it !== undefined);
  if (path === undefined)
    throw new ActionableError(
      chosen
        ? `the setting prove.python names ${chosen}, which is not on the PATH`
        : `there is no ${names[0]} on the PATH`,
      "install Python 3.10 or later, or give its path in the setting prove.python",
      settingsButton,
    );
  const requirements = listRequirements(readFileSync(join(folder, "requirements.txt"), "utf8"));
  const { version, isNew, found } = await askPython(path, [...requirements.keys()]);
  if (!isNew)
    throw new ActionableError(
      `${path} is Python ${version}, but 3.10 or later is required`,
      "give the path of a newer one in the setting prove.python",
      settingsButton,
    );
  const missing = [...requirements.keys()].filter(it => !Object.hasOwn(found, it));
  if (missing.length > 0)
    throw new ActionableError(
      `${path} has no ${missing.join(", ")}`,
      `run ${path} -m pip install -r ${join(folder, "requirements.txt")}, or give the path of another Python in the setting prove.python`,
      settingsButton,
    );
  const differences = [...requirements].flatMap(([name, tested]) =>
    tested === undefined || removeBuild(found[name]) === tested
      ? []
      : [`${name} ${found[name]} instead of ${tested}`],
  );
  return { path, differences };
}

/** A version without the name of its build, such as `cpu` in 2.13.0+cpu. */
const removeBuild = (version: string | undefined) => version?.split("+", 1)[0];

/** The packages of a requirements.txt, extras included, with the version if there is one. */
export function listRequirements(text: string): ReadonlyMap<string, string | undefined> {
  const packages = new Map<string, string | undefined>();
  for (const line of text.split("\n")) {
    const [, name, extras, version] = requirement.exec(line.trim()) ?? [];
    if (name === undefined) continue;
    packages.set(name, version);
    for (const it of extras?.split(",") ?? []) packages.set(it, undefined);
  }
  return packages;
}

async function askPython(
  path: string,
  names: readonly string[],
): Promise<z.infer<typeof answerSchema>> {
  try {
    // -E and the folder: modules of the workspace are not loaded
    const { stdout } = await promisify(execFile)(path, ["-E", "-c", program, ...names], {
      cwd: homedir(),
      timeout: 60_000,
      windowsHide: true,
    });
    return answerSchema.parse(JSON.parse(stdout));
  } catch (cause) {
    throw new ActionableError(
      `${path} cannot be used as Python (${(cause as Error).message.split("\n", 1)[0]})`,
      "give the path of Python 3.10 or later in the setting prove.python",
      settingsButton,
      { cause },
    );
  }
}
