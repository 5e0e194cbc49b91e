/**
 * The answers to requests that name a session, by what they do. A session that is in the journal
 * only is rebuilt first, and one that is to be opened waits until there is room for it.
 */
import type { JsonResponse } from "./jsonResponse.ts";
import type { SessionApi } from "./sessionApi.ts";
import { hasTaskId, type TaskApi } from "./taskApi.ts";

export type SessionAnswer = (
  sessionId: string,
  body: unknown,
) => JsonResponse | Promise<JsonResponse>;

/** All but `delete` use the session. */
export function createSessionAnswers(sessions: SessionApi, attempts: TaskApi) {
  const awake =
    (answer: SessionAnswer): SessionAnswer =>
    (id, body) => {
      const waking = sessions.keeper?.wake(id);
      return waking ? waking.then(() => answer(id, body)) : answer(id, body);
    };
  return {
    open: awake((id, body) =>
      sessions.withRoom(() =>
        hasTaskId(body) ? attempts.open(id, body) : sessions.open(id, body),
      ),
    ),
    delete: (id => sessions.delete(id)) as SessionAnswer,
    call: awake((id, body) => sessions.call(id, body)),
    message: awake((id, body) => attempts.message(id, body)),
    user: awake((id, body) => attempts.user(id, body)),
    score: awake((id, body) => attempts.score(id, body)),
    trajectory: awake(id => attempts.trajectory(id)),
    state: awake((id, query) => sessions.state(id, query)),
    fork: awake((id, body) => sessions.fork(id, body)),
    restore: awake((id, body) => sessions.restore(id, body)),
    reset: awake((id, body) => sessions.reset(id, body)),
    tools: awake((id, body) => sessions.tools(id, body)),
  };
}
