/**
 * A sandbox: what one process of a third-party server works on, made for it and removed after it.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { constants, lstatSync, readdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { cp, mkdir, rm } from "node:fs/promises";
import { isAbsolute, join, sep } from "node:path";
import { promisify } from "node:util";
import { isMissing } from "../storage/fileErrors.ts";
import { findProgram } from "../storage/processes.ts";
import { createTemporaryFolder } from "../storage/temporaryFolders.ts";
import { UserError } from "../userError.ts";
import type { ProgramEntry } from "./mcpConfig.ts";
import { newFolder, sandboxVariable, type Reset } from "./resetSetting.ts";

export interface Sandbox {
  /** The entry with the sandbox filled in. */
  readonly entry: ProgramEntry;
  /** The copied folder, of a server whose state are files. */
  readonly folder?: string;
  /** To be called after the process has ended. */
  remove(): Promise<void>;
}

/** Makes the sandbox that an entry asks for; of a server with several seeds, on that one. */
export async function createSandbox(entry: ProgramEntry, seed?: string): Promise<Sandbox> {
  const { reset } = entry;
  if (reset?.kind === "folder") return createFolder(entry, reset, seed);
  if (entry.cwd !== newFolder) return createElsewhere(entry);
  const folder = createSandboxPath();
  await mkdir(folder);
  const removeFolder = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const sandbox = await createElsewhere({ ...entry, cwd: folder });
    return {
      ...sandbox,
      async remove() {
        await removeFolder();
        await sandbox.remove();
      },
    };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

/** The sandbox of a server whose state are not files. */
const createElsewhere = async (entry: ProgramEntry): Promise<Sandbox> =>
  entry.reset?.kind === "command"
    ? createByCommand(entry, entry.reset)
    : { entry, async remove() {} };

function fillIn(entry: ProgramEntry, value: string): ProgramEntry {
  const replace = (text: string) => text.replaceAll(sandboxVariable, value);
  return {
    ...entry,
    args: entry.args.map(replace),
    env: Object.fromEntries(Object.entries(entry.env).map(([key, it]) => [key, replace(it)])),
    cwd: replace(entry.cwd),
  };
}

// copies of folders

let root: string | undefined;
let createdCount = 0;

/** A new path in the folder of this thread's copies, which is removed with the process. */
export function createSandboxPath(): string {
  if (root === undefined) {
    root = createTemporaryFolder("servers");
    process.on("exit", removeSandboxFolder);
  }
  return join(root, String(++createdCount));
}

/** Removes all that is left of this thread's copies. A thread that is ended does it itself. */
export function removeSandboxFolder(): void {
  if (root !== undefined) rmSync(root, { recursive: true, force: true });
  root = undefined;
}

async function createFolder(
  entry: ProgramEntry,
  { folders }: Extract<Reset, { kind: "folder" }>,
  seed?: string,
): Promise<Sandbox> {
  const source = folders[seed ?? Object.keys(folders)[0]!];
  if (source === undefined)
    throw new UserError(
      `${entry.name} has no seed ${seed}`,
      `choose one of ${Object.keys(folders).join(", ")}, or name it in reset of its entry`,
    );
  const names = checkSeed(entry.name, source);
  const used = [...entry.args, ...Object.values(entry.env), entry.cwd].find(it =>
    it.includes(source),
  );
  if (used !== undefined)
    throw new UserError(
      `${entry.name} is given ${used}, which is the seed itself and not its copy`,
      `write ${sandboxVariable} in its place in entry ${entry.name} of prove/mcp.json`,
    );
  const folder = join(createSandboxPath(), "files");
  const remove = () => rm(join(folder, ".."), { recursive: true, force: true, maxRetries: 3 });
  try {
    await mkdir(join(folder, ".."));
    await cp(source, folder, {
      recursive: true,
      preserveTimestamps: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
    });
  } catch (cause) {
    await remove();
    throw new UserError(
      `${source} cannot be copied for ${entry.name}: ${(cause as Error).message}`,
      `correct reset in entry ${entry.name} of prove/mcp.json`,
      { cause },
    );
  }
  const cwd = entry.cwd === newFolder ? folder : entry.cwd;
  const env = names.some(isRepository) ? { ...gitDates, ...entry.env } : entry.env;
  return { entry: fillIn({ ...entry, env, cwd }, folder), folder, remove };
}

/** The hash of a commit contains its time, which must not differ between processes. */
const gitDates = {
  GIT_AUTHOR_DATE: "1767225600 +0000",
  GIT_COMMITTER_DATE: "1767225600 +0000",
};

const isRepository = (name: string) => name === ".git" || name.endsWith(`${sep}.git`);

/** Limits, because each process gets a copy. */
const maxFiles = 20_000;
const maxBytes = 500_000_000;

/**
 * The names of what is in a folder. Throws a `UserError` unless it can be copied, and its copy
 * stands for itself.
 */
function checkSeed(server: string, source: string): readonly string[] {
  const remedy = `correct reset in entry ${server} of prove/mcp.json`;
  let names: string[];
  let top: string;
  try {
    names = readdirSync(source, { recursive: true, encoding: "utf8" });
    top = realpathSync(source);
  } catch (cause) {
    const what = isMissing(cause) ? "does not exist" : `cannot be read: ${String(cause)}`;
    throw new UserError(
      `the folder ${source}, which ${server} starts from, ${what}`,
      `create it, or ${remedy}`,
      { cause },
    );
  }
  let bytes = 0;
  for (const name of names) {
    const file = join(source, name);
    const stats = lstatSync(file);
    if (stats.isFile()) bytes += stats.size;
    else if (stats.isSymbolicLink()) checkLink(file, top, remedy);
    else if (!stats.isDirectory())
      throw new UserError(`${file} is neither a file nor a folder, and cannot be copied`, remedy);
  }
  if (names.length > maxFiles || bytes > maxBytes)
    throw new UserError(
      `${source} has ${names.length} files with ${Math.round(bytes / 1e6)} MB, too much to copy for each process of ${server} (at most ${maxFiles} and ${maxBytes / 1e6} MB)`,
      "name a smaller folder in reset",
    );
  return names;
}

/** A link that leads out of the folder, through which a copy would change what is there. */
function checkLink(file: string, top: string, remedy: string): void {
  let target = "nothing";
  try {
    target = realpathSync(file);
  } catch {
    // it leads to no file
  }
  // the copy of an absolute link leads to the folder that was copied
  if (isAbsolute(readlinkSync(file)) || !target.startsWith(`${top}${sep}`))
    throw new UserError(
      `${file} is a link to ${target}, through which the server would leave its copy`,
      `replace it with what it leads to, or ${remedy}`,
    );
}

// what a command creates

const timeout = 120_000;

async function createByCommand(
  entry: ProgramEntry,
  { create, remove, cwd }: Extract<Reset, { kind: "command" }>,
): Promise<Sandbox> {
  const name = `prove_${process.pid}_${randomBytes(4).toString("hex")}`;
  const run = async (line: readonly string[]) => {
    const [command = "", ...args] = line.map(it => it.replaceAll(sandboxVariable, name));
    const remedy = `correct reset in entry ${entry.name} of prove/mcp.json`;
    const program = findProgram(command, cwd);
    if (program === undefined)
      throw new UserError(`${command}, which resets ${entry.name}, is not on the PATH`, remedy);
    const env = { PATH: process.env["PATH"], ...fillIn(entry, name).env };
    try {
      await promisify(execFile)(program, args, { cwd, env, timeout });
    } catch (cause) {
      const { stderr = "", message } = cause as Error & { stderr?: string };
      const said = (stderr.trim() || message).replaceAll(/\s+/g, " ").slice(0, 300);
      throw new UserError(`${[command, ...args].join(" ")} failed: ${said}`, remedy, { cause });
    }
  };
  try {
    await run(create);
  } catch (error) {
    // it may have created a part, or nothing that can be removed
    await run(remove).catch(() => {});
    throw error;
  }
  return { entry: fillIn(entry, name), remove: () => run(remove) };
}
