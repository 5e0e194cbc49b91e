/**
 * A task as the line of a file: what can be told from the rest of the line is left out, so that thousands of tasks stay a small
 * file. Lines of the older format are brought up to date here. Knows one line at a time and no files.
 */
import { z } from "zod";
import { taskFields, taskFormat, withSoundGoals, type Task } from "./task.ts";
import { event, header, trajectoryFormat, type Header } from "./trajectory.ts";

/** A line of a tasks file. */
export const taskLineSchema = withSoundGoals(
  taskFields.extend({
    /** The tools on offer, in order; a name alone where nothing was done to the tool. */
    menu: z.array(z.union([z.string(), z.strictObject({ name: z.string(), enumsStripped: z.literal(true).optional() })])),
    /** The teacher's, without patches (replay brings them back). Its header is left out where it says what the task says. */
    trajectory: z.strictObject({ header: header.optional(), events: z.array(event) }),
  }),
);

export type TaskLine = z.infer<typeof taskLineSchema>;

/** The formats of a line that are read. */
export const olderTaskFormat = "prove/task@1";

/** A task as its line. */
export function taskLine(task: Task): string {
  const { header: own, events } = task.trajectory;
  const isPlain = JSON.stringify(own) === JSON.stringify(headerOf(task));
  const line: TaskLine = {
    ...task,
    menu: task.menu.map(it => (it.enumsStripped ? it : it.name)),
    trajectory: isPlain ? { events: [...events] } : { header: own, events: [...events] },
  };
  return JSON.stringify(line);
}

/** The task that a line tells. */
export function taskOfLine(line: TaskLine): Task {
  const task = { ...line, menu: line.menu.map(it => (typeof it === "string" ? { name: it } : it)) };
  const { header: own, events } = line.trajectory;
  return { ...task, trajectory: { header: own ?? headerOf(task), events } };
}

/** What a teacher's trajectory pins when it pins just what its task does. */
export const headerOf = ({ id, servers, catalog, seed, menu, provenance: { teacher } }: Pick<Task, "id" | "servers" | "catalog" | "seed" | "menu" | "provenance">): Header => ({
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

/** A line of the older format as one of today's: its log was a list of transitions. What is no such line stays as it is. */
export function migrated(json: unknown): unknown {
  const line = json as { format?: unknown; provenance?: { log?: unknown } } | null;
  if (line === null || typeof line !== "object" || line.format !== olderTaskFormat) return json;
  const log = line.provenance?.log;
  return { ...line, format: taskFormat, provenance: { ...line.provenance, log: Array.isArray(log) ? logLines(log as OlderTransition[]) : log } };
}

function logLines(log: readonly OlderTransition[]): string[] {
  const turns = [...new Set(log.map(it => it.t))];
  return turns.map(t => {
    const own = log.filter(it => it.t === t);
    return `${own.map(it => `${it.from}${it.attempt > 1 ? `#${it.attempt}` : ""} -${it.event}-> `).join("")}${own.at(-1)!.to}`;
  });
}
