/**
 * `score`: scores recorded attempts, or goals and calls of other programs, which need no server.
 */
import { resolve } from "node:path";
import {
  checkCallsProfile,
  roundScore,
  scoreAttempts,
  scoreLine,
  type AttemptScore,
  type ScoredLine,
  type ScoreTally,
} from "../app/score.ts";
import { formatBreakdownLine, partNames, type Breakdown } from "../reward/breakdown.ts";
import { describeTotals, describeCall } from "../reward/breakdownText.ts";
import { defaultProfile, paperProfile, profiles, type Profile } from "../reward/profiles.ts";
import type { Success } from "../reward/success.ts";
import type { JudgedAttempt } from "../evaluation/policyMatrix.ts";
import { splitLines } from "../storage/jsonLines.ts";
import { suggestName } from "../storage/suggestName.ts";
import type { RecordedAttempt } from "../trajectory/attempt.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { getTaskCluster } from "../trajectory/seenTasks.ts";
import { formatTranscript } from "../trajectory/transcript.ts";
import { UserError } from "../userError.ts";
import {
  bugExitCode,
  defineCommand,
  flag,
  option,
  repeatedArgument,
  type CliContext,
  type Parser,
} from "./command.ts";
import { createMatrixDocument, formatMatrix } from "./evaluationText.ts";
import { existingPath, outputPath } from "./options.ts";

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
    byTask: flag(
      "--by-task",
      "print the tasks on which the policies of the files disagree, and compare them with the first file's",
    ),
    evidence: flag("--evidence", "add the evidence of each part to the JSON"),
    json: flag("--json", "print JSON Lines, one for each attempt"),
  },
  examples: [
    "score my.tasks.jsonl",
    "score prove/runs/first/groups --tasks my.tasks.jsonl --show",
    "score a.trajectory.jsonl b.trajectory.jsonl --tasks my.tasks.jsonl --by-task",
    "score prove/runs/first/groups/10.jsonl --tasks my.tasks.jsonl --html pages",
    "score --calls --json < attempts.jsonl",
  ],
  async run(context, [files], options) {
    const profile =
      profiles.find(it => it.name === options.profile) ??
      (options.calls ? paperProfile : defaultProfile);
    if (options.calls) return scoreStdin(context, checkCallsProfile(profile), options.json);
    if (files.length > 0 && options.byTask)
      return compareFiles(context, files, { ...options, profile });
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

interface FileOptions {
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
  { profile, json, evidence, show, tasks, html }: FileOptions,
): Promise<number> {
  const { cwd, printAndDrain, printNote } = context;
  const resolveIfGiven = (path: string | undefined) =>
    path === undefined ? undefined : resolve(cwd, path);
  const format = json
    ? (attempt: RecordedAttempt, score: AttemptScore) =>
        JSON.stringify(toJson(attempt, score, evidence))
    : show
      ? formatAttempt
      : formatLine;
  let unreadable = 0;
  const tally = await scoreAttempts(
    files.map(it => resolve(cwd, it)),
    {
      profile,
      tasks: resolveIfGiven(tasks),
      pages: resolveIfGiven(html),
      onUserError({ what, remedy }) {
        unreadable++;
        printNote(`${escapeInvisible(what)}\n  ${escapeInvisible(remedy)}`);
      },
      onScore: (attempt, score) => printAndDrain(format(attempt, score)),
    },
    context,
  );
  for (const line of formatTally(tally, profile.name)) printNote(line);
  if (html !== undefined) printNote(`pages in ${html}: ${tally.count}`);
  if (tally.bugs > 0) return bugExitCode;
  return unreadable > 0 ? 2 : tally.unscored > 0 ? 1 : 0;
}

/** Compares the policies of files, or folders of them, task by task. */
async function compareFiles(
  context: CliContext,
  files: readonly string[],
  { profile, json, tasks }: Pick<FileOptions, "profile" | "json" | "tasks">,
): Promise<number> {
  const { cwd, print, printNote } = context;
  const columns = new Map<string, JudgedAttempt[]>();
  let unreadable = 0;
  let bugs = 0;
  for (const file of files) {
    const tally = await scoreAttempts(
      [resolve(cwd, file)],
      {
        profile,
        tasks: tasks === undefined ? undefined : resolve(cwd, tasks),
        pages: undefined,
        onUserError({ what, remedy }) {
          unreadable++;
          printNote(`${escapeInvisible(what)}\n  ${escapeInvisible(remedy)}`);
        },
        async onScore({ trajectory: { header }, task }, score) {
          const name = `${file} ${header.policy}`;
          const attempt = {
            task: header.task,
            cluster: task ? getTaskCluster(task) : header.task,
            ...("why" in score
              ? {}
              : { success: score.success.achieved, total: score.breakdown.total }),
          };
          const column = columns.get(name);
          if (column) column.push(attempt);
          else columns.set(name, [attempt]);
        },
      },
      context,
    );
    bugs += tally.bugs;
    for (const line of describeChanges(tally.changes)) printNote(`${file}: ${line}`);
  }
  if (columns.size < 2)
    throw new UserError(
      `there ${columns.size === 1 ? "is one policy" : "are no attempts"} in ${files.join(", ")}`,
      "name the files of at least two policies",
    );
  const policies = [...columns].map(([name, attempts]) => ({ name, attempts }));
  if (json) print(JSON.stringify(createMatrixDocument(policies)));
  else for (const line of formatMatrix(policies)) print(line);
  return bugs > 0 ? bugExitCode : unreadable > 0 ? 2 : 0;
}

function toJson(
  { trajectory: { header } }: RecordedAttempt,
  result: AttemptScore,
  evidence: boolean,
) {
  const { id, task, policy } = header;
  if ("why" in result) return { id, task, policy, unscorable: result.why };
  const { breakdown, paper, success, note } = result;
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
    ...(note === undefined ? {} : { notes: [note] }),
  };
  return evidence ? { ...line, breakdown: formatBreakdownLine(breakdown) } : line;
}

