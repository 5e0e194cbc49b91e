/**
 * A task: fixtures, offered tools, user turns and goals, which are the teacher's calls and what
 * they were for. With its teacher's trajectory it is one line of a tasks file, which leaves out
 * what can be derived from the rest of the line. Lines of earlier formats are migrated.
 */
import { z } from "zod";
import type { JsonObject } from "../environment/json.ts";
import { taskPolicySchema } from "./taskRules.ts";
import {
  type Trajectory,
  type UserEvent,
  headerSchema,
  startsTurn,
  trajectoryFormat,
  type Event,
  type Header,
  eventLineSchema,
  formatEventLine,
  parseEventLine,
} from "./trajectory.ts";

export const taskFormat = "prove/task@4";

/** The format before it: its tasks do not say what must be told, and score as they did. */
const formatWithoutAnswers = "prove/task@3";

/** Where a task may be used: to train, or to measure on what no training task has. */
export const splits = [
  "train",
  "heldout-chain",
  "heldout-edge",
  "heldout-server",
  "heldout-world",
] as const;

export type Split = (typeof splits)[number];

const objectSchema = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;

const scalarSchema = z.union([z.string(), z.number(), z.boolean()]);

/**
 * What the assistant must tell the user of a fact: its value as a sum of money, a name, and so on.
 * `yes` and `no` are the answer to a question, and `none` says that there is nothing.
 */
const answerKinds = [
  "count",
  "number",
  "money",
  "date",
  "time",
  "duration",
  "name",
  "text",
  "yes",
  "no",
  "none",
] as const;

export type AnswerKind = (typeof answerKinds)[number];

/**
 * Something that a result must show. With `entity` and `field`: that the entity with this id has
 * this value, in a field of this name. With `entity` alone: that id, such as one row of a list; and
 * with `of`, as something of these other entities, such as a member of a channel.
 * Without `entity`: a value that belongs to no entity, such as a travel time or the `count` of a
 * list; only the goal's call or an alternative of it can show it.
 */
const factSchema = z.strictObject({
  entity: z.string().optional(),
  of: z.array(z.string()).min(1).optional(),
  field: z.string().optional(),
  value: scalarSchema.nullable().optional(),
  /** The value is a text that the user dictated: compared like `loose` arguments. */
  loose: z.literal(true).optional(),
  /**
   * What the assistant must tell, if it must: the fact's value, or another one, such as the name
   * of a row. Absent where the user only sees it, or has said it in the same turn.
   */
  tell: z.strictObject({ kind: z.enum(answerKinds), value: scalarSchema.optional() }).optional(),
});

/**
 * A call of the teacher. `for` says why a look-up is among the goals; without it, and for writes,
 * the call itself must happen. Arguments in `mask` are free text: only their presence is checked.
 */
const goalCallSchema = z.strictObject({
  name: z.string(),
  arguments: objectSchema,
  mask: z.array(z.string()).optional(),
  /**
   * Free text arguments that the user dictated: compared without case, punctuation and articles.
   * A text within an argument is given by its path, such as `lines/0/description`.
   */
  loose: z.array(z.string()).min(1).optional(),
  /**
   * A write that the final state does not show, for example because a later goal undoes it: the
   * call itself must happen.
   */
  required: z.literal(true).optional(),
  /** Free text arguments that are right if these words occur in them. */
  words: z.record(z.string(), z.array(z.string()).min(1)).optional(),
  /**
   * `feeds`: the result supplies arguments of later goals, and any way to know `values` is as good.
   * `answers`: the user asked for it, and any results that show all `facts` in time are as good.
   */
  for: z.enum(["feeds", "answers"]).optional(),
  /** What later goals take from the result; only with `feeds`. */
  values: z.array(scalarSchema).optional(),
  /** What the user asked for; only with `answers`. If it is empty, the call itself must happen. */
  facts: z.array(factSchema).optional(),
  /**
   * Calls that were executed in the same state and show the same facts, or leave the same world.
   */
  alternatives: z
    .array(z.strictObject({ name: z.string(), arguments: objectSchema }))
    .min(1)
    .optional(),
});

/** A goal that must be matched before. `explicit`: a value flows along the edge, named by `via`. */
const goalEdgeSchema = z.strictObject({
  goal: z.int().min(0),
  kind: z.enum(["explicit", "implicit"]),
  via: z.string().optional(),
});

/**
 * One or more parallel calls, after the goals it follows (a GT step of the paper). Goals are in
 * topological order.
 */
const goalSchema = z.strictObject({
  calls: z.array(goalCallSchema).min(1),
  after: z.array(goalEdgeSchema),
  /** Index of the user turn it answers. */
  turn: z.int().min(0),
});

/**
 * The calls that a turn asks for and that the assistant cannot make: the tool is not offered, what
 * it names cannot be looked up, only the user knows the value of the argument `asks`, or the `rule`
 * of the task's policy with this id forbids it.
 */
