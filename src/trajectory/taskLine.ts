/**
 * A task as a line of a tasks file. What can be derived from the rest of the line is left out,
 * which keeps files with thousands of tasks small. Lines of earlier formats are migrated.
 */
import { z } from "zod";
import {
  addsSchema,
  conditionalSchema,
  taskFields,
  taskFormat,
  unmetSchema,
  withGoalChecks,
  type Task,
} from "./task.ts";
import {
  headerSchema,
  startsTurn,
  trajectoryFormat,
  type Event,
  type Header,
} from "./trajectory.ts";
import { eventLineSchema, formatEventLine, parseEventLine } from "./trajectoryLine.ts";

/** A line of a tasks file. */
export const taskLineSchema = withGoalChecks(
  taskFields.extend({
    /** The offered tools, in order; the name alone where the tool was not altered. */
    menu: z.array(
      z.union([
        z.string(),
        z.strictObject({ name: z.string(), enumsStripped: z.literal(true).optional() }),
      ]),
    ),
    /**
     * What the user says, and the teacher's final answer; the answer is left out where the
     * trajectory contains it.
     */
    turns: z
      .array(
        z.strictObject({
          user: z.string(),
          goals: z.array(z.int().min(0)),
          reply: z.string().optional(),
          unmet: unmetSchema.optional(),
          adds: addsSchema.optional(),
          conditional: conditionalSchema.optional(),
        }),
      )
      .min(1),
    /**
     * The teacher's, without patches (replay restores them). Its header is left out where it can be
     * derived from the task, and so are messages without a text before their calls.
     */
    trajectory: z.strictObject({
      header: headerSchema.optional(),
      events: z.array(eventLineSchema),
    }),
  }),
);

export type TaskLine = z.infer<typeof taskLineSchema>;

/**
 * The formats before `taskFormat`, whose lines can still be read. The goals of both say of no call
 * what it was for. In the first, the log was a list of transitions.
 */
export const earlierTaskFormats: readonly string[] = ["prove/task@1", "prove/task@2"];

/** The text of a task's line. */
export const formatTaskLine = (task: Task): string => JSON.stringify(createTaskLine(task));

/** The line of a task. */
export function createTaskLine(task: Task): TaskLine {
  const { header: own } = task.trajectory;
  const isDerivable = JSON.stringify(own) === JSON.stringify(createTeacherHeader(task));
  const events = task.trajectory.events.filter((it, i, all) => !isCallOnly(it, all[i + 1]));
  const lines = events.map(formatEventLine);
  const replies = listReplies(events);
  return {
    ...task,
    menu: task.menu.map(it => (it.enumsStripped ? it : it.name)),
    turns: task.turns.map(({ user, goals, reply, unmet, adds, conditional }, i) => ({
      user,
      goals,
      ...(reply === replies[i] ? {} : { reply }),
      ...(unmet ? { unmet } : {}),
      ...(adds ? { adds } : {}),
      ...(conditional ? { conditional } : {}),
    })),
    trajectory: isDerivable ? { events: lines } : { header: own, events: lines },
  };
}

/** The task of a checked line. */
export function parseTaskLine(line: TaskLine): Task {
  const { header: own } = line.trajectory;
  const events = line.trajectory.events.map(parseEventLine);
  const replies = listReplies(events);
  const menu = line.menu.map(it => (typeof it === "string" ? { name: it } : it));
  const turns = line.turns.map((it, i) => ({ ...it, reply: it.reply ?? replies[i] ?? "" }));
  return {
    ...line,
    menu,
    turns,
    trajectory: {
      header: own ?? createTeacherHeader({ ...line, menu }),
      events: restoreCallOnlyMessages(events),
    },
  };
}

/** Whether an event is a message that only makes calls. */
const isCallOnly = (it: Event, next: Event | undefined): boolean =>
  it.kind === "assistant" &&
  it.text === "" &&
  Object.keys(it).length === 3 &&
  next?.kind === "call" &&
  next.message === it.message;

/** Inserts the messages that were left out before their calls. */
function restoreCallOnlyMessages(events: readonly Event[]): Event[] {
  let message = -1;
  return events.flatMap((it): Event[] => {
    const isMissing = it.kind === "call" && it.message !== message;
    if (it.kind === "assistant" || it.kind === "call") message = it.message;
    return isMissing ? [{ kind: "assistant", message, text: "" }, it] : [it];
  });
}

/** The last answer to each user turn. */
function listReplies(events: readonly Event[]): string[] {
  const replies: string[] = [];
  for (const it of events) {
    if (startsTurn(it)) replies.push("");
    else if (it.kind === "assistant" && it.text !== "" && replies.length > 0)
      replies[replies.length - 1] = it.text;
  }
  return replies;
}

/** The header of a teacher's trajectory as derived from its task. */
export const createTeacherHeader = ({
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

/** A transition in the log of the first format. */
interface Transition {
  readonly t: number;
  readonly from: string;
  readonly event: string;
  readonly to: string;
  readonly attempt: number;
}

/** Converts a line of an earlier format. Anything else is returned unchanged. */
export function migrateTaskLine(json: unknown): unknown {
  const line = json as { format?: unknown; provenance?: { log?: unknown } } | null;
  if (line === null || typeof line !== "object") return json;
  if (!earlierTaskFormats.includes(line.format as string)) return json;
  const log = line.provenance?.log;
  return line.format === "prove/task@1" && Array.isArray(log)
    ? {
        ...line,
        format: taskFormat,
        provenance: { ...line.provenance, log: formatLog(log as Transition[]) },
      }
    : { ...line, format: taskFormat };
}

function formatLog(log: readonly Transition[]): string[] {
  const turns = [...new Set(log.map(it => it.t))];
  return turns.map(t => {
    const own = log.filter(it => it.t === t);
    return `${own.map(it => `${it.from}${it.attempt > 1 ? `#${it.attempt}` : ""} -${it.event}-> `).join("")}${own.at(-1)!.to}`;
  });
}
