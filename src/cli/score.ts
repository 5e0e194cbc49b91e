/**
 * `score`: scores recorded attempts, or goals and calls of other programs, which need no server.
 */
import { resolve } from "node:path";
import { formatBug, UserError } from "../userError.ts";
import {
  formatBreakdownLine,
  partNames,
  type Breakdown,
  type PartName,
} from "../reward/breakdown.ts";
import { defaultProfile, paperProfile, profiles, type Profile } from "../reward/profiles.ts";
import { createScorer, scoreRecorded } from "../reward/scorer.ts";
import { getSuccess, type Success } from "../reward/success.ts";
import { describeTotals, describeCall } from "../reward/breakdownText.ts";
import type { RecordedAttempt } from "../trajectory/attempt.ts";
import { readTasks, readRecordedAttempts } from "../trajectory/file.ts";
import { splitLines } from "../storage/jsonLines.ts";
import { findChange } from "../trajectory/replay.ts";
import { formatTranscript } from "../trajectory/transcript.ts";
import type { Task } from "../trajectory/task.ts";
import { noTask } from "../trajectory/trajectory.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import {
  bugExitCode,
  defineCommand,
  flag,
  option,
  repeatedArgument,
  type CliContext,
  type Parser,
} from "./command.ts";
import { AttemptPages } from "../app/attemptPages.ts";
import { existingPath, outputPath } from "./parsers.ts";
import { checkCallsProfile, scoreLine, roundScore, type ScoredLine } from "../app/scoreCalls.ts";
import { suggestName } from "../storage/suggestName.ts";

const profileNames = profiles.map(it => it.name);

const profileName: Parser<string> = {
  choices: profileNames,
  parse(text) {
    if (profileNames.includes(text)) return text;
    throw new UserError(
      `there is no reward profile ${text}${suggestName(text, profileNames)}`,
      `choose one of ${profileNames.join(", ")}`,
    );
  },
};

export const score = defineCommand({
  name: "score",
  description:
    "Score the attempts of tasks, trajectory or group files, or of folders of them. With --calls, score goals and calls as JSON Lines on stdin, without any server. Exits with 1 if an attempt could not be scored.",
  arguments: [repeatedArgument("[files...]", "files or folders to read")],
  options: {
    calls: flag("--calls", "read goals and calls from stdin instead of files"),
    tasks: option("--tasks <file>", "tasks file with the tasks of the attempts", {
      parser: existingPath("a tasks file"),
    }),
    profile: option(
      "--profile <name>",
      `reward profile (default: ${defaultProfile.name}, with --calls ${paperProfile.name})`,
      { parser: profileName },
    ),
    show: flag("--show", "print each attempt with what each call earned"),
    html: option("--html <folder>", "also write each attempt as an HTML page to this folder", {
      parser: outputPath("pages"),
    }),
    evidence: flag("--evidence", "add the evidence of each part to the JSON"),
    json: flag("--json", "print JSON Lines, one for each attempt"),
  },
  examples: [
    "score my.tasks.jsonl",
    "score prove/runs/first/groups --tasks my.tasks.jsonl --show",
    "score prove/runs/first/groups/10.jsonl --tasks my.tasks.jsonl --html pages",
    "score --calls --json < attempts.jsonl",
  ],
  async run(context, [files], options) {
    const profile =
      profiles.find(it => it.name === options.profile) ??
      (options.calls ? paperProfile : defaultProfile);
    if (options.calls) return scoreStdin(context, checkCallsProfile(profile), options.json);
    if (files.length > 0) return scoreFiles(context, files, { ...options, profile });
    throw new UserError(
      "score needs a file, or --calls",
      "usage: prove-rl score [options] [files...]; prove-rl score --help lists the options",
    );
  },
});

async function scoreStdin(
  { stdin, printAndDrain, signal }: CliContext,
  profile: Profile,
  json: boolean,
): Promise<number> {
  let errors = 0;
  for await (const { text, number } of splitLines(stdin, "stdin")) {
    signal.throwIfAborted();
    const answer = scoreLine(text, profile);
    if ("error" in answer) errors++;
    await printAndDrain(json ? JSON.stringify(answer) : formatScoredLine(answer, number));
  }
  return errors > 0 ? 1 : 0;
}

