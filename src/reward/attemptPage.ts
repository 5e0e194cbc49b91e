/**
 * An attempt as one HTML page that needs nothing else: the conversation, the calls with their
 * results, and the reward with the evidence for each part. It runs no script and loads nothing.
 */
import type { RecordedAttempt } from "../trajectory/attempt.ts";
import { escapeInvisible, splitVisibleLines } from "../trajectory/invisibleText.ts";
import type { Task } from "../trajectory/task.ts";
import { formatCall } from "../trajectory/transcript.ts";
import type { CallEvent, Event } from "../trajectory/trajectory.ts";
import { partNames, type Breakdown, type GoalEvidence, type Part } from "./breakdown.ts";
import { describeAnswer, describeCall, hasNoPenalty } from "./breakdownText.ts";
import type { Success } from "./success.ts";

export interface AttemptPage extends RecordedAttempt {
  /** The reward, or why there is none. */
  readonly reward:
    | {
        readonly breakdown: Breakdown;
        /** The total under the paper's profile. */
        readonly paper: number;
        readonly success: Success;
        /** A remark on how it was scored. */
        readonly note?: string | undefined;
      }
    | { readonly unscorable: string };
}

/** Creates the page. All texts of the attempt are escaped. */
export function createAttemptPage({ trajectory, task, reward }: AttemptPage): string {
  const { header, events } = trajectory;
  const breakdown = "breakdown" in reward ? reward.breakdown : undefined;
  let call = 0;
  const body = events.map(it =>
    it.kind === "call"
      ? formatCallEvent(it, breakdown && describeCall(breakdown, call++))
      : formatEvent(it),
  );
  const servers = header.servers.map(it => `${it.name} (${it.fixture})`).join(", ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(`Attempt at ${header.task}`)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Attempt at ${escape(header.task)}</h1>
<p class="note">${escape([servers, `seed ${header.seed}`, `by ${header.policy}`, header.id].join(" · "))}</p>
${formatReward(reward)}
<h2>Conversation</h2>
${body.join("\n")}
${task && task.goals.length > 0 ? formatGoals(task, breakdown) : ""}
</main>
</body>
</html>
`;
}

function formatEvent(event: Exclude<Event, CallEvent>): string {
  switch (event.kind) {
    case "user":
      return formatMessage("User", event.text);
    case "assistant":
      return event.text === "" ? "" : formatMessage("Assistant", event.text);
    case "ended":
      return `<p class="note">${escape(`Ended by ${event.by}${event.fault === undefined ? "" : `: ${event.fault}`}`)}</p>`;
    default:
      return event satisfies never;
  }
}

const formatMessage = (role: string, text: string) =>
  `<section><h3>${role}</h3><div class="text">${escapeLines(text)}</div></section>`;

function formatCallEvent(event: CallEvent, note: string | undefined): string {
  const { name, arguments: args, outcome } = event;
  const isOk = outcome.kind === "ok";
  const result = isOk
    ? JSON.stringify(outcome.value, null, 2)
    : [outcome.type, outcome.message, outcome.hint].filter(it => it !== undefined).join("\n");
  return `<section class="call ${isOk ? "ok" : "failed"}">
<h3><code>${escape(formatCall(name, args))}</code></h3>
<details${isOk ? "" : " open"}><summary>${isOk ? "ok" : escape(outcome.kind)}</summary><pre>${escapeLines(result)}</pre></details>
${note === undefined ? "" : `<p class="note">${escape(note)}</p>`}
</section>`;
}

function formatReward(reward: AttemptPage["reward"]): string {
  if ("unscorable" in reward)
    return `<h2>Reward</h2>\n<p>No reward: ${escape(reward.unscorable)}</p>`;
  const { breakdown, paper, success, note } = reward;
  const { profile, rule, parts, extras, total, n, budget, answers = [] } = breakdown;
  const rows = [
    ...(rule === "abstain" ? [] : partNames.map(it => formatPart(it, parts[it]))),
    ...Object.entries(extras).map(([name, it]) => formatPart(name, it)),
  ];
  const table = rows.length
    ? `<table><thead><tr><th>Part</th><th>Score</th><th>Weight</th><th>Value</th></tr></thead><tbody>${rows.join("")}</tbody></table>`
    : "";
  const told = answers.map(it => `<li>${escape(describeAnswer(it))}</li>`).join("");
  const reasons = success.reasons.map(it => `<li>${escape(it)}</li>`).join("");
  return `<h2>Reward ${formatNumber(total)}</h2>
<p class="note">${escape(`Profile ${profile} · ${n} calls, budget ${budget} · the paper's reward: ${formatNumber(paper)}`)}</p>
${table}
${told && `<h3>Told</h3><ul>${told}</ul>`}
<p>Success: <strong>${success.achieved ? "yes" : "no"}</strong></p>${reasons && `<ul>${reasons}</ul>`}${note === undefined ? "" : `<p class="note">${escape(note)}</p>`}`;
}

const formatPart = (name: string, part: Part) => {
  const { score, weight, value } = part;
  const numbers = [score, weight, value].map(formatNumber);
  const cells = hasNoPenalty(name, part) ? [...numbers.slice(0, 2), "no penalty"] : numbers;
  return `<tr><th>${escape(name)}</th>${cells.map(it => `<td>${it}</td>`).join("")}</tr>`;
};

const formatMatch = ({ matched, needed, otherArguments }: GoalEvidence): string =>
  needed === false
    ? "not needed"
    : !matched
      ? "not matched"
      : otherArguments
        ? "called with other arguments"
        : "matched";

const formatNumber = (value: number) => String(Number(value.toFixed(4)));

function formatGoals({ goals }: Task, breakdown: Breakdown | undefined): string {
  const rows = goals.map(({ calls }, g) => {
    const evidence = breakdown?.goals[g];
    const texts = calls.map(it => `<code>${escape(formatCall(it.name, it.arguments))}</code>`);
    const notes = evidence ? [formatMatch(evidence), ...(evidence.notes ?? [])] : [];
    return `<li>${texts.join("<br>")}<p class="note">${escape(notes.join(" · "))}</p></li>`;
  });
  return `<h2>Goals</h2>\n<ol>${rows.join("")}</ol>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A text on one line. */
const escape = (text: string): string =>
  escapeInvisible(text).replaceAll(/[&<>"']/g, it => entities[it]!);

const escapeLines = (text: string): string =>
  splitVisibleLines(text)
    .map(it => escape(it))
    .join("\n");

const style = `
:root { --line: #d0d7de; --faint: #57606a; --ok: #1a7f37; --failed: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --line: #3d444d; --faint: #9198a1; --ok: #4ac26b; --failed: #ff8182; }
  body { background: #151b23; color: #e6edf3; }
}
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
section { border-left: 3px solid var(--line); margin: 1rem 0; padding: 0 1rem; }
section.ok { border-color: var(--ok); }
section.failed { border-color: var(--failed); }
h3 { font-size: 1em; margin: 0; }
table + h3 { margin-top: 1rem; }
.text, pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.25rem 0; }
code, pre { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.note { color: var(--faint); margin: 0.25rem 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid var(--line); padding: 0.25rem 1rem 0.25rem 0; text-align: left; }
td { font-variant-numeric: tabular-nums; }
`;