const unmetSchema = z
  .array(
    z.strictObject({
      name: z.string(),
      arguments: objectSchema,
      asks: z.string().optional(),
      rule: z.string().optional(),
    }),
  )
  .min(1);

/** Full names of tools that are on the menu from this turn on; none of them was before. */
const addsSchema = z.array(z.string()).min(1);
/** Calls that a turn asks for under a condition that does not hold. */
const conditionalSchema = z
  .array(z.strictObject({ name: z.string(), arguments: objectSchema }))
  .min(1);

/**
 * What the user says when the assistant asks for what a `rule` of the policy wants to know before a
 * call: with `isAccepted`, the rule then allows the call. `about` are words of such a question.
 */
const proofsSchema = z
  .array(
    z.strictObject({
      rule: z.string(),
      about: z.array(z.string()).min(1),
      say: z.string().min(1),
      isAccepted: z.literal(true).optional(),
    }),
  )
  .min(1);

/** A task's fields, each on its own. */
const taskFields = z.strictObject({
  format: z.enum([formatWithoutAnswers, taskFormat]),
  id: z.string(),
  /** Empty if the menu lists only `tools` without a server. */
  servers: z.array(z.strictObject({ name: z.string(), fixture: z.string(), digest: z.string() })),
  /** Hash of the tool definitions that the menu resolves against. */
  catalog: z.string(),
  seed: z.int().min(0),
  split: z.enum(splits),
  kind: z.enum(["normal", "clarify", "abstain", "irrelevant"]),
  persona: z.string(),
  now: z.string(),
  /** The tools offered from the start, in order. */
  menu: z.array(z.strictObject({ name: z.string(), enumsStripped: z.literal(true).optional() })),
  /**
   * Tools on the menu that no server implements, as an imported task lists them: they are offered,
   * and calling one is `unknown-tool`.
   */
  tools: z
    .array(z.strictObject({ name: z.string(), description: z.string(), parameters: objectSchema }))
    .optional(),
  /** The rules that hold, which the system message says. */
  policy: taskPolicySchema.optional(),
  /** Chain tools that were removed from the menu. */
  hidden: z.array(z.string()),
  turns: z
    .array(
      z.strictObject({
        user: z.string(),
        goals: z.array(z.int().min(0)),
        reply: z.string(),
        unmet: unmetSchema.optional(),
        adds: addsSchema.optional(),
        conditional: conditionalSchema.optional(),
        proofs: proofsSchema.optional(),
      }),
    )
    .min(1),
  goals: z.array(goalSchema),
  knobs: z.record(z.string(), z.json()),
  info: z.enum(["complete", "missing", "minimal"]),
  /** The tool names of the dependency chain it grew from. */
  chain: z.array(z.string()),
  budget: z.strictObject({
    /** B of the paper's equation (2). */
    calls: z.int().min(0),
    assistantMessages: z.int().min(1),
  }),
  /** `log` is the path through the state machine, a line a user turn. */
  provenance: z.strictObject({ teacher: z.string(), graph: z.string(), log: z.array(z.string()) }),
});

export type Task = z.infer<typeof taskFields> & {
  /** The teacher's, without patches (replay restores them). */
  readonly trajectory: Trajectory;
};

/**
 * Whether a task says what must be told and when things are due. Tasks of earlier formats do not,
 * and their attempts are scored without these rules.
 */
export const judgesAnswers = ({ format }: Pick<Task, "format">): boolean => format === taskFormat;

/**
 * The turn at whose end the goals of a turn are due: the turn itself or, if it ends with a question
 * for a value that only the user knows, the turn that answers it.
 */
export function findDueTurn(task: Pick<Task, "format" | "turns">, turn: number): number {
  if (!judgesAnswers(task)) return turn;
  let due = turn;
  while (due + 1 < task.turns.length && task.turns[due]!.unmet?.some(it => it.asks !== undefined))
    due++;
  return due;
}

/**
 * What the user says in a turn if asked for a proof: for the requests of that turn, and for those
 * before it that are not due yet.
 */
export const listProofs = (
  task: Pick<Task, "format" | "turns">,
  turn: number,
): NonNullable<Task["turns"][number]["proofs"]> =>
  task.turns
    .slice(0, turn + 1)
    .flatMap(({ proofs = [] }, i) => (turn <= findDueTurn(task, i) ? proofs : []));

/** The user's message that begins turn number t of a task. */
export const createTurnEvent = ({ turns }: Pick<Task, "turns">, t: number): UserEvent => {
  const { user, adds } = turns[t]!;
  return { kind: "user", text: user, ...(adds ? { adds } : {}) };
};

/** The tools that a task offers at any time, in the order in which it does. */
export const listOfferedItems = ({ menu, turns }: Pick<Task, "menu" | "turns">): Task["menu"] => [
  ...menu,
  ...turns.flatMap(it => it.adds?.map(name => ({ name })) ?? []),
];

