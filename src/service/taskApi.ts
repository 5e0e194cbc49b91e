/**
 * Answers the requests about tasks and attempts at them: the list of tasks, sessions that are
 * opened for a task, the policy's messages, the user's answers, and scores.
 */
import type { z } from "zod";
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import { isJsonObject } from "../environment/json.ts";
import { parseAssistantMessage } from "../policy/endpointFormat.ts";
import { TaskConversation, getMessageLimit } from "../policy/taskConversation.ts";
import { parseTrajectory } from "../trajectory/file.ts";
import { listSingleTurns } from "../trajectory/oneTurn.ts";
import { findChange } from "../trajectory/replay.ts";
import { asFinished, formatTrajectoryLine } from "../trajectory/trajectory.ts";
import type { Attempts } from "./attempts.ts";
import { describeError, HttpError } from "./httpError.ts";
import { createOkResponse, parseBody, type JsonResponse } from "./jsonBody.ts";
import {
  messageBody,
  openTaskBody,
  scoreBody,
  scoresBody,
  tasksQuery,
  userBody,
} from "./schemas.ts";
import { addPrefixRewards } from "./score.ts";
import {
  createServedHeader,
  describeAttempt,
  describeProgress,
  formatAnswers,
  formatTool,
  listAddedTools,
} from "./servedAttempt.ts";
import { describeSession, type SessionApi } from "./sessions/sessionApi.ts";
import type { TableSession } from "./sessions/sessionTable.ts";
import { createAnswerTooLargeError, maxAnswerBytes, startSlices } from "./slices.ts";

const defaultPageSize = 100;

export class TaskApi {
  readonly #catalog: Catalog;
  readonly #sessions: SessionApi;
  readonly #attempts: Attempts;
  readonly #onBug: ((error: unknown) => void) | undefined;

  constructor(
    catalog: Catalog,
    sessions: SessionApi,
    attempts: Attempts,
    onBug?: (error: unknown) => void,
  ) {
    this.#catalog = catalog;
    this.#sessions = sessions;
    this.#attempts = attempts;
    this.#onBug = onBug;
  }

  list(query: unknown): JsonResponse {
    const { offset = 0, limit = defaultPageSize, split } = parseBody(tasksQuery, query);
    const all = this.#attempts.tasks.list(split);
    const end = offset + limit;
    return createOkResponse({
      tasks: all.slice(offset, end),
      total: all.length,
      next_offset: end < all.length ? end : null,
    });
  }

  /** A task as a policy sees it at its start, without its goals. */
  async task(id: string): Promise<JsonResponse> {
    const task = await this.#attempts.findTask(id);
    const header = createServedHeader(task, this.#catalog, {});
    const attempt = new TaskConversation(task, header, openSessionByName(this.#catalog, header));
    const { messages, tools } = describeAttempt({
      task,
      conversation: attempt,
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
    const session = await this.#attempts.open(sessionId, parseBody(openTaskBody, body));
    this.#sessions.keeper?.recordOpening(session, body);
    return createOkResponse({
      ...describeSession(session),
      attempt: describeAttempt(this.#attempts.get(session)),
    });
  }

  /** The policy wrote a message without calls: what the user answers. */
  user(sessionId: string, body: unknown): JsonResponse {
    const session = this.#sessions.get(sessionId);
    const { seq, assistant_text: text, cut } = parseBody(userBody, body);
    const request = { text, cut };
    return this.#sessions.runOnce(session, { do: "user", seq, request, body }, () => {
      const added = this.#attempts.addMessage(session, {
        text,
        calls: [],
        ...(cut ? { cut } : {}),
      });
      const user = added.find(it => it.kind === "user");
      const attempt = session.attempt!;
      const response = createOkResponse({
        message: user?.text ?? null,
        answers: user?.answers ?? false,
        tools: listAddedTools(attempt, added).map(formatTool),
        ...describeProgress(attempt),
      });
      return { response };
    });
  }

  /** The policy wrote a message: the results of its calls or, without calls, the user's answer. */
  message(sessionId: string, body: unknown): JsonResponse {
    const session = this.#sessions.get(sessionId);
    const { seq, message, cut } = parseBody(messageBody, body);
    const request = { message, cut };
    return this.#sessions.runOnce(session, { do: "message", seq, request, body }, () => {
      const { text, calls } = parseMessage(session, { message, cut });
      const added = this.#attempts.addMessage(session, { text, calls, ...(cut ? { cut } : {}) });
      const attempt = session.attempt!;
      const response = createOkResponse({
        messages: formatAnswers(added, calls),
        tools: listAddedTools(attempt, added).map(formatTool),
        digest: session.digest,
        ...describeProgress(attempt),
      });
      return { response };
    });
  }

  /** The score of an attempt so far; one that has not ended counts as one that hit a limit. */
  async score(sessionId: string, body: unknown): Promise<JsonResponse> {
    const session = this.#sessions.get(sessionId);
    this.#attempts.get(session);
    const { prefixes, ...options } = parseBody(scoreBody, body);
    const scored = this.#attempts.score(session, options);
    return createOkResponse(prefixes ? await addPrefixRewards(scored) : scored.score);
  }

  /** Scores recorded attempts. One that cannot be scored has an error in its place. */
  async scores(body: unknown): Promise<JsonResponse> {
    const { trajectories, ...options } = parseBody(scoresBody, body);
    const pause = startSlices();
    const scores: string[] = [];
    let bytes = 0;
    for (const [i, it] of trajectories.entries()) {
      await pause();
      const score = JSON.stringify(
        bytes >= maxAnswerBytes
          ? createAnswerTooLargeError(`trajectories[${i}]`).body
          : await this.#scoreRecorded(it, i, options),
      );
      scores.push(score);
      bytes += Buffer.byteLength(score);
    }
    return { status: 200, text: `{"scores":[${scores.join(",")}]}` };
  }

  /** The attempt as trajectory and group files contain it. */
  trajectory(sessionId: string): JsonResponse {
    const { conversation } = this.#attempts.get(this.#sessions.get(sessionId));
    return createOkResponse(formatTrajectoryLine(conversation.createTrajectory()));
  }

  async #scoreRecorded(
    json: unknown,
    index: number,
    { prefixes, ...options }: Omit<z.infer<typeof scoresBody>, "trajectories">,
  ): Promise<object> {
    try {
      const trajectory = parseTrajectory(json, { file: `trajectories[${index}]`, line: 1 });
      const finished = asFinished(trajectory);
      if (!finished)
        throw new HttpError(
          "INVALID_REQUEST",
          `trajectories[${index}] has no end`,
          "add its event of kind ended",
        );
      const scored = await this.#attempts.scoreRecorded(finished, options);
      return prefixes ? await addPrefixRewards(scored) : scored.score;
    } catch (error) {
      return describeError(error, this.#onBug).body;
    }
  }
}

/** Whether the body of a request to open a session names a task. */
/** What the policy wrote in the body of a request. */
export const parseMessage = (
  { tools }: TableSession,
  { message, cut }: Omit<z.infer<typeof messageBody>, "seq">,
) => parseAssistantMessage(message, tools.values(), cut);

export const hasTaskId = (body: unknown): boolean =>
  isJsonObject(body) && Object.hasOwn(body, "task_id");
