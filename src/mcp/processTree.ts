/**
 * Finds and ends the processes that a process started, also those that left its process group. On
 * Windows, `taskkill` does both.
 */
import { execFile, execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { findProcessStart, getSystemProgram } from "../storage/processes.ts";

/** One process in a list of all processes. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Undefined if the operating system does not list it. */
  readonly session?: number;
}

/**
 * The process with that id, those of its group and session, and the descendants of all of these.
 */
export function findProcessTree(rows: readonly ProcessRow[], root: number): ReadonlySet<number> {
  const tree = new Set([root]);
  for (const it of rows) if (it.group === root || it.session === root) tree.add(it.pid);
  let size: number;
  do {
    size = tree.size;
    for (const it of rows) if (tree.has(it.parent)) tree.add(it.pid);
  } while (tree.size > size);
  return tree;
}

/** The processes that a process has started so far, the leader of its own group and session. */
export class ProcessTree {
  readonly #root: number;
  /** When each process began, because the operating system reuses ids. */
  readonly #starts = new Map<number, string>();

  constructor(root: number) {
    this.#root = root;
  }

  /**
   * Remembers the processes that can be found now: a process whose parent has ended is an orphan.
   */
  refresh(): void {
    if (process.platform === "win32") return;
    for (const pid of findProcessTree(listProcesses(), this.#root)) {
      if (pid === this.#root || pid === process.pid || this.#starts.has(pid)) continue;
      const start = findProcessStart(pid);
      if (start !== undefined) this.#starts.set(pid, start);
    }
  }

  /** Whether one of the processes is left, apart from the first. On Windows, none is known. */
  get hasOthers(): boolean {
    this.refresh();
    return [...this.#starts].some(([pid, start]) => findProcessStart(pid) === start);
  }

  /** Sends a signal to all processes. Windows ends them at once. */
  kill(signal: NodeJS.Signals): void {
    if (process.platform === "win32") {
      const args = ["/pid", String(this.#root), "/T", "/F"];
      execFile(getSystemProgram("taskkill"), args, () => {});
      return;
    }
    this.refresh();
    sendSignal(-this.#root, signal);
    for (const [pid, start] of this.#starts)
      if (findProcessStart(pid) === start) sendSignal(pid, signal);
  }
}

/** A process that has ended, or that has become another user's, is left alone. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

function listProcesses(): readonly ProcessRow[] {
  return process.platform === "linux" ? listLinuxProcesses() : listPosixProcesses();
}

function listLinuxProcesses(): readonly ProcessRow[] {
  return readdirSync("/proc").flatMap(name => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // the fields after the command's name, which may contain spaces and parentheses
      const fields = readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      const [parent, group, session] = fields.slice(1, 4).map(Number) as [number, number, number];
      return [{ pid: Number(name), parent, group, session }];
    } catch {
      return []; // it has ended
    }
  });
}

function listPosixProcesses(): readonly ProcessRow[] {
  let text: string;
  try {
    text = execFileSync(getSystemProgram("ps"), ["-A", "-o", "pid=,ppid=,pgid="], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 10_000,
    });
  } catch {
    return []; // without a list, the process group is ended
  }
  return text.split("\n").flatMap(line => {
    const [pid, parent, group] = line.trim().split(/\s+/).map(Number);
    return pid && parent !== undefined && group !== undefined ? [{ pid, parent, group }] : [];
  });
}
