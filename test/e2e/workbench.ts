/**
 * Drives a workbench page as a person does: palette, views, editors, webviews, notifications,
 * pictures. Every wait is for something to be visible.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import axe from "axe-core";
import type { FrameLocator, Locator, Page } from "playwright-core";
import { expect, vi } from "vitest";
import { openPage } from "./browser.ts";
import { getDesk } from "./desk.ts";
import { repository } from "./packaged.ts";

/** Long enough for two busy cores. */
export const waitOptions = { timeout: 180_000, interval: 100 };

/**
 * The color themes, first the one that tests begin with: the color scheme of the browser and the
 * setting that select each, and the classes that the workbench and its webviews have with it.
 */
const themes = {
  dark: { scheme: "dark", settings: {}, workbench: ".vs-dark", webview: "vscode-dark" },
  light: { scheme: "light", settings: {}, workbench: ".vs", webview: "vscode-light" },
  "high contrast light": {
    scheme: "light",
    settings: { "workbench.preferredLightColorTheme": "Default High Contrast Light" },
    workbench: ".hc-light",
    webview: "vscode-high-contrast-light",
  },
  "high contrast": {
    scheme: "dark",
    settings: { "workbench.preferredDarkColorTheme": "Default High Contrast" },
    workbench: ".hc-black",
    webview: "vscode-high-contrast",
  },
} as const;

/** Spinners and progress bars, which draw up to 60 frames a second for as long as they are shown. */
const still = `
  .codicon-modifier-spin, .codicon-modifier-spin::before, .codicon-tree-item-loading::before,
  .monaco-progress-container .progress-bit { animation: none !important; }
`;

export type Theme = keyof typeof themes;

/** The open workbenches, for the report of a failed test. */
export const openWorkbenches = new Set<Workbench>();

export class Workbench {
  readonly page: Page;
  /** The workspace folder. */
  readonly folder: string;
  /** The messages of the page's console. */
  readonly consoleLines: string[] = [];
  readonly #closePage: () => Promise<void>;
  #ownsFolder = false;

  private constructor(page: Page, closePage: () => Promise<void>, folder: string) {
    this.page = page;
    this.#closePage = closePage;
    this.folder = folder;
    page.on("console", it => this.consoleLines.push(`${it.type()} ${it.text()}`));
    page.on("pageerror", it => this.consoleLines.push(`page error ${String(it)}`));
    openWorkbenches.add(this);
  }

