/**
 * An episode as OpenEnv clients see it: an attempt at a task in a session of the table. Rewards are
 * added up by clients, so all but the last step of an episode have the reward 0.
 */
import type { z } from "zod";
import type { Attempts } from "../attempts.ts";
import type { Catalog } from "../../environment/catalog.ts";
import { omitUndefined } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import { HttpError } from "../httpError.ts";
import type { ChatCall } from "../../policy/chatModel.ts";
import { parseAssistantMessage } from "../../policy/endpointFormat.ts";
import { describeTool } from "../../environment/toolDescription.ts";
import type { AssistantMessage } from "../../policy/policy.ts";
import {
  describeAttempt,
  describeProgress,
  formatAnswers,
  listAddedTools,
} from "../servedAttempt.ts";
import { formatOutcome, type SessionApi } from "../sessions/sessionApi.ts";
import type { TableSession } from "../sessions/sessionTable.ts";
import type { Action, resetOptions, state, stepResponse } from "./openEnvSchemas.ts";

export type StepResult = z.infer<typeof stepResponse>;

export interface EpisodeOptions {
  readonly catalog: Catalog;
  readonly sessions: SessionApi;
  readonly attempts: Attempts;
}

interface OpenEpisode {
  readonly id: string;
  readonly sessionId: string;
  readonly taskId: string;
  readonly profile: string | undefined;
  stepCount: number;
  isDone: boolean;
}

export class OpenEnvEpisode {
  readonly #catalog: Catalog;
  readonly #sessions: SessionApi;
  readonly #attempts: Attempts;
  #open: OpenEpisode | undefined;
  #isClosed = false;

  constructor({ catalog, sessions, attempts }: EpisodeOptions) {
    this.#catalog = catalog;
    this.#sessions = sessions;
    this.#attempts = attempts;
  }

  /** Ends the episode, if there is one, and begins another. Rejects with an `HttpError`. */
  async reset(data: z.infer<typeof resetOptions>): Promise<StepResult> {
    this.#deleteSession();
    const taskId = data.task_id ?? this.#chooseTask(data.seed);
    const sessionId = this.#sessions.createId();
    const options = {
      task_id: taskId,
      owner: "openenv",
      ...omitUndefined({
        turn: data.turn === -1 ? undefined : (data.turn ?? undefined),
        seed: data.task_id === taskId ? (data.seed ?? undefined) : undefined,
        trajectory_id: data.trajectory_id ?? undefined,
        policy: data.policy ?? undefined,
        max_messages: data.max_messages ?? undefined,
      }),
    };
    const session = await this.#sessions.withRoom(() => this.#attempts.open(sessionId, options));
    const open: OpenEpisode = {
      id: data.episode_id ?? sessionId,
      sessionId,
      taskId,
      profile: data.profile ?? undefined,
      stepCount: 0,
      isDone: false,
    };
    this.#open = open;
    // the client has disconnected while the task was read
    if (this.#isClosed) this.#deleteSession();
    const { messages, turn } = describeAttempt(this.#attempts.get(session));
    return this.#finishStep(open, session, {
      task_id: taskId,
      turn: turn as number | null,
      messages: messages as { role: string }[],
      tools: session.attempt!.conversation.tools.map(formatTool),
    });
  }

  /** Executes an action. Throws an `HttpError` if there is no episode, or it is done. */
  step(action: Action): StepResult | Promise<StepResult> {
    if (action.type === "list_tools") return this.#listTools();
    const open = this.#getOpen();
    const session = this.#sessions.get(open.sessionId);
    if (open.isDone)
      throw new HttpError("ENDED", "the episode is done", "send reset to begin another");
    switch (action.type) {
      case "call_tool":
        return session.runPrepared(
          () => [{ name: action.tool_name, arguments: action.arguments }],
          () => this.#call(open, session, action),
        );
      case "message": {
        const { message, cut } = action;
        const { text, calls } = parseAssistantMessage(message, session.tools.values(), cut);
        return session.runPrepared(
          () => calls,
          () => this.#add(open, session, { text, calls, ...(cut ? { cut } : {}) }),
        );
      }
      case "finish":
        return this.#finish(open, session, action);
      default:
        return action satisfies never;
    }
  }

