/**
 * The HTML document of a page, with a strict content security policy. Its script draws the rest.
 */

/** The pages, each with a script in webview/ and a style sheet in media/ of its name. */
export const pageNames = [
  "reward",
  "run",
  "synthesis",
  "graph",
  "attempts",
  "group",
  "fixture",
] as const;
export type PageName = (typeof pageNames)[number];

export interface ShellOptions {
  readonly name: PageName;
  readonly title: string;
  /** Random, for each document another. */
  readonly nonce: string;
  /** The source of the editor's own files, for the policy. */
  readonly cspSource: string;
  /** Creates the address of a file of the extension. */
  readonly createUri: (...parts: readonly string[]) => string;
}

/** Only the page's own script runs, and nothing is loaded from or sent to another machine. */
export function renderShell({ name, title, nonce, cspSource, createUri }: ShellOptions): string {
  const policy = [
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    `style-src ${cspSource} 'nonce-${nonce}'`,
    `font-src ${cspSource}`,
    `img-src ${cspSource}`,
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
