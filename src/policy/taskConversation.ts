/**
 * The conversation of an attempt at a task: records the policy's messages and calls, and says what
 * the user answers and when the attempt ends. An attempt at one turn begins with the turns before
 * it as the teacher did them. A rollout asks a policy for the messages; the HTTP service receives
 * them from its clients.
 */
import type { Catalog } from "../environment/catalog.ts";
import { computeDigest } from "../environment/digest.ts";
import { listMenuTools } from "../environment/menu.ts";
import type { CallResult } from "../environment/outcome.ts";
import type { Tool } from "../environment/server.ts";
import type { Session } from "../environment/session.ts";
import { createTurnEvent, type Task } from "../trajectory/task.ts";
import {
  asFinished,
  createCallEvent,
  trajectoryFormat,
  type EndedEvent,
  type Event,
  type Finished,
  type Header,
  type Trajectory,
  startsTurn,
  type CallEvent,
} from "../trajectory/trajectory.ts";
import { isSameResult } from "../environment/listTotals.ts";
import type { Json } from "../environment/json.ts";
import { UserError } from "../userError.ts";
import { createRules, type AssistantMessage, type Conversation } from "./policy.ts";
import { countAnswersInTurn, findUserAnswer } from "./userAnswers.ts";
import { endTaskAfter, findTurnStart } from "../trajectory/oneTurn.ts";

export interface ConversationOptions {
  /**
   * The most messages of the policy, apart from one more for each answer of the user to a question;
   * the task's own limit if absent.
   */
  readonly maxMessages?: number;
  /** Called with each event as it is appended. */
  readonly onEvent?: (event: Event) => void;
}

/** The session of an attempt, or an object that forwards to one. */
export type AttemptSession = Pick<Session, "tools" | "state" | "call" | "addTools">;

export class TaskConversation {
  /** What the policy sees; the same object at all times. */
  readonly conversation: Conversation;
  readonly session: AttemptSession;
  readonly #task: Task;
  readonly #events: Event[] = [];
  readonly #tools: Tool[];
  readonly #onEvent: ((event: Event) => void) | undefined;
  readonly #onlyTurn: number | undefined;
  #turn: number;
  #answersInTurn = 0;
  /** The number of the next message of the policy. */
  #nextMessage: number;
  #limit: number;
  #openMessage: { readonly text: string; calls: number } | undefined;

