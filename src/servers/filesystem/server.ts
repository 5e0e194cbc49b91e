/**
 * The filesystem server: a POSIX file tree with the commands of a shell, a current directory and
 * a trash. / Also its rules, which hold whichever tools are used.
 */
import {
  defineConstantRule,
  defineWriteRule,
  isSameJson,
  listChanges,
} from "../../environment/invariants.ts";
import { measureExtent, measureSize, hasPermission } from "./paths.ts";
import {
  maxDepth,
  maxPathLength,
  type Directory,
  type Entry,
  FilesystemState,
  references,
} from "./state.ts";
import { defineServer } from "../../environment/server.ts";
import { archiveTools, spaceTools } from "./archiveTools.ts";
import { directoryTools, entryQueries, linkQueries, navigationTools } from "./entryTools.ts";
import { moveTools, permissionTools, removalTools, trashTools } from "./moveTools.ts";
import { checksumTools, compareTools, searchTools, viewTools, textTools } from "./textTools.ts";

type State = FilesystemState;

/** An entry that a write added, replaced, changed or removed, in a directory that stays. */
interface EntryChange {
  readonly path: string;
  readonly parent: Directory;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
}

/**
 * The changed entries, also in directories that stay. Unchanged parts are shared by both states.
 */
function* listEntryChanges(before: Directory, after: Directory, path = ""): Generator<EntryChange> {
  for (const it of listChanges(before.entries, after.entries)) {
    const change = { path: `${path}/${it.id}`, parent: before, before: it.before, after: it.after };
    yield change;
    if (it.before?.type === "directory" && it.after?.type === "directory")
      yield* listEntryChanges(it.before, it.after, change.path);
  }
}

const isOwnEntry = (state: State, entry: Entry): boolean =>
  state.user === "root" || entry.owner === state.user;

const quotaHolds = defineWriteRule<State>(
  "What is on the disk and in the trash grows only within the quota.",
  function* (state, before) {
    const [used, usedBefore] = [state, before].map(({ root, trash }) => {
      const sizes = [root, ...Object.values(trash).map(it => it.entry)].map(measureSize);
      return {
        bytes: sizes.reduce((sum, it) => sum + it.bytes, 0),
        entries: sizes.reduce((sum, it) => sum + it.entries, 0),
      };
    });
    for (const key of ["bytes", "entries"] as const)
      if (used![key] > Math.max(state.quota[key], usedBefore![key]))
        yield `${used![key]} of ${state.quota[key]} ${key}`;
  },
);

const pathsAreBounded = defineWriteRule<State>(
  `A new path has at most ${maxDepth} levels and ${maxPathLength} characters.`,
  function* (state, before) {
    for (const { path, before: old, after } of listEntryChanges(before.root, state.root)) {
      if (!after || (old?.type === "directory" && after.type === "directory")) continue;
      const { levels, length } = measureExtent(after);
      if (path.split("/").length - 1 + levels > maxDepth) yield `${path} and ${levels} levels`;
      if (path.length + length > maxPathLength) yield `${path} and ${length} characters`;
    }
  },
);

const directoriesChangeWithPermission = defineWriteRule<State>(
  "Entries appear in, disappear from and are replaced in a directory only if the user may change it.",
  function* (state, before) {
    for (const { path, parent, before: old, after } of listEntryChanges(before.root, state.root)) {
      const isReplaced = !old || !after || old.type !== after.type || old.owner !== after.owner;
      // a file may be given away, which its owner does without changing the directory
      const isGivenAway = old && after && old.type === after.type && isOwnEntry(before, old);
      if (!isReplaced || isGivenAway) continue;
      if (!hasPermission(before, parent, "w") || !hasPermission(before, parent, "x"))
        yield `the directory of ${path} may not be changed`;
    }
  },
);

const stickyDirectoriesProtect = defineWriteRule<State>(
  "In a sticky directory, entries of others are not removed, replaced or moved.",
  function* (state, before) {
    for (const { path, parent, before: old, after } of listEntryChanges(before.root, state.root)) {
      if (!old || parent.mode.length !== 4 || before.user === "root") continue;
      if (old.owner === before.user || parent.owner === before.user) continue;
      if (old.owner !== after?.owner || old.type !== after.type)
        yield `${path} belongs to ${old.owner}`;
    }
  },
);

const filesChangeWithPermission = defineWriteRule<State>(
  "The content of a file or archive changes only if the user may change the file.",
  function* (state, before) {
    for (const { path, before: old, after } of listEntryChanges(before.root, state.root)) {
      if (!old || !after || old.type === "directory" || old.type === "link") continue;
      const [content, newContent] = [old, after].map(it =>
        it.type === "file" ? it.text : "entries" in it ? it.entries : it.target,
      );
      if (!isSameJson(content, newContent) && !hasPermission(before, old, "w"))
        yield `${path} may not be changed`;
    }
  },
);

const ownersDecide = defineWriteRule<State>(
  "Owner, group and mode of a directory change only by its owner, and those of a file also by who may replace it.",
  function* (state, before) {
    for (const { path, parent, before: old, after } of listEntryChanges(before.root, state.root)) {
      if (!old || !after || old.type === "link" || after.type === "link") continue;
      const isSame =
        old.owner === after.owner && old.group === after.group && old.mode === after.mode;
      if (isSame || isOwnEntry(before, old)) continue;
      if (old.type === "directory" || !hasPermission(before, parent, "w"))
        yield `${path} belongs to ${old.owner}`;
    }
  },
);

const directoriesAreNotEmptiedByOthers = defineWriteRule<State>(
  "What is in a directory that the user may not change is not removed together with it.",
  function* (state, before) {
    const removed = [...listEntryChanges(before.root, state.root)].flatMap(it =>
      it.before?.type === "directory" && it.after?.type !== "directory" ? [it] : [],
    );
    if (removed.length === 0) return;
    const kept = new Set(listDirectories(state.root));
    for (const { path, before: directory } of removed)
      for (const it of listDirectories(directory as Directory)) {
        const isEmpty = Object.keys(it.entries).length === 0;
        if (!isEmpty && !kept.has(it) && !hasPermission(before, it, "w"))
          yield `a directory of ${it.owner} in ${path} is gone`;
      }
  },
);

function listDirectories(directory: Directory): Directory[] {
  const inner = Object.values(directory.entries).filter(it => it.type === "directory");
  return [directory, ...inner.flatMap(listDirectories)];
}

const trashIsKept = defineWriteRule<State>(
  "What goes into the trash was in the tree, what leaves it is in the tree again, and nothing in it changes.",
  function* (state, before) {
    const count = ({ root, trash }: State) =>
      [root, ...Object.values(trash).map(it => it.entry)].reduce(
        (sum, it) => sum + measureSize(it).entries,
        0,
      );
    const changes = listChanges(before.trash, state.trash);
    for (const it of changes)
      if (it.before && it.after && !isSameJson(it.before, it.after)) yield `${it.id} changed`;
    if (changes.length > 0 && count(state) !== count(before))
      yield `there were ${count(before)} entries and are ${count(state)}`;
  },
);

const settingsStay = defineConstantRule<State>(
  "The users, their groups and the quota never change.",
  ["user", "users", "quota"],
);

const invariants = [
  quotaHolds,
  pathsAreBounded,
  directoriesChangeWithPermission,
  stickyDirectoriesProtect,
  filesChangeWithPermission,
  ownersDecide,
  directoriesAreNotEmptiedByOthers,
  trashIsKept,
  settingsStay,
];

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
