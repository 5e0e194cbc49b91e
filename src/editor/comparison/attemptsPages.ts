/** The pages with tables of attempts: one per tasks file, run, step or trajectory file. */
import { basename } from "node:path";
import { Disposable, window, workspace, type Uri, type WebviewPanel } from "vscode";
import { z } from "zod";
import type { AttemptsPage } from "../../protocol/attemptsPage.ts";
import { icons } from "../shared/icons.ts";
import { PageCollection, type PageContent } from "../shared/pageCollection.ts";
import { answer, answerPlain } from "../shared/pageRequests.ts";
import { listFiles } from "../shared/proveFolder.ts";
import { pickOne } from "../shared/quickInput.ts";
import { ActionableError } from "../shared/report.ts";
import { getRewardProfile } from "../shared/rewardProfile.ts";
import { getRunName, type Runs } from "../runs/runs.ts";
import { listRecordedSteps, type RunsNode } from "../runs/runsNode.ts";
import type { TasksNode } from "../tasks/tasksNode.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";
import type { Transcripts } from "../attempts/transcripts.ts";
import { scoreTable, type ScoringDependencies } from "../shared/attemptScoring.ts";
import {
  createRunSubject,
  findRow,
  findSubject,
  getRowUri,
  getSubjectTitle,
  listSources,
  parseSubject,
  type AttemptSubject,
} from "./attemptSubject.ts";
import { AttemptTable } from "./attemptTable.ts";
import type { Comparison } from "./comparison.ts";
import type { GroupPages } from "./groupPages.ts";
import { openAttemptIn, viewSchema } from "./openAttempt.ts";

export interface AttemptsDependencies extends ScoringDependencies {
  readonly tasks: TasksTree;
  readonly runs: Runs;
  readonly transcripts: Transcripts;
  readonly groups: GroupPages;
  readonly comparison: Comparison;
}

const rowParams = z.object({ row: z.int().min(0) });

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
      dependencies.comparison.onDidSelect(() => {
        for (const it of this.#tables) it.sendSelected();
      }),
    );
  }

  /** Shows the attempts of a node or a file, of the active editor, or what the user chooses. */
  async open(node: TasksNode | RunsNode | Uri | undefined): Promise<void> {
    const subject =
      findSubject(node) ??
      findSubject(window.activeTextEditor?.document.uri) ??
      (await this.#pickSubject());
    // a run without attempts throws here, before a page is opened
    listSources(subject, []);
    this.#pages.show(JSON.stringify(subject));
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
    const { comparison, groups } = this.#dependencies;
    const table = new AttemptTable(
      subject,
      async (profile, send, signal) => {
        const files = (await this.#dependencies.tasks.listFiles()).map(it => it.fsPath);
        const sources = listSources(subject, files);
        return scoreTable({ sources, profile, send, signal }, this.#dependencies);
      },
      getRewardProfile,
      () => (comparison.selected ? { row: findRow(subject, comparison.selected) } : null),
    );
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
    const tasks = folder.getPart("tasks");
    const files = [
      ...(await listFiles(tasks, ".tasks.jsonl")),
      ...(await listFiles(tasks, ".trajectory.jsonl")),
    ];
    const items = [
      ...files.map(it => ({
        label: basename(it.fsPath),
        description: workspace.asRelativePath(it),
        iconPath: icons.taskFile,
        subject: findSubject(it)!,
      })),
      ...runs
        .list()
        .filter(it => listRecordedSteps(it.folder).length > 0)
        .map(it => ({
          label: getRunName(it),
          description: it.status.activity,
          iconPath: icons.group,
          subject: createRunSubject(it.folder),
        })),
    ];
    if (items.length === 0)
      throw new ActionableError("there are no attempts yet", "synthesize tasks", {
        title: "Synthesize Tasks…",
        command: "prove.synthesizeTasks",
      });
    const question = { title: "Show Attempts", text: "Which attempts to list" };
    return (await pickOne(items, question)).subject;
  }
}
