/**
 * The pages that compare policies by task. The columns of a page are the policies of trajectory
 * files, runs, steps of runs and tasks files; a policy that is deleted meanwhile keeps its column.
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Disposable, type Uri, type WebviewPanel } from "vscode";
import { z } from "zod";
import {
  addChanges,
  computeChangesInSteps,
  createMatrixWithoutChanges,
  type JudgedAttempt,
  type MatrixChange,
} from "../../evaluation/policyMatrix.ts";
import type { AttemptRow } from "../../protocol/attemptsPage.ts";
import type { MatrixPage, MatrixPolicy, MatrixView } from "../../protocol/matrixPage.ts";
import type { Profile } from "../../reward/profiles.ts";
import type { ScoredRows } from "../../run/scoreAttempts.ts";
import { UserError } from "../../userError.ts";
import { type AttemptSubject, getSubjectTitle, parseSubject } from "../attempts/attemptLocation.ts";
import type { RunsNode } from "../runs/runsTree.ts";
import { scoreTable } from "../shared/attemptScoring.ts";
import { type Page, PageCollection, type PageContent } from "../shared/page.ts";
import { answer, answerPlain } from "../shared/pageSecurity.ts";
import { pickMany } from "../shared/quickInput.ts";
import { reportRejection } from "../shared/report.ts";
import { getRewardProfile } from "../shared/settings.ts";
import { sliceMilliseconds } from "../shared/timeSlices.ts";
import type { AttemptsNode } from "../tasks/attemptNodes.ts";
import type { TasksNode } from "../tasks/tasksTree.ts";
import type { AttemptsDependencies, AttemptsPages } from "./attemptsPages.ts";
import { findSubject, listSources, listSubjectItems } from "./attemptSubject.ts";

interface MatrixDependencies extends Omit<AttemptsDependencies, "groups" | "comparison" | "notes"> {
  readonly attempts: AttemptsPages;
}

/** A row of a tree, or a file of the explorer. */
type MatrixNode = TasksNode | AttemptsNode | RunsNode | Uri;

/** More columns than this cannot be read. */
const maxPolicies = 12;

export class MatrixPages implements Disposable {
  readonly #dependencies: MatrixDependencies;
  /** By the subject, as text. */
  readonly #pages: PageCollection<MatrixPage>;
  readonly #matrices = new Set<PolicyTable>();
  readonly #subscription: Disposable;

  constructor(dependencies: MatrixDependencies) {
    this.#dependencies = dependencies;
    this.#pages = new PageCollection(dependencies.extensionUri, it => this.#createContent(it));
    this.#subscription = Disposable.from(
      // a fixture or the profile has changed
      dependencies.transcripts.onDidRefresh(() => {
        for (const it of this.#matrices) it.restart();
      }),
      dependencies.folder.onDidChange(part => {
        if (part === "tasks" || part === "runs") for (const it of this.#matrices) it.check();
      }),
    );
  }

  /** Compares the policies of several rows or files, or of those that the user chooses. */
  async open(node: MatrixNode | undefined, selected?: readonly MatrixNode[]): Promise<void> {
    const nodes = selected?.length ? selected : node === undefined ? [] : [node];
    const found = nodes.map(findSubject).filter(it => it !== undefined);
    // several tasks of a file can be selected
    const given = [...new Map(found.map(it => [JSON.stringify(it), it])).values()];
    const subjects = given.length > 1 ? given : await this.#pickSubjects(given[0]);
    const problem = checkCount(subjects);
    if (problem !== undefined) throw new UserError("policies cannot be compared", problem);
    this.#pages.show(JSON.stringify({ subjects }));
  }

  /** Fills a panel that was restored after the window was reloaded. */
  restore(panel: WebviewPanel, subject: unknown): void {
    this.#pages.restore(panel, JSON.stringify(parseMatrixSubject(subject)));
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#pages.dispose();
  }

  async #pickSubjects(first: AttemptSubject | undefined): Promise<readonly AttemptSubject[]> {
    const { folder, runs } = this.#dependencies;
    const items = await listSubjectItems(folder, runs, true);
    const isFirst = (it: AttemptSubject) => JSON.stringify(it) === JSON.stringify(first);
    const question = { title: "Compare Policies", text: "The files and runs to compare by task" };
    const chosen = await pickMany(items, question, {
      selected: items.filter(it => isFirst(it.subject)),
      validate: it => checkCount(it),
    });
    // the others are compared with the one that the command was run on
    return chosen.map(it => it.subject).toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
  }

