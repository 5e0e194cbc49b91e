/**
 * The browser that shows the workbench: a headless Chromium that can only reach this machine.
 */
import { existsSync } from "node:fs";
import { chromium, type BrowserServer } from "playwright-core";
import { findOnPath, installPackages } from "../systemPackages.ts";

/** Finds Chromium at CHROME_PATH, on PATH or in Playwright's cache; otherwise installs it. */
export function findBrowser(say: (line: string) => void): string {
  const chosen = process.env["CHROME_PATH"];
  if (chosen) {
    if (!existsSync(chosen))
      throw new Error(`CHROME_PATH names ${chosen}, which does not exist: correct it or unset it`);
    return chosen;
  }
  const found = findInstalled() ?? findDownloaded();
  if (found) return found;
  installPackages(
    "the workbench tests need Chromium (or run npx playwright install chromium, or set CHROME_PATH)",
    ["chromium"],
    say,
  );
  return findInstalled() ?? fail();
}

const findInstalled = () =>
  ["chromium", "chromium-browser", "google-chrome"].map(findOnPath).find(it => it !== undefined);

const findDownloaded = () => {
  const file = chromium.executablePath();
  return existsSync(file) ? file : undefined;
};

const fail = (): never => {
  throw new Error("chromium was installed but is not on PATH: set CHROME_PATH");
};

/** Starts a browser that several test files connect to. */
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
