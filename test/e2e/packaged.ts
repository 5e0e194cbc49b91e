/** Finds the packages that `npm run package` created in dist/. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const repository = join(import.meta.dirname, "../..");

export const manifest = JSON.parse(
  readFileSync(join(repository, "package.json"), "utf8"),
) as Readonly<Record<string, unknown>> & {
  readonly name: string;
  readonly version: string;
  readonly publisher: string;
};

/** Returns the path of a package; throws if it is missing. */
export function findPackage(kind: "vsix" | "tgz"): string {
  const file = join(repository, "dist", `${manifest.name}-${manifest.version}.${kind}`);
  if (!existsSync(file)) throw new Error(`${file} is missing: run npm run package`);
  return file;
}
