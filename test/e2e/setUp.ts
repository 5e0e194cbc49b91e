/**
 * Global setup of the workbench tests: starts a browser and a server with the packaged extension
 * for each of the files that run at the same time, and stops them after the last test.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { findBrowser, launchBrowser } from "./browser.ts";
import { startCodeServer, type ServerOptions } from "./codeServer.ts";
import { installHost } from "./host.ts";
import { packageMeter } from "./meter.ts";
import { findPackage } from "./packaged.ts";
import { testSettings } from "./settings.ts";
import type { Workplace } from "./workplace.ts";

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  rmSync(join(project.config.root, "test/pictures"), { recursive: true, force: true });
  const program = findBrowser(say);
  const host = await installHost(say);
  const python = join(mkdtempSync(join(tmpdir(), "prove-python-")), "python");
  writeFileSync(python, `#!/bin/sh\nexec python3 "$@"\n`, { mode: 0o755 });
  const extensions = [findPackage("vsix"), packageMeter()];
  const started = await Promise.all(
    Array.from({ length: project.config.maxWorkers }, () =>
      startWorkplace(program, {
        host,
        extensions,
        settings: testSettings,
        machineSettings: { "prove.python": python },
        requiresTrust: false,
        graceSeconds: 3,
      }),
    ),
  );
  project.provide(
    "workplaces",
    started.map(it => it.workplace),
  );
  project.provide("python", python);
  return async () => {
    await Promise.all(started.map(it => it.stop()));
  };
}

async function startWorkplace(program: string, options: ServerOptions) {
  const meter = join(mkdtempSync(join(tmpdir(), "prove-meter-")), "measure.json");
  const server = await startCodeServer({ ...options, env: { METER_FILE: meter } });
  const browser = await launchBrowser(program);
  const workplace: Workplace = { server: server.url, browser: browser.url, meter };
  const stop = async () => {
    await browser.close();
    await server.stop();
  };
  return { workplace, stop };
}
