/**
 * Global setup of the workbench tests: starts the browser and one server with the packaged
 * extension, and stops both after the last test.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { findBrowser, launchBrowser } from "./browser.ts";
import { startCodeServer } from "./codeServer.ts";
import { installHost } from "./host.ts";
import { packageMeter } from "./meter.ts";
import { findPackage } from "./packaged.ts";
import { testSettings } from "./settings.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the workbench. */
    server: string;
    /** The address of the browser's DevTools protocol. */
    browser: string;
    /** The file that the meter in the extension host writes its measurements to. */
    meter: string;
    /** The program that the setting prove.python names: python3, until a test replaces it. */
    python: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  rmSync(join(project.config.root, "test/pictures"), { recursive: true, force: true });
  const program = findBrowser(say);
  const host = await installHost(say);
  const meter = join(mkdtempSync(join(tmpdir(), "prove-meter-")), "measure.json");
  const python = join(mkdtempSync(join(tmpdir(), "prove-python-")), "python");
  writeFileSync(python, `#!/bin/sh\nexec python3 "$@"\n`, { mode: 0o755 });
  const server = await startCodeServer({
    host,
    extensions: [findPackage("vsix"), packageMeter()],
    settings: testSettings,
    machineSettings: { "prove.python": python },
    requiresTrust: false,
    graceSeconds: 3,
    env: { METER_FILE: meter },
  });
  const browser = await launchBrowser(program);
  project.provide("server", server.url);
  project.provide("browser", browser.url);
  project.provide("meter", meter);
  project.provide("python", python);
  return async () => {
    await browser.close();
    await server.stop();
  };
}