function formatLine({ trajectory: { header } }: RecordedAttempt, result: AttemptScore): string {
  const id = escapeInvisible(header.id);
  if ("why" in result) return `${id}  not scored: ${escapeInvisible(result.why)}`;
  const { breakdown, success, note } = result;
  const parts =
    breakdown.rule === "abstain"
      ? "(no goals)"
      : listScores(breakdown)
          .map(([name, it]) => `${name} ${it.score.toFixed(4)}`)
          .join("  ");
  return `${id}  ${breakdown.total.toFixed(4)}  ${parts}  ${[formatSuccess(success), ...listNotes(note)].join("  ")}`;
}

/** The five parts, and the answer where something was to be told. */
const listScores = ({ parts, extras: { answer } }: Breakdown) => [
  ...partNames.map(it => [it, parts[it]] as const),
  ...(answer ? [["answer", answer] as const] : []),
];

function formatAttempt({ trajectory, task }: RecordedAttempt, result: AttemptScore): string {
  const taskOption = task ? { task } : {};
  if ("why" in result)
    return formatTranscript(trajectory, {
      ...taskOption,
      closing: [`not scored: ${result.why}`],
    }).text;
  const { breakdown, paper, success, note } = result;
  const paperLines = breakdown.profile === paper.profile ? [] : describeTotals(paper).slice(0, 1);
  return formatTranscript(trajectory, {
    ...taskOption,
    describeCall: it => describeCall(breakdown, it),
    closing: [
      ...describeTotals(breakdown),
      ...paperLines,
      formatSuccess(success),
      ...listNotes(note),
    ],
  }).text;
}

const formatSuccess = ({ achieved, reasons }: Success) =>
  achieved ? "success" : `no success: ${escapeInvisible(reasons[0] ?? "")}`;

const listNotes = (note: string | undefined): readonly string[] =>
  note === undefined ? [] : [`(${note})`];

const describeChanges = (changes: ScoreTally["changes"]): string[] =>
  [...changes].map(
    ([what, remedy]) => `${what}, and attempts are judged by what it is now: ${remedy}`,
  );

function formatTally(
  { total, paper, abstaining, parts, answer, succeeded, noted, unscored, changes }: ScoreTally,
  profile: string,
): string[] {
  const lines = describeChanges(changes);
  if (noted > 0)
    lines.push(
      `${noted} recorded with results that the servers do not return, and scored on the replayed ones (prove-rl replay shows them)`,
    );
  if (total.count > 0) {
    const byPaper = profile === paperProfile.name ? "" : ` (by paper ${formatMean(paper)})`;
    lines.push(
      `${total.count} scored by ${profile}: mean ${formatMean(total)}${byPaper}, ${succeeded} done as asked`,
      `  ${partNames.map(it => `${it} ${formatMean(parts[it])}`).join("  ")}  ${answer.count > 0 ? `answer ${formatMean(answer)}  ` : ""}without goals ${formatMean(abstaining)}`,
    );
  }
  if (unscored > 0) lines.push(`${unscored} not scored`);
  return lines.length > 0 ? lines : ["no attempts in there"];
}

const formatMean = ({ value }: ScoreTally["total"]): string => value?.toFixed(4) ?? "–";
