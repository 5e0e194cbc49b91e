/**
 * Opens the extension on a copy of the example workspace: in desktop VS Code where there is one,
 * else in the workbench host, behind a password of this one run, until Ctrl-C. `--browser` asks for
 * the latter.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCodeServer } from "./codeServer.ts";
import { workbenchHost } from "./host.ts";
import { packaged, repository } from "./packaged.ts";
import { quietSettings } from "./settings.ts";
import { programOnPath } from "./system.ts";

const say = (line: string) => process.stdout.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), "prove-example-"));
cpSync(join(repository, "resources/example"), folder, { recursive: true });

const desktop = process.argv.includes("--browser") ? undefined : programOnPath("code");
if (desktop) {
  spawnSync(desktop, ["--new-window", `--extensionDevelopmentPath=${repository}`, folder], {
    stdio: "inherit",
  });
  say(`the example workspace is ${folder}`);
} else await inTheBrowser();

async function inTheBrowser(): Promise<void> {
  const password = randomBytes(12).toString("base64url");
  const host = await workbenchHost(say);
  const server = await startCodeServer({
    host,
    extensions: [packaged("vsix")],
    settings: quietSettings,
    password,
    trust: true,
    grace: 600,
  });
  say(`address   ${server.url}/?folder=${encodeURIComponent(folder)}`);
  say(`password  ${password}`);
  say("Ctrl-C stops it and removes the copy");
  await new Promise(resolve => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
