/** The models and fixtures that ship with the product, by their place in its resources. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { shippedStart } from "../run/startModel.ts";
import { UserError } from "../userError.ts";
import type { AppContext } from "./context.ts";

/** The folders of fixtures, first the workspace's, then the shipped ones. */
export const listFixtureFolders = ({
  prove,
  resources,
}: Pick<AppContext, "prove" | "resources">): readonly string[] => [
  join(prove, "fixtures"),
  join(resources, "servers"),
];

/** The shipped student, from which a run starts by default. */
export const findShippedModel = (resources: string): string => join(resources, "models", "small");

/**
 * The student that `loop`, benchmarks and experiments start from. It has something to unlearn,
 * while the shipped student improves little within minutes.
 */
export const findStartModel = (resources: string): string =>
  join(resources, "models", shippedStart);

/** The folder of a run or a model, or of the shipped student with that name; else undefined. */
export function lookUpModel(
  spec: string,
  { cwd, resources }: Pick<AppContext, "cwd" | "resources">,
): string | undefined {
  const folder = resolve(cwd, spec);
  if (existsSync(folder)) return folder;
  const shipped = join(resources, "models", spec);
  return /^[\w-]+$/.test(spec) && existsSync(shipped) ? shipped : undefined;
}

/** As `lookUpModel`, but throws a `UserError` if there is none. */
export function findModel(spec: string, context: Pick<AppContext, "cwd" | "resources">): string {
  const folder = lookUpModel(spec, context);
  if (folder !== undefined) return folder;
  throw new UserError(
    `there is no model ${spec}`,
    "give a run or model folder, or the name of a shipped student (small or careless)",
  );
}
