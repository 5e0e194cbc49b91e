/**
 * The process of a training with TRL or verl: `launch.py` of a run folder, which starts the
 * service and the engine. Its output is appended to a log file in the folder.
 */
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { closeSync, existsSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { openLogFile } from "../../storage/writtenFiles.ts";
import { join } from "node:path";
import { ProcessTree } from "../../mcp/processTree.ts";
import { acquireEngineLock } from "../../run/locks.ts";

/** How long the programs may take to end after a request to stop, in milliseconds. */
const stopTimeout = 10_000;

/** How often it is seen whether other programs have ended, ten times a second. */
const waitsForOthers = 30;

/** How a process ended: by its code, or by a signal or an error that kept it from starting. */
export interface EngineEnd {
  readonly code: number | undefined;
  readonly signal?: NodeJS.Signals;
  readonly reason: string;
  /** Whether `stop` was called. */
  readonly isStopped: boolean;
}

interface EngineStart {
  readonly python: string;
  /** The run folder. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

export const getEngineLog = (folder: string): string => join(folder, "engine.log");

export class EngineProcess {
  readonly ended: Promise<EngineEnd>;
  readonly #tree: ProcessTree | undefined;
  #isStopped = false;
  #isEnded = false;

  /** Throws a `UserError` if another window has started a training on the folder. */
  constructor({ python, folder, env }: EngineStart) {
    const log = openLogFile(getEngineLog(folder));
    writeSync(log, `${python} launch.py, ${new Date().toISOString()}\n`);
    const child = spawn(python, ["launch.py"], {
      cwd: folder,
      env: { ...env, PYTHONUNBUFFERED: "1" },
      stdio: ["ignore", log, log],
      // a group of its own, which is ended as a whole
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    closeSync(log);
    if (child.pid !== undefined) this.#tree = new ProcessTree(child.pid);
    const releaseLock = this.#acquireLock(folder, child.pid);
    this.ended = new Promise(resolve => {
      const end = (how: Omit<EngineEnd, "isStopped">) => {
        this.#isEnded = true;
        releaseLock();
        resolve({ ...how, isStopped: this.#isStopped });
      };
      child.once("error", error =>
        end({ code: undefined, reason: `did not start (${error.message})` }),
      );
      child.once("exit", (code, signal) =>
        end({
          code: code ?? undefined,
          reason: `ended with ${code === null ? signal : `code ${code}`}`,
          ...(signal ? { signal } : {}),
        }),
      );
    });
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  #acquireLock(folder: string, pid: number | undefined): () => void {
    if (pid === undefined) return () => {};
    try {
      return acquireEngineLock(folder, pid);
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  /** Ends everything that was started, as Ctrl-C in a terminal does. Resolves when it has ended. */
  async stop(): Promise<void> {
    if (this.#isEnded) return;
    this.#isStopped = true;
    this.#tree?.kill("SIGINT");
    const timer = setTimeout(() => this.kill(), stopTimeout);
    await this.ended;
    clearTimeout(timer);
    // what launch.py has started got the signal, too, and may need longer
    for (let i = 0; i < waitsForOthers && this.#tree?.hasOthers; i++) await sleep(100);
    this.kill();
  }

  /** Ends everything that was started, at once. */
  kill(): void {
    this.#isStopped = true;
    this.#tree?.kill("SIGKILL");
  }
}

/** The last lines of a run folder's log, without those that are empty. */
export function readLastLines(folder: string, count: number): readonly string[] {
  const file = getEngineLog(folder);
  if (!existsSync(file)) return [];
  const log = openSync(file, "r");
  try {
    const { size } = fstatSync(log);
    const length = Math.min(size, 8_000);
    const bytes = Buffer.alloc(length);
    readSync(log, bytes, 0, length, size - length);
    return bytes
      .toString()
      .split(/[\r\n]+/)
      .map(it => it.trim())
      .filter(it => it !== "")
      .slice(-count);
  } finally {
    closeSync(log);
  }
}
