/**
 * `score`: breakdowns of recorded attempts, or of goals and calls from outside that need no server.
 */
import { once } from "node:events";
import { resolve } from "node:path";
import type { Writable } from "node:stream";
import { UserError } from "../userError.ts";
import {
  formatBreakdownLine,
  partNames,
  type Breakdown,
  type PartName,
} from "../reward/breakdown.ts";
import { profiles, type Profile } from "../reward/profiles.ts";
import { isScored, scoreAttempt } from "../reward/reward.ts";
import { judgeSuccess, type Success } from "../reward/success.ts";
import { describeTotals, describeCall } from "../reward/breakdownText.ts";
import { createAttemptFactory } from "../trajectory/attempt.ts";
import { readTasks } from "../trajectory/file.ts";
import { splitLines } from "../storage/jsonLines.ts";
import { readRecordedAttempts, type RecordedAttempt } from "../trajectory/recordedAttempts.ts";
import { findChange } from "../trajectory/replay.ts";
import { formatTranscript } from "../trajectory/transcript.ts";
import type { Task } from "../trajectory/task.ts";
import { asFinished } from "../trajectory/trajectory.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { checkCallsProfile, scoreLine, roundScore, type ScoredLine } from "./scoreCalls.ts";
import type { CliCommand, CliContext } from "./command.ts";

export const score: CliCommand = {
  usage:
    "score [F…] [--tasks T.tasks.jsonl] [--profile paper] [--show] [--evidence] [--json] | score --calls [--json]",
  summary:
    "Score the attempts of tasks, trajectory or group files, or of folders of them; --show prints each with what its calls earned, --evidence adds it to the JSON. With --calls, goals and calls as JSON Lines on stdin, without any server.",
  options: {
    calls: { type: "boolean" },
    tasks: { type: "string" },
    profile: { type: "string" },
    show: { type: "boolean" },
    evidence: { type: "boolean" },
    json: { type: "boolean" },
  },
  async run(terminal, files, values) {
    const profile = profileOf(values["profile"] as string | undefined);
    const json = values["json"] === true;
    if (values["calls"]) return scoreStdin(terminal, checkCallsProfile(profile), json);
    if (files.length === 0)
      throw new UserError("score needs a file, or --calls", `usage: prove-rl ${score.usage}`);
    return scoreFiles(terminal, files, {
      profile,
      json,
      evidence: values["evidence"] === true,
      show: values["show"] === true,
      tasks: values["tasks"] as string | undefined,
    });
  },
};

function profileOf(name = "paper"): Profile {
  const profile = profiles.find(it => it.name === name);
  if (profile) return profile;
  throw new UserError(
    `there is no reward profile ${name}`,
    `choose one of ${profiles.map(it => it.name).join(", ")}`,
  );
}

async function scoreStdin(
  { stdin, stdout, signal }: CliContext,
  profile: Profile,
  json: boolean,
): Promise<number> {
  let wrong = 0;
  for await (const { text, number } of splitLines(stdin, "stdin")) {
    signal.throwIfAborted();
    const answer = scoreLine(text, profile);
    if ("error" in answer) wrong++;
    await write(stdout, json ? JSON.stringify(answer) : readable(answer, number));
  }
  return wrong > 0 ? 1 : 0;
}

function readable(answer: ScoredLine, line: number): string {
  const name = String(answer.id ?? `line ${line}`);
  if ("error" in answer) return `${escapeInvisible(name)}  ${escapeInvisible(answer.error)}`;
  if (answer.rule === "abstain") return `${escapeInvisible(name)}  ${answer.total}  (no goals)`;
  return `${escapeInvisible(name)}  ${answer.total}  ${partNames.map(it => `${it} ${answer[it]}`).join("  ")}`;
}

interface Files {
  readonly profile: Profile;
  readonly json: boolean;
  readonly evidence: boolean;
  readonly show: boolean;
  readonly tasks: string | undefined;
}

async function scoreFiles(
  terminal: CliContext,
  files: readonly string[],
  { profile, json, evidence, show, tasks }: Files,
): Promise<number> {
  const { catalog, cwd, stdout, printNote: say, showProgress: progress, signal } = terminal;
  const onTorn = (remark: string) => say(remark);
  const known =
    tasks === undefined ? new Map<string, Task>() : await tasksById(resolve(cwd, tasks), onTorn);
  const attemptOf = createAttemptFactory(catalog);
  const tally = new Tally();
  let unreadable = 0;
  const onUserError = ({ what, remedy }: UserError) => {
    unreadable++;
    say(`${what}\n  ${remedy}`);
  };
  for await (const read of readRecordedAttempts(
    files.map(it => resolve(cwd, it)),
    { onTorn, onUserError, signal },
  )) {
    signal.throwIfAborted();
    const task = read.task ?? known.get(read.trajectory.header.task);
    const recorded = task ? { ...read, task } : read;
    const result = judge(recorded);
    tally.add(result);
    await write(
      stdout,
      json
        ? JSON.stringify(lineOf(recorded, result, evidence))
        : show
          ? transcriptText(recorded, result)
          : lineText(recorded, result),
    );
    progress(`scored ${tally.count}`);
  }
  for (const line of tally.lines(profile.name)) say(line);
  return unreadable > 0 ? 2 : tally.unscored > 0 ? 1 : 0;

  function judge({ trajectory, task }: RecordedAttempt): Judged {
    const finished = asFinished(trajectory);
    if (!task)
      return {
        why: `its task ${trajectory.header.task} is not at hand: name its file with --tasks`,
      };
    if (!finished) return { why: "it never ended: the attempt was cut off" };
    const change = findChange(catalog, trajectory.header);
    if (change.what) tally.changes.set(change.what, change.remedy);
    try {
      const attempt = attemptOf(task, finished);
      const breakdown = scoreAttempt(attempt, profile);
      return isScored(breakdown)
        ? { breakdown, success: judgeSuccess(attempt) }
        : { why: breakdown.unscorable };
    } catch (error) {
      // one task that no longer runs does not stop the others
      if (error instanceof UserError) return { why: `${error.what}: ${error.remedy}` };
      throw error;
    }
  }
}

