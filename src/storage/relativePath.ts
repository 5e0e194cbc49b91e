/** Paths that are relative to a folder, in files that can be moved together with it. */
import { relative } from "node:path";

export const formatRelative = (folder: string, path: string): string =>
  relative(folder, path).replaceAll("\\", "/");
