/**
 * The filesystem server: a POSIX file tree with the commands of a shell, a current directory and a
 * trash.
 */
import { defineServer } from "../../environment/server.ts";
import { archiveTools } from "./archiveTools.ts";
import { directoryTools } from "./directoryTools.ts";
import { invariants } from "./invariants.ts";
import { moveTools } from "./moveTools.ts";
import { permissionTools } from "./permissionTools.ts";
import { entryQueries, linkQueries } from "./entryQueries.ts";
import { navigationTools } from "./navigationTools.ts";
import { spaceTools } from "./spaceTools.ts";
import { checksumTools, compareTools } from "./compareTools.ts";
import { searchTools } from "./searchTools.ts";
import { viewTools } from "./viewTools.ts";
import { FilesystemState, references } from "./state.ts";
import { textTools } from "./textTools.ts";
import { removalTools, trashTools } from "./trashTools.ts";

export const server = defineServer({
  name: "filesystem",
  category: "Productivity",
  summary:
    "a home and a shared folder: files, directories, links, archives, permissions, quota and a trash",
  schema: FilesystemState,
  references,
  // the order in which models see the tools
  tools: {
    ...navigationTools,
    ...entryQueries,
    ...directoryTools,
    ...removalTools,
    ...moveTools,
    ...linkQueries,
    ...viewTools,
    ...searchTools,
    ...compareTools,
    ...textTools,
    ...permissionTools,
    ...spaceTools,
    ...archiveTools,
    ...checksumTools,
    ...trashTools,
  },
  invariants,
});
