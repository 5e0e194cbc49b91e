/**
 * When a process began. Operating systems reuse process ids; an id together with its start time
 * identifies a process.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { getSystemProgram } from "./findProgram.ts";

/**
 * When a process began, in a format of the operating system that is only good for comparing.
 * Undefined where no process has that id.
 */
export function findProcessStart(pid: number): string | undefined {
  try {
    if (process.platform === "linux") return readLinuxStart(pid);
    if (process.platform === "win32")
      return runProgram(getSystemProgram("powershell"), [
        "-NoProfile",
        "-Command",
        `(Get-Process -Id ${pid}).StartTime.Ticks`,
      ]);
    return runProgram(getSystemProgram("ps"), ["-o", "lstart=", "-p", String(pid)]);
  } catch {
    return undefined; // there is no such process
  }
}

function readLinuxStart(pid: number): string | undefined {
  // the 22nd field, counted after the command's name, which may contain spaces and parentheses
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  const isZombie = fields[0] === "Z";
  if (isZombie) return undefined;
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return `${boot} ${fields[19]}`;
}

const runProgram = (program: string, args: readonly string[]): string | undefined =>
  execFileSync(program, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 10_000,
  }).trim() || undefined;
