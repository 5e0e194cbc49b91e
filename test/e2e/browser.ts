/**
 * The browser that shows the workbench: a headless Chromium that can only reach this machine.
 */
import { existsSync } from "node:fs";
import { chromium, type BrowserContext, type BrowserServer, type Page } from "playwright-core";
import { findFreePort } from "../freePort.ts";
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
    ["chromium-headless-shell"],
    say,
  );
  return findInstalled() ?? fail();
}

/** The shell without a user interface, which takes less processor time, or a whole browser. */
const findInstalled = () =>
  ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
    .map(findOnPath)
    .find(it => it !== undefined);

const findDownloaded = () => {
  const file = chromium.executablePath();
  return existsSync(file) ? file : undefined;
};

const fail = (): never => {
  throw new Error("chromium was installed but is not on PATH: set CHROME_PATH");
};

export interface RunningBrowser {
  /** The address of its DevTools protocol, for `openPage`. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Starts a browser that several test files connect to. */
export async function launchBrowser(executablePath: string): Promise<RunningBrowser> {
  const port = await findFreePort();
  const server: BrowserServer = await chromium.launchServer({
    executablePath,
    headless: true,
    host: "127.0.0.1",
    args: [
      `--remote-debugging-port=${port}`,
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
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

export interface OpenPage {
  readonly page: Page;
  readonly close: () => Promise<void>;
}

/**
 * Opens a page of the running browser. It finds nothing that an earlier page has stored for its
 * origin, except the HTTP cache and compiled scripts, without which the workbench takes twice the
 * processor time to load. While such a page is open, another one gets a context of its own.
 */
export async function openPage(url: string, origin: string): Promise<OpenPage> {
  const browser = await chromium.connectOverCDP(url);
  const [profile] = browser.contexts();
  const isFree = profile!.pages().length === 0;
  const context = isFree ? profile! : await browser.newContext();
  const page = await context.newPage();
  if (isFree) await clearData(context, page, origin);
  const close = async () => {
    await page.close();
    if (!isFree) await context.close();
    await browser.close();
  };
  return { page, close };
}

async function clearData(context: BrowserContext, page: Page, origin: string): Promise<void> {
  const session = await context.newCDPSession(page);
  await context.clearCookies();
  await session.send("Storage.clearDataForOrigin", {
    origin,
    storageTypes: "indexeddb,local_storage,file_systems,websql",
  });
  await session.detach();
}
