/** The reward pages: one per attempt, beside its transcript. */
import { Uri, type Disposable, type WebviewPanel } from "vscode";
import { z } from "zod";
import type { RewardPage, RewardView } from "../../protocol/rewardPage.ts";
import { PageCollection, type PageContent } from "../shared/pageCollection.ts";
import { answer, answerPlain } from "../shared/pageRequests.ts";
import { requireWorkspacePath } from "../shared/proveFolder.ts";
import { reportRejection } from "../shared/report.ts";
import { getTranscriptPath, getTranscriptTitle, type AttemptNode } from "./attemptLocation.ts";
import { createRewardView } from "./rewardView.ts";
import type { TrajectoryDebugger } from "./trajectoryDebugger.ts";
import type { Transcripts } from "./transcripts.ts";

export class RewardPages implements Disposable {
  readonly #transcripts: Transcripts;
  readonly #debugger: TrajectoryDebugger;
  /** By the address of the transcript. */
  readonly #pages: PageCollection<RewardPage>;
  readonly #subscription: Disposable;

  constructor(extensionUri: Uri, transcripts: Transcripts, trajectoryDebugger: TrajectoryDebugger) {
    this.#transcripts = transcripts;
    this.#debugger = trajectoryDebugger;
    this.#pages = new PageCollection(extensionUri, it => this.#createContent(it));
    this.#subscription = transcripts.onDidChange(uri => {
      const address = uri.toString();
      const page = this.#pages.get(address);
      if (page) reportRejection(this.#loadView(address).then(it => page.sendEvent("changed", it)));
    });
  }

  /** Shows the reward of the attempt of a node or a transcript, or of the active transcript. */
  async open(attempt: AttemptNode | Uri | undefined): Promise<void> {
    const uri = this.#transcripts.resolveUri(attempt);
    // an attempt that cannot be read throws here, before a page is opened
    await this.#transcripts.getAttempt(uri);
    this.#pages.show(uri.toString());
  }

  /** Fills a panel that was restored after the window was reloaded. */
  restore(panel: WebviewPanel, address: unknown): void {
    const uri = Uri.parse(String(address), true);
    requireWorkspacePath(getTranscriptPath(uri));
    this.#pages.restore(panel, uri.toString());
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#pages.dispose();
  }

  #createContent(address: string): PageContent<RewardPage> {
    const uri = Uri.parse(address, true);
    return {
      options: {
        name: "reward",
        title: `Reward: ${getTranscriptTitle(uri)}`,
        icon: "reward.svg",
        isBeside: true,
      },
      answers: {
        load: answerPlain(() => this.#loadView(address)),
        reveal: answer(z.object({ call: z.int().min(0) }), async ({ call }) => {
          await this.#transcripts.reveal(uri, call);
          return null;
        }),
        step: answerPlain(async () => {
          await this.#debugger.start(uri);
          return null;
        }),
      },
    };
  }

  async #loadView(address: string): Promise<RewardView> {
    const attempt = await this.#transcripts.getAttempt(Uri.parse(address, true));
    return createRewardView(address, attempt);
  }
}
