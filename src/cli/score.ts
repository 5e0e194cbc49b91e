/** `score`: breakdowns of recorded attempts, or of goals and calls from outside that need no server. */
import { once } from "node:events";
import { resolve } from "node:path";
import type { Writable } from "node:stream";
import { meanOf } from "../evaluation/interval.ts";
import { Mistake } from "../mistake.ts";
import { partNames, type Breakdown } from "../reward/breakdown.ts";
import { profiles, type Profile } from "../reward/profiles.ts";
import { isScored, score as scoreAttempt } from "../reward/reward.ts";
import { successOf, type Success } from "../reward/success.ts";
import { attemptsOn } from "../trajectory/attempt.ts";
import { readTasks } from "../trajectory/file.ts";
import { linesOf } from "../trajectory/lines.ts";
import { readRecorded, type Recorded } from "../trajectory/recorded.ts";
import { changeOf } from "../trajectory/replay.ts";
import type { Task } from "../trajectory/task.ts";
import { finishedOf } from "../trajectory/trajectory.ts";
import { visible } from "../trajectory/visible.ts";
import { callsProfile, scoreLine, shownNumber, type Answer } from "./scoreCalls.ts";
import type { Command, Terminal } from "./command.ts";

export const score: Command = {
  usage: "score [F…] [--tasks T.tasks.jsonl] [--profile paper] [--evidence] [--json] | score --calls [--json]",
  summary: "Score the attempts of tasks or trajectory files; with --calls, goals and calls as JSON Lines on stdin, without any server.",
  options: {
    calls: { type: "boolean" },
    tasks: { type: "string" },
    profile: { type: "string" },
    evidence: { type: "boolean" },
    json: { type: "boolean" },
  },
  async run(terminal, files, values) {
    const profile = profileOf(values["profile"] as string | undefined);
    const json = values["json"] === true;
    if (values["calls"]) return scoreStdin(terminal, callsProfile(profile), json);
    if (files.length === 0) throw new Mistake("score needs a file, or --calls", `usage: prove-rl ${score.usage}`);
    return scoreFiles(terminal, files, { profile, json, evidence: values["evidence"] === true, tasks: values["tasks"] as string | undefined });
  },
};

function profileOf(name = "paper"): Profile {
  const profile = profiles.find(it => it.name === name);
  if (profile) return profile;
  throw new Mistake(`there is no reward profile ${name}`, `choose one of ${profiles.map(it => it.name).join(", ")}`);
}

async function scoreStdin({ stdin, stdout, signal }: Terminal, profile: Profile, json: boolean): Promise<number> {
  let wrong = 0;
  for await (const { text, number } of linesOf(stdin, "stdin")) {
    signal.throwIfAborted();
    const answer = scoreLine(text, profile);
    if ("error" in answer) wrong++;
    await write(stdout, json ? JSON.stringify(answer) : readable(answer, number));
  }
  return wrong > 0 ? 1 : 0;
}

function readable(answer: Answer, line: number): string {
  const name = String(answer.id ?? `line ${line}`);
  if ("error" in answer) return `${visible(name)}  ${visible(answer.error)}`;
  if (answer.rule === "abstain") return `${visible(name)}  ${answer.total}  (no goals)`;
  return `${visible(name)}  ${answer.total}  ${partNames.map(it => `${it} ${answer[it]}`).join("  ")}`;
}

interface Files {
  readonly profile: Profile;
  readonly json: boolean;
  readonly evidence: boolean;
  readonly tasks: string | undefined;
}

