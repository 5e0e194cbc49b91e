/**
 * Opens pages in editor tabs, at most one per subject such as a run, and answers their requests.
 */
import { randomBytes } from "node:crypto";
import { type Disposable, Uri, ViewColumn, type WebviewPanel, window } from "vscode";
import type { EditorMessage, PageContract } from "../../protocol/pageChannel.ts";
import { UserError } from "../../userError.ts";
import {
  type Answers,
  type CheckedRequest,
  checkRequest,
  type PageName,
  renderShell,
} from "./pageSecurity.ts";
import { reportError } from "./report.ts";
import { getRewardDecimals } from "./rewardText.ts";
import { onDidChangeSetting } from "./settings.ts";
import { toPlainLine } from "./text.ts";

interface PageOptions {
  /** The name of the panel and of its script and style sheet. */
  readonly name: PageName;
  readonly title: string;
  readonly icon: string;
  /** Opens beside the active editor instead of in its group. */
  readonly isBeside?: true;
  /** Leaves the focus in the active editor. */
  readonly preserveFocus?: boolean;
}

/** An open page. */
export interface Page<Contract extends PageContract> {
  readonly panel: WebviewPanel;
  sendEvent<Name extends keyof Contract["events"] & string>(
    name: Name,
    body: Contract["events"][Name],
  ): void;
}

/** Opens a page in a new panel. */
function openPage<Contract extends PageContract>(
  extensionUri: Uri,
  options: PageOptions,
  answers: Answers<Contract>,
): Page<Contract> {
  const panel = window.createWebviewPanel(`prove.${options.name}`, toPlainLine(options.title), {
    viewColumn: options.isBeside ? ViewColumn.Beside : ViewColumn.Active,
    preserveFocus: options.preserveFocus ?? false,
  });
  return servePage(extensionUri, panel, options, answers);
}

/** Fills a new or restored panel and answers its requests. */
export function servePage<Contract extends PageContract>(
  extensionUri: Uri,
  panel: WebviewPanel,
  options: PageOptions,
  answers: Answers<Contract>,
): Page<Contract> {
  panel.title = toPlainLine(options.title);
  panel.iconPath = Uri.joinPath(extensionUri, "resources", "icons", options.icon);
  panel.webview.options = {
    enableScripts: true,
    localResourceRoots: [
      Uri.joinPath(extensionUri, "dist", "webview"),
      Uri.joinPath(extensionUri, "media"),
    ],
  };
  let isOpen = true;
  panel.onDidDispose(() => (isOpen = false));
  // a page may be closed while a request is answered
  const post = async (message: EditorMessage<Contract>) =>
    // the editor's own channel has no origins
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    isOpen && panel.webview.postMessage(message);
  panel.webview.onDidReceiveMessage(async (message: unknown) => {
    let request: CheckedRequest;
    try {
      request = checkRequest(answers, message);
    } catch (error) {
      // no page of ours sends it, so nobody waits for an answer
      return reportError(error);
    }
    try {
      await post({ kind: "result", id: request.id, result: await request.run() });
    } catch (error) {
      reportError(error);
      const { what, remedy } =
        error instanceof UserError ? error : new UserError("PROVE failed", "see the log");
      await post({ kind: "failure", id: request.id, what, remedy });
    }
  });
  const render = () => {
    panel.webview.html = renderShell({
      name: options.name,
      title: options.title,
      decimals: getRewardDecimals(),
      nonce: randomBytes(16).toString("base64"),
      cspSource: panel.webview.cspSource,
      createUri: (...parts) =>
        panel.webview.asWebviewUri(Uri.joinPath(extensionUri, ...parts)).toString(),
    });
  };
  render();
  // the page loads again, and restores what it has saved
  const subscription = onDidChangeSetting("rewardDecimals", render);
  panel.onDidDispose(() => subscription.dispose());
  return {
    panel,
    sendEvent: (name, body) => void post({ kind: "event", name, body } as EditorMessage<Contract>),
  };
}

/**
 * Registers how a page is restored after the window was reloaded, from the state that the page
 * saved. `restore` checks the state. A page that cannot be restored is closed.
 */
export function registerPageRestorer(
  page: PageOptions["name"],
  restore: (panel: WebviewPanel, state: Readonly<Record<string, unknown>>) => unknown,
): Disposable {
  return window.registerWebviewPanelSerializer(`prove.${page}`, {
    async deserializeWebviewPanel(panel, state: unknown) {
      try {
        await restore(panel, (state ?? {}) as Record<string, unknown>);
      } catch (error) {
        panel.dispose();
        reportError(error);
      }
    },
  });
}

/** How a page of one subject is opened and answered. */
export interface PageContent<Contract extends PageContract> {
  readonly options: PageOptions;
  readonly answers: Answers<Contract>;
  /** Sends events to the page until the result is disposed. */
  readonly subscribe?: (page: Page<Contract>) => Disposable;
}

export class PageCollection<Contract extends PageContract> implements Disposable {
  readonly #extensionUri: Uri;
  readonly #createContent: (subject: string) => PageContent<Contract>;
  readonly #pages = new Map<string, Page<Contract>>();

  constructor(extensionUri: Uri, createContent: (subject: string) => PageContent<Contract>) {
    this.#extensionUri = extensionUri;
    this.#createContent = createContent;
  }

  get(subject: string): Page<Contract> | undefined {
    return this.#pages.get(subject);
  }

  /** Subjects with their pages. */
  entries(): Iterable<readonly [string, Page<Contract>]> {
    return this.#pages.entries();
  }

  /** Reveals the page of a subject, or opens it. */
  show(subject: string, { preserveFocus = false }: Pick<PageOptions, "preserveFocus"> = {}): void {
    const open = this.#pages.get(subject);
    if (open) return open.panel.reveal(undefined, preserveFocus);
    const content = this.#createContent(subject);
    const options = { ...content.options, preserveFocus };
    this.#add(subject, content, openPage(this.#extensionUri, options, content.answers));
  }

  /** Fills a panel that was restored after the window was reloaded. */
  restore(panel: WebviewPanel, subject: string): void {
    const content = this.#createContent(subject);
    const page = servePage(this.#extensionUri, panel, content.options, content.answers);
    this.#add(subject, content, page);
  }

  dispose(): void {
    for (const it of this.#pages.values()) it.panel.dispose();
  }

  #add(subject: string, { subscribe }: PageContent<Contract>, page: Page<Contract>): void {
    this.#pages.set(subject, page);
    const subscription = subscribe?.(page);
    page.panel.onDidDispose(() => {
      subscription?.dispose();
      this.#pages.delete(subject);
    });
  }
}
