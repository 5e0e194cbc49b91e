/**
 * The journals of sessions: one file for each session, with a line for each request that it has
 * executed. Executing the requests again rebuilds the session, because sessions are deterministic.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { isMissing, toReadError, withWriteErrors } from "../../storage/fileErrors.ts";
import { acquireLock } from "../../storage/fileLock.ts";
import { isJson } from "../../storage/jsonLines.ts";
import { LineWriter, type Disk } from "../../storage/lineWriter.ts";
import { createIrregularError, maxLogBytes, readTextFile } from "../../storage/textFiles.ts";
import { UserError } from "../../userError.ts";

const recordSchema = z.object({
  /** The name under which `SessionKeeper` executes it again. */
  do: z.string(),
  body: z.unknown(),
  /** Milliseconds that a call took, which its stored response tells. */
  ms: z.number().exactOptional(),
  /** The session's digest after the request. */
  digest: z.string(),
});

/** A request that a session has executed. */
export type JournalRecord = Readonly<z.infer<typeof recordSchema>>;

/** What the first line of a file has beside the request that opened the session. */
interface JournalHeader {
  readonly session_id: string;
  /** Null for a session that is never idle for too long. */
  readonly ttl_ms: number | null;
}

const format = "prove/journal@1";

/** Files that are held open, of the sessions that were used last. */
const maxOpenFiles = 256;

/** Empty files of closed sessions that are kept for other sessions. */
const maxSpareFiles = 4_096;

