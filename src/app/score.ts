/**
 * Scores recorded attempts with their tasks, and writes pages of them. Also scores goals and calls
 * of other programs, whose tool names are opaque, so that no server is needed.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Json, JsonObject } from "../environment/json.ts";
import type { ScoredGoal, ScoredCall } from "../reward/align.ts";
import { createAttemptPage, type AttemptPage } from "../reward/attemptPage.ts";
import { partNames, type Breakdown, type PartName } from "../reward/breakdown.ts";
import { paperProfile, type Profile } from "../reward/profiles.ts";
import { scoreCalls } from "../reward/reward.ts";
import { createScorer, scoreRecorded } from "../reward/scorer.ts";
import { getSuccess, type Success } from "../reward/success.ts";
import { withWriteErrors } from "../storage/fileErrors.ts";
import { describeTooDeep, isTooDeep } from "../storage/jsonDepth.ts";
import { writeFileOver } from "../storage/writtenFiles.ts";
import { describeReplaced, type RecordedAttempt } from "../trajectory/attempt.ts";
import { readRecordedAttempts, readTasks } from "../trajectory/file.ts";
import { findChange } from "../trajectory/replay.ts";
import type { Task } from "../trajectory/task.ts";
import { noTask } from "../trajectory/trajectory.ts";
import { formatBug, UserError } from "../userError.ts";
import type { AppContext } from "./context.ts";
import { findReason } from "../storage/schemaIssue.ts";

/** The score of a recorded attempt, or why it has none. */
export type AttemptScore =
  | {
      readonly breakdown: Breakdown;
      /** Under the paper's profile, whichever was chosen. */
      readonly paper: Breakdown;
      readonly success: Success;
      /** That it was recorded with other results. */
      readonly note?: string | undefined;
    }
  | { readonly why: string };

interface ScoreOptions {
  readonly profile: Profile;
  /** A file with the tasks of attempts that do not contain their own. */
  readonly tasks: string | undefined;
  /** The folder for a page of each attempt. */
  readonly pages: string | undefined;
  readonly onUserError: (error: UserError) => void;
  /** The next attempt is read once the result resolves. */
  readonly onScore: (attempt: RecordedAttempt, score: AttemptScore) => Promise<void>;
}

/** Scores the attempts of files and folders, and sums up the scores. */
export async function scoreAttempts(
  files: readonly string[],
  { profile, tasks, pages: pagesFolder, onUserError, onScore }: ScoreOptions,
  {
    catalog,
    printNote,
    showProgress,
    signal,
  }: Pick<AppContext, "catalog" | "printNote" | "showProgress" | "signal">,
): Promise<ScoreTally> {
  const taskById =
    tasks === undefined ? new Map<string, Task>() : await readTasksById(tasks, printNote);
  const pages = pagesFolder === undefined ? undefined : new AttemptPages(pagesFolder);
  const tally = new ScoreTally();
  const scorer = createScorer(catalog);
  for await (const recorded of readRecordedAttempts(files, {
    onTorn: printNote,
    onUserError,
    signal,
  })) {
    signal.throwIfAborted();
    const { trajectory } = recorded;
    const { header } = trajectory;
    const task = recorded.task ?? taskById.get(header.task);
    const attempt = { ...recorded, task };
    const recordedScore = scoreRecorded(scorer, { trajectory, task }, profile, paperProfile);
    let score: AttemptScore;
    if ("unscorable" in recordedScore) {
      if ("bug" in recordedScore) {
        tally.bugs++;
        printNote(formatBug(recordedScore.bug));
      }
      const hint =
        task || header.imported || header.task === noTask ? "" : ": name its file with --tasks";
      score = { why: `${recordedScore.unscorable}${hint}` };
    } else {
      const change = findChange(catalog, header);
      if (change.what) tally.changes.set(change.what, change.remedy);
      const [breakdown, paper] = recordedScore.breakdowns;
      const { attempt } = recordedScore;
      const [success, note] = [getSuccess(attempt, profile), describeReplaced(attempt)];
      score = { breakdown, paper, success, note };
    }
    tally.add(score);
    pages?.write({
      ...attempt,
      reward: "why" in score ? { unscorable: score.why } : { ...score, paper: score.paper.total },
    });
    await onScore(attempt, score);
    showProgress(`scored ${tally.count}`);
  }
  return tally;
}

