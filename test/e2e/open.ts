/**
 * Opens the extension on a folder, or on a copy of the example workspace if none is given: in
 * desktop VS Code if installed, otherwise in the workbench host with a new password, until Ctrl-C.
 * `--browser` always uses the host.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startCodeServer } from "./codeServer.ts";
import { installHost } from "./host.ts";
import { findPackage, repository } from "./packaged.ts";
import { quietSettings } from "./settings.ts";
import { findOnPath } from "../systemPackages.ts";

const say = (line: string) => process.stdout.write(`${line}\n`);
const [given] = process.argv.slice(2).filter(it => !it.startsWith("--"));
const folder = given === undefined ? mkdtempSync(join(tmpdir(), "prove-example-")) : resolve(given);
if (given === undefined) cpSync(join(repository, "resources/example"), folder, { recursive: true });

const desktop = process.argv.includes("--browser") ? undefined : findOnPath("code");
if (desktop) {
  spawnSync(desktop, ["--new-window", `--extensionDevelopmentPath=${repository}`, folder], {
    stdio: "inherit",
  });
  say(`the workspace is ${folder}`);
} else await inTheBrowser();

async function inTheBrowser(): Promise<void> {
  const password = randomBytes(12).toString("base64url");
  const host = await installHost(say);
  const server = await startCodeServer({
    host,
    extensions: [findPackage("vsix")],
    settings: quietSettings,
    password,
    requiresTrust: true,
    graceSeconds: 600,
  });
  say(`address   ${server.url}/?folder=${encodeURIComponent(folder)}`);
  say(`password  ${password}`);
  say(`Ctrl-C stops the workbench${given === undefined ? " and removes the copy" : ""}`);
  await new Promise(resolve => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
  await server.stop();
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}
