/**
 * What stands above and behind the lines of a transcript: commands on its head, each call's
 * evidence, hovers, an outline.
 */
import {
  CodeLens,
  DocumentSymbol,
  EvaluatableExpression,
  FoldingRange,
  Hover,
  MarkdownString,
  Range,
  SymbolKind,
  languages,
  type Disposable,
} from "vscode";
import type { Event } from "../../trajectory/trajectory.ts";
import type { Definitions } from "../servers/definitions.ts";
import type { Transcripts } from "./transcripts.ts";

const language = { language: "prove-trajectory" };

export function registerTranscriptFeatures(
  transcripts: Transcripts,
  definitions: Definitions,
): Disposable[] {
  return [
    languages.registerCodeLensProvider(language, {
      async provideCodeLenses({ uri }) {
        const { reward, rejected } = await transcripts.getAttempt(uri);
        const top = new Range(0, 0, 0, 0);
        if (rejected)
          return [
            new CodeLens(top, {
              title: `$(circle-slash) Rejected: ${rejected.reason}`,
              command: "",
            }),
          ];
        const rewardTitle =
          "breakdowns" in reward
            ? `Show Reward (${reward.breakdowns[0]!.total.toFixed(4)})`
            : "Show Reward";
        return [
          new CodeLens(top, {
            title: "$(debug-alt) Step Through Trajectory",
            command: "prove.stepTrajectory",
            arguments: [uri],
          }),
          new CodeLens(top, {
            title: `$(star-half) ${rewardTitle}`,
            command: "prove.showReward",
            arguments: [uri],
          }),
        ];
      },
    }),
    languages.registerHoverProvider(language, {
      async provideHover(document, position) {
        const range = document.getWordRangeAtPosition(position, /[a-z][a-z0-9_]{2,63}(?=\()/);
        const tool = range && (await definitions.catalog()).tools.get(document.getText(range));
        if (!tool) return undefined;
        const shown = new MarkdownString().appendText(`${tool.name}: ${tool.summary}`);
        shown.appendText(tool.effect === "read" ? "\nReads." : "\nWrites.");
        return new Hover(shown, range);
      },
    }),
    // what a debugger asks about when the pointer rests: ids and dotted paths
    languages.registerEvaluatableExpressionProvider(language, {
      provideEvaluatableExpression(document, position) {
        const range = document.getWordRangeAtPosition(position, /[\w/.@-]*[\w@-]/);
        return range && new EvaluatableExpression(range, document.getText(range));
      },
    }),
    languages.registerDocumentSymbolProvider(language, {
      async provideDocumentSymbols(document) {
        const { trajectory, transcript } = await transcripts.getAttempt(document.uri);
        return trajectory.events.flatMap((event, i) => {
          const { first, last } = transcript.ranges[i]!;
          const symbol = describeSymbol(event);
          if (!symbol) return [];
          const range = document
            .lineAt(Math.min(last, document.lineCount - 1))
            .range.with(document.lineAt(first).range.start);
          return [new DocumentSymbol(...symbol, range, document.lineAt(first).range)];
        });
      },
    }),
    languages.registerFoldingRangeProvider(language, {
      async provideFoldingRanges({ uri }) {
        const { transcript } = await transcripts.getAttempt(uri);
        return transcript.ranges
          .filter(it => it.last > it.first)
          .map(it => new FoldingRange(it.first, it.last));
      },
    }),
  ];
}

function describeSymbol(event: Event): [string, string, SymbolKind] | undefined {
  switch (event.kind) {
    case "user":
      return ["user", event.text.slice(0, 80), SymbolKind.String];
    case "assistant":
      return event.text ? ["assistant", event.text.slice(0, 80), SymbolKind.String] : undefined;
    case "call":
      return [event.name || "(not parsed)", event.outcome.kind, SymbolKind.Function];
    case "ended":
      return ["end", event.by, SymbolKind.Event];
    default:
      throw new Error(`no symbol for ${JSON.stringify(event satisfies never)}`);
  }
}
