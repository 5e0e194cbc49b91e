/**
 * A page in an editor tab: its shell with a strict content policy, and the typed channel over which
 * it asks and hears. Knows nothing of what any page shows.
 */
import { randomBytes } from "node:crypto";
import { Uri, ViewColumn, window, type Disposable, type WebviewPanel } from "vscode";
import { UserError } from "../../userError.ts";
import type { EditorMessage, PageContract, PageRequest } from "../../protocol/pageChannel.ts";
import { reportError } from "./report.ts";

/** What the editor answers to each of a page's requests. */
export type Answers<Map extends PageContract> = {
  readonly [Name in keyof Map["requests"]]: (
    params: Map["requests"][Name]["params"],
  ) => Map["requests"][Name]["result"] | Promise<Map["requests"][Name]["result"]>;
};

export interface PageOptions {
  /** The id of the panel, and of its script and style. */
  readonly name: "reward" | "run" | "synthesis" | "graph";
  readonly title: string;
  readonly icon: string;
  /** Opens beside what is being read, not over it. */
  readonly isBeside?: true;
}

export interface Page<Map extends PageContract> {
  readonly panel: WebviewPanel;
  sendEvent<Name extends keyof Map["events"] & string>(name: Name, body: Map["events"][Name]): void;
}

/** Opens a page. The panel is disposed by the person, or with the extension. */
export function openPage<Map extends PageContract>(
  extension: Uri,
  kind: PageOptions,
  answers: Answers<Map>,
): Page<Map> {
  const panel = window.createWebviewPanel(`prove.${kind.name}`, kind.title, {
    viewColumn: kind.isBeside ? ViewColumn.Beside : ViewColumn.Active,
    preserveFocus: false,
  });
  return servePage(extension, panel, kind, answers);
}

/** Fills a panel, new or restored after a reload, and answers it. */
export function servePage<Map extends PageContract>(
  extension: Uri,
  panel: WebviewPanel,
  kind: PageOptions,
  answers: Answers<Map>,
): Page<Map> {
  panel.title = kind.title;
  panel.iconPath = Uri.joinPath(extension, "resources", "icons", kind.icon);
  panel.webview.options = {
    enableScripts: true,
    localResourceRoots: [
      Uri.joinPath(extension, "dist", "webview"),
      Uri.joinPath(extension, "media"),
    ],
  };
  // the editor's own channel, which has no origins
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  const post = (message: EditorMessage<Map>) => panel.webview.postMessage(message);
  panel.webview.onDidReceiveMessage(async (request: PageRequest<Map>) => {
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
  panel.webview.html = renderShell(extension, panel, kind);
  return {
    panel,
    sendEvent: (name, body) => void post({ kind: "event", name, body } as EditorMessage<Map>),
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
  extension: Uri,
  { webview }: WebviewPanel,
  { name, title }: PageOptions,
): string {
  const nonce = randomBytes(16).toString("base64");
  const at = (...parts: string[]) =>
    webview.asWebviewUri(Uri.joinPath(extension, ...parts)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource} 'nonce-${nonce}'; font-src ${webview.cspSource}; img-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta property="csp-nonce" content="${nonce}">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${at("media", "page.css")}">
<link rel="stylesheet" href="${at("media", `${name}.css`)}">
</head>
<body>
<main id="page" aria-busy="true"></main>
<script nonce="${nonce}" src="${at("dist", "webview", `${name}.js`)}"></script>
</body>
</html>`;
}

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, it => `&#${it.charCodeAt(0)};`);
