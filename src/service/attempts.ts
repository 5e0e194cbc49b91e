/**
 * Attempts at tasks in sessions of the table: opens, continues and scores them, for all protocols
 * through which clients make them.
 */
import type { z } from "zod";
import { CallMemo } from "../environment/session.ts";
import type { Catalog } from "../environment/catalog.ts";
import type { JsonObject } from "../environment/json.ts";
import { parseAssistantMessage } from "../policy/endpointFormat.ts";
import type { AssistantMessage } from "../policy/policy.ts";
import { TaskConversation } from "../policy/taskConversation.ts";
import { explainUnscorable } from "../reward/reward.ts";
import { createScorer, type Scorer } from "../reward/scorer.ts";
import type { Task } from "../trajectory/task.ts";
import type { Event, Finished, Trajectory } from "../trajectory/trajectory.ts";
import { HttpError } from "./httpError.ts";
import type { openTaskBody, scoreBody } from "./schemas.ts";
import { createEmptyScore, createScore, type ScoredAttempt, type ScoreOptions } from "./score.ts";
import { createServedHeader, replayMessages, type ServedAttempt } from "./servedAttempt.ts";
import { createTtl, type SessionApi } from "./sessions/sessionApi.ts";
import type { TableSession } from "./sessions/sessionTable.ts";
import type { TaskStore } from "./taskStore.ts";

export class Attempts {
  readonly tasks: TaskStore;
  readonly #catalog: Catalog;
  readonly #sessions: SessionApi;
  readonly #score: Scorer;
  readonly #served = new WeakMap<TaskConversation, ServedAttempt>();
  /** By task. A memo lives as long as a session that was opened with it. */
  readonly #memos = new Map<string, WeakRef<CallMemo>>();

  constructor(catalog: Catalog, sessions: SessionApi, tasks: TaskStore) {
    this.#catalog = catalog;
    this.#sessions = sessions;
    this.tasks = tasks;
    this.#score = createScorer(catalog);
  }

  /** Opens a session for an attempt. Repeating the request returns the same session. */
  async open(
    sessionId: string,
    { owner = "client", ttl_s, ...options }: z.infer<typeof openTaskBody>,
  ): Promise<TableSession> {
    const task = await this.findTask(options.task_id);
    if (options.seed !== undefined && options.seed !== task.seed)
      throw new HttpError(
        "INVALID_REQUEST",
        `the seed of task ${task.id} is ${task.seed}, not ${options.seed}`,
        "leave the seed out",
      );
    const { max_messages: maxMessages } = options;
    const header = createServedHeader(task, this.#catalog, options);
    const { servers, seed, menu } = header;
    const memo = this.#getMemo(task);
    return this.#sessions.addSession(sessionId, {
      owner,
      ...createTtl(ttl_s),
      servers: servers.map(({ name, fixture }) => ({ name, fixture })),
      seed,
      menu,
      memo,
      attempt: {
        key: { ...options } as JsonObject,
        start: own => {
          const conversation = new TaskConversation(
            task,
            header,
            own,
            maxMessages === undefined ? {} : { maxMessages },
          );
          this.#served.set(conversation, { task, conversation, maxMessages, memo });
          return conversation;
        },
      },
    });
  }

  /** The attempt that a session is for. Throws an `HttpError` if it was opened without a task. */
  get(session: TableSession): ServedAttempt {
    const served = session.attempt && this.#served.get(session.attempt);
    if (served) return served;
    throw new HttpError(
      "INVALID_REQUEST",
      `session ${session.id} was opened without a task`,
      "open a session with a task_id",
    );
  }

  /**
   * Adds a message of the policy, executes its calls, and lets the user answer. Returns the events
   * that it caused. Throws an `HttpError` if the attempt has ended.
   */
  addMessage(session: TableSession, message: AssistantMessage): readonly Event[] {
    const attempt = session.continueAttempt();
    const count = attempt.conversation.events.length;
    attempt.addMessage(message);
    return attempt.conversation.events.slice(count);
  }

  /** The score of an attempt so far; one that has not ended counts as one that hit a limit. */
  score(
    session: TableSession,
    { messages, cut, ...options }: Omit<z.infer<typeof scoreBody>, "prefixes">,
  ): ScoredAttempt {
    const served = this.get(session);
    if (!messages) {
      const { task, conversation } = served;
      const trajectory = conversation.createTrajectory();
      return createScore(this.#score, { task, trajectory, finalState: session.state }, options);
    }
    const replayed = replayMessages(
      served,
      parseMessages(messages, session.tools, cut),
      this.#catalog,
    );
    return createScore(this.#score, replayed, options, replayed.notes);
  }

  /** The score of a recorded attempt. Rejects with an `HttpError` if its task is not offered. */
  async scoreRecorded(
    trajectory: Finished<Trajectory>,
    options: ScoreOptions,
  ): Promise<ScoredAttempt> {
    const unscorable = explainUnscorable(trajectory);
    if (unscorable !== undefined)
      return { score: createEmptyScore(trajectory, options, unscorable) };
    const task = await this.findTask(trajectory.header.task);
    return createScore(this.#score, { task, trajectory }, options);
  }

  /**
   * What open attempts at a task share: an engine makes many at the same time, which begin alike.
   */
  #getMemo({ id }: Task): CallMemo {
    const known = this.#memos.get(id)?.deref();
    if (known) return known;
    const memo = new CallMemo();
    this.#memos.set(id, new WeakRef(memo));
    return memo;
  }

  /** The task with that id. Rejects with an `HttpError` if there is none. */
  async findTask(id: string): Promise<Task> {
    const task = await this.tasks.find(id);
    if (task) return task;
    throw new HttpError(
      "UNKNOWN_TASK",
      `there is no task ${id}`,
      this.tasks.size === 0 ? "start the service with --tasks" : "GET /v1/tasks lists the tasks",
    );
  }
}

/** The policy's messages among those of a conversation. */
function parseMessages(
  messages: NonNullable<z.infer<typeof scoreBody>["messages"]>,
  tools: TableSession["tools"],
  cut: boolean | undefined,
): readonly AssistantMessage[] {
  const own = messages.filter(it => it.role === "assistant");
  return own.map((it, i) => {
    const isCut = cut === true && i === own.length - 1;
    const { text, calls } = parseAssistantMessage(it, tools.values(), isCut);
    return { text, calls, ...(isCut ? { cut } : {}) };
  });
}
