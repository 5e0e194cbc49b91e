/**
 * Stores the syntheses of a workspace that were started and have not finished. All windows on the
 * workspace share the list.
 */
import { existsSync } from "node:fs";
import { z } from "zod";
import { readLock } from "../../storage/fileLock.ts";
import { findProcessStart } from "../../storage/processes.ts";
import { difficulties } from "../../synthesis/pipeline/report/demands.ts";
import { readSharedFile, writeSharedFile, type SharedFile } from "../shared/sharedFile.ts";
import type { SynthesisChoices } from "./synthesisPrompts.ts";

export interface UnfinishedSynthesis {
  readonly file: string;
  readonly choices: SynthesisChoices;
}

interface StoredSynthesis extends UnfinishedSynthesis {
  /** The process of the window that began or resumed it. */
  readonly pid: number;
}

const teacherSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("graph") }),
  z.object({ kind: z.literal("endpoint"), url: z.string(), model: z.string() }),
  z.object({ kind: z.literal("editor"), model: z.string() }),
]);

const storedSchema: z.ZodType<StoredSynthesis> = z.object({
  file: z.string(),
  choices: z.object({
    servers: z.array(z.string()),
    teacher: teacherSchema,
    preset: z.enum(["paper", "student"]).optional(),
    difficulty: z.enum(difficulties).optional(),
    count: z.int().min(1),
    seed: z.int().min(0),
  }),
  pid: z.int().min(1),
});

export class UnfinishedSyntheses {
  readonly #shared: SharedFile<readonly StoredSynthesis[]>;
  /** The files that this window is writing. */
  readonly #running = new Set<string>();

  /** `file` is the one that the windows share. */
  constructor(file: string) {
    this.#shared = {
      file,
      schema: z.array(storedSchema),
      contents: "the list of unfinished syntheses",
      remedy: "synthesize new tasks; those that were made are kept",
    };
  }

  /** Those whose files exist and are not being written. */
  listResumable(): readonly UnfinishedSynthesis[] {
    return this.#read()
      .filter(({ file }) => existsSync(file) && !this.#running.has(file))
      .filter(({ file }) => readLock(`${file}.lock`) === undefined)
      .map(({ file, choices }) => ({ file, choices }));
  }

  /** Stores a synthesis that is being started or resumed. */
  begin({ file, choices }: UnfinishedSynthesis): void {
    this.#running.add(file);
    this.#change(stored => [
      ...stored.filter(it => it.file !== file),
      { file, choices, pid: process.pid },
    ]);
  }

  /** Records that this window no longer writes the file. */
  end(file: string): void {
    this.#running.delete(file);
    this.#change(stored => stored);
  }

  /** Removes a synthesis that has finished. */
  remove(file: string): void {
    this.#change(stored => stored.filter(it => it.file !== file));
  }

  #read(): readonly StoredSynthesis[] {
    return readSharedFile(this.#shared) ?? [];
  }

  /** Changes the list as it is stored now, and removes those whose files were deleted. */
  #change(change: (stored: readonly StoredSynthesis[]) => readonly StoredSynthesis[]): void {
    const stored = this.#read();
    const changed = change(stored).filter(it => existsSync(it.file) || this.#isStarting(it));
    if (changed.length !== stored.length || changed.some((it, i) => it !== stored[i]))
      writeSharedFile(this.#shared, changed);
  }

  /** Whether a window has begun the synthesis, whose file does not exist yet. */
  #isStarting({ file, pid }: StoredSynthesis): boolean {
    return pid === process.pid ? this.#running.has(file) : findProcessStart(pid) !== undefined;
  }
}
