/**
 * Language features of transcripts: code lenses, hovers on tools and calls, hints with the reward,
 * expressions for the debugger, the outline and folding; and the document that lists the tools
 * offered in an attempt. Features of ids are in idFeatures.ts.
 */
import {
  CodeLens,
  type CodeLensProvider,
  Disposable,
  DocumentSymbol,
  type DocumentSymbolProvider,
  EvaluatableExpression,
  type EvaluatableExpressionProvider,
  FoldingRange,
  type FoldingRangeProvider,
  Hover,
  type HoverProvider,
  InlayHint,
  type InlayHintsProvider,
  languages,
  type Position,
  Range,
  SymbolKind,
  type TextDocument,
  type Uri,
  window,
  workspace,
} from "vscode";
import { emptyNote } from "../../../run/attemptNotes.ts";
import { isCallNote } from "../../../trajectory/transcript.ts";
import { UserError } from "../../../userError.ts";
import { createHoverText } from "../../shared/notifications.ts";
import { formatReward } from "../../shared/rewardText.ts";
import { toPlainLine, truncateText } from "../../shared/text.ts";
import type { ReadOnlyFiles } from "../../shared/readOnlyFiles.ts";
import type { AttemptNode } from "../attemptLocation.ts";
import { describeNote, type Notes } from "../attemptNotes.ts";
import type { OpenAttempt, Transcripts } from "../transcripts.ts";
import { describeTool, formatOfferedTools, formatSignature } from "./offeredTools.ts";
import { describeCallReward, describeRewardHint, listRewardHints } from "./rewardHints.ts";
import { listFolds, listOutline, type OutlineKind, type OutlineNode } from "./transcriptOutline.ts";

const language = { language: "prove-trajectory" };

export const registerTranscriptFeatures = (
  transcripts: Transcripts,
  notes: Notes,
): Disposable[] => [
  languages.registerCodeLensProvider(language, createCodeLensProvider(transcripts, notes)),
  languages.registerHoverProvider(language, createHoverProvider(transcripts)),
  languages.registerInlayHintsProvider(language, createHintsProvider(transcripts)),
  languages.registerEvaluatableExpressionProvider(language, expressionProvider),
  languages.registerDocumentSymbolProvider(language, createSymbolProvider(transcripts)),
  languages.registerFoldingRangeProvider(language, createFoldingProvider(transcripts)),
];

const createCodeLensProvider = (transcripts: Transcripts, notes: Notes): CodeLensProvider => ({
  onDidChangeCodeLenses: (listen: () => void) =>
    Disposable.from(
      // an editor that loses the focus before it has asked for its lenses only asks when told to
      window.onDidChangeActiveTextEditor(() => listen()),
      notes.onDidChange(() => listen()),
    ),
  async provideCodeLenses({ uri }) {
    const attempt = await transcripts.getAttempt(uri);
    const { reward, rejected, trajectory } = attempt;
    const { menu } = trajectory.header;
    const top = new Range(0, 0, 0, 0);
    if (rejected)
      return [
        new CodeLens(top, {
          title: `$(circle-slash) Rejected: ${toPlainLine(rejected.reason)}`,
          command: "",
        }),
      ];
    const total = "breakdowns" in reward ? ` (${formatReward(reward.breakdowns[0].total)})` : "";
    return [
      new CodeLens(top, {
        title: "$(debug-alt) Step Through Trajectory",
        command: "prove.stepTrajectory",
        arguments: [uri],
      }),
      new CodeLens(top, {
        title: `$(star-half) Show Reward${total}`,
        command: "prove.showReward",
        arguments: [uri],
      }),
      new CodeLens(top, {
        title: `$(tools) Show Offered Tools (${menu.length})`,
        command: "prove.showOfferedTools",
        arguments: [uri],
      }),
      new CodeLens(top, {
        title: formatNoteLens(notes, uri, attempt),
        command: "prove.noteAttempt",
        arguments: [uri],
      }),
      new CodeLens(top, {
        title: "$(eye) Show What the Model Saw",
        command: "prove.showPrompt",
        arguments: [uri],
      }),
      ...createCallLenses(uri, attempt),
    ];
  },
});

/** A damaged file of notes is reported when a note is to be changed. */
function formatNoteLens(notes: Notes, uri: Uri, attempt: OpenAttempt): string {
  let note = emptyNote;
  try {
    note = notes.get(uri, attempt);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return "$(warning) Notes cannot be read";
  }
  const icon = note.verdict === undefined ? "comment" : `thumbs${upOrDown[note.verdict]}`;
  return `$(${icon}) ${toPlainLine(truncateText(describeNote(note), 120)) || "Note…"}`;
}

const upOrDown = { good: "up", bad: "down" } as const;

/** The lenses above each call. */
const createCallLenses = (uri: Uri, { trajectory, transcript, reward }: OpenAttempt): CodeLens[] =>
  trajectory.events
    .flatMap((it, index) => (it.kind === "call" ? [transcript.ranges[index]!.first] : []))
    .flatMap((line, call) => {
      const range = new Range(line, 0, line, 0);
      const copy = { title: "Copy Call", command: "prove.copyCall", arguments: [uri, call] };
      const show = { title: "Show Reward", command: "prove.showReward", arguments: [uri, call] };
      const place = { uri, lineNumber: line + 1 };
      const go = {
        title: "Continue From Here With…",
        command: "prove.continueFrom",
        arguments: [place],
      };
      const lenses = [
        ...("breakdowns" in reward ? [show] : []),
        copy,
        ...(trajectory.header.imported ? [] : [go]),
      ];
      return lenses.map(it => new CodeLens(range, it));
    });

