/**
 * What is observed of a git repository: its HEAD, references, settings and index. Their hashes
 * stand for all that commits hold; objects that nothing refers to, logs and times are left out.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import type { Json, JsonObject } from "../../environment/json.ts";

/** Whether a folder is the one in which git keeps a repository. */
export const isGitFolder = (folder: string): boolean =>
  existsSync(join(folder, "HEAD")) && existsSync(join(folder, "objects"));

const files = ["HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "config"];

export function observeGit(folder: string): JsonObject {
  const state: Record<string, Json> = {};
  for (const name of files) {
    const text = read(join(folder, name));
    if (text !== undefined) state[name] = text.toString("utf8").trimEnd();
  }
  state["refs"] = readReferences(folder);
  const index = read(join(folder, "index"));
  if (index) state["index"] = readIndex(index) ?? index.toString("base64");
  return state;
}

function read(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** The hashes of branches, tags and all other references by name. */
function readReferences(folder: string): JsonObject {
  const references: Record<string, Json> = {};
  const packed = read(join(folder, "packed-refs"))?.toString("utf8") ?? "";
  for (const [, hash, name] of packed.matchAll(/^([0-9a-f]{40,64}) (refs\/.+)$/gm))
    references[name!] = hash!;
  const names = existsSync(join(folder, "refs"))
    ? readdirSync(join(folder, "refs"), { recursive: true, withFileTypes: true })
    : [];
  for (const it of names) {
    if (!it.isFile() || it.name.endsWith(".lock")) continue;
    const file = join(it.parentPath, it.name);
    const text = read(file)?.toString("utf8").trim();
    if (text !== undefined) references[file.slice(folder.length + 1).replaceAll(sep, "/")] = text;
  }
  return Object.fromEntries(Object.entries(references).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The entries of an index of the versions 2 and 3, by path; undefined for another format. */
function readIndex(bytes: Buffer): JsonObject | undefined {
  if (bytes.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const version = bytes.readUInt32BE(4);
  if (version !== 2 && version !== 3) return undefined;
  const entries: Record<string, Json> = {};
  const fixed = 40; // the bytes of the times, device, owner and size, with the mode
  let position = 12;
  for (let i = bytes.readUInt32BE(8); i > 0; i--) {
    const mode = bytes.readUInt32BE(position + 24).toString(8);
    const hash = bytes.toString("hex", position + fixed, position + fixed + 20);
    const flags = bytes.readUInt16BE(position + fixed + 20);
    const start = position + fixed + 22 + (version === 3 && flags & 0x4000 ? 2 : 0);
    const end = bytes.indexOf(0, start);
    const stage = (flags >> 12) & 3;
    const path = bytes.toString("utf8", start, end);
    entries[stage === 0 ? path : `${path} (stage ${stage})`] = `${mode} ${hash}`;
    // entries are padded with one to eight zeros
    position += Math.ceil((end - position + 1) / 8) * 8;
  }
  return entries;
}
