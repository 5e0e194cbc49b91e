/**
 * `npm run open` without a desktop editor: the example in a workbench with a password, not trusted
 * at first, and removed by Ctrl-C.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { repository } from "./packaged.ts";
import { checkVisible, waitOptions, Workbench } from "./workbench.ts";

let child: ChildProcess;
let printed = "";
let address: URL;
let folder: string;

beforeAll(async () => {
  child = spawn(process.execPath, [join(repository, "test/e2e/open.ts"), "--browser"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout!.on("data", (bytes: Buffer) => (printed += bytes.toString()));
  await vi.waitFor(() => expect(printed).toContain("Ctrl-C"), waitOptions);
  address = new URL(/^address +(\S+)$/m.exec(printed)![1]!);
  folder = address.searchParams.get("folder")!;
});
afterAll(() => void child.kill("SIGKILL"));

test("access requires the printed password", async () => {
  const answer = await fetch(address, { redirect: "manual" });
  expect([answer.status, answer.headers.get("location")]).toEqual([
    302,
    expect.stringContaining("login"),
  ]);
});

test("the example can be read before its folder is trusted, but nothing is started", async () => {
  const [, password] = /^password +(\S{16})$/m.exec(printed)!;
  const workbench = await Workbench.visit(address.href, folder, async page => {
    await page.locator("input.password").fill(password!);
    await page.locator("input.submit").click();
  });
  await checkVisible(
    workbench.page.locator(".statusbar-item").filter({ hasText: "Restricted Mode" }),
  );
  await workbench.showContainer("PROVE");
  await checkVisible(
    workbench
      .rows("Tasks")
      .filter({ hasText: /\d+ tasks/ })
      .first(),
  );
  await workbench.runCommand("PROVE: Start Training…");
  await checkVisible(workbench.notification(/Training requires a trusted workspace/));
  await workbench.runCommand("PROVE: Offer Server to Agents…");
  await checkVisible(
    workbench.notification(/Offering a server to agents requires a trusted workspace/),
  );
  await workbench.runCommand("PROVE: Synthesize Tasks…");
  await checkVisible(workbench.notification(/Synthesizing tasks requires a trusted workspace/));
  await workbench.takePicture("untrusted");
  // an attempt is read from the keyboard alone
  const { keyboard } = workbench.page;
  await workbench.focusRow("Tasks", /^example/);
  await keyboard.press("ArrowRight");
  await checkVisible(workbench.pane("Tasks").locator("[role=treeitem][aria-level='2']").first());
  await keyboard.press("ArrowDown");
  await keyboard.press("Enter");
  await checkVisible(workbench.tab(".transcript"));
  await checkVisible(workbench.page.locator(".view-line").filter({ hasText: /[·✓✗]/ }).first());
  // it would draw a box around every such sign
  expect(await workbench.page.locator(".unicode-highlight").count()).toBe(0);
  await workbench.takePicture("untrusted-transcript");
  // the editor asks for trust before it steps through it
  await workbench.runCommandByKeyboard("PROVE: Step Through Trajectory");
  const question = workbench.page.locator(".monaco-dialog-box", { hasText: "Do you trust" });
  await checkVisible(question.locator(".monaco-button:focus", { hasText: "Trust Folder" }));
  await keyboard.press("Enter");
  await checkVisible(workbench.variable("start"));
  await keyboard.press("F10");
  await checkVisible(workbench.variable("user"));
  await workbench.close();
});

test("Ctrl-C stops it and removes everything", async () => {
  const ended = new Promise<number | null>(resolve => void child.once("exit", resolve));
  child.kill("SIGINT");
  expect(await ended).toBe(0);
  expect(existsSync(folder)).toBe(false);
  await expect(fetch(address)).rejects.toThrow("fetch failed");
});
