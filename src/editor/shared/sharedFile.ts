/**
 * Files that all windows on the same workspace share. What the editor keeps for a workspace itself
 * belongs to one window: of two, the last one that writes would replace what the other has stored.
 */
import { createHash } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { workspace, type ExtensionContext } from "vscode";
import type { z } from "zod";
import { renameOver, writeFileAtomicallySync } from "../../storage/atomicWrite.ts";
import { readIfExists, toWriteError, withWriteErrors } from "../../storage/fileErrors.ts";
import { parseJson } from "../../storage/parseJson.ts";
import { readTextFile } from "../../storage/textFiles.ts";
import { UserError } from "../../userError.ts";
import { reportError } from "./report.ts";

/** The folder for the files of the open workspace, which may not exist yet. */
export function getSharedFolder({ globalStorageUri }: ExtensionContext): string {
  const folder = workspace.workspaceFolders?.[0]?.uri.toString() ?? "";
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  return join(globalStorageUri.fsPath, "workspaces", name);
}

/** A file that all windows share, and how messages describe it. */
export interface SharedFile<T> {
  readonly file: string;
  readonly schema: z.ZodType<T>;
  /** What is in it, as in "the queue of trainings". */
  readonly contents: string;
  /** What to do when it was damaged. */
  readonly remedy: string;
}

/**
 * The value of a shared file; undefined if there is none. A file that something else has damaged,
 * or that another version has written in another form, is kept aside and reported.
 */
export function readSharedFile<T>(shared: SharedFile<T>): T | undefined {
  const { file, schema, contents } = shared;
  const text = readIfExists(file, () => readTextFile(file));
  if (text === undefined) return undefined;
  try {
    return parseJson(schema, text, { file, noun: contents });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    keepAside(shared, `${contents} could not be read: ${error.what}`);
    return undefined;
  }
}

/** Gives a file another name, under which it is kept, and reports why. */
export function keepAside({ file, remedy }: SharedFile<unknown>, why: string): void {
  const kept = reserveName(file);
  try {
    renameOver(file, kept);
  } catch (error) {
    rmSync(kept, { force: true });
    // another window was faster
    if (!existsSync(file)) return;
    throw error;
  }
  reportError(new UserError(why, `${remedy}; the file is kept as ${basename(kept)} beside it`));
}

/** Creates an empty file whose name no earlier file has. */
function reserveName(file: string): string {
  for (let n = 1; ; n++) {
    const name = `${file}.damaged-${n}`;
    try {
      closeSync(openSync(name, "wx"));
      return name;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw toWriteError(name, error);
    }
  }
}

export function writeSharedFile<T>({ file }: SharedFile<T>, value: T): void {
  withWriteErrors(file, () => mkdirSync(dirname(file), { recursive: true }));
  writeFileAtomicallySync(file, JSON.stringify(value));
}
