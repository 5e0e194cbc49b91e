/** The paths of a sandbox, which the tools of a server that works on files may take. */
import type { JsonObject } from "../../environment/json.ts";
import type { KnownTexts } from "./exampleArguments.ts";

/** What stands for the path of a copy, which is another one for each process. */
export const sandboxPath = "/sandbox";

/** Whether the name of an argument asks for a path. */
export const isPathArgument = (key: string): boolean =>
  /path|file|folder|dir|repo|source|destination|location/i.test(key);

const maxPaths = 40;

/** The paths of observed files and their folders, by what they lead to. */
export function listSandboxPaths(files: JsonObject): KnownTexts {
  const paths = Object.keys(files);
  const own = paths.filter(it => !isRepository(it) && !it.endsWith("/"));
  const folders = [...new Set(paths.flatMap(listFolders))].sort();
  const repositories = paths
    .filter(isRepository)
    .map(it => it.slice(0, it.lastIndexOf("/") + 1).replace(/\/$/, ""));
  const toFull = (path: string) => (path === "" ? sandboxPath : `${sandboxPath}/${path}`);
  const places: readonly (readonly [string, string[]])[] = [
    ["files", own.map(toFull)],
    ["folders", ["", ...folders].map(toFull)],
    ["repositories", repositories.map(toFull)],
    ["relative files", own],
    ["relative folders", folders],
  ];
  return new Map(
    places
      .filter(([, it]) => it.length > 0)
      .map(([name, it]) => [`${sandboxPath} ${name}`, new Set(it.slice(0, maxPaths))]),
  );
}

const isRepository = (path: string) => path === ".git" || path.endsWith("/.git");

/** The folders above a path, and the path itself if it is an empty folder. */
const listFolders = (path: string): string[] =>
  path
    .split("/")
    .slice(0, -1)
    .map((_, i, parts) => parts.slice(0, i + 1).join("/"));

const newNames = ["winter-plans", "team-lunch", "garden-ideas", "reading-list", "packing-list"];

/** Paths at which there is nothing yet, for a tool that creates files or folders. */
export const createNewPaths = (tool: string): string[] =>
  newNames.map(it => `${sandboxPath}/${it}${/dir|folder/i.test(tool) ? "" : ".txt"}`);
