/**
 * Describes attempts for agents: success with the reasons in words, the parts of the reward, and
 * the turns with their calls and results, shortened.
 */
import { basename } from "node:path";
import type { Catalog } from "../environment/catalog.ts";
import { describeCall, describeTotals } from "../reward/breakdownText.ts";
import { defaultProfile, profiles, type Profile } from "../reward/profiles.ts";
import { createScorer, scoreRecorded } from "../reward/scorer.ts";
import { getSuccess } from "../reward/success.ts";
import { readRun, listRecordedSteps } from "../run/folder.ts";
import type { GroupLine } from "../run/group.ts";
import { readLines } from "../storage/jsonLines.ts";
import { describeReplaced, type RecordedAttempt } from "../trajectory/attempt.ts";
import { excerptJson } from "../trajectory/excerpt.ts";
import { parseTask, readTrajectories } from "../trajectory/file.ts";
import { formatCall } from "../trajectory/transcript.ts";
import type { CallEvent, Event, Trajectory } from "../trajectory/trajectory.ts";
import { UserError } from "../userError.ts";
import { findTask, readStep } from "./storedAttempts.ts";
import { clip, formatCount, formatNumber, maxAnswer, takePage } from "./text.ts";
import type { WorkspaceFiles } from "./workspaceFiles.ts";

/** Attempts that are listed at once. */
const pageSize = 40;
const maxMessage = 1_500;
const maxArguments = 600;
const maxResult = 800;
/** What the reasons, the reward and the goals may take of an answer. */
const maxHead = 6_000;

/** What an agent asks for; steps are as stored, attempts count from 1. */
interface AttemptQuestion {
  readonly run?: string | undefined;
  readonly step?: number | undefined;
  readonly file?: string | undefined;
  readonly task?: string | undefined;
  readonly attempt?: number | undefined;
  /** The first event, from 1. */
  readonly from: number;
  /** The first attempt of a list, from 0. */
  readonly offset: number;
}

interface FoundAttempt extends RecordedAttempt {
  readonly title: string;
  readonly profile: Profile;
  /** What a step of a run has recorded of it. */
  readonly line?: GroupLine;
  /** Why its task is missing. */
  readonly missing?: string;
}

export async function describeAttempt(
  question: AttemptQuestion,
  files: WorkspaceFiles,
  openCatalog: () => Promise<Catalog>,
): Promise<readonly string[]> {
  const { run, file } = question;
  if ((run === undefined) === (file === undefined))
    throw new UserError(
      "the attempt is in a run or in a file, and one of them must be named",
      "give run, with step, task and attempt; or file, with task or attempt",
    );
  const found =
    run === undefined
      ? await findInFile(file!, question, files)
      : await findInRun(run, question, files);
  return "list" in found ? found.list : formatAttempt(found, question.from, await openCatalog());
}

async function findInRun(
  name: string,
  { step: given, task, attempt, offset }: AttemptQuestion,
  files: WorkspaceFiles,
): Promise<FoundAttempt | { readonly list: readonly string[] }> {
  const folder = files.findRun(name);
  const step = given ?? listRecordedSteps(folder)[0];
  if (step === undefined)
    throw new UserError(
      `run ${basename(folder)} has no stored attempts`,
      "train with keepGroups above 0 to store them",
    );
  const lines = await readStep(folder, step, files);
  if (task === undefined) return { list: listAttempts(basename(folder), step, lines, offset) };
  const own = lines.filter(it => it.task === task);
  const line =
    attempt === undefined
      ? (own.find(it => !it.success) ?? own[0])
      : own.find(it => it.attempt === attempt - 1);
  if (!line)
    throw new UserError(
      own.length === 0
        ? `step ${step} of run ${basename(folder)} has no attempt at task ${task}`
        : `step ${step} has ${formatCount(own.length, "attempt")} at task ${task}, and not number ${attempt}`,
      "leave out task and attempt to list the attempts of the step",
    );
  const { tasks, profile } = readRun(folder);
  return {
    title: `run ${basename(folder)}, step ${step}, attempt ${line.attempt + 1} of ${own.length} at task ${task}`,
    trajectory: line.trajectory,
    line,
    profile: profiles.find(it => it.name === profile) ?? defaultProfile,
    ...(line.variant ? { task: line.variant } : await findTask(line.task, [tasks], files)),
  };
}

