/**
 * Language features of transcripts: code lenses, hovers on tool names, hints with the reward,
 * expressions for the debugger, the outline and folding.
 */
import {
  CodeLens,
  DocumentSymbol,
  EvaluatableExpression,
  FoldingRange,
  Hover,
  InlayHint,
  Range,
  SymbolKind,
  languages,
  type CodeLensProvider,
  type Disposable,
  type DocumentSymbolProvider,
  type EvaluatableExpressionProvider,
  type FoldingRangeProvider,
  type HoverProvider,
  type InlayHintsProvider,
  type Position,
  type Uri,
} from "vscode";
import type { Event } from "../../trajectory/trajectory.ts";
import { createHoverText } from "../shared/notifications.ts";
import { toPlainLine, truncateText } from "../shared/plainText.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { describeRewardHint, listRewardHints } from "./rewardHints.ts";
import type { Transcripts } from "./transcripts.ts";

const language = { language: "prove-trajectory" };

export const registerTranscriptFeatures = (
  transcripts: Transcripts,
  definitions: ServerDefinitions,
): Disposable[] => [
  languages.registerCodeLensProvider(language, createCodeLensProvider(transcripts)),
  languages.registerHoverProvider(language, createToolHoverProvider(definitions)),
  languages.registerInlayHintsProvider(language, createHintsProvider(transcripts)),
  languages.registerEvaluatableExpressionProvider(language, expressionProvider),
  languages.registerDocumentSymbolProvider(language, createSymbolProvider(transcripts)),
  languages.registerFoldingRangeProvider(language, createFoldingProvider(transcripts)),
];

const createCodeLensProvider = (transcripts: Transcripts): CodeLensProvider => ({
  async provideCodeLenses({ uri }) {
    const { reward, rejected } = await transcripts.getAttempt(uri);
    const top = new Range(0, 0, 0, 0);
    if (rejected)
      return [
        new CodeLens(top, {
          title: `$(circle-slash) Rejected: ${toPlainLine(rejected.reason)}`,
          command: "",
        }),
      ];
    const total = "breakdowns" in reward ? ` (${reward.breakdowns[0].total.toFixed(4)})` : "";
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
    ];
  },
});

const createToolHoverProvider = (definitions: ServerDefinitions): HoverProvider => ({
  async provideHover(document, position) {
    const range = document.getWordRangeAtPosition(position, /[a-z][a-z0-9_]{2,63}(?=\()/);
    const tool = range && (await definitions.openCatalog()).tools.get(document.getText(range));
    if (!tool) return undefined;
    const effect = tool.effect === "read" ? "Reads." : "Writes.";
    return new Hover(createHoverText(`${tool.name}: ${tool.summary}\n${effect}`), range);
  },
});

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

const createSymbolProvider = (transcripts: Transcripts): DocumentSymbolProvider => ({
  async provideDocumentSymbols(document) {
    const { trajectory, transcript } = await transcripts.getAttempt(document.uri);
    return trajectory.events.flatMap((event, i) => {
      const { first, last } = transcript.ranges[i]!;
      const symbol = describeSymbol(event);
      if (!symbol) return [];
      const firstLine = document.lineAt(first).range;
      const lastLine = document.lineAt(Math.min(last, document.lineCount - 1)).range;
      return [new DocumentSymbol(...symbol, lastLine.with(firstLine.start), firstLine)];
    });
  },
});

const createFoldingProvider = (transcripts: Transcripts): FoldingRangeProvider => ({
  async provideFoldingRanges({ uri }) {
    const { transcript } = await transcripts.getAttempt(uri);
    return transcript.ranges
      .filter(it => it.last > it.first)
      .map(it => new FoldingRange(it.first, it.last));
  },
});

/** The name, the detail and the kind of an event's symbol. */
function describeSymbol(event: Event): [string, string, SymbolKind] | undefined {
  switch (event.kind) {
    case "user":
      return ["user", toPlainLine(truncateText(event.text, 80)), SymbolKind.String];
    case "assistant":
      return event.text
        ? ["assistant", toPlainLine(truncateText(event.text, 80)), SymbolKind.String]
        : undefined;
    case "call":
      return [toPlainLine(event.name) || "(not parsed)", event.outcome.kind, SymbolKind.Function];
    case "ended":
      return ["end", event.by, SymbolKind.Event];
    default:
      throw new Error(`no symbol for ${JSON.stringify(event satisfies never)}`);
  }
}