/**
 * Reads tasks by id, the first of each, without the teachers' events where scoring other attempts
 * does not need them.
 */
async function readTasksById(
  file: string,
  onTorn: (remark: string) => void,
): Promise<Map<string, Task>> {
  const tasks = new Map<string, Task>();
  for await (const task of readTasks(file, { onTorn }))
    if (!tasks.has(task.id)) tasks.set(task.id, isJudgedByTeacher(task) ? task : omitEvents(task));
  return tasks;
}

/** Whether what the teacher did decides about other attempts: by rules, or what was refused. */
const isJudgedByTeacher = ({ policy, trajectory }: Task): boolean =>
  policy !== undefined ||
  trajectory.events.some(it => it.kind === "call" && it.outcome.kind === "refused");

const omitEvents = (task: Task): Task => ({
  ...task,
  trajectory: { header: task.trajectory.header, events: [] },
});

/** Sums up the scores of all attempts, and collects what has changed since they were recorded. */
export class ScoreTally {
  /** What has changed, each with a remedy. */
  readonly changes = new Map<string, string>();
  readonly total = new Mean();
  readonly paper = new Mean();
  /** The total of attempts at tasks without goals. */
  readonly abstaining = new Mean();
  readonly parts = Object.fromEntries(partNames.map(it => [it, new Mean()])) as Record<
    PartName,
    Mean
  >;
  /** Where something was to be told. */
  readonly answer = new Mean();
  succeeded = 0;
  /** Attempts that were recorded with other results. */
  noted = 0;
  unscored = 0;
  bugs = 0;

  get count(): number {
    return this.total.count + this.unscored;
  }

  add(score: AttemptScore): void {
    if ("why" in score) {
      this.unscored++;
      return;
    }
    const { total, rule, parts, extras } = score.breakdown;
    this.total.add(total);
    this.paper.add(score.paper.total);
    if (extras["answer"]) this.answer.add(extras["answer"].score);
    if (score.success.achieved) this.succeeded++;
    if (score.note !== undefined) this.noted++;
    if (rule === "abstain") this.abstaining.add(total);
    else for (const part of partNames) this.parts[part].add(parts[part].score);
  }
}

class Mean {
  count = 0;
  #sum = 0;

  add(value: number): void {
    this.count++;
    this.#sum += value;
  }

  /** Undefined without values. */
  get value(): number | undefined {
    return this.count === 0 ? undefined : this.#sum / this.count;
  }
}

/** Writes attempts as HTML pages, one file for each. */
class AttemptPages {
  readonly #folder: string;
  readonly #names = new Set<string>();

  /** Creates the folder if it does not exist. */
  constructor(folder: string) {
    this.#folder = folder;
    withWriteErrors(folder, () => mkdirSync(folder, { recursive: true }));
  }

  /** Writes an attempt's page. Its file is named after the attempt's id. */
  write(page: AttemptPage): void {
    const file = join(this.#folder, this.#findName(page.trajectory.header.id));
    writeFileOver(file, createAttemptPage(page));
  }

  /** A file name that no page has yet, on file systems that ignore case, too. */
  #findName(id: string): string {
    const base = id.replaceAll(/[^\w-]+/g, "-").slice(0, 100) || "attempt";
    for (let n = 1; ; n++) {
      const name = `${n === 1 ? base : `${base}-${n}`}.html`;
      if (this.#names.has(name.toLowerCase())) continue;
      this.#names.add(name.toLowerCase());
      return name;
    }
  }
}

const edgeKind = z.enum(["explicit", "implicit"]);
// z.record would copy the object and lose keys such as __proto__
const jsonObject = z.custom<JsonObject>(
  it => it !== null && typeof it === "object" && !Array.isArray(it),
  "must be an object",
);
const goalSchema = z.object({
  calls: z
    .array(
      z.object({ name: z.string(), arguments: jsonObject, mask: z.array(z.string()).optional() }),
    )
    .min(1),
  after: z
    .array(
      z.union(
        [z.int().min(0), z.object({ goal: z.int().min(0), kind: edgeKind.optional() })],
        "must be indices, or {goal, kind}",
      ),
    )
    .optional(),
});
const callSchema = z.object({
  name: z.string().optional(),
  arguments: z.custom<Json>(() => true).optional(),
  outcome: z.enum(["ok", "refused", "bad-arguments", "unknown-tool"], {
    error: ({ input }) =>
      input === "broken"
        ? "an attempt with a broken call is never scored"
        : "must be ok, refused, bad-arguments or unknown-tool",
  }),
  message: z.int().min(0).optional(),
});
const attemptSchema = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  goals: z.array(goalSchema),
  calls: z.array(callSchema),
});