function formatScoredLine(answer: ScoredLine, line: number): string {
  const name = String(answer.id ?? `line ${line}`);
  if ("error" in answer) return `${escapeInvisible(name)}  ${escapeInvisible(answer.error)}`;
  if (answer.rule === "abstain") return `${escapeInvisible(name)}  ${answer.total}  (no goals)`;
  return `${escapeInvisible(name)}  ${answer.total}  ${partNames.map(it => `${it} ${answer[it]}`).join("  ")}`;
}

interface ScoreOptions {
  readonly profile: Profile;
  readonly json: boolean;
  readonly evidence: boolean;
  readonly show: boolean;
  readonly tasks: string | undefined;
  readonly html: string | undefined;
}

async function scoreFiles(
  context: CliContext,
  files: readonly string[],
  { profile, json, evidence, show, tasks, html }: ScoreOptions,
): Promise<number> {
  const { cwd, printAndDrain, printNote, showProgress, signal } = context;
  const taskById =
    tasks === undefined
      ? new Map<string, Task>()
      : await readTasksById(resolve(cwd, tasks), printNote);
  const pages = html === undefined ? undefined : new AttemptPages(resolve(cwd, html));
  const tally = new Tally();
  const scoreWithNotes = createNotingScorer(context, profile, tally);
  let unreadable = 0;
  const onUserError = ({ what, remedy }: UserError) => {
    unreadable++;
    printNote(`${escapeInvisible(what)}\n  ${escapeInvisible(remedy)}`);
  };
  for await (const recorded of readRecordedAttempts(
    files.map(it => resolve(cwd, it)),
    { onTorn: printNote, onUserError, signal },
  )) {
    signal.throwIfAborted();
    const task = recorded.task ?? taskById.get(recorded.trajectory.header.task);
    const attempt = { ...recorded, task };
    const result = scoreWithNotes(attempt);
    tally.add(result);
    pages?.write({
      ...attempt,
      reward:
        "why" in result ? { unscorable: result.why } : { ...result, paper: result.paper.total },
    });
    await printAndDrain(
      json
        ? JSON.stringify(toJson(attempt, result, evidence))
        : show
          ? formatAttempt(attempt, result)
          : formatLine(attempt, result),
    );
    showProgress(`scored ${tally.count}`);
  }
  for (const line of tally.format(profile.name)) printNote(line);
  if (pages) printNote(`pages in ${html}: ${pages.count}`);
  if (tally.bugs > 0) return bugExitCode;
  return unreadable > 0 ? 2 : tally.unscored > 0 ? 1 : 0;
}

/** Returns the function that scores an attempt, and notes bugs and changed fixtures. */
function createNotingScorer({ catalog, printNote }: CliContext, profile: Profile, tally: Tally) {
  const scorer = createScorer(catalog);
  return ({ trajectory, task }: RecordedAttempt): ScoreResult => {
    const score = scoreRecorded(scorer, { trajectory, task }, profile, paperProfile);
    if ("unscorable" in score) {
      if ("bug" in score) {
        tally.bugs++;
        printNote(formatBug(score.bug));
      }
      const { imported, task: taskId } = trajectory.header;
      const hint = task || imported || taskId === noTask ? "" : ": name its file with --tasks";
      return { why: `${score.unscorable}${hint}` };
    }
    const change = findChange(catalog, trajectory.header);
    if (change.what) tally.changes.set(change.what, change.remedy);
    const [breakdown, paper] = score.breakdowns;
    return { breakdown, paper, success: getSuccess(score.attempt) };
  };
}

type ScoreResult =
  | {
      readonly breakdown: Breakdown;
      /** Under the paper's profile, whichever was chosen. */
      readonly paper: Breakdown;
      readonly success: Success;
    }
  | { readonly why: string };

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
    if (!tasks.has(task.id)) tasks.set(task.id, task.policy ? task : omitEvents(task));
  return tasks;
}

const omitEvents = (task: Task): Task => ({
  ...task,
  trajectory: { header: task.trajectory.header, events: [] },
});

