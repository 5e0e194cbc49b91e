/** `npm run open` where there is no desktop editor: a workbench behind a password, gone with Ctrl-C. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { repository } from "./packaged.ts";
import { patience } from "./workbench.ts";

test("it prints an address and a password for this one run, and Ctrl-C leaves nothing behind", async () => {
  const child = spawn(process.execPath, [join(repository, "test/e2e/open.ts"), "--browser"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>(resolve => void child.once("exit", resolve));
  let printed = "";
  child.stdout.on("data", (bytes: Buffer) => (printed += bytes.toString()));
  try {
    await vi.waitFor(() => expect(printed).toContain("Ctrl-C"), patience);
    const address = new URL(/^address +(\S+)$/m.exec(printed)![1]!);
    expect(/^password +\S{16}$/m.test(printed)).toBe(true);
    const folder = address.searchParams.get("folder")!;
    expect(existsSync(join(folder, "prove/tasks"))).toBe(true);
    const answer = await fetch(address, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, expect.stringContaining("login")]);
    child.kill("SIGINT");
    expect(await ended).toBe(0);
    expect(existsSync(folder)).toBe(false);
    await expect(fetch(address)).rejects.toThrow("fetch failed");
  } finally {
    child.kill("SIGKILL");
  }
});
