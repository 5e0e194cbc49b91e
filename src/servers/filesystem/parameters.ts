/** Schemas of paths and names that several tools share. */
import { z } from "zod";
import { label, spokenId } from "../../environment/fieldSchemas.ts";
import { maxNameLength, maxPathLength } from "./state.ts";

const pathSchema = (entity: string) =>
  z.string().min(1).max(maxPathLength).meta(spokenId(entity).meta()!);
/** Schemas of paths: absolute, below the home as `~/…`, or relative to the current directory. */
export const path = {
  file: pathSchema("file"),
  directory: pathSchema("directory"),
  link: pathSchema("link"),
  zip: pathSchema("zip_archive"),
  tar: pathSchema("tar_archive"),
};
export const nameSchema = (entity: string) =>
  z.string().min(1).max(maxNameLength).meta(label(entity).meta()!);
/** A path that does not exist yet. No tool's result gives it. */
export const newPathSchema = (...examples: string[]) =>
  z.string().min(1).max(maxPathLength).meta({ examples });
