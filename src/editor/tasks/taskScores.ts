/**
 * The rewards of the teachers' attempts that the Tasks view shows. Those of visible rows are
 * computed in the background; those of a whole file on demand, for grouping by success.
 */
import { setImmediate } from "node:timers/promises";
import { EventEmitter, type Disposable } from "vscode";
import type { Profile } from "../../reward/profiles.ts";
import { createScorer, scoreRecorded, type Scorer } from "../../reward/scorer.ts";
import { isAchieved } from "../../reward/success.ts";
import { UserError } from "../../userError.ts";
import { scoreTable, type ScoringDependencies } from "../shared/attemptScoring.ts";
import { reportRejection } from "../shared/report.ts";
import { getRewardProfile } from "../shared/settings.ts";
import { readTask, type TaskEntry, type TaskIndex } from "../attempts/taskIndex.ts";

/** The reward of a teacher's attempt; both undefined if it cannot be scored. */
export interface TaskScore {
  readonly total?: number | undefined;
  readonly success?: boolean | undefined;
}

export class TaskScores implements Disposable {
  readonly #dependencies: ScoringDependencies;
  readonly #scored = new EventEmitter<readonly TaskEntry[]>();
  /** Fires with tasks whose scores are known now. */
  readonly onDidScore = this.#scored.event;
  #scores = new WeakMap<TaskEntry, TaskScore>();
  #queue: { readonly file: string; readonly entry: TaskEntry }[] = [];
  #isWorking = false;
  #abort = new AbortController();

  constructor(dependencies: ScoringDependencies) {
    this.#dependencies = dependencies;
  }

  get(entry: TaskEntry): TaskScore | undefined {
    return this.#scores.get(entry);
  }

  /** Scores a task in the background if its score is not known. */
  request(file: string, entry: TaskEntry): void {
    if (this.#scores.has(entry)) return;
    this.#queue.push({ file, entry });
    if (this.#isWorking) return;
    this.#isWorking = true;
    reportRejection(this.#work().finally(() => (this.#isWorking = false)));
  }

  /** Scores all tasks of a file, which takes seconds for 13,517 tasks the first time. */
  async scoreAll({ file, entries }: TaskIndex): Promise<void> {
    if (entries.every(it => this.#scores.has(it))) return;
    const scores = this.#scores;
    const byOffset = new Map(entries.map(it => [it.offset, it]));
    await scoreTable(
      {
        sources: [{ kind: "tasks", file }],
        profile: getRewardProfile(),
        send: ({ rows }) => {
          for (const { line, total, success } of rows) {
            const entry = byOffset.get(line.offset);
            if (entry) scores.set(entry, { total, success });
          }
        },
        signal: this.#abort.signal,
      },
      this.#dependencies,
    );
    // a line that cannot be scored
    for (const it of entries) if (!scores.has(it)) scores.set(it, {});
  }

  /** Forgets all scores, after the profile or a fixture has changed. */
  clear(): void {
    this.#abort.abort(new UserError("the rewards are computed again", "wait for them"));
    this.#abort = new AbortController();
    this.#scores = new WeakMap();
    this.#queue = [];
  }

  dispose(): void {
    this.clear();
    this.#scored.dispose();
  }

  /** One task takes a few milliseconds; other work runs after each. */
  async #work(): Promise<void> {
    while (this.#queue.length > 0) {
      const catalog = await this.#dependencies.definitions.openCatalog();
      const score = createScorer(catalog);
      const profile = getRewardProfile();
      const scores = this.#scores;
      const scored: TaskEntry[] = [];
      for (const { file, entry } of this.#queue.splice(0, 100)) {
        if (scores !== this.#scores) break;
        if (scores.has(entry)) continue;
        scores.set(entry, await scoreTask(file, entry, { score, profile }));
        scored.push(entry);
        await setImmediate();
      }
      this.#scored.fire(scored);
    }
  }
}

async function scoreTask(
  file: string,
  entry: TaskEntry,
  { score, profile }: { readonly score: Scorer; readonly profile: Profile },
): Promise<TaskScore> {
  try {
    const task = await readTask(file, entry);
    const scored = scoreRecorded(score, { task, trajectory: task.trajectory }, profile);
    if ("unscorable" in scored) return {};
    return { total: scored.breakdowns[0].total, success: isAchieved(scored.attempt, profile) };
  } catch (error) {
    // opening the task says what is wrong with it
    if (error instanceof UserError) return {};
    throw error;
  }
}
