/** Checks the descriptions of third-party servers when they are opened and as they are edited. */
import {
  Diagnostic,
  DiagnosticSeverity,
  type Disposable,
  languages,
  Range,
  type TextDocument,
  workspace,
} from "vscode";
import { findServerFileProblems } from "../../mcp/connected/serverFileProblems.ts";
import { serverFileSchema } from "../../mcp/connected/serverFile.ts";
import { findMarkedRange } from "../../storage/parseJson.ts";

/** What the schema says is marked by the editor's own JSON support. */
export function registerServerFileChecks(): Disposable[] {
  const diagnostics = languages.createDiagnosticCollection("prove.servers");
  const check = (document: TextDocument) => {
    if (/\/prove\/servers\/[^/]+\.server\.json$/.test(document.uri.path))
      diagnostics.set(document.uri, findProblems(document));
  };
  for (const it of workspace.textDocuments) check(it);
  return [
    diagnostics,
    workspace.onDidOpenTextDocument(check),
    workspace.onDidChangeTextDocument(it => check(it.document)),
    workspace.onDidCloseTextDocument(it => diagnostics.delete(it.uri)),
  ];
}

function findProblems(document: TextDocument): Diagnostic[] {
  const text = document.getText();
  const { data } = serverFileSchema.safeParse(tryParse(text));
  if (!data) return [];
  return findServerFileProblems(data).map(({ path, message }) => {
    const { start, end } = findMarkedRange(text, path);
    const range = new Range(document.positionAt(start), document.positionAt(end));
    const diagnostic = new Diagnostic(range, message, DiagnosticSeverity.Warning);
    diagnostic.source = "PROVE";
    return diagnostic;
  });
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // incomplete while the person is typing
    return undefined;
  }
}
