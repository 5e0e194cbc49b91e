/**
 * The reward pages: one an attempt, beside its transcript. Says what the page shows; draws nothing.
 */
import { Uri, type Disposable, type WebviewPanel } from "vscode";
import { canonicalJson } from "../../environment/json.ts";
import type { RewardPage, RewardView } from "../../protocol/rewardPage.ts";
import { listCalls, type CallEvent } from "../../trajectory/trajectory.ts";
import type { AttemptNode } from "./attempts.ts";
import type { TrajectoryDebugger } from "./trajectoryDebugger.ts";
import { openPage, servePage, type Answers, type Page } from "../shared/page.ts";
import { reportRejection } from "../shared/report.ts";
import { getFirstRequest, type OpenAttempt, type Transcripts } from "./transcripts.ts";

export class RewardPages implements Disposable {
  readonly #extension: Uri;
  readonly #transcripts: Transcripts;
  readonly #debugging: TrajectoryDebugger;
  readonly #open = new Map<string, Page<RewardPage>>();
  readonly #following: Disposable;

  constructor(extension: Uri, transcripts: Transcripts, debugging: TrajectoryDebugger) {
    this.#extension = extension;
    this.#transcripts = transcripts;
    this.#debugging = debugging;
    this.#following = transcripts.onDidChange(uri => {
      const page = this.#open.get(uri.toString());
      if (page) reportRejection(this.#loadView(uri).then(it => page.sendEvent("changed", it)));
    });
  }

  /** Shows the reward of a node's attempt, or of the transcript that is shown. */
  async open(node: AttemptNode | Uri | undefined): Promise<void> {
    const uri = this.#transcripts.resolveUri(node);
    const open = this.#open.get(uri.toString());
    if (open) open.panel.reveal();
    // read first: what cannot be read has no page
    else
      await this.#transcripts
        .getAttempt(uri)
        .then(() =>
          this.#track(
            uri,
            openPage<RewardPage>(this.#extension, describePage(uri), this.#createHandlers(uri)),
          ),
        );
  }

  /** Fills a panel that the window kept over a reload. */
  restore(panel: WebviewPanel, address: string): void {
    const uri = Uri.parse(address, true);
    this.#track(
      uri,
      servePage<RewardPage>(this.#extension, panel, describePage(uri), this.#createHandlers(uri)),
    );
  }

  dispose(): void {
    this.#following.dispose();
    for (const it of this.#open.values()) it.panel.dispose();
  }

  #track(uri: Uri, page: Page<RewardPage>): void {
    this.#open.set(uri.toString(), page);
    page.panel.onDidDispose(() => this.#open.delete(uri.toString()));
  }

  #createHandlers(uri: Uri): Answers<RewardPage> {
    return {
      load: () => this.#loadView(uri),
      reveal: async ({ call }) => {
        await this.#transcripts.reveal(uri.toString(), call);
        return null;
      },
      step: async () => {
        await this.#debugging.start(uri);
        return null;
      },
    };
  }

  async #loadView(uri: Uri): Promise<RewardView> {
    return createRewardView(uri.toString(), await this.#transcripts.getAttempt(uri));
  }
}

const describePage = (uri: Uri) => ({
  name: "reward" as const,
  title: `Reward: ${uri.path
    .split("/")
    .at(-1)!
    .replace(/\.transcript$/, "")}`,
  icon: "reward.svg",
  isBeside: true as const,
});

function createRewardView(address: string, attempt: OpenAttempt): RewardView {
  const { trajectory, task, reward } = attempt;
  const end = trajectory.events.at(-1);
  const ended =
    end?.kind !== "ended"
      ? "not ended"
      : { policy: "ended by itself", limit: "ended by a limit", fault: "ended by a fault" }[end.by];
  return {
    address,
    task: trajectory.header.task,
    policy: trajectory.header.policy,
    ended,
    request: getFirstRequest(attempt),
    calls: listCalls(trajectory).map(createCallLine),
    goals: (task?.goals ?? []).map(({ calls, after }) => ({
      calls: calls.map(it => ({ name: it.name, arguments: canonicalJson(it.arguments) })),
      after: after.map(it => it.goal),
    })),
    ...("breakdowns" in reward
      ? {
          breakdowns: reward.breakdowns,
          success: { value: reward.success.achieved, why: reward.success.reasons },
        }
      : {
          breakdowns: [],
          success: { value: false, why: [reward.unscorable] },
          unscorable: reward.unscorable,
        }),
  };
}

const createCallLine = ({ name, arguments: args, outcome }: CallEvent) => ({
  name,
  arguments: canonicalJson(args),
  outcome: outcome.kind,
});