type Id = { readonly id?: string | number };
export type ScoredLine = Id &
  (
    | ({ readonly rule: "tool"; readonly total: number } & Readonly<Record<PartName, number>>)
    | { readonly rule: "abstain"; readonly total: number }
    | { readonly rule?: never; readonly error: string }
  );

/** Scores one line. For a line that cannot be scored, returns what is wrong with it. */
export function scoreLine(text: string, profile: Profile): ScoredLine {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { error: `not JSON (${(error as Error).message})` };
  }
  const id = readId(json);
  if (isTooDeep(json, "document"))
    return { ...id, error: `the line is ${describeTooDeep("document")}` };
  const parsed = attemptSchema.safeParse(json);
  if (!parsed.success) {
    const issue = findReason(parsed.error);
    return { ...id, error: `${issue.path.join(".") || "line"}: ${issue.message}` };
  }
  const { goals, calls } = parsed.data;
  const error = findEdgeError(goals);
  return error ? { ...id, error } : { ...id, ...scoreGoalCalls(goals, calls, profile) };
}

/** Returns the profile. Throws a `UserError` for one that needs a server. */
export function checkCallsProfile(profile: Profile): Profile {
  if (profile.success === 0 && profile.formula === undefined) return profile;
  throw new UserError(
    `profile ${profile.name} needs tasks and their final worlds, which calls alone do not give`,
    "score a tasks file, or use --profile paper",
  );
}

/** Rounds to six decimals, which hides the rounding errors of sums. */
export const roundScore = (it: number): number => Math.round(it * 1e6) / 1e6;

function scoreGoalCalls(
  goals: z.infer<typeof goalSchema>[],
  calls: z.infer<typeof callSchema>[],
  profile: Profile,
): ScoredLine {
  const scoredGoals = goals.map((it): ScoredGoal => ({
    calls: it.calls,
    after: (it.after ?? []).map(edge =>
      typeof edge === "number"
        ? { goal: edge, kind: "implicit" }
        : { goal: edge.goal, kind: edge.kind ?? "implicit" },
    ),
  }));
  const scoredCalls = calls.map(
    ({ name = "", arguments: args = {}, outcome, message }): ScoredCall => ({
      name,
      arguments: args,
      outcome: { kind: outcome },
      message,
    }),
  );
  const { rule, parts, total } = scoreCalls({ goals: scoredGoals, calls: scoredCalls }, profile);
  if (rule === "abstain") return { rule, total };
  const scores = Object.fromEntries(
    partNames.map(it => [it, roundScore(parts[it].score)]),
  ) as Record<PartName, number>;
  return { rule, ...scores, total: roundScore(total) };
}

/** Finds an edge to a goal that does not come before: goals must be in topological order. */
function findEdgeError(goals: readonly z.infer<typeof goalSchema>[]): string | undefined {
  for (const [g, { after = [] }] of goals.entries()) {
    const edge = after.map(it => (typeof it === "number" ? it : it.goal)).find(it => it >= g);
    if (edge !== undefined)
      return `goals.${g}.after: a goal can only follow goals before it, not ${edge}`;
  }
  return undefined;
}

function readId(json: unknown): Id {
  const id = json !== null && typeof json === "object" ? (json as { id?: unknown }).id : undefined;
  return typeof id === "string" || typeof id === "number" ? { id } : {};
}
