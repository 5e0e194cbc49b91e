/**
 * A task as the line of a file: what can be told from the rest of the line is left out, so that
 * thousands of tasks stay a small file. Lines of the older format are brought up to date here.
 * Knows one line at a time and no files.
 */
import { z } from "zod";
import { taskFields, taskFormat, withSoundGoals, type Task } from "./task.ts";
import { event, header, trajectoryFormat, type Event, type Header } from "./trajectory.ts";

/** A line of a tasks file. */
export const taskLineSchema = withSoundGoals(
  taskFields.extend({
    /** The tools on offer, in order; a name alone where nothing was done to the tool. */
    menu: z.array(
      z.union([
        z.string(),
        z.strictObject({ name: z.string(), enumsStripped: z.literal(true).optional() }),
      ]),
    ),
    /**
     * What the user says, and what the teacher answers in the end; the latter is left out where its
     * trajectory tells it.
     */
    turns: z
      .array(
        z.strictObject({
          user: z.string(),
          goals: z.array(z.int().min(0)),
          reply: z.string().optional(),
        }),
      )
      .min(1),
    /**
     * The teacher's, without patches (replay brings them back). Its header is left out where it
     * says what the task says, and so are messages without a text before their calls.
     */
    trajectory: z.strictObject({ header: header.optional(), events: z.array(event) }),
  }),
);

export type TaskLine = z.infer<typeof taskLineSchema>;

/** The formats of a line that are read. */
export const olderTaskFormat = "prove/task@1";

/** A task as its line. */
export function taskLine(task: Task): string {
  const { header: own } = task.trajectory;
  const isPlain = JSON.stringify(own) === JSON.stringify(headerOf(task));
  const events = task.trajectory.events.filter((it, i, all) => !isMute(it, all[i + 1]));
  const replies = repliesIn(events);
  const line: TaskLine = {
    ...task,
    menu: task.menu.map(it => (it.enumsStripped ? it : it.name)),
    turns: task.turns.map(({ user, goals, reply }, i) =>
      reply === replies[i] ? { user, goals } : { user, goals, reply },
    ),
    trajectory: isPlain ? { events } : { header: own, events },
  };
  return JSON.stringify(line);
}

/** The task that a line tells. */
export function taskOfLine(line: TaskLine): Task {
  const { header: own, events } = line.trajectory;
  const replies = repliesIn(events);
  const menu = line.menu.map(it => (typeof it === "string" ? { name: it } : it));
  const turns = line.turns.map((it, i) => ({ ...it, reply: it.reply ?? replies[i] ?? "" }));
  return {
    ...line,
    menu,
    turns,
    trajectory: { header: own ?? headerOf({ ...line, menu }), events: withMute(events) },
  };
}

/** A message that only calls. */
const isMute = (it: Event, next: Event | undefined): boolean =>
  it.kind === "assistant" &&
  it.text === "" &&
  Object.keys(it).length === 3 &&
  next?.kind === "call" &&
  next.message === it.message;

/** Before the calls of a message there is the message. */
function withMute(events: readonly Event[]): Event[] {
  let message = -1;
  return events.flatMap((it): Event[] => {
    const isMissing = it.kind === "call" && it.message !== message;
    if (it.kind === "assistant" || it.kind === "call") message = it.message;
    return isMissing ? [{ kind: "assistant", message, text: "" }, it] : [it];
  });
}

/** The last that was said to each user turn. */
function repliesIn(events: readonly Event[]): string[] {
  const replies: string[] = [];
  for (const it of events) {
    if (it.kind === "user") replies.push("");
    else if (it.kind === "assistant" && it.text !== "" && replies.length > 0)
      replies[replies.length - 1] = it.text;
  }
  return replies;
}

/** What a teacher's trajectory pins when it pins just what its task does. */
export const headerOf = ({
  id,
  servers,
  catalog,
  seed,
  menu,
  provenance: { teacher },
}: Pick<Task, "id" | "servers" | "catalog" | "seed" | "menu" | "provenance">): Header => ({
  kind: "header",
  format: trajectoryFormat,
  id: `${id}/${teacher}`,
  task: id,
  servers: servers.map(it => ({ ...it })),
  catalog,
  seed,
  menu: menu.map(it => it.name),
  policy: teacher,
});

interface OlderTransition {
  readonly t: number;
  readonly from: string;
  readonly event: string;
  readonly to: string;
  readonly attempt: number;
}

/**
 * A line of the older format as one of today's: its log was a list of transitions. What is no such
 * line stays as it is.
 */
export function migrated(json: unknown): unknown {
  const line = json as { format?: unknown; provenance?: { log?: unknown } } | null;
  if (line === null || typeof line !== "object" || line.format !== olderTaskFormat) return json;
  const log = line.provenance?.log;
  return {
    ...line,
    format: taskFormat,
    provenance: {
      ...line.provenance,
      log: Array.isArray(log) ? logLines(log as OlderTransition[]) : log,
    },
  };
}

function logLines(log: readonly OlderTransition[]): string[] {
  const turns = [...new Set(log.map(it => it.t))];
  return turns.map(t => {
    const own = log.filter(it => it.t === t);
    return `${own.map(it => `${it.from}${it.attempt > 1 ? `#${it.attempt}` : ""} -${it.event}-> `).join("")}${own.at(-1)!.to}`;
  });
}
