/**
 * Runs the TypeScript modules of a server of a workspace. Types are removed, and the rest runs as
 * it is, without a compiler and in any process: `zod` and `prove-rl/server` are this program's own,
 * so that the workspace needs no packages.
 */
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { transform } from "sucrase";
import * as zod from "zod";
import { parseJson } from "../../storage/parseJson.ts";
import { readTextFile } from "../../storage/textFiles.ts";
import { UserError } from "../../userError.ts";
import * as publicApi from "../publicApi.ts";

const provided: Readonly<Record<string, unknown>> = {
  "prove-rl/server": publicApi,
  zod,
  "zod/v4": zod,
};

interface Module {
  exports: Record<string, unknown>;
}

/** Runs a module and what it imports, and returns what it exports. */
export function runModule(file: string, modules = new Map<string, Module>()): Module["exports"] {
  const known = modules.get(file);
  if (known) return known.exports;
  const module: Module = { exports: {} };
  modules.set(file, module);
  const text = readTextFile(file);
  if (file.endsWith(".json")) {
    module.exports = parseJson(zod.json(), text, { file }) as Module["exports"];
    return module.exports;
  }
  const { code } = transform(text, {
    transforms: ["typescript", "imports"],
    disableESTransforms: true,
    production: true,
    filePath: file,
  });
  // on one line, so that the lines of errors are those of the file
  const parameters = "exports, require, module, __filename, __dirname";
  const run = new Script(`(function (${parameters}) { ${code}\n})`, {
    filename: file,
  }).runInThisContext() as (...args: unknown[]) => void;
  run(module.exports, createImport(file, modules), module, file, dirname(file));
  return module.exports;
}

const createImport =
  (file: string, modules: Map<string, Module>) =>
  (name: string): unknown => {
    if (Object.hasOwn(provided, name)) return provided[name];
    if (name.startsWith(".")) {
      const found = findFile(join(dirname(file), name));
      if (found !== undefined) return runModule(found, modules);
      throw new UserError(`${file} imports ${name}, which is not there`, "correct the import");
    }
    try {
      return createRequire(file)(name) as unknown;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
      throw new UserError(
        `${file} imports ${name}, which is not there`,
        "install it in that folder, or remove the import; prove-rl/server and zod need no installation",
      );
    }
  };

/** The file that an import means, with the endings that TypeScript lets one leave out. */
const findFile = (path: string): string | undefined =>
  [
    path,
    path.replace(/\.js$/, ".ts"),
    ...[".ts", ".js", ".json", "/index.ts", "/index.js"].map(it => path + it),
  ].find(it => existsSync(it) && statSync(it).isFile());
