/** The reward pages: one per attempt, beside its transcript. */
import { Disposable, Uri, type WebviewPanel } from "vscode";
import { z } from "zod";
import type { RewardPage, RewardView } from "../../../protocol/rewardPage.ts";
import { profiles } from "../../../reward/profiles.ts";
import { UserError } from "../../../userError.ts";
import type { Page } from "../../shared/page.ts";
import { PageCollection, type PageContent } from "../../shared/pageCollection.ts";
import { answer, answerPlain } from "../../shared/pageRequests.ts";
import { requireWorkspacePath } from "../../shared/proveFolder.ts";
import { formatUserError, reportRejection } from "../../shared/report.ts";
import { getRewardProfile, setRewardProfile } from "../../shared/rewardProfile.ts";
import { getTranscriptPath, type AttemptNode } from "../attemptLocation.ts";
import { getTranscriptTitle } from "../storedLocation.ts";
import { createRewardView } from "./rewardView.ts";
import { SteppedAttempts } from "./steppedAttempts.ts";
import type { TrajectoryDebugger } from "../debug/trajectoryDebugger.ts";
import type { Transcripts } from "../transcripts.ts";

const profileNames = profiles.map(it => it.name);

interface RewardPageOptions {
  /** The position of a call to go to. */
  readonly call?: number | undefined;
  /** Leaves the focus where it is, such as in the transcript. */
  readonly preserveFocus?: boolean;
}

export class RewardPages implements Disposable {
  readonly #transcripts: Transcripts;
  readonly #debugger: TrajectoryDebugger;
  /** By the address of the transcript. */
  readonly #pages: PageCollection<RewardPage>;
  readonly #stepped = new SteppedAttempts();
  /** The call that a page goes to when it is shown next, by address. */
  readonly #wantedCalls = new Map<string, number>();
  readonly #subscription: Disposable;

  constructor(extensionUri: Uri, transcripts: Transcripts, trajectoryDebugger: TrajectoryDebugger) {
    this.#transcripts = transcripts;
    this.#debugger = trajectoryDebugger;
    this.#pages = new PageCollection(extensionUri, it => this.#createContent(it));
    this.#subscription = Disposable.from(
      transcripts.onDidChange(uri => this.#update(uri.toString())),
      this.#stepped.onDidChange(address => this.#update(address)),
      this.#stepped,
    );
  }

  /** Shows the reward of the attempt of a node or a transcript, or of the active transcript. */
  async open(
    attempt: AttemptNode | Uri | undefined,
    { call, preserveFocus = false }: RewardPageOptions = {},
  ): Promise<void> {
    const uri = this.#transcripts.resolveUri(attempt);
    // an attempt that cannot be read throws here, before a page is opened
    await this.#transcripts.getAttempt(uri);
    const address = uri.toString();
    if (call !== undefined) this.#wantedCalls.set(address, call);
    this.#pages.show(address, { preserveFocus });
    this.#update(address);
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
        arrived: answerPlain(() => {
          this.#wantedCalls.delete(address);
          return null;
        }),
        reveal: answer(z.object({ call: z.int().min(0) }), async ({ call }) => {
          await this.#transcripts.reveal(uri, call);
          return null;
        }),
        setProfile: answer(z.object({ name: z.enum(profileNames) }), async ({ name }) => {
          await setRewardProfile(name);
          return null;
        }),
        step: answerPlain(async () => {
          await this.#debugger.start(uri);
          return null;
        }),
      },
    };
  }

  /** The transcripts whose rewards are shown. */
  listTranscripts(): readonly Uri[] {
    return [...this.#pages.entries()].map(([address]) => Uri.parse(address, true));
  }

  #update(address: string): void {
    const page = this.#pages.get(address);
    if (page) reportRejection(this.#sendView(address, page));
  }

  async #sendView(address: string, page: Page<RewardPage>): Promise<void> {
    try {
      page.sendEvent("changed", await this.#loadView(address));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const reason = formatUserError(error, "close this page, which shows what was read before");
      page.sendEvent("outdated", reason);
    }
  }

  async #loadView(address: string): Promise<RewardView> {
    const attempt = await this.#transcripts.getAttempt(Uri.parse(address, true));
    const position = this.#stepped.getPosition(address);
    const view = createRewardView(address, attempt, getRewardProfile().name, position);
    const call = this.#wantedCalls.get(address);
    return call === undefined ? view : { ...view, call };
  }
}
