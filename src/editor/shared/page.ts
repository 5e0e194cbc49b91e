/**
 * Opens pages in editor tabs: the HTML shell with a strict content security policy, and the typed
 * channel between the page and the editor.
 */
import { randomBytes } from "node:crypto";
import { Uri, ViewColumn, window, type Disposable, type WebviewPanel } from "vscode";
import { UserError } from "../../userError.ts";
import type { EditorMessage, PageContract } from "../../protocol/pageChannel.ts";
import { checkRequest, type Answers, type CheckedRequest } from "./pageRequests.ts";
import { renderShell, type PageName } from "./pageShell.ts";
import { toPlainLine } from "./plainText.ts";
import { reportError } from "./report.ts";

export interface PageOptions {
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
export function openPage<Contract extends PageContract>(
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
  panel.webview.html = renderShell({
    name: options.name,
    title: options.title,
    nonce: randomBytes(16).toString("base64"),
    cspSource: panel.webview.cspSource,
    createUri: (...parts) =>
      panel.webview.asWebviewUri(Uri.joinPath(extensionUri, ...parts)).toString(),
  });
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
