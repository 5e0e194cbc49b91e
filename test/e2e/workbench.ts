/**
 * A workbench page as a person uses it: palette, views, editors, pages, notifications, pictures.
 * Every wait is for something to be seen.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  chromium,
  type Browser,
  type FrameLocator,
  type Locator,
  type Page,
} from "playwright-core";
import { inject, vi } from "vitest";
import { repository } from "./packaged.ts";

/** Long enough for two busy cores; a wait ends as soon as what it waits for is there. */
export const patience = { timeout: 60_000, interval: 100 };

export type Theme = "dark" | "light";

/** The workbenches that are open now, for the report of a failed test. */
export const openWorkbenches = new Set<Workbench>();

export class Workbench {
  readonly page: Page;
  /** The folder that is open in it. */
  readonly folder: string;
  /** What the page said on its console. */
  readonly said: string[] = [];
  readonly #browser: Browser;
  #ownsFolder = false;

  private constructor(browser: Browser, page: Page, folder: string) {
    this.#browser = browser;
    this.page = page;
    this.folder = folder;
    page.on("console", it => this.said.push(`${it.type()} ${it.text()}`));
    page.on("pageerror", it => this.said.push(`page error ${String(it)}`));
    openWorkbenches.add(this);
  }

  /**
   * Opens a workbench on a new folder with these files in it, and waits until the extension's views
   * are there.
   */
  static async open(files: Readonly<Record<string, string>> = {}): Promise<Workbench> {
    const folder = mkdtempSync(join(tmpdir(), "prove-folder-"));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const workbench = await Workbench.visit(
      `${inject("server")}/?folder=${encodeURIComponent(folder)}`,
      folder,
    );
    workbench.#ownsFolder = true;
    return workbench;
  }