type Judged =
  { readonly breakdown: Breakdown; readonly success: Success } | { readonly why: string };

/** Tasks by id, without their teachers' trajectories: what scoring other attempts at them needs. */
async function tasksById(
  file: string,
  onTorn: (remark: string) => void,
): Promise<Map<string, Task>> {
  const tasks = new Map<string, Task>();
  for await (const task of readTasks(file, { onTorn }))
    tasks.set(task.id, { ...task, trajectory: { header: task.trajectory.header, events: [] } });
  return tasks;
}

function lineOf({ trajectory: { header } }: RecordedAttempt, result: Judged, evidence: boolean) {
  const { id, task, policy } = header;
  if ("why" in result) return { id, task, policy, unscorable: result.why };
  const { breakdown, success } = result;
  const { profile, rule, parts, extras, total } = breakdown;
  const scores =
    rule === "abstain"
      ? []
      : Object.entries({ ...parts, ...extras }).map(([name, it]) => [name, roundScore(it.score)]);
  const shown = {
    id,
    task,
    policy,
    profile,
    rule,
    ...Object.fromEntries(scores),
    total: roundScore(total),
    success: success.achieved,
    why: success.reasons,
  };
  return evidence ? { ...shown, breakdown: formatBreakdownLine(breakdown) } : shown;
}

function lineText({ trajectory: { header } }: RecordedAttempt, result: Judged): string {
  const id = escapeInvisible(header.id);
  if ("why" in result) return `${id}  not scored: ${escapeInvisible(result.why)}`;
  const { breakdown } = result;
  const parts =
    breakdown.rule === "abstain"
      ? "(no goals)"
      : partNames.map(it => `${it} ${breakdown.parts[it].score.toFixed(4)}`).join("  ");
  return `${id}  ${breakdown.total.toFixed(4)}  ${parts}  ${successText(result.success)}`;
}

function transcriptText({ trajectory, task }: RecordedAttempt, result: Judged): string {
  const known = task ? { task } : {};
  if ("why" in result)
    return formatTranscript(trajectory, { ...known, closing: [`not scored: ${result.why}`] }).text;
  const { breakdown, success } = result;
  return formatTranscript(trajectory, {
    ...known,
    describeCall: it => describeCall(breakdown, it),
    closing: [...describeTotals(breakdown), successText(success)],
  }).text;
}

const successText = ({ achieved, reasons }: Success) =>
  achieved ? "success" : `no success: ${escapeInvisible(reasons[0] ?? "")}`;

/**
 * What all attempts come to, and what a person should know about them. Keeps sums, not attempts.
 */
class Tally {
  readonly changes = new Map<string, string>();
  readonly #all = new Means();
  readonly #abstaining = new Means();
  readonly #parts = Object.fromEntries(partNames.map(it => [it, new Means()])) as Record<
    PartName,
    Means
  >;
  #done = 0;
  unscored = 0;

  get count(): number {
    return this.#all.n + this.unscored;
  }

  add(result: Judged): void {
    if ("why" in result) {
      this.unscored++;
      return;
    }
    const { total, rule, parts } = result.breakdown;
    this.#all.add(total);
    if (result.success.achieved) this.#done++;
    if (rule === "abstain") this.#abstaining.add(total);
    else for (const part of partNames) this.#parts[part].add(parts[part].score);
  }

  lines(profile: string): string[] {
    const lines = [...this.changes].map(
      ([what, remedy]) => `${what}, and success is judged by what it is now: ${remedy}`,
    );
    if (this.#all.n > 0) {
      lines.push(
        `${this.#all.n} scored by ${profile}: mean ${this.#all.text}, ${this.#done} done as asked`,
      );
      lines.push(
        `  ${partNames.map(it => `${it} ${this.#parts[it].text}`).join("  ")}  without goals ${this.#abstaining.text}`,
      );
    }
    if (this.unscored > 0) lines.push(`${this.unscored} not scored`);
    return lines.length > 0 ? lines : ["no attempts in there"];
  }
}

class Means {
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

/** Writes a line, and waits where the reader is slower than we are. */
async function write(stdout: Writable, line: string): Promise<void> {
  if (!stdout.write(`${line}\n`)) await once(stdout, "drain");
}
