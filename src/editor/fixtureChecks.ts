/**
 * Marks, in a fixture that is open, every place that does not fit its server, on its line. Knows
 * nothing of who uses the fixture.
 */
import {
  Diagnostic,
  DiagnosticSeverity,
  Range,
  commands,
  languages,
  window,
  workspace,
  type Disposable,
  type TextDocument,
} from "vscode";
import type { Definitions } from "./definitions.ts";
import type { FixtureFiles } from "./fixtureFiles.ts";
import { placeOf } from "./jsonPlace.ts";
import { reporting } from "./report.ts";

/** Checks fixtures of the workspace as they are opened and typed into. */
export function registerFixtureChecks(
  fixtures: FixtureFiles,
  definitions: Definitions,
): Disposable[] {
  const diagnostics = languages.createDiagnosticCollection("prove.fixtures");
  const waiting = new Map<string, NodeJS.Timeout>();
  const check = (document: TextDocument) => {
    if (!document.uri.path.endsWith(".fixture.json") || !fixtures.isMine(document.uri)) return;
    const key = document.uri.toString();
    clearTimeout(waiting.get(key));
    const due = setTimeout(() => {
      waiting.delete(key);
      reporting(checked(document, definitions).then(it => diagnostics.set(document.uri, it)));
    }, 300);
    waiting.set(key, due);
  };
  const tellKind = () => {
    const uri = window.activeTextEditor?.document.uri;
    const isCopy =
      uri !== undefined && fixtures.isMine(uri) && fixtures.ofDocument(uri)?.is === "copy";
    void commands.executeCommand("setContext", "prove.isFixtureCopy", isCopy);
  };
  for (const it of workspace.textDocuments) check(it);
  tellKind();
  return [
    diagnostics,
    workspace.onDidOpenTextDocument(check),
    workspace.onDidChangeTextDocument(it => check(it.document)),
    workspace.onDidCloseTextDocument(it => diagnostics.delete(it.uri)),
    window.onDidChangeActiveTextEditor(tellKind),
    { dispose: () => waiting.forEach(it => clearTimeout(it)) },
  ];
}

async function checked(document: TextDocument, definitions: Definitions): Promise<Diagnostic[]> {
  const server = (await definitions.servers()).find(it =>
    document.uri.path.includes(`/fixtures/${it.name}/`),
  );
  if (!server) return [];
  const text = document.getText();
  const json = jsonOf(text);
  // broken JSON is marked by the editor's own JSON support
  if (json === undefined) return [];
  const { fixtureSchema } = await import("../environment/fixture.ts");
  const parsed = fixtureSchema(server).safeParse(json);
  const found = (parsed.error?.issues ?? []).map(({ path, message }) => {
    const { start, end } = placeOf(text, path);
    return mark(
      new Range(document.positionAt(start), document.positionAt(end)),
      `${message} (/${path.join("/")})`,
    );
  });
  const name = /([a-z0-9-]+)\.fixture\.json$/.exec(document.uri.path)?.[1];
  if (parsed.success && parsed.data.name !== name) {
    const { start, end } = placeOf(text, ["name"]);
    found.push(
      mark(
        new Range(document.positionAt(start), document.positionAt(end)),
        `the file is named ${name}, and sessions ask for it by that name`,
      ),
    );
  }
  return found;
}

function mark(range: Range, message: string): Diagnostic {
  const diagnostic = new Diagnostic(range, message, DiagnosticSeverity.Error);
  diagnostic.source = "PROVE";
  return diagnostic;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // unfinished while it is typed
    return undefined;
  }
}
