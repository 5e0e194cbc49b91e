/**
 * The answers to requests that name a session, by what they do: one at a time, many in a batch, or
 * again from a journal. A session that is in the journal only is rebuilt first, and one that is to
 * be opened waits until there is room for it. Requests of a batch to sessions of other processes
 * are passed to these, which execute them at the same time.
 */
import type { z } from "zod";
import { HttpError, toHttpError } from "../httpError.ts";
import { parseBody, type JsonResponse } from "../jsonBody.ts";
import { toJsonResponse, type Peers } from "../peers.ts";
import { batchBody } from "../schemas.ts";
import { hasTaskId, type TaskApi } from "../taskApi.ts";
import type { SessionApi, DirectCall } from "./sessionApi.ts";
import type { ForkRecord, Repeat } from "./sessionKeeper.ts";
import type { SessionTable } from "./sessionTable.ts";

type SessionAnswer = (sessionId: string, body: unknown) => JsonResponse | Promise<JsonResponse>;

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

type BatchRequest = z.infer<typeof batchBody>["requests"][number];

type BatchAnswers = Readonly<Record<BatchRequest["do"], SessionAnswer>>;

/** A request that fails has the status and body of its error; the ones after it are executed. */
export async function answerBatch(
  body: unknown,
  answers: BatchAnswers,
  peers?: Peers,
): Promise<JsonResponse> {
  const { requests } = parseBody(batchBody, body);
  const results = peers
    ? await answerWithPeers(requests, answers, peers)
    : await answerAll(requests, answers);
  return { status: 200, text: `{"results":[${results.join(",")}]}` };
}

/** Answers the part of a batch that another process has passed on: a line for each result. */
export const answerBatchPart = async (
  requests: unknown,
  answers: BatchAnswers,
): Promise<JsonResponse> => ({
  status: 200,
  text: (await answerAll(requests as readonly BatchRequest[], answers)).join("\n"),
});

async function answerWithPeers(
  requests: readonly BatchRequest[],
  answers: BatchAnswers,
  peers: Peers,
): Promise<readonly string[]> {
  const parts = new Map<number, { places: number[]; requests: BatchRequest[] }>();
  for (const [place, it] of requests.entries()) {
    const index = peers.findIndex(it.session_id);
    const part = parts.get(index);
    if (part) {
      part.places.push(place);
      part.requests.push(it);
    } else parts.set(index, { places: [place], requests: [it] });
  }
  const results: string[] = [];
  await Promise.all(
    Array.from(parts, async ([index, { places, requests: own }]) => {
      const lines = peers.isOwn(own[0]!.session_id)
        ? await answerAll(own, answers)
        : await passOn(index, own, peers);
      for (const [i, place] of places.entries()) results[place] = lines[i]!;
    }),
  );
  return results;
}

async function passOn(
  index: number,
  requests: readonly BatchRequest[],
  peers: Peers,
): Promise<readonly string[]> {
  try {
    const response = await peers.send(index, {
      method: "POST",
      url: "batch",
      body: JSON.stringify(requests),
      // of several numbered requests to a session, only the last can be repeated
      isRepeatable: new Set(requests.map(it => it.session_id)).size === requests.length,
    });
    const { status, text } = toJsonResponse(response);
    if (status === 200) return text.split("\n");
    throw new Error(`a part of a batch was answered with ${status}`);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return requests.map(() => formatResult(toResponse(error)));
  }
}

async function answerAll(
  requests: readonly BatchRequest[],
  answers: BatchAnswers,
): Promise<readonly string[]> {
  const results: string[] = [];
  for (const { do: name, session_id: id, body = {} } of requests) {
    const answer = answerOne(() => answers[name](id, body));
    results.push(formatResult(answer instanceof Promise ? await answer : answer));
  }
  return results;
}

/** Assembled by hand, because the bodies are JSON already. */
const formatResult = ({ status, text }: JsonResponse) => `{"status":${status},"body":${text}}`;

function answerOne(
  answer: () => JsonResponse | Promise<JsonResponse>,
): JsonResponse | Promise<JsonResponse> {
  try {
    const response = answer();
    return response instanceof Promise ? response.catch(toResponse) : response;
  } catch (error) {
    return toResponse(error);
  }
}

/** The response to an error that the client can fix. Any other error ends the batch. */
function toResponse(error: unknown): JsonResponse {
  const known = toHttpError(error);
  if (!known) throw error;
  return { status: known.status, text: known.text };
}

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
