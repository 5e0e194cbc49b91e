/**
 * Opens pages in editor tabs: the HTML shell with a strict content security policy, and the typed
 * channel between the page and the editor.
 */
import { randomBytes } from "node:crypto";
import { Uri, ViewColumn, window, type Disposable, type WebviewPanel } from "vscode";
import { UserError } from "../../userError.ts";
import type { EditorMessage, PageContract, PageRequest } from "../../protocol/pageChannel.ts";
import { toPlainLine } from "./plainText.ts";
import { reportError } from "./report.ts";

/** The functions that answer the requests of a page. */
export type Answers<Contract extends PageContract> = {
  readonly [Name in keyof Contract["requests"]]: (
    params: Contract["requests"][Name]["params"],
  ) => Contract["requests"][Name]["result"] | Promise<Contract["requests"][Name]["result"]>;
};

export interface PageOptions {
  /** The name of the panel and of its script and style sheet. */
  readonly name: "reward" | "run" | "synthesis" | "graph";
  readonly title: string;
  readonly icon: string;
  /** Opens beside the active editor instead of in its group. */
  readonly isBeside?: true;
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
    preserveFocus: false,
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
  // the editor's own channel has no origins
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  const post = (message: EditorMessage<Contract>) => panel.webview.postMessage(message);
  panel.webview.onDidReceiveMessage(async (request: PageRequest<Contract>) => {
    try {
      const answer = answers[request.name];
      await post({ kind: "result", id: request.id, result: await answer(request.params) });
    } catch (error) {
      reportError(error);
      const { what, remedy } =
        error instanceof UserError ? error : new UserError("PROVE failed", "see the log");
      await post({ kind: "failure", id: request.id, what, remedy });
    }
  });
  panel.webview.html = renderShell(extensionUri, panel, options);
  return {
    panel,
    sendEvent: (name, body) => void post({ kind: "event", name, body } as EditorMessage<Contract>),
  };
}

/**
 * Registers how a page is restored after the window was reloaded, from the state that the page
 * saved. A page that cannot be restored is closed.
 */
export function registerPageRestorer(
  page: PageOptions["name"],
  restore: (panel: WebviewPanel, state: Readonly<Record<string, string>>) => void,
): Disposable {
  return window.registerWebviewPanelSerializer(`prove.${page}`, {
    deserializeWebviewPanel(panel, state) {
      try {
        restore(panel, state as Record<string, string>);
      } catch (error) {
        panel.dispose();
        reportError(error);
      }
      return Promise.resolve();
    },
  });
}

function renderShell(
  extensionUri: Uri,
  { webview }: WebviewPanel,
  { name, title }: PageOptions,
): string {
  const nonce = randomBytes(16).toString("base64");
  const createUri = (...parts: string[]) =>
    webview.asWebviewUri(Uri.joinPath(extensionUri, ...parts)).toString();
  const policy = [
    "default-src 'none'",
    `style-src ${webview.cspSource} 'nonce-${nonce}'`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource}`,
    `script-src 'nonce-${nonce}'`,
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta property="csp-nonce" content="${nonce}">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${createUri("media", "page.css")}">
<link rel="stylesheet" href="${createUri("media", `${name}.css`)}">
</head>
<body>
<main id="page" aria-busy="true"></main>
<script nonce="${nonce}" src="${createUri("dist", "webview", `${name}.js`)}"></script>
</body>
</html>`;
}

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, it => `&#${it.charCodeAt(0)};`);