  get state(): z.infer<typeof state> {
    if (!this.#open) return { episode_id: null, step_count: 0 };
    const { id, sessionId, taskId, stepCount } = this.#open;
    return {
      episode_id: id,
      step_count: stepCount,
      session_id: sessionId,
      task_id: taskId,
      digest: this.#sessions.get(sessionId).digest,
    };
  }

  /** The session of the episode. Throws an `HttpError` if there is none. */
  get session(): TableSession {
    return this.#sessions.get(this.#getOpen().sessionId);
  }

  /** Deletes the session of the episode. No other is opened any more. */
  close(): void {
    this.#isClosed = true;
    this.#deleteSession();
  }

  #deleteSession(): void {
    if (this.#open) this.#sessions.delete(this.#open.sessionId);
    this.#open = undefined;
  }

  #getOpen(): OpenEpisode {
    if (this.#open) return this.#open;
    throw new HttpError("ENDED", "there is no episode", "send reset with a task_id first");
  }

  #chooseTask(seed: number | null | undefined): string {
    const { ids } = this.#attempts.tasks;
    if (seed === null || seed === undefined)
      throw new HttpError(
        "INVALID_REQUEST",
        "the reset has neither task_id nor seed",
        "name a task, or give a seed to choose one",
      );
    if (ids.length === 0)
      throw new HttpError(
        "UNKNOWN_TASK",
        "the service offers no tasks",
        "start the service with --tasks",
      );
    return ids[seed % ids.length]!;
  }

  #listTools(): StepResult {
    const open = this.#open;
    const tools = open
      ? this.#sessions.get(open.sessionId).attempt!.conversation.tools
      : [...this.#catalog.tools.values()];
    const listed = tools.map(formatTool);
    return { observation: { tools: listed }, reward: 0, done: open?.isDone ?? false };
  }

  #call(
    open: OpenEpisode,
    session: TableSession,
    { tool_name: name, arguments: args = {} }: Extract<Action, { type: "call_tool" }>,
  ): StepResult {
    const { outcome } = session.call(name, args);
    // each call is a message of its own, so that a limit is noticed now
    session.attempt!.finishMessage();
    open.stepCount++;
    return this.#finishStep(open, session, {
      tool_name: name,
      result: formatOutcome(outcome).text,
      error:
        outcome.kind === "ok"
          ? null
          : { error_type: errorTypes[outcome.kind], message: outcome.message.split("\n", 1)[0]! },
    });
  }

  #finish(
    open: OpenEpisode,
    session: TableSession,
    { text, messages, cut }: Extract<Action, { type: "finish" }>,
  ): StepResult {
    if (text !== undefined && messages)
      throw new HttpError(
        "INVALID_REQUEST",
        "the action has both text and messages",
        "add the text to the messages",
      );
    open.isDone = true;
    if (text !== undefined)
      return this.#add(open, session, { text, calls: [], ...(cut ? { cut } : {}) });
    open.stepCount++;
    return this.#finishStep(open, session, { messages: [], added_tools: [] }, { messages, cut });
  }

  #add(
    open: OpenEpisode,
    session: TableSession,
    message: AssistantMessage & { readonly calls: readonly ChatCall[] },
  ): StepResult {
    const added = this.#attempts.addMessage(session, message);
    open.stepCount++;
    return this.#finishStep(open, session, {
      messages: formatAnswers(added, message.calls) as { role: string }[],
      added_tools: listAddedTools(session.attempt!, added).map(formatTool),
    });
  }

  /** Adds to an observation how far the attempt is, and its score if it has ended. */
  #finishStep(
    open: OpenEpisode,
    session: TableSession,
    own: object,
    scored: Pick<Parameters<Attempts["score"]>[1], "messages" | "cut"> = {},
  ): StepResult {
    const progress = describeProgress(session.attempt!);
    open.isDone ||= progress.ended !== null;
    const score = open.isDone
      ? this.#attempts.score(session, omitUndefined({ profile: open.profile, ...scored })).score
      : null;
    const observation = { ...own, ...progress, reward_breakdown: score };
    return {
      observation: observation as StepResult["observation"],
      reward: score ? score.reward : 0,
      done: open.isDone,
    };
  }
}

/** How OpenEnv calls the outcomes of calls. */
const errorTypes = {
  refused: "execution_error",
  broken: "execution_error",
  "bad-arguments": "invalid_args",
  "unknown-tool": "tool_not_found",
} as const;

export const formatTool = (tool: Tool) => {
  const { name, description, parameters } = describeTool(tool);
  return { name, description, input_schema: parameters };
};
