/** The rows of one table: scores the attempts, and sends the page what it does not have yet. */
import { setImmediate } from "node:timers/promises";
import type {
  AttemptRow,
  AttemptsPage,
  AttemptsView,
  PartWeights,
  ScoringEnd,
  SelectedAttempt,
} from "../../protocol/attemptsPage.ts";
import type { Profile } from "../../reward/profiles.ts";
import type { ScoredRows, ScoringResult } from "../../run/scoreInBatches.ts";
import { UserError } from "../../userError.ts";
import type { Page } from "../shared/page.ts";
import { reportRejection } from "../shared/report.ts";
import { getSubjectTitle, type AttemptSubject } from "./attemptSubject.ts";

/** Scores the attempts of the subject under a profile. */
export type ScoreSubject = (
  profile: Profile,
  send: (rows: ScoredRows) => void,
  signal: AbortSignal,
) => Promise<ScoringResult>;

/** Rows that are sent together: writing a message of them takes a few milliseconds. */
const batchRows = 500;

export class AttemptTable {
  readonly subject: AttemptSubject;
  readonly #score: ScoreSubject;
  readonly #getProfile: () => Profile;
  readonly #getSelected: () => SelectedAttempt | null;
  #page: Page<AttemptsPage> | undefined;
  #rows: AttemptRow[] = [];
  #weights: PartWeights = {};
  #end: ScoringEnd | undefined;
  #abort = new AbortController();
  /** The number of rows that the page has; undefined before it has loaded. */
  #sent: number | undefined;
  #isSending = false;

  constructor(
    subject: AttemptSubject,
    score: ScoreSubject,
    getProfile: () => Profile,
    getSelected: () => SelectedAttempt | null,
  ) {
    this.subject = subject;
    this.#score = score;
    this.#getProfile = getProfile;
    this.#getSelected = getSelected;
  }

  /** Scores the attempts and sends them to the page once it has loaded. */
  attach(page: Page<AttemptsPage>): void {
    this.#page = page;
    this.#start();
  }

  /** Describes the table for the page, which gets all rows after it. */
  load(): AttemptsView {
    this.#sent = 0;
    this.#sendRows();
    return this.#view;
  }

  /** Scores the attempts as the files, the fixtures and the profile are now. */
  restart(): void {
    this.#abort.abort();
    this.#rows = [];
    this.#weights = {};
    this.#end = undefined;
    if (this.#sent !== undefined) {
      this.#sent = 0;
      this.#page?.sendEvent("restarted", this.#view);
    }
    this.#start();
  }

  /** Tells the page which attempt is selected for compare now. */
  sendSelected(): void {
    this.#page?.sendEvent("selected", this.#getSelected());
  }

  /** The row at a position. Throws a `UserError` if the table has begun again since. */
  getRow(position: number): AttemptRow {
    const row = this.#rows[position];
    if (!row)
      throw new UserError("the attempts are being scored again", "choose one when it is listed");
    return row;
  }

  dispose(): void {
    this.#abort.abort();
    this.#page = undefined;
  }

  get #view(): AttemptsView {
    const { name, formula } = this.#getProfile();
    return {
      subject: JSON.stringify(this.subject),
      title: getSubjectTitle(this.subject),
      profile: name,
      hasFloor: formula !== undefined,
      selected: this.#getSelected(),
    };
  }

  #start(): void {
    this.#abort = new AbortController();
    reportRejection(this.#run(this.#abort.signal));
  }

  async #run(signal: AbortSignal): Promise<void> {
    const finish = (end: ScoringEnd) => {
      if (signal.aborted) return;
      this.#end = end;
      this.#sendRows();
    };
    try {
      const { skipped } = await this.#score(
        this.#getProfile(),
        ({ rows, weights }) => {
          if (signal.aborted) return;
          this.#rows.push(...rows);
          this.#weights = { ...this.#weights, ...weights };
          this.#sendRows();
        },
        signal,
      );
      finish({ skipped });
    } catch (error) {
      if (signal.aborted) return;
      finish({ skipped: 0, problem: error instanceof UserError ? error.message : String(error) });
      if (!(error instanceof UserError)) throw error;
    }
  }

  #sendRows(): void {
    if (this.#isSending || this.#sent === undefined) return;
    this.#isSending = true;
    reportRejection(this.#pump());
  }

  /** Sends what the page lacks, with pauses for other work. */
  async #pump(): Promise<void> {
    // the answer to the page's request goes first
    await setImmediate();
    while (this.#sent! < this.#rows.length) {
      const rows = this.#rows.slice(this.#sent, this.#sent! + batchRows);
      this.#sent! += rows.length;
      this.#page?.sendEvent("rows", { rows, weights: this.#weights });
      await setImmediate();
    }
    this.#isSending = false;
    if (this.#end) this.#page?.sendEvent("ended", this.#end);
  }
}