  #createContent(text: string): PageContent<MatrixPage> {
    const { attempts, tasks } = this.#dependencies;
    const table = new PolicyTable(
      JSON.parse(text) as MatrixSubject,
      async (subject, profile, send, signal) => {
        const files = (await tasks.listFiles()).map(it => it.fsPath);
        const sources = listSources(subject, files);
        await scoreTable({ sources, profile, send, signal }, this.#dependencies);
      },
      getRewardProfile,
    );
    return {
      options: { name: "matrix", title: table.title, icon: "attempts.svg" },
      answers: {
        load: answerPlain(() => table.load()),
        refresh: answerPlain(() => {
          table.restart();
          return null;
        }),
        open: answer(z.object({ policy: z.int().min(0), task: z.string() }), ({ policy, task }) => {
          const { subject, name } = table.getPolicy(policy);
          attempts.openFiltered(subject, formatFilter({ task, policy: name }));
          return null;
        }),
        setFirst: answer(z.object({ policy: z.int().min(0) }), ({ policy }) => {
          table.setFirst(policy);
          return null;
        }),
      },
      subscribe: page => {
        this.#matrices.add(table);
        table.attach(page);
        return {
          dispose: () => {
            this.#matrices.delete(table);
            table.dispose();
          },
        };
      },
    };
  }
}

const checkCount = ({ length }: readonly unknown[]): string | undefined =>
  length < 2
    ? "choose at least two files or runs"
    : length > maxPolicies
      ? `choose at most ${maxPolicies} files or runs`
      : undefined;

/** A filter of the table of attempts that only these values match. */
const formatFilter = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}:"${value.replaceAll('"', '""')}"`)
    .join(" ");

interface MatrixSubject {
  readonly subjects: readonly AttemptSubject[];
  /** The policy that the others are compared with, if it is not the first one. */
  readonly first?: string | undefined;
}

const matrixSchema = z.object({
  subjects: z.array(z.unknown()).min(2).max(maxPolicies),
  first: z.string().optional(),
});

/** Parses what a page saved. Throws a `UserError` if it is not in the workspace. */
function parseMatrixSubject(text: unknown): MatrixSubject {
  const { subjects, first } = matrixSchema.parse(JSON.parse(String(text)));
  return { subjects: subjects.map(it => parseSubject(JSON.stringify(it))), first };
}

/** Scores the attempts of a subject under a profile. */
type ScoreSubject = (
  subject: AttemptSubject,
  profile: Profile,
  send: (rows: ScoredRows) => void,
  signal: AbortSignal,
) => Promise<void>;

/** What was read of a file, a run or a step. */
interface ReadSubject {
  readonly subject: AttemptSubject;
  policies: readonly PolicyAttempts[];
  isRead: boolean;
  /** That it was deleted since it was read. */
  gone?: string | undefined;
  /** Why it could not be read the last time. */
  fault?: string | undefined;
}

interface PolicyAttempts {
  /** As its attempts name it. */
  readonly name: string;
  readonly title: string;
  readonly attempts: readonly JudgedAttempt[];
}

interface Policy extends PolicyAttempts {
  /** What tells it from the other columns. */
  readonly key: string;
  readonly subject: AttemptSubject;
  readonly problem?: string | undefined;
}

export class PolicyTable {
  readonly #score: ScoreSubject;
  readonly #getProfile: () => Profile;
  readonly #read: readonly ReadSubject[];
  #first: string | undefined;
  #page: Pick<Page<MatrixPage>, "sendEvent"> | undefined;
  #abort = new AbortController();
  /** Of the policies as they are now; undefined until they are computed. */
  #changes: readonly (MatrixChange | undefined)[] | undefined;
  #comparison = new AbortController();