export class SessionJournal {
  readonly #folder: string;
  readonly #disk: Disk | undefined;
  readonly #writers = new LRUCache<string, LineWriter>({
    max: maxOpenFiles,
    dispose: it => it.close(),
  });
  /**
   * Empty files that take the place of new ones: ext4 takes several times as long to create a file
   * if many were deleted shortly before.
   */
  readonly #spareFiles: string[] = [];
  #lastSpare = 0;

  /**
   * Creates the folder, for this user only. Tests replace the disk. Throws a `UserError` for a
   * folder that others can read.
   */
  constructor(folder: string, disk?: Disk) {
    this.#folder = folder;
    this.#disk = disk;
    createPrivateFolder(folder);
    // of processes that were killed; one that still has some creates new files instead
    for (const it of readdirSync(folder))
      if (it.endsWith(spareExtension)) rmSync(join(folder, it), { force: true });
  }

  /** The sessions that have a file with a whole first line. */
  list(): readonly JournalHeader[] {
    return readdirSync(this.#folder)
      .filter(it => it.endsWith(extension))
      .flatMap(name => readHeader(join(this.#folder, name)) ?? []);
  }

  /**
   * Begins the file of a session. Throws a `UserError` if it cannot be written, or if the session
   * has one already, to which another process may be writing.
   */
  begin(header: JournalHeader, record: JournalRecord): void {
    const id = header.session_id;
    this.#replaceFile(id);
    try {
      this.#append(id, { format, ...header, ...record });
    } catch (error) {
      this.#writers.delete(id);
      throw error;
    }
  }

  /** Throws a `UserError` if the file cannot be written; it then ends with the line before. */
  append(id: string, record: JournalRecord): void {
    this.#append(id, record);
  }

  /**
   * What a session has executed; a line that was cut off while it was written is left out. Throws
   * an error, which clients see, for any other line that is not a request.
   */
  read(id: string): readonly JournalRecord[] {
    const lines = readTextFile(this.#getFile(id), maxLogBytes).split("\n");
    const last = lines.pop()!;
    // a line that lacks only its line break is whole, as the writer will find
    if (isJson(last)) lines.push(last);
    return lines.map(parseRecord);
  }

  /** Writes the file of a session that has executed what another one did, and then `last`. */
  copy(records: readonly JournalRecord[], header: JournalHeader, last: JournalRecord): void {
    const [first, ...rest] = records;
    const lines = [{ ...first, format, ...header }, ...rest, last];
    const file = this.#replaceFile(header.session_id);
    writeFileSync(file, lines.map(it => `${JSON.stringify(it)}\n`).join(""), { mode: fileMode });
  }

  remove(id: string): void {
    this.#writers.delete(id);
    const file = this.#getFile(id);
    if (this.#spareFiles.length >= maxSpareFiles) return rmSync(file, { force: true });
    const spare = join(this.#folder, `${process.pid}-${++this.#lastSpare}${spareExtension}`);
    try {
      renameSync(file, spare);
      truncateSync(spare);
    } catch {
      // there is no such file, or it cannot be kept
      for (const it of [file, spare]) rmSync(it, { force: true });
      return;
    }
    this.#spareFiles.push(spare);
  }

  close(): void {
    this.#writers.clear();
    for (const it of this.#spareFiles.splice(0)) rmSync(it, { force: true });
  }

  /**
   * Makes way for the file of a session that begins, and returns its path. What is there may be the
   * torn first line of a process that was killed, but not a session.
   */
  #replaceFile(id: string): string {
    const file = this.#getFile(id);
    // a writer would go on with the file that the spare one replaces
    this.#writers.delete(id);
    if (readHeader(file))
      throw new UserError(
        `the session of the new journal ${file} has one already`,
        "stop other services that use this folder",
      );
    const spare = this.#spareFiles.pop();
    if (spare === undefined) return file;
    try {
      renameSync(spare, file);
    } catch (error) {
      // another process has removed it; otherwise the file is created, which says what is wrong
      if (!isMissing(error)) rmSync(spare, { force: true });
    }
    return file;
  }

  #append(id: string, line: object): void {
    let writer = this.#writers.get(id);
    if (!writer) {
      writer = new LineWriter(this.#getFile(id), this.#disk, fileMode);
      this.#writers.set(id, writer);
    }
    writer.append(JSON.stringify(line));
  }

  /** A name that differs from others on file systems that ignore case, too. */
  #getFile(id: string): string {
    const name = createHash("sha256").update(id).digest("hex").slice(0, 40);
    return join(this.#folder, `${name}${extension}`);
  }
}

function parseRecord(line: string, index: number): JournalRecord {
  try {
    return recordSchema.parse(JSON.parse(line));
  } catch (cause) {
    throw new Error(`line ${index + 1} of its journal is not a request of a session`, { cause });
  }
}

const extension = ".jsonl";

/** A reader of a journal learns the ids of its sessions, and can act in them. */
const [folderMode, fileMode] = [0o700, 0o600];

/**
 * Creates the folder of a journal for this user only. One that others can read, as an older version
 * created it, is closed to them with its files if it has nothing but journals. Throws a `UserError`
 * for any other, and for one that has something else than files, such as links, under the names of
 * journals.
 */
function createPrivateFolder(folder: string): void {
  withWriteErrors(folder, () => mkdirSync(folder, { recursive: true, mode: folderMode }));
  const entries = readdirSync(folder, { withFileTypes: true });
  const irregular = entries.find(it => isJournalFile(it.name) && !it.isFile());
  if (irregular) throw createIrregularError(join(folder, irregular.name));
  // on Windows the mode does not say who may read a folder
  if (process.platform === "win32" || (statSync(folder).mode & 0o077) === 0) return;
  let cause: unknown;
  if (entries.every(it => isJournalFile(it.name)))
    try {
      chmodSync(folder, folderMode);
      for (const it of entries) chmodSync(join(folder, it.name), fileMode);
      return;
    } catch (error) {
      cause = error;
    }
  throw new UserError(
    `others can read the journal ${folder}`,
    `make it yours alone with chmod 700 ${folder}, or name a folder that does not exist`,
    { cause },
  );
}

const lockFile = "lock.json";
const isJournalFile = (name: string): boolean =>
  name.startsWith(lockFile) || name.endsWith(extension) || name.endsWith(spareExtension);

/**
 * Locks a journal: two services with one would execute the same sessions. Creates its folder first.
 * Returns the function that releases the lock.
 */
export function lockJournal(folder: string): () => void {
  createPrivateFolder(folder);
  return acquireLock(join(folder, lockFile), {
    mode: fileMode,
    createConflict: pid =>
      new UserError(
        `the journal ${folder} is in use by process ${pid}`,
        "stop that service, or choose another folder",
      ),
  });
}

const spareExtension = ".spare";

/** Undefined for a file that another process has removed, or that has no whole first line. */
function readHeader(file: string): JournalHeader | undefined {
  try {
    const [line] = readTextFile(file, maxLogBytes).split("\n", 1);
    const header = JSON.parse(line!) as JournalHeader & { readonly format: string };
    return header.format === format ? header : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return undefined;
    throw toReadError(file, error);
  }
}