  /**
   * Opens the workbench at an address, on a folder that the caller looks after; `enter` does what
   * is asked at the door.
   */
  static async visit(
    address: string,
    folder: string,
    enter?: (page: Page) => Promise<void>,
  ): Promise<Workbench> {
    const browser = await chromium.connect(inject("browser"));
    const context = await browser.newContext({
      viewport: { width: 1400, height: 1050 },
      colorScheme: "dark",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    context.setDefaultTimeout(patience.timeout);
    const workbench = new Workbench(browser, await context.newPage(), folder);
    await workbench.page.goto(address, { waitUntil: "domcontentloaded" });
    await enter?.(workbench.page);
    await workbench.page.locator(".statusbar-item").first().waitFor();
    // the palette does not list commands that arrive while it is open
    await workbench.container("PROVE").waitFor();
    return workbench;
  }

  async close(): Promise<void> {
    openWorkbenches.delete(this);
    await this.#browser.close();
    if (this.#ownsFolder)
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  /** Runs a command by its title in the palette. */
  async command(title: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget .quick-input-box input");
    // commands that arrive while the palette is open are not listed: it is closed and opened again
    await vi.waitFor(async () => {
      if (await input.isVisible()) await this.page.keyboard.press("Escape");
      await this.page.keyboard.press("F1");
      await input.fill(`>${title}`, { timeout: 10_000 });
      await this.choice(title).click({ timeout: 10_000 });
    }, patience);
  }

  /** The row of the open picker or palette that has exactly this label. */
  choice(label: string): Locator {
    return this.page
      .locator(".quick-input-list .monaco-list-row")
      .filter({ has: this.page.locator(".label-name", { hasText: exactly(label) }) })
      .first();
  }

  /** Types into the input box or picker that asks this, and accepts. */
  async answer(question: string, text: string): Promise<void> {
    await this.type(question, text);
    await this.page.locator(".quick-input-widget .quick-input-box input").press("Enter");
  }

  /** Types into the input box or picker that asks this, and leaves it open. */
  async type(question: string, text: string): Promise<void> {
    const box = this.page.locator(".quick-input-widget");
    await box
      .filter({ hasText: question })
      .or(box.filter({ has: this.page.locator(`input[placeholder*="${question}"]`) }))
      .waitFor();
    await box.locator(".quick-input-box input").fill(text);
  }

  /** Clicks one of the actions that a row of a tree shows under the pointer. */
  async act(row: Locator, action: string): Promise<void> {
    // rows are drawn anew when the tree's data comes in: a click may meet one that is going
    await vi.waitFor(async () => {
      await row.hover({ timeout: 5000 });
      await row.locator(`.actions .action-label[aria-label="${action}"]`).click({ timeout: 5000 });
    }, patience);
  }

  /** The icon of a view container in the activity bar. */
  container(title: string): Locator {
    return this.page.locator(`.activitybar .action-label[aria-label^="${title}"]`).first();
  }

  /** Shows a view container in the side bar. */
  async show(title: string): Promise<void> {
    const icon = this.container(title);
    await vi.waitFor(async () => {
      await icon.click();
      await this.page
        .locator(".sidebar .composite.title", { hasText: title })
        .waitFor({ timeout: 5000 });
    }, patience);
  }

  /** The rows of the tree in the view of that name. */
  rows(view: string): Locator {
    return this.pane(view).locator("[role=treeitem]");
  }

  /** A view of the side bar, with its header. */
  pane(view: string): Locator {
    return this.page
      .locator(".split-view-view .pane")
      .filter({ has: this.page.locator(`.pane-header h3.title`, { hasText: exactly(view) }) });
  }

  /**
   * Folds views of the side bar away: rows out of sight are not drawn, so the others need the room.
   */
  async fold(...views: readonly string[]): Promise<void> {
    for (const view of views) {
      const header = this.pane(view).locator(".pane-header");
      if ((await header.getAttribute("aria-expanded")) === "true") await header.click();
    }
  }

  /** Opens out a row of a tree, if it is closed. */
  expand(row: Locator): Promise<void> {
    return this.#turn(row, "true");
  }

  /** Closes a row of a tree, if it is open. */
  collapse(row: Locator): Promise<void> {
    return this.#turn(row, "false");
  }

  async #turn(row: Locator, expanded: "true" | "false"): Promise<void> {
    await row.waitFor();
    // rows are drawn anew when the tree's data comes in: a click may meet one that is going
    await vi.waitFor(async () => {
      if ((await row.getAttribute("aria-expanded")) === expanded) return;
      await row.locator(".monaco-tl-twistie").click({ timeout: 5000 });
      throw new Error(`${await row.innerText()} did not turn`);
    }, patience);
  }

  /** A tab of the editor area. */
  tab(title: string): Locator {
    return this.page.locator(".tabs-container .tab", { hasText: title }).first();
  }

  /** What the active text editor shows, as lines that are in view. */
  get lines(): Locator {
    return this.page.locator(".editor-instance .view-lines .view-line");
  }

  /** Puts the cursor on a line of the active text editor. */
  async goToLine(number: number): Promise<void> {
    await this.command("View: Focus Active Editor Group");
    await this.command("Go to Line/Column...");
    const input = this.page.locator(".quick-input-widget .quick-input-box input");
    await input.fill(`:${number}`);
    await input.press("Enter");
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  /** Writes over a whole line of the active text editor, as a person with a keyboard does. */
  async replaceLine(number: number, text: string): Promise<void> {
    const { keyboard } = this.page;
    await this.goToLine(number);
    await keyboard.press("End");
    await keyboard.press("Shift+Home");
    await keyboard.press("Shift+Home");
    await keyboard.insertText(text);
  }

  /** A row of the debugger's Variables, a scope or a value, by its name. */
  variable(name: string): Locator {
    return this.page
      .locator(".debug-variables [role=treeitem]")
      .filter({ hasText: new RegExp(`^\\s*${name}\\s*(=|$)`) })
      .first();
  }

  /** The rows of the debugger's Call Stack. */
  get frames(): Locator {
    return this.page.locator(".debug-call-stack .stack-frame");
  }

  /**
   * A button of the debug toolbar by its icon: `step-over`, `step-back`, `continue`,
   * `reverse-continue`, `stop`.
   */
  debugButton(icon: string): Locator {
    return this.page.locator(`a.action-label.codicon-debug-${icon}`).first();
  }

  /** The inner document of the n-th web page that is visible. */
  webview(n = 0): FrameLocator {
    return this.page.frameLocator("iframe.webview.ready").nth(n).frameLocator("#active-frame");
  }

  /** A notification with that text. */
  notification(text: string | RegExp): Locator {
    return this.page.locator(".notification-toast").filter({ hasText: text }).first();
  }

  /** Closes every editor, so that the next thing opened is the only one. */
  async closeEditors(): Promise<void> {
    await this.command("View: Close All Editors");
    await this.page.locator(".tabs-container .tab").first().waitFor({ state: "detached" });
  }

  /** Saves what is seen as test/pictures/<name>-dark.png and -light.png. */
  async picture(name: string): Promise<void> {
    // a pointer that rests on something shows its tooltip
    await this.page.mouse.move(700, 1);
    for (const theme of ["light", "dark"] as const) {
      await this.useTheme(theme);
      await this.page.screenshot({ path: join(pictures, `${name}-${theme}.png`) });
    }
  }

  /**
   * Asks for a theme as the operating system does, and waits until the workbench and its pages wear
   * it.
   */
  async useTheme(theme: Theme): Promise<void> {
    await this.page.emulateMedia({ colorScheme: theme });
    await this.page
      .locator(theme === "dark" ? ".monaco-workbench.vs-dark" : ".monaco-workbench.vs")
      .waitFor();
    for (let n = 0; n < (await this.page.locator("iframe.webview.ready").count()); n++)
      await this.webview(n).locator(`body.vscode-${theme}`).waitFor();
  }
}

/** Asserts that something can be seen, now or within patience. */
export const checkSeen = (it: Locator): Promise<void> => it.waitFor(patience);

/** Asserts that something cannot be seen, now or within patience. */
export const checkGone = (it: Locator): Promise<void> =>
  it.waitFor({ ...patience, state: "hidden" });

/** Git-ignored: pictures are for a person to look at. */
export const pictures = join(repository, "test/pictures");

const exactly = (text: string) =>
  new RegExp(`^\\s*${text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\s*$`);
