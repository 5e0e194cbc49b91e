/** The packages as `npm run package` left them in dist/. */
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

/** The package of that kind; its absence is a failure that says how to make it. */
export function packaged(kind: "vsix" | "tgz"): string {
  const file = join(repository, "dist", `${manifest.name}-${manifest.version}.${kind}`);
  if (!existsSync(file)) throw new Error(`${file} is missing: run npm run package`);
  return file;
}
