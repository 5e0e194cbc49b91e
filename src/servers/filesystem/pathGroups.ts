/** Groups paths by the kind of their entries. */
import { z } from "zod";
import type { Entry } from "./state.ts";
import { getKind } from "./entries.ts";
import { path } from "./parameters.ts";

/** Paths by kind, without empty lists. Each list gives the inputs of the tools for that kind. */
export const pathGroups = {
  files: z.array(path.file).optional(),
  directories: z.array(path.directory).optional(),
  links: z.array(path.link).optional(),
  zips: z.array(path.zip).optional(),
  tars: z.array(path.tar).optional(),
};
const groupNames = {
  file: "files",
  directory: "directories",
  link: "links",
  zip: "zips",
  tar: "tars",
} as const;

export function groupPaths(entries: readonly (readonly [string, Entry])[]) {
  const groups: Partial<Record<keyof typeof pathGroups, string[]>> =
    entries.length === 0 ? { files: [] } : {};
  for (const [at, it] of entries) (groups[groupNames[getKind(it)]] ??= []).push(at);
  return groups;
}
