/** Executes the requests of a journal again, as they were executed the first time. */
import type { DirectCall, SessionApi } from "./sessionApi.ts";
import type { ForkRecord, Repeat } from "./sessionKeeper.ts";
import type { SessionTable } from "./sessionTable.ts";
import { hasTaskId, type TaskApi } from "./taskApi.ts";

export function createRepeat(table: SessionTable, sessions: SessionApi, attempts: TaskApi): Repeat {
  const actions: Readonly<Record<string, (id: string, body: unknown, ms?: number) => unknown>> = {
    open: (id, body) => (hasTaskId(body) ? attempts.open(id, body) : sessions.open(id, body)),
    call: (id, body, ms) => sessions.call(id, body, ms),
    message: (id, body) => attempts.message(id, body),
    user: (id, body) => attempts.user(id, body),
    direct: (id, body) => sessions.callDirectly(sessions.get(id), body as DirectCall),
    restore: (id, body) => sessions.restore(id, body),
    reset: (id, body) => sessions.reset(id, body),
    tools: (id, body) => sessions.tools(id, body),
    fork(id, body) {
      const { key, owner, ttl_ms: ttlMs } = body as ForkRecord;
      // a journal of an older version does not have it
      const own = ttlMs === undefined ? {} : { ttlMs: ttlMs ?? Infinity };
      table.forkInPlace(id, key, { owner, ...own });
    },
  };
  return (id, { do: name, body, ms }) => actions[name]!(id, body, ms);
}