const listAttempts = (
  run: string,
  step: number,
  lines: readonly GroupLine[],
  offset: number,
): readonly string[] => {
  const sorted = lines.toSorted((a, b) => Number(a.success) - Number(b.success));
  const { page, more } = takePage(sorted, offset, pageSize);
  return [
    `run ${run}, step ${step}: ${formatCount(lines.length, "attempt")}, failures first; give task and attempt for one of them`,
    ...page.map(
      it =>
        `- task ${clip(it.task, 100)}, attempt ${it.attempt + 1}: ${it.success ? "success" : "failure"}, reward ${formatNumber(it.breakdown.total)}, advantage ${formatNumber(it.advantage)}, ${formatCount(it.breakdown.n, "call")}`,
    ),
    ...more,
  ];
};

async function findInFile(
  name: string,
  { task, attempt, offset }: AttemptQuestion,
  files: WorkspaceFiles,
): Promise<FoundAttempt | { readonly list: readonly string[] }> {
  const file = files.findFile(name);
  const shown = files.format(file);
  if (file.endsWith(".tasks.jsonl")) {
    if (task === undefined)
      throw new UserError(
        `${shown} has tasks, and none is named`,
        "give the id of a task; prove_tasks lists them",
      );
    return findTeacher(file, task, shown);
  }
  const list: { readonly task: string; readonly policy: string }[] = [];
  let chosen: { readonly trajectory: Trajectory; readonly index: number } | undefined;
  for await (const trajectory of readTrajectories(file)) {
    const { header } = trajectory;
    const index = list.push({ task: header.task, policy: header.policy }) - 1;
    const isMeant =
      attempt === undefined ? task === undefined || header.task === task : index === attempt - 1;
    if (isMeant) chosen ??= { trajectory, index };
  }
  if (list.length === 0)
    throw new UserError(`${shown} contains no trajectory`, "name another file");
  if (attempt === undefined && task === undefined && list.length > 1)
    return { list: listFile(shown, list, offset) };
  if (!chosen)
    throw new UserError(
      attempt === undefined
        ? `${shown} has no attempt at task ${task}`
        : `${shown} has ${formatCount(list.length, "attempt")}, and not number ${attempt}`,
      "leave out task and attempt to list them",
    );
  const { trajectory, index } = chosen;
  return {
    title: `${shown}, attempt ${index + 1} of ${list.length}`,
    trajectory,
    profile: defaultProfile,
    ...(await findTask(trajectory.header.task, files.listTaskFiles().tasks, files)),
  };
}

function listFile(
  file: string,
  list: readonly { readonly task: string; readonly policy: string }[],
  offset: number,
): readonly string[] {
  const { page, more } = takePage(list, offset, pageSize);
  return [
    `${file}: ${formatCount(list.length, "attempt")}; give attempt for one of them`,
    ...page.map(
      ({ task, policy }, i) =>
        `- attempt ${offset + i + 1}: task ${clip(task, 100)}, by ${clip(policy, 60)}`,
    ),
    ...more,
  ];
}

/** The teacher's attempt at a task of a tasks file. */
async function findTeacher(file: string, id: string, shown: string): Promise<FoundAttempt> {
  for await (const { text, number } of readLines(file)) {
    // most lines are of other tasks, and need not be parsed
    if (!text.includes(JSON.stringify(id))) continue;
    const json = parseLine(text);
    if (json?.id !== id) continue;
    const task = parseTask(json, { file, line: number });
    const title = `${shown}, the teacher's attempt at task ${id}`;
    return { title, trajectory: task.trajectory, task, profile: defaultProfile };
  }
  throw new UserError(`${shown} has no task ${id}`, "prove_tasks lists the tasks of a file");
}

function parseLine(text: string): { readonly id?: unknown } | undefined {
  try {
    return JSON.parse(text) as { readonly id?: unknown };
  } catch {
    // a line that was cut off
    return undefined;
  }
}

