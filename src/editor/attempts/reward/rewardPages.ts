/**
 * The reward pages: one per attempt, beside its transcript. A page follows the debug session that
 * steps through its attempt.
 */
import type { DebugProtocol } from "@vscode/debugprotocol";
import { debug, type DebugSession, Disposable, EventEmitter, Uri, type WebviewPanel } from "vscode";
import { z } from "zod";
import type { RewardPage, RewardView } from "../../../protocol/rewardPage.ts";
import { profiles } from "../../../reward/profiles.ts";
import { UserError } from "../../../userError.ts";
import { type Page, PageCollection, type PageContent } from "../../shared/page.ts";
import { answer, answerPlain } from "../../shared/pageSecurity.ts";
import { requireWorkspacePath } from "../../shared/proveFolder.ts";
import { formatUserError, reportRejection } from "../../shared/report.ts";
import { getRewardProfile, setRewardProfile } from "../../shared/settings.ts";
import { type AttemptNode, getTranscriptPath } from "../attemptLocation.ts";
import type { TrajectoryDebugger } from "../debug/trajectoryDebugger.ts";
import { getTranscriptTitle } from "../storedLocation.ts";
import type { Transcripts } from "../transcripts.ts";
import { createRewardView } from "./rewardView.ts";

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
    const uri = await this.#transcripts.findUri(attempt);
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
        revealTurn: answer(z.object({ turn: z.int().min(0) }), async ({ turn }) => {
          await this.#transcripts.revealTurn(uri, turn);
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

class SteppedAttempts implements Disposable {
  /** The ids of the sessions that run. */
  readonly #running = new Set<string>();
  /** By the address of the transcript. */
  readonly #positions = new Map<string, number>();
  readonly #changed = new EventEmitter<string>();
  /** The address of an attempt in which a session has moved or ended. */
  readonly onDidChange = this.#changed.event;
  readonly #registration: Disposable;

  constructor() {
    this.#registration = debug.registerDebugAdapterTrackerFactory("prove", {
      createDebugAdapterTracker: session => ({
        onWillStartSession: () => void this.#running.add(session.id),
        onDidSendMessage: (message: DebugProtocol.Event) => {
          if (message.type === "event" && message.event === "stopped")
            reportRejection(this.#update(session));
        },
        onWillStopSession: () => this.#remove(session),
      }),
    });
  }

  /** The number of events before which the debugger stands; undefined without a session. */
  getPosition(address: string): number | undefined {
    return this.#positions.get(address);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }

  async #update(session: DebugSession): Promise<void> {
    const request = { expression: "position", context: "watch" };
    const body = (await session.customRequest("evaluate", request).then(undefined, error => {
      if (this.#running.has(session.id)) throw error;
    })) as DebugProtocol.EvaluateResponse["body"] | undefined;
    // the session may have ended in the meantime
    if (!body || !this.#running.has(session.id)) return;
    const address = getAddress(session);
    this.#positions.set(address, Number(body.result));
    this.#changed.fire(address);
  }

  #remove(session: DebugSession): void {
    this.#running.delete(session.id);
    const address = getAddress(session);
    if (this.#positions.delete(address)) this.#changed.fire(address);
  }
}

const getAddress = ({ configuration }: DebugSession): string =>
  Uri.parse(String(configuration["transcript"]), true).toString();
