/**
 * Finds files of a workspace by the paths that an agent gives. Only what lies in the workspace is
 * read: a path that leads out of it, or through a link, is refused, as is a file that is too large.
 */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";
import { createIrregularError, megabyte } from "../storage/textFiles.ts";
import { formatRelative } from "../storage/relativePath.ts";
import { UserError } from "../userError.ts";

/** Files that are read line by line. */
const maxFileBytes = 256 * megabyte;

export class WorkspaceFiles {
  readonly #folder: string;
  /** The folder with `runs` and `tasks`, relative to the workspace. */
  readonly #prove: string;

  constructor(folder: string, prove: string) {
    this.#folder = realpathSync(folder);
    this.#prove = prove;
  }

  /** The path of a file as an agent names it. */
  format(path: string): string {
    return formatRelative(this.#folder, path);
  }

  /**
   * A regular file of the workspace. Throws a `UserError` for a path outside, a link, something
   * else than a file, or more than 256 MB.
   */
  findFile(path: string): string {
    const found = this.#resolve(path);
    const stats = lstatSync(found, { throwIfNoEntry: false });
    if (!stats)
      throw new UserError(
        `there is no file ${this.format(found)}`,
        "check the path, or list again",
      );
    if (!stats.isFile()) throw createIrregularError(this.format(found));
    if (stats.size > maxFileBytes)
      throw new UserError(
        `${this.format(found)} has ${Math.ceil(stats.size / megabyte)} MB, more than the ${maxFileBytes / megabyte} MB that are read here`,
        "open it in the editor, or name a smaller file",
      );
    return found;
  }

  /** A file that need not exist; undefined if it does not. Refuses what `findFile` refuses. */
  findOptionalFile(path: string): string | undefined {
    return lstatSync(this.#resolve(path), { throwIfNoEntry: false })
      ? this.findFile(path)
      : undefined;
  }

  /** The folder of a run, by its name or its path. Throws a `UserError` if there is none. */
  findRun(name: string): string {
    const path = /[\\/]/.test(name) ? name : join(this.#prove, "runs", name);
    const found = this.#resolve(path);
    if (lstatSync(found, { throwIfNoEntry: false })?.isDirectory() && this.#isRun(found))
      return found;
    const runs = this.listRuns().map(it => basename(it));
    throw new UserError(
      `there is no run ${name}`,
      runs.length === 0
        ? "no run has been started in this folder"
        : `choose one of ${runs.slice(0, 20).join(", ")}${runs.length > 20 ? ` and ${runs.length - 20} more` : ""}`,
    );
  }

  /** The folders of the runs. */
  listRuns(): readonly string[] {
    return this.#list("runs", (it, path) => it.isDirectory() && this.#isRun(path));
  }

  /** The tasks files, then those of trajectories, in the folder of tasks. */
  listTaskFiles(): { readonly tasks: readonly string[]; readonly trajectories: readonly string[] } {
    const files = this.#list("tasks", it => it.isFile());
    return {
      tasks: files.filter(it => it.endsWith(".tasks.jsonl")),
      trajectories: files.filter(it => it.endsWith(".trajectory.jsonl")),
    };
  }

  #isRun(folder: string): boolean {
    return lstatSync(join(folder, "run.json"), { throwIfNoEntry: false })?.isFile() === true;
  }

  #list(
    part: string,
    accepts: (it: { isFile(): boolean; isDirectory(): boolean }, path: string) => boolean,
  ): readonly string[] {
    const folder = this.#resolve(join(this.#prove, part));
    if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
    // a link is neither a file nor a folder here
    return readdirSync(folder, { withFileTypes: true })
      .filter(it => accepts(it, join(folder, it.name)))
      .map(it => join(folder, it.name))
      .sort();
  }

  /** Throws a `UserError` for a path that leads out of the workspace or through a link. */
  #resolve(path: string): string {
    const full = resolve(this.#folder, path);
    const within = relative(this.#folder, full);
    if (
      within === ".." ||
      within.startsWith(`..${sep}`) ||
      isAbsolute(within) ||
      path.includes("\0")
    )
      throw new UserError(
        `${path} is outside the workspace folder, and only files in it are read`,
        "give a path inside the folder, relative to it",
      );
    let current = this.#folder;
    for (const part of within.split(sep).filter(it => it !== "")) {
      current = join(current, part);
      if (lstatSync(current, { throwIfNoEntry: false })?.isSymbolicLink())
        throw new UserError(
          `${this.format(current)} is a link, and links are not followed here`,
          "name the file that it leads to, if that is inside the folder",
        );
    }
    return full;
  }
}