/** A tool's name shows what the tool does; a call also its reward, as does the note below it. */
const createHoverProvider = (transcripts: Transcripts): HoverProvider => ({
  async provideHover(document, position) {
    const attempt = await transcripts.getAttempt(document.uri);
    const range = document.getWordRangeAtPosition(position, /\w+/);
    const tool = range && attempt.catalog.tools.get(document.getText(range));
    const call = describeCallAt(attempt, position);
    const texts = [
      ...(tool ? [createHoverText(describeTool(tool), formatSignature(tool))] : []),
      ...(call === undefined ? [] : [createHoverText(call)]),
    ];
    return texts.length > 0 ? new Hover(texts, tool ? range : undefined) : undefined;
  },
});

/** The reward of the call whose name or note is at a position. */
function describeCallAt(
  { trajectory, transcript, reward }: OpenAttempt,
  { line, character }: Position,
): string | undefined {
  const index = transcript.eventAt(line);
  const event = index === undefined ? undefined : trajectory.events[index];
  if (index === undefined || event?.kind !== "call") return undefined;
  const { first, last } = transcript.ranges[index]!;
  const isName = line === first && character <= event.name.length + "✓ ".length;
  const isNote = line === last && isCallNote(transcript.text.split("\n")[line]!);
  return isName || isNote ? describeCallReward(trajectory, reward, index) : undefined;
}

/** A hint of a call, with what its tooltip is created from. */
class CallHint extends InlayHint {
  readonly uri: Uri;
  readonly prefix: number;

  constructor(position: Position, text: string, uri: Uri, prefix: number) {
    super(position, text);
    this.uri = uri;
    this.prefix = prefix;
    this.paddingLeft = true;
  }
}

const createHintsProvider = (transcripts: Transcripts): InlayHintsProvider<CallHint> => ({
  onDidChangeInlayHints: (listen: () => void) => transcripts.onDidChange(() => listen()),
  async provideInlayHints(document, range) {
    const { uri } = document;
    const { trajectory, transcript, reward } = await transcripts.getAttempt(uri);
    return listRewardHints(trajectory, transcript, reward)
      .filter(it => it.line >= range.start.line && it.line <= range.end.line)
      .map(it => new CallHint(document.lineAt(it.line).range.end, it.text, uri, it.prefix));
  },
  async resolveInlayHint(hint) {
    const { reward } = await transcripts.getAttempt(hint.uri);
    if ("breakdowns" in reward)
      hint.tooltip = createHoverText(describeRewardHint(reward, hint.prefix));
    return hint;
  },
});

/** Finds the text that the debugger evaluates for a hover: an id or a dotted path. */
const expressionProvider: EvaluatableExpressionProvider = {
  provideEvaluatableExpression(document, position) {
    const range = document.getWordRangeAtPosition(position, /[\w/.@-]*[\w@-]/);
    return range && new EvaluatableExpression(range, document.getText(range));
  },
};

const symbolKinds: Readonly<Record<OutlineKind, SymbolKind>> = {
  turn: SymbolKind.Module,
  user: SymbolKind.String,
  assistant: SymbolKind.String,
  call: SymbolKind.Function,
  refusal: SymbolKind.Function,
  end: SymbolKind.Event,
};

const createSymbolProvider = (transcripts: Transcripts): DocumentSymbolProvider => ({
  async provideDocumentSymbols(document) {
    const { trajectory, transcript } = await transcripts.getAttempt(document.uri);
    return listOutline(trajectory, transcript).map(it => createSymbol(document, it));
  },
});

function createSymbol(document: TextDocument, node: OutlineNode): DocumentSymbol {
  const { kind, name, detail, lines, children } = node;
  const first = document.lineAt(lines.first).range;
  const last = document.lineAt(Math.min(lines.last, document.lineCount - 1)).range;
  const symbol = new DocumentSymbol(
    toPlainLine(name),
    toPlainLine(truncateText(detail, 80)),
    symbolKinds[kind],
    last.with(first.start),
    first,
  );
  symbol.children = children.map(it => createSymbol(document, it));
  return symbol;
}

const createFoldingProvider = (transcripts: Transcripts): FoldingRangeProvider => ({
  async provideFoldingRanges({ uri }) {
    const { trajectory, transcript } = await transcripts.getAttempt(uri);
    return listFolds(trajectory, transcript).map(it => new FoldingRange(it.first, it.last));
  },
});

const [folder, extension] = ["/offered-tools/", ".tools"];

/** Provides the documents; returns the command that shows the one of an attempt. */
export function provideOfferedTools(
  files: ReadOnlyFiles,
  transcripts: Transcripts,
): (attempt: AttemptNode | Uri | undefined) => Promise<void> {
  files.provide(folder, async uri => {
    const { catalog, trajectory, task } = await transcripts.read(toTranscript(uri));
    return formatOfferedTools(catalog, trajectory, task);
  });
  return async attempt => {
    const uri = fromTranscript(transcripts.resolveUri(attempt));
    await window.showTextDocument(await workspace.openTextDocument(uri));
  };
}

const fromTranscript = (uri: Uri) =>
  uri.with({ path: uri.path.replace("/transcripts/", folder).replace(/\.transcript$/, extension) });

const toTranscript = (uri: Uri) =>
  uri.with({
    path: uri.path.replace(folder, "/transcripts/").replace(/\.tools$/, ".transcript"),
  });
