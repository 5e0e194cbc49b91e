/**
 * The pages with tables of attempts: one per tasks file, run, step or trajectory file. A table
 * scores its attempts and sends the page what it does not have yet.
 */
import { setImmediate } from "node:timers/promises";
import { commands, Disposable, Uri, type WebviewPanel, window } from "vscode";
import { z } from "zod";
import type {
  AttemptRow,
  AttemptsPage,
  AttemptsView,
  NotedAttempts,
  PartWeights,
  ScoringEnd,
  SelectedAttempt,
} from "../../protocol/attemptsPage.ts";
import type { Profile } from "../../reward/profiles.ts";
import type { ScoredRows, ScoringResult } from "../../run/scoreAttempts.ts";
import { UserError } from "../../userError.ts";
import type { Transcripts } from "../attempts/transcripts.ts";
import type { Runs } from "../runs/runs.ts";
import {
  type AttemptSubject,
  getRowUri,
  getSubjectTitle,
  isRolloutFile,
  parseSubject,
} from "../attempts/attemptLocation.ts";
import type { RunsNode } from "../runs/runsTree.ts";
import { scoreTable, type ScoringDependencies } from "../shared/attemptScoring.ts";
import { type Page, PageCollection, type PageContent } from "../shared/page.ts";
import { answer, answerPlain } from "../shared/pageSecurity.ts";
import { pickOne } from "../shared/quickInput.ts";
import { reportRejection } from "../shared/report.ts";
import { getRewardProfile } from "../shared/settings.ts";
import type { AttemptsNode } from "../tasks/attemptNodes.ts";
import type { TasksNode, TasksTree } from "../tasks/tasksTree.ts";
import {
  findRolloutSubject,
  findRow,
  findSubject,
  countAttempts,
  listSources,
  listSubjectItems,
} from "./attemptSubject.ts";
import type { Notes } from "../attempts/attemptNotes.ts";
import type { Comparison } from "./comparison.ts";
import { writeConversations, writeTasks } from "./selectedAttempts.ts";
import { type GroupPages, openAttemptIn, viewSchema } from "./groupPages.ts";

export interface AttemptsDependencies extends ScoringDependencies {
  readonly tasks: TasksTree;
  readonly runs: Runs;
  readonly transcripts: Transcripts;
  readonly groups: GroupPages;
  readonly comparison: Comparison;
  readonly notes: Notes;
}

const rowParams = z.object({ row: z.int().min(0) });
const rowsParams = z.object({ rows: z.array(z.int().min(0)).min(1) });

export class AttemptsPages implements Disposable {
  readonly #dependencies: AttemptsDependencies;
  /** By the subject as JSON. */
  readonly #pages: PageCollection<AttemptsPage>;
  readonly #tables = new Set<AttemptTable>();
  readonly #subscription: Disposable;