async function scoreFiles(terminal: Terminal, files: readonly string[], { profile, json, evidence, tasks }: Files): Promise<number> {
  const { catalog, cwd, stdout, say, progress, signal } = terminal;
  const onTorn = (remark: string) => say(remark);
  const known = tasks === undefined ? new Map<string, Task>() : await tasksById(resolve(cwd, tasks), onTorn);
  const attemptOf = attemptsOn(catalog);
  const tally = new Tally();
  for (const file of files) {
    for await (const recorded of readRecorded(resolve(cwd, file), { onTorn, signal })) {
      signal.throwIfAborted();
      const { id } = recorded.trajectory.header;
      const result = judge(recorded);
      tally.add(result);
      const line = "why" in result ? { id, unscorable: result.why } : lineOf(recorded, result, evidence);
      await write(stdout, json ? JSON.stringify(line) : lineText(id, result));
      progress(`scored ${tally.count}`);
    }
  }
  for (const line of tally.lines(profile.name)) say(line);
  return tally.unscored > 0 ? 1 : 0;

  function judge({ trajectory, task = known.get(trajectory.header.task) }: Recorded): Judged {
    const finished = finishedOf(trajectory);
    if (!task) return { why: `its task ${trajectory.header.task} is not at hand: name its file with --tasks` };
    if (!finished) return { why: "it never ended: the attempt was cut off" };
    const change = changeOf(catalog, trajectory.header);
    if (change.what) tally.changes.set(change.what, change.remedy);
    try {
      const attempt = attemptOf(task, finished);
      const breakdown = scoreAttempt(attempt, profile);
      return isScored(breakdown) ? { breakdown, success: successOf(attempt) } : { why: breakdown.unscorable };
    } catch (error) {
      // one task that no longer runs does not stop the others
      if (error instanceof Mistake) return { why: `${error.what}: ${error.remedy}` };
      throw error;
    }
  }
}

type Judged = { readonly breakdown: Breakdown; readonly success: Success } | { readonly why: string };

/** Tasks by id, without their teachers' trajectories: what scoring other attempts at them needs. */
async function tasksById(file: string, onTorn: (remark: string) => void): Promise<Map<string, Task>> {
  const tasks = new Map<string, Task>();
  for await (const task of readTasks(file, { onTorn })) tasks.set(task.id, { ...task, trajectory: { header: task.trajectory.header, events: [] } });
  return tasks;
}

function lineOf({ trajectory: { header } }: Recorded, { breakdown, success }: Extract<Judged, { breakdown: Breakdown }>, evidence: boolean) {
  const { rule, parts, extras, total } = breakdown;
  const all = rule === "abstain" ? [] : [...Object.entries(parts), ...Object.entries(extras)];
  return {
    id: header.id,
    task: header.task,
    policy: header.policy,
    profile: breakdown.profile,
    rule,
    ...Object.fromEntries(all.map(([name, it]) => [name, shownNumber(it.score)])),
    total: shownNumber(total),
    success: success.achieved,
    why: success.why,
    ...(evidence ? { breakdown } : {}),
  };
}

function lineText(id: string, result: Judged): string {
  if ("why" in result) return `${visible(id)}  not scored: ${visible(result.why)}`;
  const { breakdown, success } = result;
  const parts = breakdown.rule === "abstain" ? "(no goals)" : partNames.map(it => `${it} ${breakdown.parts[it].score.toFixed(4)}`).join("  ");
  return `${visible(id)}  ${breakdown.total.toFixed(4)}  ${parts}  ${success.achieved ? "success" : `no success: ${visible(success.why[0] ?? "")}`}`;
}

/** What all attempts come to, and what a person should know about them. */
class Tally {
  readonly changes = new Map<string, string>();
  readonly #scored: { total: number; success: boolean }[] = [];
  unscored = 0;

  get count(): number {
    return this.#scored.length + this.unscored;
  }

  add(result: Judged): void {
    if ("why" in result) this.unscored++;
    else this.#scored.push({ total: result.breakdown.total, success: result.success.achieved });
  }

  lines(profile: string): string[] {
    const lines = [...this.changes].map(([what, remedy]) => `${what}, and success is judged by what it is now: ${remedy}`);
    if (this.#scored.length > 0) {
      const done = this.#scored.filter(it => it.success).length;
      lines.push(`${this.#scored.length} scored by ${profile}: mean ${meanOf(this.#scored.map(it => it.total)).toFixed(4)}, ${done} done as asked`);
    }
    if (this.unscored > 0) lines.push(`${this.unscored} not scored`);
    return lines.length > 0 ? lines : ["no attempts in there"];
  }
}

/** Writes a line, and waits where the reader is slower than we are. */
async function write(stdout: Writable, line: string): Promise<void> {
  if (!stdout.write(`${line}\n`)) await once(stdout, "drain");
}