  constructor({ subjects, first }: MatrixSubject, score: ScoreSubject, getProfile: () => Profile) {
    this.#read = subjects.map(subject => ({
      subject,
      policies: splitPolicies(subject, []),
      isRead: false,
    }));
    this.#first = first;
    this.#score = score;
    this.#getProfile = getProfile;
  }

  get title(): string {
    const names = this.#read.map(it => getSubjectTitle(it.subject));
    return names.length > 3
      ? `Policies: ${names[0]!} and ${names.length - 1} more`
      : `Policies: ${names.join(", ")}`;
  }

  attach(page: Pick<Page<MatrixPage>, "sendEvent">): void {
    this.#page = page;
    this.restart();
  }

  /** What the page shows now; it gets events with what follows. */
  load(): MatrixView {
    const policies = this.#listPolicies();
    const { columns, rows } = addChanges(
      createMatrixWithoutChanges(policies.map(it => it.attempts)),
      this.#changes ?? [],
    );
    return {
      subject: JSON.stringify({
        subjects: this.#read.map(it => it.subject),
        first: this.#first,
      } satisfies MatrixSubject),
      profile: this.#getProfile().name,
      policies: policies.map(({ title, problem }, i): MatrixPolicy => ({
        ...columns[i]!,
        name: title,
        ...(problem === undefined ? {} : { problem }),
      })),
      rows,
      isComparing: this.#changes === undefined,
      progress: {
        left: this.#read.filter(it => !it.isRead).length,
        total: this.#read.length,
      },
    };
  }

  /** Scores the attempts as the files, the fixtures and the profile are now. */
  restart(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#comparison.abort();
    this.#changes = undefined;
    for (const it of this.#read) it.isRead = false;
    reportRejection(this.#run(this.#abort.signal));
  }

  /** Says which files and runs are gone, and keeps what was read of them. */
  check(): void {
    let isChanged = false;
    for (const it of this.#read) {
      if (!it.isRead) continue;
      const gone = findGone(it.subject);
      isChanged ||= gone !== it.gone;
      it.gone = gone;
    }
    if (isChanged) this.#send();
  }

  setFirst(policy: number): void {
    this.#first = this.#getPolicy(policy).key;
    this.#changes = undefined;
    this.#send();
    if (this.#read.every(it => it.isRead)) reportRejection(this.#compare());
  }

  /** The policy of a column. Throws a `UserError` if its attempts cannot be listed. */
  getPolicy(position: number): Pick<Policy, "subject" | "name"> {
    const policy = this.#getPolicy(position);
    if (policy.problem !== undefined)
      throw new UserError(
        `the attempts of ${policy.title} cannot be listed: ${policy.problem}`,
        "restore it, and refresh the page",
      );
    return policy;
  }

  dispose(): void {
    this.#abort.abort();
    this.#comparison.abort();
    this.#page = undefined;
  }

  #getPolicy(position: number): Policy {
    const policy = this.#listPolicies()[position];
    if (!policy) throw new UserError("the policies have changed", "choose one of those shown now");
    return policy;
  }

  /** The policies of all that was read, first the one that the others are compared with. */
  #listPolicies(): readonly Policy[] {
    const policies = this.#read.flatMap(({ subject, policies: own, gone, fault }, i): Policy[] =>
      own.map(it => ({ ...it, key: `${i} ${it.name}`, subject, problem: gone ?? fault })),
    );
    const first = policies.find(it => it.key === this.#first);
    return first ? [first, ...policies.filter(it => it !== first)] : policies;
  }

  /** One file or run after the other, because each uses all processors. */
  async #run(signal: AbortSignal): Promise<void> {
    for (const it of this.#read) {
      const rows: AttemptRow[] = [];
      const send = (batch: ScoredRows) => void rows.push(...batch.rows);
      try {
        await this.#score(it.subject, this.#getProfile(), send, signal);
        if (signal.aborted) return;
        it.policies = splitPolicies(it.subject, rows);
        it.fault = undefined;
      } catch (error) {
        if (signal.aborted) return;
        it.fault = error instanceof UserError ? error.what : String(error);
        if (!(error instanceof UserError)) reportRejection(Promise.reject(error));
      }
      it.isRead = true;
      it.gone = findGone(it.subject);
      this.#send();
    }
    await this.#compare();
  }

  /** Computes the differences from the first policy in slices, and shows them. */
  async #compare(): Promise<void> {
    this.#comparison.abort();
    this.#comparison = new AbortController();
    const { signal } = this.#comparison;
    const steps = computeChangesInSteps(this.#listPolicies().map(it => it.attempts));
    let sliceStart = performance.now();
    let step = steps.next();
    while (!step.done) {
      if (performance.now() - sliceStart > sliceMilliseconds) {
        await setImmediate();
        sliceStart = performance.now();
      }
      if (signal.aborted) return;
      step = steps.next();
    }
    this.#changes = step.value;
    this.#send();
  }

  #send(): void {
    this.#page?.sendEvent("changed", this.load());
  }
}

/** A file can have attempts of several policies. */
function splitPolicies(
  subject: AttemptSubject,
  rows: readonly AttemptRow[],
): readonly PolicyAttempts[] {
  const byName = new Map<string, JudgedAttempt[]>();
  for (const { task, cluster = task, policy, success, total, request } of rows) {
    const result = success === undefined || total === undefined ? {} : { success, total };
    const attempt = { task, cluster, request, ...result };
    const attempts = byName.get(policy);
    if (attempts) attempts.push(attempt);
    else byName.set(policy, [attempt]);
  }
  const title = getSubjectTitle(subject);
  const isNamed = byName.size > 1 || (subject.kind === "tasks" && byName.size > 0);
  const policies = byName.size > 0 ? [...byName] : [["", []] as const];
  return policies.map(([name, attempts]) => ({
    name,
    title: isNamed ? `${title}: ${name}` : title,
    attempts,
  }));
}

/** Says that the file or run was deleted, if it was. */
function findGone({ kind, path }: AttemptSubject): string | undefined {
  if (existsSync(path)) return undefined;
  return `the ${kind === "run" ? "run" : "file"} ${basename(path)} was deleted`;
}
