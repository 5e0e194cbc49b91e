/** Dims the text of a transcript after the event at which a debug session stands. */
import type { DebugProtocol } from "@vscode/debugprotocol";
import { debug, type Disposable, Range, window } from "vscode";
import type { DebugTarget } from "./debugTarget.ts";

export class FutureText implements Disposable {
  readonly #listTargets: () => readonly DebugTarget[];
  readonly #decoration = window.createTextEditorDecorationType({ opacity: "0.55" });
  readonly #subscriptions: readonly Disposable[];

  /** `listTargets` lists the attempts that are stepped through now. */
  constructor(listTargets: () => readonly DebugTarget[]) {
    this.#listTargets = listTargets;
    this.#subscriptions = [
      this.#decoration,
      window.onDidChangeVisibleTextEditors(() => this.update()),
      debug.registerDebugAdapterTrackerFactory("prove", {
        createDebugAdapterTracker: () => ({
          onDidSendMessage: (message: DebugProtocol.Event) => {
            if (message.type === "event" && message.event === "stopped") this.update();
          },
        }),
      }),
    ];
  }

  update(): void {
    const targets = new Map(this.#listTargets().map(it => [it.source, it]));
    for (const editor of window.visibleTextEditors) {
      const target = targets.get(editor.document.uri.toString());
      const first = target ? findFirstFutureLine(target) : Infinity;
      const { lineCount } = editor.document;
      const ranges = first < lineCount ? [new Range(first, 0, lineCount, 0)] : [];
      if (editor.document.languageId === "prove-trajectory")
        editor.setDecorations(this.#decoration, ranges);
    }
  }

  dispose(): void {
    for (const it of this.#subscriptions) it.dispose();
  }
}

function findFirstFutureLine({ cursor, transcript }: DebugTarget): number {
  const { index } = cursor.current;
  return index === undefined
    ? (transcript.ranges[0]?.first ?? Infinity)
    : transcript.ranges[index]!.last + 1;
}