  /**
   * Opens a workbench on a new folder with the given files, and waits for the extension's views.
   * Without a server's URL it uses the server of all tests.
   */
  static async open(
    files: Readonly<Record<string, string | Uint8Array>> = {},
    server: string = getDesk().server,
  ): Promise<Workbench> {
    const folder = mkdtempSync(join(tmpdir(), "prove-folder-"));
    for (const [name, contents] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), contents);
    }
    const workbench = await Workbench.visit(
      `${server}/?folder=${encodeURIComponent(folder)}`,
      folder,
    );
    workbench.#ownsFolder = true;
    return workbench;
  }

  /**
   * Opens the workbench at an address, on a folder that the caller removes. `logIn` fills in the
   * login page.
   */
  static async visit(
    address: string,
    folder: string,
    logIn?: (page: Page) => Promise<void>,
  ): Promise<Workbench> {
    const { origin } = new URL(address);
    const { page, close } = await openPage(getDesk().browser, origin);
    await page.setViewportSize({ width: 1400, height: 1050 });
    await page.emulateMedia({ colorScheme: "dark" });
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin });
    page.setDefaultTimeout(waitOptions.timeout);
    await page.addInitScript(css => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      if (window === top) document.adoptedStyleSheets.push(sheet);
    }, still);
    const workbench = new Workbench(page, close, folder);
    await workbench.page.goto(address, { waitUntil: "domcontentloaded" });
    await logIn?.(workbench.page);
    await workbench.page.locator(".statusbar-item").first().waitFor();
    // the palette does not list commands that are registered while it is open
    await workbench.container("PROVE").waitFor();
    return workbench;
  }

  async close(): Promise<void> {
    openWorkbenches.delete(this);
    await this.#closePage();
    if (this.#ownsFolder)
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  /** Runs a command by its title from the palette. */
  async runCommand(title: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget .quick-input-box input");
    // an open palette does not list new commands, so it is closed and opened again
    await vi.waitFor(async () => {
      if (await input.isVisible()) await this.page.keyboard.press("Escape");
      await this.page.keyboard.press("F1");
      await input.fill(`>${title}`, { timeout: 10_000 });
      await this.choice(title).click({ timeout: 10_000 });
    }, waitOptions);
  }

  /** Runs a command from the palette without the mouse. */
  async runCommandByKeyboard(title: string): Promise<void> {
    const { keyboard } = this.page;
    const first = this.page.locator(".quick-input-list .monaco-list-row.focused");
    await keyboard.press("F1");
    await this.page.locator(".quick-input-widget .quick-input-box input:focus").waitFor();
    await keyboard.insertText(title);
    const command = first.filter({ hasText: title });
    await command.waitFor();
    await keyboard.press("Enter");
    await command.waitFor({ state: "hidden" });
  }

  /** The row of the open quick pick or palette with exactly this label. */
  choice(label: string): Locator {
    return this.page
      .locator(".quick-input-list .monaco-list-row")
      .filter({ has: this.page.locator(".label-name", { hasText: exactly(label) }) })
      .first();
  }

  /** Types into the input box or quick pick with this prompt, and accepts. */
  async answer(question: string, text: string): Promise<void> {
    await this.type(question, text);
    await this.page.locator(".quick-input-widget .quick-input-box input").press("Enter");
  }

  /** Answers a dialog that asks for a file once it shows the name that it proposes. */
  async saveAs(question: string, proposed: string, path: string): Promise<void> {
    // until then, the dialog replaces what was typed
    const input = this.page.locator(".quick-input-widget .quick-input-box input");
    await vi.waitFor(async () => expect(await input.inputValue()).toContain(proposed), waitOptions);
    await this.answer(question, path);
  }

  /** Clicks an item of the open context menu, which ignores clicks until it is ready. */
  async chooseFromMenu(label: string): Promise<void> {
    const item = this.page.locator(".monaco-menu").getByText(label, { exact: true });
    await vi.waitFor(async () => {
      if (await item.isVisible()) await item.click({ timeout: 5000 });
      await item.waitFor({ state: "hidden", timeout: 2000 });
    }, waitOptions);
  }

  /** Opens the context menu of the focused row, and chooses from it, without the mouse. */
  async chooseFromMenuByKeyboard(label: string): Promise<void> {
    const { keyboard } = this.page;
    await keyboard.press("Shift+F10");
    const menu = this.page.locator(".monaco-menu");
    await menu.getByText(label, { exact: true }).waitFor();
    await this.#pressUntil(
      "ArrowDown",
      menu.locator(".action-item.focused").getByText(label, { exact: true }),
    );
    await keyboard.press("Enter");
    await menu.waitFor({ state: "hidden" });
  }

  /** Chooses a row of the open quick pick by its label, without the mouse. */
  async chooseByKeyboard(label: string): Promise<void> {
    const { keyboard } = this.page;
    await this.choice(label).waitFor();
    await this.page.locator(".quick-input-widget .quick-input-box input:focus").waitFor();
    await keyboard.insertText(label);
    const first = this.page.locator(".quick-input-list .monaco-list-row.focused");
    await first.filter({ hasText: label }).waitFor();
    await keyboard.press("Enter");
  }

  /** Chooses these rows of the open quick pick with checkboxes, without the mouse. */
  async checkByKeyboard(...labels: readonly string[]): Promise<void> {
    const { keyboard } = this.page;
    const all = this.page.getByRole("checkbox", { name: "Toggle all checkboxes" });
    await this.#pressUntil("Shift+Tab", all.and(this.page.locator(":focus")));
    await vi.waitFor(async () => {
      if (await all.isChecked()) await keyboard.press("Space");
      expect(await this.page.locator(".quick-input-list input:checked").count()).toBe(0);
    }, waitOptions);
    const list = this.page.locator(".quick-input-list .monaco-list");
    await this.#pressUntil("Tab", list.and(this.page.locator(":focus")));
    const focused = list.locator(".monaco-list-row.focused");
    for (const label of labels) {
      await this.#pressUntil("ArrowDown", focused.filter({ hasText: label }));
      await keyboard.press("Space");
    }
    await keyboard.press("Enter");
  }

  /** Moves the focus to a button of a notification without the mouse. */
  async focusInNotification(notification: Locator, button: string): Promise<void> {
    await notification.waitFor();
    await this.runCommandByKeyboard("Notifications: Focus Notification Toast");
    await this.#pressUntil(
      "Tab",
      notification.getByRole("button", { name: button }).and(this.page.locator(":focus")),
    );
  }

  /** Moves the focus to the side bar without the mouse. */
  async focusSideBar(): Promise<void> {
    await vi.waitFor(async () => {
      await this.page.keyboard.press("Control+0");
      await this.page.locator(".part.sidebar:focus-within").waitFor({ timeout: 1000 });
    }, waitOptions);
  }

  /** Moves the focus to the icon of a view container without the mouse: by way of the side bar. */
  async focusContainer(title: string): Promise<void> {
    const { keyboard } = this.page;
    await this.focusSideBar();
    await keyboard.press("Shift+F6");
    const focused = this.page.locator(".activitybar .action-item:focus");
    await focused.waitFor();
    const icon = this.page.locator(`.action-label[aria-label^="${title}"]`);
    await this.#pressUntil("ArrowDown", focused.filter({ has: icon }));
  }

  /**
   * Lists the code lenses above the first line of the transcript with the keyboard, and moves the
   * focus to one of them.
   */
  async focusLens(title: string): Promise<void> {
    await this.page.locator(".codelens-decoration a", { hasText: title }).first().waitFor();
    await this.page.keyboard.press("Control+Home");
    await this.runCommandByKeyboard("Show CodeLens Commands for Current Line");
    const focused = this.page.locator(".quick-input-list .monaco-list-row.focused");
    await this.#pressUntil("ArrowDown", focused.filter({ hasText: title }));
  }

  /** Moves the focus to a control of a page with the Tab key; it can be seen there. */
  async tabTo(control: Locator): Promise<void> {
    await vi.waitFor(async () => {
      await this.page.keyboard.press("Tab");
      const isFocused = (it: Element) =>
        it === (it.getRootNode() as Document | ShadowRoot).activeElement &&
        it.ownerDocument.hasFocus();
      expect(await control.evaluate(isFocused, undefined, { timeout: 5000 })).toBe(true);
    }, waitOptions);
    expect(await control.evaluate(it => getComputedStyle(it).outlineStyle)).not.toBe("none");
  }

  /** Moves the focus of a view to a row without the mouse: from the last row up. */
  async focusRow(view: string, row: RegExp): Promise<void> {
    await this.runCommandByKeyboard(`PROVE: Focus on ${view} View`);
    const focused = this.pane(view).locator(".monaco-list-row.focused");
    await this.page.keyboard.press("End");
    await focused.waitFor();
    await this.#pressUntil("ArrowUp", focused.filter({ hasText: row }));
  }

  /** Presses a key, which moves the focus, until something is visible. */
  async #pressUntil(key: string, wanted: Locator): Promise<void> {
    const { keyboard } = this.page;
    await vi.waitFor(
      async () => {
        if (await wanted.isVisible()) return;
        const before = await this.page.evaluate(describeFocus);
        await keyboard.press(key);
        const isElsewhere = async () =>
          expect(await this.page.evaluate(describeFocus)).not.toBe(before);
        const hasMoved = await vi.waitFor(isElsewhere, { timeout: 500, interval: 20 }).then(
          () => true,
          () => false,
        );
        // the list has ended: from its other end
        if (!hasMoved && key === "ArrowUp") await keyboard.press("End");
        if (!hasMoved && key === "ArrowDown") await keyboard.press("Home");
        await wanted.waitFor({ timeout: 100 });
      },
      { ...waitOptions, interval: 1 },
    );
  }

  /** Types into the input box or quick pick with this prompt, and leaves it open. */
  async type(question: string, text: string): Promise<void> {
    const box = this.page.locator(".quick-input-widget");
    await box
      .filter({ hasText: question })
      .or(box.filter({ has: this.page.locator(`input[placeholder*="${question}"]`) }))
      .waitFor();
    await box.locator(".quick-input-box input").fill(text);
  }

  /** Clicks an inline action of a tree row. */
  async clickAction(row: Locator, action: string): Promise<void> {
    // a refresh of the tree replaces rows, so that a click may miss
    await vi.waitFor(async () => {
      await row.hover({ timeout: 5000 });
      await row.locator(`.action-label[aria-label="${action}"]`).click({ timeout: 5000 });
    }, waitOptions);
  }

  /** The icon of a view container in the activity bar. */
  container(title: string): Locator {
    return this.page.locator(`.activitybar .action-label[aria-label^="${title}"]`).first();
  }

  /** Shows a view container in the side bar. */
  async showContainer(title: string): Promise<void> {
    const icon = this.container(title);
    await vi.waitFor(async () => {
      await icon.click();
      await this.page
        .locator(".sidebar .composite.title", { hasText: title })
        .waitFor({ timeout: 5000 });
    }, waitOptions);
  }

  /** The rows of the tree in a view. */
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
   * Collapses views of the side bar, so that the others have space: hidden rows are not rendered.
   */
  async collapseViews(...views: readonly string[]): Promise<void> {
    for (const view of views) {
      const header = this.pane(view).locator(".pane-header");
      if ((await header.getAttribute("aria-expanded")) !== "true") continue;
      // at its start: the actions of the view appear under the mouse in the middle
      await header.click({ position: { x: 8, y: 8 } });
      await vi.waitFor(
        async () => expect(await header.getAttribute("aria-expanded")).toBe("false"),
        waitOptions,
      );
    }
  }

  /** Expands a row of a tree if it is collapsed. */
  expand(row: Locator): Promise<void> {
    return this.#setExpanded(row, "true");
  }

  /** Collapses a row of a tree if it is expanded. */
  collapse(row: Locator): Promise<void> {
    return this.#setExpanded(row, "false");
  }

  async #setExpanded(row: Locator, expanded: "true" | "false"): Promise<void> {
    await row.waitFor();
    // a refresh of the tree replaces rows, so that a click may miss
    await vi.waitFor(async () => {
      if ((await row.getAttribute("aria-expanded")) === expanded) return;
      await row.locator(".monaco-tl-twistie").click({ timeout: 5000 });
      throw new Error(`${await row.innerText()} did not change`);
    }, waitOptions);
  }

  /** A tab of the editor area. */
  tab(title: string | RegExp): Locator {
    return this.page.locator(".tabs-container .tab", { hasText: title }).first();
  }

  /** The visible lines of the active text editor. */
  get lines(): Locator {
    return this.page.locator(".editor-instance .view-lines .view-line");
  }

  /** Puts the cursor on a line of the active text editor. */
  async goToLine(number: number): Promise<void> {
    await this.runCommand("View: Focus Active Editor Group");
    await this.runCommand("Go to Line/Column...");
    const input = this.page.locator(".quick-input-widget .quick-input-box input");
    await input.fill(`:${number}`);
    await input.press("Enter");
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  /** Replaces a line of the active text editor by typing. */
  async replaceLine(number: number, text: string): Promise<void> {
    const { keyboard } = this.page;
    await this.goToLine(number);
    await keyboard.press("End");
    await keyboard.press("Shift+Home");
    await keyboard.press("Shift+Home");
    await keyboard.insertText(text);
  }

  /** A scope or value in the debugger's Variables view, by name. */
  variable(name: string): Locator {
    return this.page
      .locator(".debug-variables [role=treeitem]")
      .filter({ hasText: new RegExp(`^\\s*${name}\\s*(=|$)`) })
      .first();
  }

  /** The rows of the debugger's Call Stack view. */
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

  /** The inner document of the n-th visible webview. */
  webview(n = 0): FrameLocator {
    return this.page.frameLocator("iframe.webview.ready").nth(n).frameLocator("#active-frame");
  }

  /** A notification with a text. */
  notification(text: string | RegExp): Locator {
    return this.page.locator(".notification-toast").filter({ hasText: text }).first();
  }

  /** Closes all editors. */
  async closeEditors(): Promise<void> {
    await this.runCommand("View: Close All Editors");
    await this.page.locator(".tabs-container .tab").first().waitFor({ state: "detached" });
  }

  /**
   * Saves screenshots as test/pictures/<name>-dark.png and -light.png if pictures were asked for.
   * Nothing is compared with them, and changing the theme for each takes long.
   */
  async takePicture(name: string): Promise<void> {
    // away from everything that shows a tooltip
    await this.page.mouse.move(700, 1);
    if (!process.env["PROVE_PICTURES"]) return;
    // the theme that is used already comes first: a change of the theme takes the most time
    const isLight = await this.page.locator(".monaco-workbench.vs").isVisible();
    for (const theme of isLight ? (["light", "dark"] as const) : (["dark", "light"] as const)) {
      await this.useTheme(theme);
      await this.page.screenshot({ path: join(picturesFolder, `${name}-${theme}.png`) });
    }
  }

  /**
   * The problems of the first webview in all four themes that axe rates as serious or critical,
   * such as a contrast that is too low or a control without a name.
   */
  async findAccessibilityProblems(): Promise<string[]> {
    const root = await this.webview().locator("html").elementHandle();
    const frame = (await root.ownerFrame())!;
    await frame.evaluate(axe.source);
    const problems: string[] = [];
    for (const theme of Object.keys(themes) as Theme[]) {
      await this.useTheme(theme);
      // the toolkit updates the colors of its components one frame after the theme of the page
      await frame.evaluate(
        "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))",
      );
      const options = {
        // otherwise axe also describes what passed
        resultTypes: ["violations"],
        selectors: false,
        // in another theme, only the colors differ
        ...(theme === "dark" ? {} : { runOnly: ["color-contrast", "link-in-text-block"] }),
      };
      // the page's own script, which the webview may run
      const { violations } = await frame.evaluate<axe.AxeResults>(
        `axe.run(document, ${JSON.stringify(options)})`,
      );
      for (const { id, impact, nodes } of violations)
        if (impact === "serious" || impact === "critical")
          problems.push(...nodes.map(it => `${theme}: ${id}: ${it.html} ${it.failureSummary}`));
    }
    await this.useTheme("dark");
    return problems;
  }

  /** Switches the color theme, and waits until the workbench and its webviews use it. */
  async useTheme(theme: Theme): Promise<void> {
    const { scheme, settings, workbench, webview } = themes[theme];
    await this.page.emulateMedia({ colorScheme: scheme });
    const file = join(this.folder, ".vscode/settings.json");
    if (Object.keys(settings).length > 0) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(settings));
    } else rmSync(file, { force: true });
    await this.page.locator(`.monaco-workbench${workbench}`).waitFor();
    for (let n = 0; n < (await this.page.locator("iframe.webview.ready").count()); n++)
      await this.webview(n).locator(`body.${webview}`).waitFor();
  }
}

/** Describes, in the page, what has the focus: an element by its place, and in a list its row. */
const describeFocus = (): string => {
  const focused = document.activeElement!;
  const { x, y } = focused.getBoundingClientRect();
  return `${focused.className} at ${x}, ${y}: ${focused.getAttribute("aria-activedescendant")}`;
};

/** Waits until something is visible. */
export const checkVisible = (it: Locator): Promise<void> => it.waitFor(waitOptions);

/** Waits until something is no longer visible. */
export const checkGone = (it: Locator): Promise<void> =>
  it.waitFor({ ...waitOptions, state: "hidden" });

/** Git-ignored: pictures are for a person to look at. */
export const picturesFolder = join(repository, "test/pictures");

const exactly = (text: string) =>
  new RegExp(`^\\s*${text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\s*$`);