function toJson(
  { trajectory: { header } }: RecordedAttempt,
  result: ScoreResult,
  evidence: boolean,
) {
  const { id, task, policy } = header;
  if ("why" in result) return { id, task, policy, unscorable: result.why };
  const { breakdown, paper, success } = result;
  const { profile, rule, parts, extras, total } = breakdown;
  const scores =
    rule === "abstain"
      ? []
      : Object.entries({ ...parts, ...extras }).map(([name, it]) => [name, roundScore(it.score)]);
  const line = {
    id,
    task,
    policy,
    profile,
    rule,
    ...Object.fromEntries(scores),
    total: roundScore(total),
    ...(profile === paper.profile ? {} : { paper: roundScore(paper.total) }),
    success: success.achieved,
    why: success.reasons,
    ...(success.differences.length > 0 ? { differences: success.differences } : {}),
  };
  return evidence ? { ...line, breakdown: formatBreakdownLine(breakdown) } : line;
}

function formatLine({ trajectory: { header } }: RecordedAttempt, result: ScoreResult): string {
  const id = escapeInvisible(header.id);
  if ("why" in result) return `${id}  not scored: ${escapeInvisible(result.why)}`;
  const { breakdown } = result;
  const parts =
    breakdown.rule === "abstain"
      ? "(no goals)"
      : partNames.map(it => `${it} ${breakdown.parts[it].score.toFixed(4)}`).join("  ");
  return `${id}  ${breakdown.total.toFixed(4)}  ${parts}  ${formatSuccess(result.success)}`;
}

function formatAttempt({ trajectory, task }: RecordedAttempt, result: ScoreResult): string {
  const taskOption = task ? { task } : {};
  if ("why" in result)
    return formatTranscript(trajectory, {
      ...taskOption,
      closing: [`not scored: ${result.why}`],
    }).text;
  const { breakdown, paper, success } = result;
  const paperLines = breakdown.profile === paper.profile ? [] : describeTotals(paper).slice(0, 1);
  return formatTranscript(trajectory, {
    ...taskOption,
    describeCall: it => describeCall(breakdown, it),
    closing: [...describeTotals(breakdown), ...paperLines, formatSuccess(success)],
  }).text;
}

const formatSuccess = ({ achieved, reasons }: Success) =>
  achieved ? "success" : `no success: ${escapeInvisible(reasons[0] ?? "")}`;

/** Sums up the scores of all attempts, and collects what has changed since they were recorded. */
class Tally {
  readonly changes = new Map<string, string>();
  readonly #all = new Mean();
  readonly #paper = new Mean();
  readonly #abstaining = new Mean();
  readonly #parts = Object.fromEntries(partNames.map(it => [it, new Mean()])) as Record<
    PartName,
    Mean
  >;
  #succeeded = 0;
  unscored = 0;
  bugs = 0;

  get count(): number {
    return this.#all.n + this.unscored;
  }

  add(result: ScoreResult): void {
    if ("why" in result) {
      this.unscored++;
      return;
    }
    const { total, rule, parts } = result.breakdown;
    this.#all.add(total);
    this.#paper.add(result.paper.total);
    if (result.success.achieved) this.#succeeded++;
    if (rule === "abstain") this.#abstaining.add(total);
    else for (const part of partNames) this.#parts[part].add(parts[part].score);
  }

  format(profile: string): string[] {
    const lines = [...this.changes].map(
      ([what, remedy]) => `${what}, and success is judged by what it is now: ${remedy}`,
    );
    if (this.#all.n > 0) {
      const paper = profile === paperProfile.name ? "" : ` (by paper ${this.#paper.text})`;
      lines.push(
        `${this.#all.n} scored by ${profile}: mean ${this.#all.text}${paper}, ${this.#succeeded} done as asked`,
      );
      lines.push(
        `  ${partNames.map(it => `${it} ${this.#parts[it].text}`).join("  ")}  without goals ${this.#abstaining.text}`,
      );
    }
    if (this.unscored > 0) lines.push(`${this.unscored} not scored`);
    return lines.length > 0 ? lines : ["no attempts in there"];
  }
}

class Mean {
  n = 0;
  #sum = 0;

  add(value: number): void {
    this.n++;
    this.#sum += value;
  }

  get text(): string {
    return this.n === 0 ? "–" : (this.#sum / this.n).toFixed(4);
  }
}
