/**
 * Answers the requests about tasks and attempts at them: the list of tasks, sessions that are
 * opened for a task, the policy's messages, the user's answers, and scores.
 */
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import { isJsonObject, type JsonObject } from "../environment/json.ts";
import { parseAssistantMessage, formatChatMessage } from "../policy/endpointFormat.ts";
import { formatResult } from "../policy/endpointPolicy.ts";
import type { AssistantMessage } from "../policy/policy.ts";
import { TaskConversation } from "../policy/taskConversation.ts";
import { getMessageLimit } from "../policy/teacherTurns.ts";
import { createAttemptFactory, type CreateAttempt } from "../trajectory/attempt.ts";
import { parseTrajectory } from "../trajectory/file.ts";
import { listSingleTurns } from "../trajectory/oneTurn.ts";
import { findChange } from "../trajectory/replay.ts";
import type { Task } from "../trajectory/task.ts";
import { asFinished, type Event } from "../trajectory/trajectory.ts";
import { formatTrajectoryLine } from "../trajectory/trajectoryLine.ts";
import { HttpError, toHttpError } from "./httpError.ts";
import { createOkResponse, parseBody, type JsonResponse } from "./jsonResponse.ts";
import {
  messageBody,
  openTaskBody,
  scoreBody,
  scoresBody,
  tasksQuery,
  userBody,
} from "./schemas.ts";
import { createScore, type ScoreOptions } from "./score.ts";
import {
  createServedHeader,
  describeAttempt,
  describeProgress,
  formatTool,
  replayMessages,
  type ServedAttempt,
} from "./servedAttempt.ts";
import { createTtl, describeSession, type SessionApi } from "./sessionApi.ts";
import type { TableSession } from "./tableSession.ts";
import type { TaskStore } from "./taskStore.ts";

const defaultPageSize = 100;

export class TaskApi {
  readonly #catalog: Catalog;
  readonly #sessions: SessionApi;
  readonly #tasks: TaskStore;
  readonly #createAttempt: CreateAttempt;
  readonly #attempts = new WeakMap<TaskConversation, ServedAttempt>();

  constructor(catalog: Catalog, sessions: SessionApi, tasks: TaskStore) {
    this.#catalog = catalog;
    this.#sessions = sessions;
    this.#tasks = tasks;
    this.#createAttempt = createAttemptFactory(catalog);
  }

  list(query: unknown): JsonResponse {
    const { offset = 0, limit = defaultPageSize, split } = parseBody(tasksQuery, query);
    const all = this.#tasks.list(split);
    const end = offset + limit;
    return createOkResponse({
      tasks: all.slice(offset, end),
      total: all.length,
      next_offset: end < all.length ? end : null,
    });
  }

  /** A task as a policy sees it at its start, without its goals. */
  async task(id: string): Promise<JsonResponse> {
    const task = await this.#find(id);
    const header = createServedHeader(task, this.#catalog, {});
    const attempt = new TaskConversation(task, header, openSessionByName(this.#catalog, header));
    const { messages, tools } = describeAttempt({
      task,
      conversation: attempt,
      maxMessages: undefined,
    });
    return createOkResponse({
      task_id: task.id,
      split: task.split,
      kind: task.kind,
      servers: task.servers.map(it => it.name),
      seed: task.seed,
      turns: task.turns.length,
      goals: task.goals.length,
      single_turns: listSingleTurns(task),
      max_messages: getMessageLimit(task, undefined),
      messages,
      tools,
      changed: findChange(this.#catalog, task.trajectory.header).what ?? null,
    });
  }

  /** Opens a session for an attempt at a task. Repeating the request returns the same session. */
  async open(sessionId: string, body: unknown): Promise<JsonResponse> {
    const { owner = "client", ttl_s, ...options } = parseBody(openTaskBody, body);
    const task = await this.#find(options.task_id);
    if (options.seed !== undefined && options.seed !== task.seed)
      throw new HttpError(
        "INVALID_REQUEST",
        `the seed of task ${task.id} is ${task.seed}, not ${options.seed}`,
        "leave the seed out",
      );
    const { max_messages: maxMessages } = options;
    const header = createServedHeader(task, this.#catalog, options);
    const { servers, seed, menu } = header;
    const session = this.#sessions.addSession(sessionId, {
      owner,
      ...createTtl(ttl_s),
      servers: servers.map(({ name, fixture }) => ({ name, fixture })),
      seed,
      menu,
      attempt: {
        key: { ...options } as JsonObject,
        start: own => {
          const conversation = new TaskConversation(
            task,
            header,
            own,
            maxMessages === undefined ? {} : { maxMessages },
          );
          this.#attempts.set(conversation, { task, conversation, maxMessages });
          return conversation;
        },
      },
    });
    return createOkResponse({
      ...describeSession(session),
      attempt: describeAttempt(this.#getAttempt(session)),
    });
  }

  /** The policy wrote a message without calls: what the user answers. */
  user(sessionId: string, body: unknown): JsonResponse {
    const session = this.#sessions.get(sessionId);
    const { seq, assistant_text: text, cut } = parseBody(userBody, body);
    return this.#sessions.runOnce(session, seq, { text, cut }, () => {
      const attempt = session.continueAttempt();
      const count = attempt.conversation.events.length;
      attempt.addMessage({ text, calls: [], ...(cut ? { cut } : {}) });
      const added = attempt.conversation.events.slice(count);
      const user = added.find(it => it.kind === "user");
      return createOkResponse({
        message: user?.text ?? null,
        answers: user?.answers ?? false,
        tools: listAddedTools(attempt, added),
        ...describeProgress(attempt),
      });
    });
  }

  /** The policy wrote a message: the results of its calls or, without calls, the user's answer. */
  message(sessionId: string, body: unknown): JsonResponse {
    const session = this.#sessions.get(sessionId);
    const { seq, message, cut } = parseBody(messageBody, body);
    return this.#sessions.runOnce(session, seq, { message, cut }, () => {
      const attempt = session.continueAttempt();
      const count = attempt.conversation.events.length;
      const { text, calls } = parseAssistantMessage(message);
      attempt.addMessage({ text, calls, ...(cut ? { cut } : {}) });
      const added = attempt.conversation.events.slice(count);
      const ids = calls.map(it => it.id);
      return createOkResponse({
        messages: added.flatMap(it => formatAnswer(it, ids)),
        tools: listAddedTools(attempt, added),
        digest: session.digest,
        ...describeProgress(attempt),
      });
    });
  }

