/**
 * Before the first workbench test: the host, a browser, and one server with the packaged extension.
 * After the last: nothing is left running.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { browserProgram, launchBrowser } from "./browser.ts";
import { startCodeServer } from "./codeServer.ts";
import { workbenchHost } from "./host.ts";
import { packMeter } from "./meter.ts";
import { packaged } from "./packaged.ts";
import { testSettings } from "./settings.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the workbench listens. */
    server: string;
    /** The browser's WebSocket address. */
    browser: string;
    /** Where the meter in the extension host leaves what it measured. */
    meter: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  rmSync(join(project.config.root, "test/pictures"), { recursive: true, force: true });
  const program = browserProgram(say);
  const host = await workbenchHost(say);
  const meter = join(mkdtempSync(join(tmpdir(), "prove-meter-")), "measure.json");
  const server = await startCodeServer({
    host,
    extensions: [packaged("vsix"), packMeter()],
    settings: testSettings,
    trust: false,
    grace: 3,
    env: { METER_FILE: meter },
  });
  const browser = await launchBrowser(program);
  project.provide("server", server.url);
  project.provide("browser", browser.wsEndpoint());
  project.provide("meter", meter);
  return async () => {
    await browser.close();
    await server.stop();
  };
}
