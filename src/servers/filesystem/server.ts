/**
 * A POSIX tree with a shell's forty words: directories, files, links and archives under owners,
 * modes and a quota, with a current directory and a trash. The order of the tools is the order in
 * which models see them.
 */
import { defineServer } from "../../environment/server.ts";
import { archiveTools } from "./archive.ts";
import { directoryTools, moveTools, ownerTools } from "./change.ts";
import { lookTools, placeTools, roomTools } from "./navigate.ts";
import { compareTools, searchTools, viewTools } from "./read.ts";
import { textTools } from "./text.ts";
import { trashTools } from "./trash.ts";
import { World } from "./state.ts";

const { pwd, cd, ls, tree } = placeTools;
const { stat, exists, find, readlink } = lookTools;
const { mkdir, rmdir, touch } = directoryTools;
const { mv, cp, rename, ln } = moveTools;
const { rm, list_trash, restore_trash } = trashTools;

export const server = defineServer({
  name: "filesystem",
  category: "Productivity",
  summary:
    "a home and a shared folder: files, directories, links, archives, permissions, quota and a trash",
  schema: World,
  tools: {
    pwd,
    cd,
    ls,
    tree,
    stat,
    exists,
    find,
    mkdir,
    rmdir,
    touch,
    rm,
    mv,
    cp,
    rename,
    ln,
    readlink,
    ...viewTools,
    ...searchTools,
    diff: compareTools.diff,
    ...textTools,
    ...ownerTools,
    ...roomTools,
    ...archiveTools,
    checksum: compareTools.checksum,
    list_trash,
    restore_trash,
  },
});
