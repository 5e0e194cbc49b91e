/**
 * Global setup of the workbench tests: starts a browser and a server with the packaged extension
 * for each worker, and stops them after the last test.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { findBrowser, launchBrowser } from "./browser.ts";
import { startCodeServer } from "./codeServer.ts";
import type { Desk } from "./desk.ts";
import { installHost, type Host } from "./host.ts";
import { packageMeter } from "./meter.ts";
import { findPackage } from "./packaged.ts";
import { testSettings } from "./settings.ts";

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  rmSync(join(project.config.root, "test/pictures"), { recursive: true, force: true });
  const program = findBrowser(say);
  const host = await installHost(say);
  const meter = packageMeter();
  const open = await Promise.all(
    Array.from({ length: project.config.maxWorkers }, () => openDesk(program, host, meter)),
  );
  project.provide(
    "desks",
    open.map(it => it.desk),
  );
  return async () => {
    await Promise.all(open.map(it => it.close()));
  };
}

async function openDesk(
  program: string,
  host: Host,
  meterPackage: string,
): Promise<{ readonly desk: Desk; readonly close: () => Promise<void> }> {
  const meter = join(mkdtempSync(join(tmpdir(), "prove-meter-")), "measure.json");
  const python = join(mkdtempSync(join(tmpdir(), "prove-python-")), "python");
  writeFileSync(python, `#!/bin/sh\nexec python3 "$@"\n`, { mode: 0o755 });
  const server = await startCodeServer({
    host,
    extensions: [findPackage("vsix"), meterPackage],
    settings: testSettings,
    machineSettings: { "prove.python": python },
    requiresTrust: false,
    graceSeconds: 3,
    env: { METER_FILE: meter },
  });
  const browser = await launchBrowser(program);
  const close = async () => {
    await browser.close();
    await server.stop();
  };
  return { desk: { server: server.url, browser: browser.url, meter, python }, close };
}
