/**
 * The browser that shows the workbench: a headless Chromium that is kept from every address but
 * this machine's.
 */
import { existsSync } from "node:fs";
import { chromium, type BrowserServer } from "playwright-core";
import { needFromSystem, programOnPath } from "./system.ts";

/** CHROME_PATH, else the one on PATH, else one that is installed now. */
export function browserProgram(say: (line: string) => void): string {
  const chosen = process.env["CHROME_PATH"];
  if (chosen) {
    if (!existsSync(chosen))
      throw new Error(`CHROME_PATH names ${chosen}, which does not exist: correct it or unset it`);
    return chosen;
  }
  const found = onPath() ?? downloadedByPlaywright();
  if (found) return found;
  needFromSystem(
    "Chromium (or run npx playwright install chromium, or set CHROME_PATH)",
    ["chromium"],
    say,
  );
  return onPath() ?? fail();
}

const onPath = () =>
  ["chromium", "chromium-browser", "google-chrome"].map(programOnPath).find(it => it !== undefined);

const downloadedByPlaywright = () => {
  const file = chromium.executablePath();
  return existsSync(file) ? file : undefined;
};

const fail = (): never => {
  throw new Error("chromium was installed but is not on PATH: set CHROME_PATH");
};

/** Starts one browser that several test files connect to. */
export const launchBrowser = (executablePath: string): Promise<BrowserServer> =>
  chromium.launchServer({
    executablePath,
    headless: true,
    host: "127.0.0.1",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--disable-dev-shm-usage",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
      "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
    ],
  });