  /**
   * Begins an attempt in a session that was opened from the header, with the turns before the
   * header's only turn run as the teacher did. Throws a `UserError` if the task's menu names a tool
   * that does not exist, or the teacher's calls no longer return what they did.
   */
  constructor(
    task: Task,
    header: Header,
    session: AttemptSession,
    { maxMessages, onEvent }: ConversationOptions = {},
  ) {
    this.#task = task;
    this.session = session;
    this.#onEvent = onEvent;
    this.#onlyTurn = header.turn;
    this.#turn = header.turn ?? 0;
    this.#tools = [...listOfferedTools(task, task.menu, session)];
    this.conversation = {
      header,
      tools: this.#tools,
      now: task.now,
      events: this.#events,
      ...createRules(task),
    };
    if (header.turn !== undefined)
      runTeacherTurns(task, header.turn, session, it => this.#append(it));
    this.#nextMessage = this.#events.filter(it => it.kind === "assistant").length;
    this.#limit = this.#nextMessage + (maxMessages ?? getMessageLimit(task, header.turn));
    this.#append(createTurnEvent(task, this.#turn));
    this.#endAtLimit();
  }

  /** How the attempt ended; undefined as long as it goes on. */
  get end(): EndedEvent | undefined {
    const last = this.#events.at(-1)!;
    return last.kind === "ended" ? last : undefined;
  }

  /** Whether a message has been started whose calls are not all made. */
  get isMessageOpen(): boolean {
    return this.#openMessage !== undefined;
  }

  /** How many more messages the policy may begin. */
  get messagesLeft(): number {
    return this.end ? 0 : this.#limit - this.#nextMessage;
  }

  /**
   * Adds a whole message: appends it, runs its calls in order, and lets the user answer. A message
   * of more calls than anybody needs counts as one that a token limit cut off.
   */
  addMessage(message: AssistantMessage): void {
    this.startMessage(message);
    for (const [i, call] of message.calls.entries()) {
      if (i === maxCallsInMessage) return this.finishMessage({ cut: true });
      this.call(call.name, call.arguments);
      if (this.end) return;
    }
    this.finishMessage(message);
  }

  /** Appends a message of the policy, whose calls follow with `call`. */
  startMessage(message: Omit<AssistantMessage, "calls">): void {
    this.#openMessage = { text: message.text, calls: 0 };
    this.#append(createAssistantEvent(this.#nextMessage++, message));
  }

  /** Executes a call of the open message. A call that breaks ends the attempt by a fault. */
  call(name: string, args: Json): CallResult {
    const result = this.session.call(name, args);
    this.#openMessage!.calls++;
    this.#append(createCallEvent(this.#nextMessage - 1, name, args, result));
    if (result.outcome.kind === "broken") this.endByFault(result.outcome.message);
    return result;
  }

  /**
   * Closes the open message, if there is one. After one without calls, the user answers its
   * question, or goes on with the next turn. Ends the attempt after the last turn and at the limit
   * of messages.
   */
  finishMessage({ cut = false }: { readonly cut?: boolean } = {}): void {
    if (!this.#openMessage) return;
    const { text, calls } = this.#openMessage;
    this.#openMessage = undefined;
    if (cut) return this.#end({ kind: "ended", by: "limit" });
    if (calls === 0) this.#answer(text);
    this.#endAtLimit();
  }

  /** Ends the attempt by a fault that is not the policy's, so that it is not scored. */
  endByFault(fault: string): void {
    this.#end({ kind: "ended", by: "fault", fault });
  }

  /** The attempt so far; one that has not ended counts as one that reached a limit. */
  createTrajectory(): Finished<Trajectory> {
    const { header } = this.conversation;
    const events = this.end
      ? this.#events
      : [...this.#events, { kind: "ended", by: "limit" } as const];
    return asFinished({ header, events })!;
  }

  #answer(text: string): void {
    const task = this.#task;
    const reply =
      this.#answersInTurn < countAnswersInTurn(task, this.#turn)
        ? findUserAnswer(task, this.#turn, text, this.conversation)
        : undefined;
    if (reply !== undefined) {
      this.#answersInTurn++;
      this.#limit++;
      this.#append({ kind: "user", text: reply, answers: true });
      return;
    }
    if (++this.#turn === task.turns.length || this.#onlyTurn !== undefined)
      return this.#end({ kind: "ended", by: "policy" });
    this.#answersInTurn = 0;
    if (this.#nextMessage < this.#limit) this.#append(createTurnEvent(task, this.#turn));
  }

  #endAtLimit(): void {
    if (!this.end && this.#nextMessage >= this.#limit) this.#end({ kind: "ended", by: "limit" });
  }

  #end(event: EndedEvent): void {
    this.#openMessage = undefined;
    this.#append(event);
  }

  #append(event: Event): void {
    this.#events.push(event);
    if (event.kind === "user" && event.adds) {
      this.session.addTools(event.adds);
      const added = event.adds.map(name => ({ name }));
      this.#tools.push(...listOfferedTools(this.#task, added, this.session));
    }
    this.#onEvent?.(event);
  }
}

/** Twenty times as many as any teacher makes. */
export const maxCallsInMessage = 256;

const createAssistantEvent = (
  message: number,
  { text, tokens, logprobs, mask }: Omit<AssistantMessage, "calls">,
): Event => ({
  kind: "assistant",
  message,
  text,
  ...(tokens ? { tokens: [...tokens] } : {}),
  ...(logprobs ? { logprobs: [...logprobs] } : {}),
  ...(mask ? { mask: [...mask] } : {}),
});

/**
 * The header of an attempt. Pins the fixtures and tool definitions as they are now, which may be
 * newer than the task's. The id is derived from task and policy if it is absent.
 */
export function createAttemptHeader(
  task: Task,
  catalog: Catalog,
  policy: string,
  {
    id = `${task.id}/${policy}`,
    turn,
  }: { readonly id?: string; readonly turn?: number | undefined } = {},
): Header {
  return {
    kind: "header",
    format: trajectoryFormat,
    id,
    task: task.id,
    servers: task.servers.map(({ name, fixture }) => ({
      name,
      fixture,
      digest: computeDigest(catalog.getFixture(name, fixture)),
    })),
    catalog: catalog.hashTools(task.servers.map(it => it.name)),
    seed: task.seed,
    menu: task.menu.map(it => it.name),
    policy,
    ...(turn === undefined ? {} : { turn }),
  };
}

/** The tools of a part of the menu. Throws a `UserError` if there is no such tool. */
export function listOfferedTools(
  task: Task,
  items: Task["menu"],
  session: Pick<Session, "tools">,
): readonly Tool[] {
  const tools = listMenuTools(session.tools, items, task.tools);
  const missing = items.find(({ name }) => !tools.some(it => it.name === name));
  if (missing)
    throw new UserError(
      `task ${task.id} offers ${missing.name}, which none of its servers has`,
      "synthesize the task anew",
    );
  return tools;
}

/**
 * Appends the events of the turns before one, with the teacher's calls executed on the session.
 * Throws a `UserError` if the task has no such turn, or a call does not return what the teacher
 * got.
 */
function runTeacherTurns(
  task: Task,
  turn: number,
  session: Pick<Session, "call">,
  append: (event: Event) => void,
): void {
  endTaskAfter(task, turn);
  const { events } = task.trajectory;
  if (events.filter(startsTurn).length < turn)
    throw new UserError(
      `task ${task.id} does not have its teacher's first ${turn} turns`,
      "attempt the whole task, or synthesize it anew",
    );
  for (const event of events.slice(0, findTurnStart(events, turn))) {
    if (event.kind !== "call") {
      append(event);
      continue;
    }
    const { message, name, arguments: args } = event;
    const executed = createCallEvent(message, name, args, session.call(name, args));
    if (!isSame(event, executed))
      throw new UserError(
        `task ${task.id}: the teacher's call ${name} no longer returns what it did`,
        "restore the fixture it was made on, or synthesize it anew",
      );
    append(executed);
  }
}

/** Whether a call has the outcome and leaves the state that were recorded. */
const isSame = (recorded: CallEvent, executed: CallEvent): boolean =>
  recorded.digest === executed.digest &&
  recorded.outcome.kind === executed.outcome.kind &&
  (recorded.outcome.kind !== "ok" ||
    executed.outcome.kind !== "ok" ||
    isSameResult(recorded.outcome.value, executed.outcome.value));

/**
 * The most messages of a policy: the task's limit or, for one turn, what the teacher's messages in
 * the other turns leave of it.
 */
export function getMessageLimit({ budget, trajectory }: Task, turn: number | undefined): number {
  const limit = budget.assistantMessages;
  if (turn === undefined) return limit;
  const { events } = trajectory;
  const [start, end] = [findTurnStart(events, turn), findTurnStart(events, turn + 1)];
  const others = events.filter((it, i) => it.kind === "assistant" && (i < start || i >= end));
  return Math.max(1, limit - others.length);
}
