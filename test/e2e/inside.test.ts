/** Runs the suites that need the VS Code API inside the extension host of a real workbench. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openPage } from "./browser.ts";
import { startCodeServer } from "./codeServer.ts";
import { getDesk } from "./desk.ts";
import { installHost } from "./host.ts";
import { bundleInside, carrierFolder, insideFolder } from "./inside/bundle.ts";
import type { TestResult } from "./inside/testResult.ts";
import { findPackage } from "./packaged.ts";
import { testSettings } from "./settings.ts";

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Opens a workbench that runs the suites, and returns their results. */
async function runInside(): Promise<readonly TestResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "prove-inside-"));
  const file = join(folder, "results.json");
  await bundleInside();
  const server = await startCodeServer({
    host: await installHost(say),
    extensions: [findPackage("vsix")],
    settings: testSettings,
    requiresTrust: false,
    graceSeconds: 3,
    // required for a built workbench to read the payload
    flags: ["--vscode-option", "enable-smoke-test-driver"],
    env: { INSIDE_RESULTS: file },
  });
  const { page, close } = await openPage(getDesk().browser, server.url);
  try {
    const printed: string[] = [];
    await page.exposeFunction(
      "codeAutomationLog",
      (_: string, words: unknown[]) => void printed.push(words.map(String).join(" ")),
    );
    const done = new Promise<void>(
      resolve => void page.exposeFunction("codeAutomationExit", () => resolve()),
    );
    const { host } = new URL(server.url);
    const remote = (path: string) => `vscode-remote://${host}${path}`;
    const payload = [
      ["extensionDevelopmentPath", remote(carrierFolder)],
      ["extensionTestsPath", remote(join(insideFolder, "run.cjs"))],
      ["skipWelcome", "true"],
      ["skipReleaseNotes", "true"],
    ];
    await page.goto(
      `${server.url}/?folder=${encodeURIComponent(folder)}&payload=${encodeURIComponent(JSON.stringify(payload))}`,
    );
    await done;
    if (!existsSync(file))
      throw new Error(
        `the suites left no results; the extension host printed\n${printed.join("\n")}`,
      );
    return JSON.parse(readFileSync(file, "utf8")) as TestResult[];
  } finally {
    await close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const results = await runInside();

test("the suites inside the extension host ran", () => {
  expect(results).not.toEqual([]);
});

test.each(results)("$title", ({ error }) => {
  expect(error).toBeUndefined();
});