  constructor(dependencies: AttemptsDependencies) {
    this.#dependencies = dependencies;
    this.#pages = new PageCollection(dependencies.extensionUri, it => this.#createContent(it));
    this.#subscription = Disposable.from(
      // a fixture or the profile has changed
      dependencies.transcripts.onDidRefresh(() => {
        for (const it of this.#tables) it.restart();
      }),
      dependencies.notes.onDidChange(() => {
        for (const it of this.#tables) it.sendNotes();
      }),
      dependencies.comparison.onDidSelect(() => {
        for (const it of this.#tables) it.sendSelected();
      }),
    );
  }

  /** Shows the attempts of a node or a file, of the active editor, or what the user chooses. */
  async open(node: TasksNode | AttemptsNode | RunsNode | Uri | undefined): Promise<void> {
    const subject =
      findSubject(node) ??
      (node instanceof Uri && isRolloutFile(node) ? await findRolloutSubject(node) : undefined) ??
      findSubject(window.activeTextEditor?.document.uri) ??
      (await this.#pickSubject());
    // a run without attempts throws here, before a page is opened
    listSources(subject, []);
    this.#pages.show(JSON.stringify(subject));
  }

  /** Shows those attempts of a subject that match a filter. */
  openFiltered(subject: AttemptSubject, filter: string): void {
    listSources(subject, []);
    const key = JSON.stringify(subject);
    const isVisible = this.#pages.get(key)?.panel.visible ?? false;
    this.#pages.show(key);
    for (const it of this.#tables)
      if (JSON.stringify(it.subject) === key) it.filter(filter, isVisible);
  }

  /** Fills the panel of a custom editor with the attempts of its file. */
  async fill(panel: WebviewPanel, file: Uri): Promise<void> {
    const subject = findSubject(file) ?? (await findRolloutSubject(file));
    this.#pages.restore(panel, JSON.stringify(subject));
  }

  /** Fills a panel that was restored after the window was reloaded. */
  restore(panel: WebviewPanel, subject: unknown): void {
    this.#pages.restore(panel, JSON.stringify(parseSubject(subject)));
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#pages.dispose();
  }

  #createContent(text: string): PageContent<AttemptsPage> {
    const subject = JSON.parse(text) as AttemptSubject;
    const { comparison, groups, notes } = this.#dependencies;
    const table = new AttemptTable(subject, {
      score: async (profile, send, signal) => {
        const files = (await this.#dependencies.tasks.listFiles()).map(it => it.fsPath);
        const sources = listSources(subject, files);
        return scoreTable({ sources, profile, send, signal }, this.#dependencies);
      },
      getProfile: getRewardProfile,
      getSelected: () =>
        comparison.selected ? { row: findRow(subject, comparison.selected) } : null,
      listNotes: () => notes.list(subject.path),
      count: () => countAttempts(subject, this.#dependencies.tasks),
    });
    return {
      options: {
        name: "attempts",
        title: `Attempts: ${getSubjectTitle(subject)}`,
        icon: "attempts.svg",
      },
      answers: {
        load: answerPlain(() => table.load()),
        refresh: answerPlain(() => {
          table.restart();
          return null;
        }),
        open: answer(rowParams.extend({ view: viewSchema }), ({ row, view }) =>
          openAttemptIn(getRowUri(subject, table.getRow(row)), view),
        ),
        compare: answer(rowParams, async ({ row }) => {
          await comparison.selectOrCompare(getRowUri(subject, table.getRow(row)));
          return null;
        }),
        note: answer(rowParams, async ({ row }) => {
          const uri = getRowUri(subject, table.getRow(row));
          await commands.executeCommand("prove.noteAttempt", uri);
          return null;
        }),
        writeTasks: answer(rowsParams, async ({ rows }) => {
          const chosen = rows.map(it => table.getRow(it));
          await writeTasks({ subject, rows: chosen }, this.#dependencies);
          return null;
        }),
        writeConversations: answer(rowsParams, async ({ rows }) => {
          const chosen = rows.map(it => table.getRow(it));
          await writeConversations({ subject, rows: chosen }, this.#dependencies);
          return null;
        }),
        openGroup: answer(rowParams, async ({ row }) => {
          const { step, task } = table.getRow(row);
          await groups.open({ run: subject.path, step: step!, task });
          return null;
        }),
      },
      subscribe: page => {
        this.#tables.add(table);
        table.attach(page);
        return {
          dispose: () => {
            this.#tables.delete(table);
            table.dispose();
          },
        };
      },
    };
  }

  async #pickSubject(): Promise<AttemptSubject> {
    const { folder, runs } = this.#dependencies;
    const question = { title: "Show Attempts", text: "Which attempts to list" };
    return (await pickOne(await listSubjectItems(folder, runs), question)).subject;
  }
}

/** Scores the attempts of the subject under a profile. */
type ScoreSubject = (
  profile: Profile,
  send: (rows: ScoredRows) => void,
  signal: AbortSignal,
) => Promise<ScoringResult>;

/** What a table reads from elsewhere. */
interface TableReads {
  readonly score: ScoreSubject;
  readonly getProfile: () => Profile;
  readonly getSelected: () => SelectedAttempt | null;
  readonly listNotes: () => NotedAttempts;
  /** The number of attempts; undefined if it takes as long as scoring them. */
  readonly count: () => Promise<number | undefined>;
}

/** Rows that are sent together: writing a message of them takes a few milliseconds. */
const batchRows = 500;

export class AttemptTable {
  readonly subject: AttemptSubject;
  readonly #reads: TableReads;
  #page: Page<AttemptsPage> | undefined;
  #rows: AttemptRow[] = [];
  #weights: PartWeights = {};
  #end: ScoringEnd | undefined;
  #abort = new AbortController();
  /** The number of rows that the page has; undefined before it has loaded. */
  #sent: number | undefined;
  #isSending = false;
  #total: number | undefined;
  /** The filter that the page begins with when it loads. */
  #filter: string | undefined;

  constructor(subject: AttemptSubject, reads: TableReads) {
    this.subject = subject;
    this.#reads = reads;
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
    const filter = this.#filter;
    this.#filter = undefined;
    return filter === undefined ? this.#view : { ...this.#view, filter };
  }

  /** Filters the rows of the page; one that is not visible is loaded again before it is shown. */
  filter(text: string, isVisible: boolean): void {
    if (isVisible) this.#page?.sendEvent("filtered", text);
    else this.#filter = text;
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
    this.#page?.sendEvent("selected", this.#reads.getSelected());
  }

  /** Tells the page the notes as they are now. */
  sendNotes(): void {
    this.#page?.sendEvent("noted", this.#reads.listNotes());
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
    const { name, formula } = this.#reads.getProfile();
    return {
      subject: JSON.stringify(this.subject),
      title: getSubjectTitle(this.subject),
      profile: name,
      hasFloor: formula !== undefined,
      selected: this.#reads.getSelected(),
      noted: this.#reads.listNotes(),
      ...(this.#total === undefined ? {} : { total: this.#total }),
    };
  }

  #start(): void {
    this.#abort = new AbortController();
    reportRejection(this.#run(this.#abort.signal));
    reportRejection(this.#count(this.#abort.signal));
  }

  async #count(signal: AbortSignal): Promise<void> {
    const total = await this.#reads.count();
    if (signal.aborted) return;
    this.#total = total;
    if (total !== undefined && this.#sent !== undefined) this.#page?.sendEvent("counted", total);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const finish = (end: ScoringEnd) => {
      if (signal.aborted) return;
      this.#end = end;
      this.#sendRows();
    };
    try {
      const result = await this.#reads.score(
        this.#reads.getProfile(),
        ({ rows, weights }) => {
          if (signal.aborted) return;
          this.#rows.push(...rows);
          this.#weights = { ...this.#weights, ...weights };
          this.#sendRows();
        },
        signal,
      );
      finish(result);
    } catch (error) {
      if (signal.aborted) return;
      finish({
        skipped: 0,
        problem: error instanceof UserError ? error.message : String(error),
      });
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