  /** The score of an attempt so far; one that has not ended counts as one that hit a limit. */
  score(sessionId: string, body: unknown): JsonResponse {
    const session = this.#sessions.get(sessionId);
    const served = this.#getAttempt(session);
    const { messages, cut, ...options } = parseBody(scoreBody, body);
    if (!messages) {
      const trajectory = served.conversation.createTrajectory();
      return createOkResponse(
        createScore(this.#createAttempt(served.task, trajectory, session.state), options),
      );
    }
    const { trajectory, finalState, notes } = replayMessages(
      served,
      parseMessages(messages, cut),
      this.#catalog,
    );
    return createOkResponse(
      createScore(this.#createAttempt(served.task, trajectory, finalState), options, notes),
    );
  }

  /** Scores recorded attempts. One that cannot be scored has an error in its place. */
  async scores(body: unknown): Promise<JsonResponse> {
    const { trajectories, ...options } = parseBody(scoresBody, body);
    const scores: object[] = [];
    for (const [i, it] of trajectories.entries())
      scores.push(await this.#scoreRecorded(it, i, options));
    return createOkResponse({ scores });
  }

  /** The attempt as trajectory and group files contain it. */
  trajectory(sessionId: string): JsonResponse {
    const { conversation } = this.#getAttempt(this.#sessions.get(sessionId));
    return createOkResponse(formatTrajectoryLine(conversation.createTrajectory()));
  }

  async #scoreRecorded(json: unknown, index: number, options: ScoreOptions): Promise<object> {
    try {
      const trajectory = parseTrajectory(json, { file: `trajectories[${index}]`, line: 1 });
      const finished = asFinished(trajectory);
      if (!finished)
        throw new HttpError(
          "INVALID_REQUEST",
          `trajectories[${index}] has no end`,
          "add its event of kind ended",
        );
      const task = await this.#find(trajectory.header.task);
      return createScore(this.#createAttempt(task, finished), options);
    } catch (error) {
      const known = toHttpError(error);
      if (!known) throw error;
      return known.body;
    }
  }

  async #find(id: string): Promise<Task> {
    const task = await this.#tasks.find(id);
    if (task) return task;
    throw new HttpError(
      "UNKNOWN_TASK",
      `there is no task ${id}`,
      this.#tasks.size === 0 ? "start the service with --tasks" : "GET /v1/tasks lists the tasks",
    );
  }

  #getAttempt(session: TableSession): ServedAttempt {
    const served = session.attempt && this.#attempts.get(session.attempt);
    if (served) return served;
    throw new HttpError(
      "INVALID_REQUEST",
      `session ${session.id} was opened without a task`,
      "open a session with a task_id",
    );
  }
}

/** Whether the body of a request to open a session names a task. */
export const hasTaskId = (body: unknown): boolean =>
  isJsonObject(body) && Object.hasOwn(body, "task_id");

/** The events that follow a message, as chat messages: results of calls, or the user's answer. */
function formatAnswer(event: Event, callIds: string[]): JsonObject[] {
  if (event.kind === "user") return [formatChatMessage({ role: "user", content: event.text })];
  if (event.kind !== "call") return [];
  return [
    formatChatMessage({
      role: "tool",
      call: callIds.shift()!,
      content: formatResult(event),
    }),
  ];
}

const listAddedTools = ({ conversation }: TaskConversation, added: readonly Event[]) => {
  const names = new Set(added.flatMap(it => (it.kind === "user" ? (it.adds ?? []) : [])));
  return conversation.tools.filter(it => names.has(it.name)).map(formatTool);
};

/** The policy's messages among those of a conversation. */
function parseMessages(
  messages: readonly ({ role: string } & Parameters<typeof parseAssistantMessage>[0])[],
  cut: boolean | undefined,
): readonly AssistantMessage[] {
  const own = messages.filter(it => it.role === "assistant").map(parseAssistantMessage);
  return own.map(({ text, calls }, i) => ({
    text,
    calls,
    ...(cut && i === own.length - 1 ? { cut } : {}),
  }));
}
