/** Looks at processes of the operating system. */
import { spawnSync } from "node:child_process";

/** The processes that a process has started, on systems with `ps`. */
export const listChildren = (pid: number) =>
  spawnSync("ps", ["-o", "pid=", "--ppid", `${pid}`], { encoding: "utf8" })
    .stdout.split("\n")
    .map(Number)
    .filter(it => it > 0 && it !== pid);

/** Whether a process runs. One that has ended may still be listed. */
export const isRunning = (pid: number) =>
  !["", "Z"].includes(
    spawnSync("ps", ["-o", "stat=", "-p", `${pid}`], { encoding: "utf8" })
      .stdout.slice(0, 1)
      .trim(),
  );
