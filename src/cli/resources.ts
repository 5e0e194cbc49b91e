/** The models and fixtures that ship with the product, by their place in its resources. */
import { join } from "node:path";
import { shippedStart } from "../run/startModel.ts";
import type { CliContext } from "./command.ts";

/** The folders of fixtures, first the workspace's, then the shipped ones. */
export const listFixtureFolders = ({
  prove,
  resources,
}: Pick<CliContext, "prove" | "resources">): readonly string[] => [
  join(prove, "fixtures"),
  join(resources, "servers"),
];

/** The shipped student, from which a run starts by default. */
export const findShippedModel = (resources: string): string => join(resources, "models", "small");

/**
 * The student that `loop` and `bench ablations` start from. It has something to unlearn, while the
 * shipped student improves little within minutes.
 */
export const findStartModel = (resources: string): string =>
  join(resources, "models", shippedStart);
