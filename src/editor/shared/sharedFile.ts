/**
 * Files that all windows on the same workspace share. What the editor keeps for a workspace itself
 * belongs to one window: of two, the last one that writes would replace what the other has stored.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { workspace, type ExtensionContext } from "vscode";
import { writeFileAtomicallySync } from "../../storage/atomicWrite.ts";
import { readIfExists, withWriteErrors } from "../../storage/fileErrors.ts";
import { readTextFile } from "../../storage/readTextFile.ts";

/** The folder for the files of the open workspace, which may not exist yet. */
export function getSharedFolder({ globalStorageUri }: ExtensionContext): string {
  const folder = workspace.workspaceFolders?.[0]?.uri.toString() ?? "";
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  return join(globalStorageUri.fsPath, "workspaces", name);
}

/** The value of a file; undefined if there is none, or if it is not JSON. */
export function readSharedFile(file: string): unknown {
  const text = readIfExists(file, () => readTextFile(file));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // it is written in one piece: something else has damaged it
    return undefined;
  }
}

export function writeSharedFile(file: string, value: unknown): void {
  withWriteErrors(file, () => mkdirSync(dirname(file), { recursive: true }));
  writeFileAtomicallySync(file, JSON.stringify(value));
}