export type Goal = z.infer<typeof goalSchema>;
export type GoalCall = z.infer<typeof goalCallSchema>;
export type Fact = z.infer<typeof factSchema>;

/** B = n + ⌈β·n⌉, n the goal calls over all goals: calls that cost nothing (paper equation (2)). */
export function computeCallBudget(
  goals: readonly { readonly calls: readonly unknown[] }[],
  beta = 0.5,
): number {
  const n = goals.reduce((sum, it) => sum + it.calls.length, 0);
  // 0.1 · 30 is slightly more than 3 in floating point
  return n + Math.ceil(beta * n - 1e-9);
}

interface CheckedFields {
  menu: (string | { name: string })[];
  goals: Goal[];
  turns: { goals: number[]; adds?: string[] | undefined }[];
}

/**
 * Adds the checks that alignment and rollouts rely on: goals point back, turns name existing goals,
 * and no turn adds a tool that is on the menu.
 */
const withGoalChecks = <T extends z.ZodType<CheckedFields>>(fields: T): T =>
  fields.superRefine(({ menu, goals, turns }, context) => {
    const report = (path: (string | number)[], message: string) =>
      context.addIssue({ code: "custom", path, message });
    for (const [g, { calls, after, turn }] of goals.entries()) {
      for (const [c, call] of calls.entries()) {
        const problem = findPurposeProblem(call);
        if (problem !== undefined) report(["goals", g, "calls", c], problem);
      }
      for (const [i, edge] of after.entries())
        if (edge.goal >= g)
          report(
            ["goals", g, "after", i],
            `goal ${g} can only follow goals before it, not ${edge.goal}`,
          );
      if (turn >= turns.length) report(["goals", g, "turn"], `there is no turn ${turn}`);
    }
    const offered = new Set(menu.map(it => (typeof it === "string" ? it : it.name)));
    for (const [t, turn] of turns.entries()) {
      for (const it of turn.goals)
        if (it >= goals.length) report(["turns", t, "goals"], `there is no goal ${it}`);
      if (t === 0 && turn.adds) report(["turns", t, "adds"], "the first turn has the menu");
      for (const it of turn.adds ?? []) {
        if (offered.has(it)) report(["turns", t, "adds"], `${it} is on the menu already`);
        offered.add(it);
      }
    }
  });

/** What does not fit the purpose of a goal call, or undefined. */
function findPurposeProblem(call: GoalCall): string | undefined {
  if ((call.for === "feeds") !== (call.values !== undefined))
    return "values and for: feeds go together";
  if ((call.for === "answers") !== (call.facts !== undefined))
    return "facts and for: answers go together";
  const hasContent = (it: Fact) => (it.field === undefined) === (it.value === undefined);
  const isWhole = (it: Fact) => hasContent(it) && (it.entity ?? it.field) !== undefined;
  return call.facts?.every(isWhole) === false
    ? "a fact has an entity, a field with its value, or both"
    : undefined;
}

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
          proofs: proofsSchema.optional(),
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

type TaskLine = z.infer<typeof taskLineSchema>;

/**
 * The formats before `taskFormat`, whose lines can still be read. The goals of the first two say of
 * no call what it was for. In the first, the log was a list of transitions.
 */
const earlierTaskFormats: readonly string[] = [
  "prove/task@1",
  "prove/task@2",
  formatWithoutAnswers,
];

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
    turns: task.turns.map(({ user, goals, reply, unmet, adds, conditional, proofs }, i) => ({
      user,
      goals,
      ...(reply === replies[i] ? {} : { reply }),
      ...(unmet ? { unmet } : {}),
      ...(adds ? { adds } : {}),
      ...(conditional ? { conditional } : {}),
      ...(proofs ? { proofs } : {}),
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

/** Whether parsed JSON says that it is a task of an earlier format. */
export const isEarlierTaskLine = (json: unknown): json is { readonly format: string } =>
  earlierTaskFormats.includes(String((json as { format?: unknown } | null)?.format));

/**
 * Converts a line of the first two formats to the third. Anything else is returned unchanged.
 */
export function migrateTaskLine(json: unknown): unknown {
  if (!isEarlierTaskLine(json) || json.format === formatWithoutAnswers) return json;
  const line: { format: string; provenance?: { log?: unknown } } = json;
  const log = line.provenance?.log;
  return line.format === "prove/task@1" && Array.isArray(log)
    ? {
        ...line,
        format: formatWithoutAnswers,
        provenance: { ...line.provenance, log: formatLog(log as Transition[]) },
      }
    : { ...line, format: formatWithoutAnswers };
}

function formatLog(log: readonly Transition[]): string[] {
  const turns = [...new Set(log.map(it => it.t))];
  return turns.map(t => {
    const own = log.filter(it => it.t === t);
    return `${own.map(it => `${it.from}${it.attempt > 1 ? `#${it.attempt}` : ""} -${it.event}-> `).join("")}${own.at(-1)!.to}`;
  });
}
