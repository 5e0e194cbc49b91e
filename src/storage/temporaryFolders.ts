/** Temporary folders of processes. What a process that was killed left behind, the next removes. */
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Creates a folder for this process and user. The caller removes it. */
export function createTemporaryFolder(purpose: "bench" | "serve" | "servers" | "trainer"): string {
  const root = tmpdir();
  const prefix = `prove-${purpose}-${getProcessSpace()}-`;
  for (const name of readdirSync(root)) {
    const [pid] = name.startsWith(prefix) ? name.slice(prefix.length).split("-") : [];
    if (pid !== undefined && !isRunning(Number(pid))) removeFolder(join(root, name));
  }
  return mkdtempSync(join(root, `${prefix}${process.pid}-`));
}

/** Tells containers apart that share a folder but number their processes for themselves. */
function getProcessSpace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    return "0"; // only Linux has them
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // a process of another user may not be signalled
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // it belongs to another user
  }
}