function formatAttempt(found: FoundAttempt, from: number, catalog: Catalog): readonly string[] {
  const { title, trajectory, task, profile, line, missing } = found;
  const { header, events } = trajectory;
  if (from > events.length)
    throw new UserError(
      `the attempt has ${formatCount(events.length, "event")}, and none with the number ${from}`,
      "give a smaller number",
    );
  const scored = scoreRecorded(createScorer(catalog), { trajectory, task }, profile);
  const head = [
    clip(title, 300),
    `by ${clip(header.policy, 80)} · servers ${clip(header.servers.map(it => `${it.name} (${it.fixture})`).join(", "), 300)} · seed ${header.seed}${task ? ` · ${task.kind} · ${task.split} · budget ${formatCount(task.budget.calls, "call")}` : ""}`,
    `tools on offer: ${clip(header.menu.join(", "), 600)}`,
    ...(task?.policy?.rules ?? []).map(it => `rule: ${clip(it.text, 300)}`),
    ...(line ? [describeRecorded(line)] : []),
    ...(missing === undefined ? [] : [`the task: ${clip(missing, 300)}`]),
  ];
  let describe: (call: number) => string | undefined = () => undefined;
  if ("unscorable" in scored) head.push(`no reward: ${clip(scored.unscorable, 400)}`);
  else {
    const { attempt, breakdowns } = scored;
    const [breakdown] = breakdowns;
    const success = getSuccess(attempt, profile);
    const note = describeReplaced(attempt);
    head.push(
      `success: ${success.achieved ? "yes" : "no"}`,
      ...success.reasons.map(it => `- ${clip(it, 400)}`),
      ...describeTotals(breakdown).map(it => clip(it, 300)),
      ...(note === undefined ? [] : [clip(note, 300)]),
    );
    describe = call => describeCall(breakdown, call);
  }
  if (task && task.goals.length > 0)
    head.push(
      "goals",
      ...task.goals.flatMap(({ calls }, g) =>
        calls.map(it => `  ${g + 1} ${clip(formatCall(it.name, it.arguments), 300)}`),
      ),
    );
  const shortened = from === 1 ? limitHead(head) : head.slice(0, 1);
  return [
    ...shortened,
    "",
    ...formatEvents(events, from, maxAnswer - measure(shortened), describe),
  ];
}

const describeRecorded = ({ success, breakdown, advantage, paper }: GroupLine): string =>
  `recorded by the run: ${success ? "success" : "failure"}, reward ${formatNumber(breakdown.total)} under ${clip(breakdown.profile, 40)}, ${formatNumber(paper)} under the paper's profile, advantage ${formatNumber(advantage)}`;

const measure = (lines: readonly string[]): number =>
  lines.reduce((sum, it) => sum + it.length + 1, 0);

function limitHead(lines: readonly string[]): readonly string[] {
  let length = 0;
  const end = lines.findIndex(it => (length += it.length + 1) > maxHead);
  return end < 0 ? lines : [...lines.slice(0, end), `… ${lines.length - end} more lines`];
}

/** Events from a number on, as many as fit, and how to get the others. */
function formatEvents(
  events: readonly Event[],
  from: number,
  room: number,
  describe: (call: number) => string | undefined,
): readonly string[] {
  const lines: string[] = [];
  let left = room - 120;
  let call = events.slice(0, from - 1).filter(it => it.kind === "call").length;
  for (let i = from - 1; i < events.length; i++) {
    const event = events[i]!;
    const own =
      event.kind === "call"
        ? formatCallEvent(event, call, describe(call))
        : formatOtherEvent(event);
    const length = measure(own);
    if (length > left && i > from - 1)
      return [
        ...lines,
        `… ${events.length - i} more of ${formatCount(events.length, "event")}: ask again with from ${i + 1}`,
      ];
    left -= length;
    lines.push(...own.map((it, n) => (n === 0 ? `[${i + 1}] ${it}` : `    ${it}`)));
    if (event.kind === "call") call++;
  }
  return lines;
}

function formatCallEvent(event: CallEvent, call: number, note: string | undefined): string[] {
  const { outcome } = event;
  const lines = [
    `call ${call + 1}: ${clip(formatCall(event.name, event.arguments), maxArguments)}`,
    outcome.kind === "ok"
      ? `ok: ${clip(excerptJson(outcome.value, maxResult).text, maxResult + 100)}`
      : `${outcome.kind}${outcome.type ? ` (${clip(outcome.type, 60)})` : ""}: ${clip(outcome.message ?? "", 400)}${outcome.hint ? `; hint: ${clip(outcome.hint, 300)}` : ""}`,
  ];
  return note === undefined ? lines : [...lines, `= ${clip(note, 300)}`];
}

function formatOtherEvent(event: Exclude<Event, CallEvent>): string[] {
  switch (event.kind) {
    case "user":
      return [
        `user${event.answers ? " (answers a question)" : ""}: ${clip(event.text, maxMessage)}`,
        ...(event.adds ? [`now on offer: ${clip(event.adds.join(", "), 300)}`] : []),
      ];
    case "assistant":
      return [
        `assistant, message ${event.message + 1}${event.tokens ? `, ${formatCount(event.tokens.length, "token")}` : ""}: ${event.text === "" ? "(no words)" : clip(event.text, maxMessage)}`,
      ];
    case "ended":
      return [`ended by ${event.by}${event.fault ? `: ${clip(event.fault, 400)}` : ""}`];
    default:
      return event satisfies never;
  }
}
