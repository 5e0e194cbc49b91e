/**
 * The routes of the service with their schemas, from which its OpenAPI document is generated, and
 * the answers to requests that name a session: one at a time, many in a batch, or again from a
 * journal. A session that is in the journal only is rebuilt first, and one that is to be opened
 * waits until there is room for it. Requests of a batch to sessions of other processes are passed
 * to these, which execute them at the same time.
 */
import * as schemas from "./schemas.ts";
import type { z } from "zod";
import type { Catalog } from "../environment/catalog.ts";
import { partNames } from "../reward/breakdown.ts";
import { version } from "../version.ts";
import { Attempts } from "./attempts.ts";
import { createOkResponse, type JsonResponse, parseBody } from "./jsonBody.ts";
import type { Metrics } from "./metrics.ts";
import { createOpenEnvRoutes, OpenEnvRpc } from "./openEnv/openEnvRoutes.ts";
import { parsePeerJson, statsRequest, type Peers, toJsonResponse } from "./peers.ts";
import type { Route } from "./route.ts";
import { formatTool } from "./servedAttempt.ts";
import { SessionApi, type AdoptRequest, type DirectCall } from "./sessions/sessionApi.ts";
import type { Repeat, ForkRecord } from "./sessions/sessionKeeper.ts";
import type { SessionTable } from "./sessions/sessionTable.ts";
import { hasTaskId, parseMessage, TaskApi } from "./taskApi.ts";
import type { TaskStore } from "./taskStore.ts";
import { describeError, HttpError } from "./httpError.ts";
import { createAnswerTooLargeError, maxAnswerBytes, startSlices } from "./slices.ts";
import { batchBody, callBody, messageBody } from "./schemas.ts";

interface Api {
  readonly sessions: SessionApi;
  readonly attempts: Attempts;
  readonly rpc: OpenEnvRpc;
  readonly routes: readonly Route[];
  /** Executes a request of a journal again. */
  readonly repeat: Repeat;
  /** Answers what only processes of the service ask one another. */
  readonly internal: Readonly<
    Record<string, (body: unknown) => JsonResponse | Promise<JsonResponse>>
  >;
}

interface ApiOptions {
  readonly catalog: Catalog;
  readonly table: SessionTable;
  readonly tasks: TaskStore;
  readonly metrics: Metrics | undefined;
  readonly peers?: Peers | undefined;
  /** Receives unexpected errors of a part of a request, of which the other parts are answered. */
  readonly onBug?: ((error: unknown) => void) | undefined;
}

/** Creates the routes of a service that offers these tasks. */
export function createApi({ catalog, table, tasks, metrics, peers, onBug }: ApiOptions): Api {
  const sessions = new SessionApi(catalog, table, peers);
  const core = new Attempts(catalog, sessions, tasks);
  const attempts = new TaskApi(catalog, sessions, core, onBug);
  const rpc = new OpenEnvRpc(catalog, sessions, peers);
  const answers = createSessionAnswers(sessions, attempts);
  const batch: Batch = { answers, onBug };
  const post = (
    name: keyof typeof answers,
    summary: string,
    body: z.ZodType,
    response: z.ZodType,
  ): Route => ({
    method: "POST",
    path: `/v1/sessions/{id}/${name}`,
    summary,
    body,
    response,
    answer: request => answers[name](request.id, request.body),
  });
  const routes: Route[] = [
    {
      method: "GET",
      path: "/health",
      summary: "Whether the service is healthy, and how many sessions are open",
      response: schemas.healthResponse,
      answer: async () => {
        const others = await peers?.sendToOthers(statsRequest);
        const uses = others?.map(it => parsePeerJson(it) as Use) ?? [];
        return createOkResponse(
          describeHealth(catalog, tasks, [describeUse(table, sessions.isDraining), ...uses]),
        );
      },
    },
    {
      method: "GET",
      path: "/v1/catalog",
      summary: "All servers and tools",
      response: schemas.catalogResponse,
      answer: () => createOkResponse(describeCatalog(catalog)),
    },
    {
      method: "GET",
      path: "/v1/tasks",
      summary: "The tasks that the service offers",
      query: schemas.tasksQuery,
      response: schemas.tasksResponse,
      answer: ({ query }) => attempts.list(query),
    },
    {
      method: "GET",
      path: "/v1/tasks/{id}",
      summary: "A task as a policy sees it at its start",
      response: schemas.taskResponse,
      answer: ({ id }) => attempts.task(id),
    },
    {
      method: "PUT",
      path: "/v1/sessions/{id}",
      summary: "Open a session, for a task or on fixtures",
      body: schemas.openBody.or(schemas.openTaskBody),
      response: schemas.openResponse,
      answer: ({ id, body }) => answers.open(id, body),
    },
    {
      method: "DELETE",
      path: "/v1/sessions/{id}",
      summary: "Close a session, if it exists",
      response: schemas.emptyResponse,
      answer: ({ id, body }) => answers.delete(id, body),
    },
    post("call", "Execute a call", schemas.callBody, schemas.callResponse),
    post(
      "message",
      "Give the policy's message: execute its calls, or let the user answer",
      schemas.messageBody,
      schemas.messageResponse,
    ),
    post(
      "user",
      "Give the policy's text: what the user answers",
      schemas.userBody,
      schemas.userResponse,
    ),
    post(
      "score",
      "Score the attempt, without changing it",
      schemas.scoreBody,
      schemas.scoreResponse,
    ),
    {
      method: "GET",
      path: "/v1/sessions/{id}/trajectory",
      summary: "The attempt as trajectory files contain it",
      response: schemas.trajectoryResponse,
      answer: ({ id }) => answers.trajectory(id, {}),
    },
    {
      method: "GET",
      path: "/v1/sessions/{id}/state",
      summary: "The state of the session, or of one server",
      query: schemas.stateQuery,
      response: schemas.stateResponse,
      answer: ({ id, query }) => answers.state(id, query),
    },
    post(
      "fork",
      "Open another session that starts from this one's state",
      schemas.forkBody,
      schemas.openResponse,
    ),
    post("restore", "Replace the state", schemas.restoreBody, schemas.openResponse),
    post("reset", "Go back to the fixtures", schemas.emptyBody, schemas.openResponse),
    post("tools", "Put more tools on the menu", schemas.toolsBody, schemas.openResponse),
    {
      method: "POST",
      path: "/v1/sessions:batch",
      summary: "Many requests to sessions, executed in their order",
      body: schemas.batchBody,
      response: schemas.batchResponse,
      answer: ({ body }) => answerBatch(body, batch, peers),
    },
    {
      method: "POST",
      path: "/v1/scores",
      summary: "Score recorded attempts",
      body: schemas.scoresBody,
      response: schemas.scoresResponse,
      answer: ({ body }) => attempts.scores(body),
    },
    ...createOpenEnvRoutes({ catalog, sessions, attempts: core }, rpc),
  ];
  return {
    sessions,
    attempts: core,
    rpc,
    routes,
    repeat: createRepeat(table, sessions, attempts),
    internal: {
      metrics: async () => createOkResponse((await metrics!.export()) as object),
      stats: () => createOkResponse(describeUse(table, sessions.isDraining)),
      batch: body => answerBatchPart(body as BatchPart, batch),
      adopt: body => sessions.adopt(body as AdoptRequest),
    },
  };
}

/** How much of its capacity a process uses. */
interface Use {
  readonly sessions: number;
  readonly capacity: number;
  readonly isDraining: boolean;
}

const describeUse = ({ size, capacity }: SessionTable, isDraining: boolean): Use => ({
  sessions: size,
  capacity,
  isDraining,
});

/** The health of a service, from the use of each of its processes that answers. */
const describeHealth = (catalog: Catalog, tasks: TaskStore, uses: readonly Use[]): object => ({
  status: uses.some(it => it.isDraining) ? "draining" : "healthy",
  sessions: uses.reduce((sum, it) => sum + it.sessions, 0),
  capacity: uses[0]!.capacity,
  workers: uses.length,
  tasks: tasks.size,
  version,
  catalog_hash: computeCatalogHash(catalog),
});

/** Every server's tools as function definitions, in their fixed order. */
const describeCatalog = (catalog: Catalog): object => ({
  protocol: "prove/1",
  tools: [...catalog.tools.values()].map(formatTool),
  servers: [...catalog.servers.values()].map(({ name, category, summary, tools }) => ({
    name,
    category,
    summary,
    tools: [...tools.keys()],
    fixtures: catalog.listFixtures(name),
  })),
  components: [...partNames, "answer"] as const,
  catalog_hash: computeCatalogHash(catalog),
});

const computeCatalogHash = (catalog: Catalog) => catalog.hashTools([...catalog.servers.keys()]);

type SessionAnswer = (sessionId: string, body: unknown) => JsonResponse | Promise<JsonResponse>;

/** All but `delete` use the session. */
function createSessionAnswers(sessions: SessionApi, attempts: TaskApi) {
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
    delete: (id => {
      const rebuilding = sessions.keeper?.findRebuilding(id);
      return rebuilding ? rebuilding.then(() => sessions.delete(id)) : sessions.delete(id);
    }) as SessionAnswer,
    call: awake((id, body) =>
      sessions.get(id).runPrepared(
        () => [parseBody(callBody, body)],
        () => sessions.call(id, body),
      ),
    ),
    message: awake((id, body) => {
      const session = sessions.get(id);
      return session.runPrepared(
        () => parseMessage(session, parseBody(messageBody, body)).calls,
        () => attempts.message(id, body),
      );
    }),
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

interface Batch {
  readonly answers: Readonly<Record<BatchRequest["do"], SessionAnswer>>;
  readonly onBug: ApiOptions["onBug"];
}

/** What one process answers of a batch. */
interface BatchPart {
  readonly requests: readonly BatchRequest[];
  /** The most bytes of its results. */
  readonly maxBytes: number;
}

/** A request that fails has the status and body of its error; the ones after it are executed. */
async function answerBatch(body: unknown, batch: Batch, peers?: Peers): Promise<JsonResponse> {
  const { requests } = parseBody(batchBody, body);
  const results = peers
    ? await answerWithPeers(requests, batch, peers)
    : await answerAll({ requests, maxBytes: maxAnswerBytes }, batch);
  return { status: 200, text: `{"results":[${results.join(",")}]}` };
}

/** Answers the part of a batch that another process has passed on: a line for each result. */
const answerBatchPart = async (part: BatchPart, batch: Batch): Promise<JsonResponse> => ({
  status: 200,
  text: (await answerAll(part, batch)).join("\n"),
});

async function answerWithPeers(
  requests: readonly BatchRequest[],
  batch: Batch,
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
  const maxBytes = Math.floor(maxAnswerBytes / Math.max(1, parts.size));
  await Promise.all(
    Array.from(parts, async ([index, { places, requests: own }]) => {
      const part = { requests: own, maxBytes };
      const lines = peers.isOwn(own[0]!.session_id)
        ? await answerAll(part, batch)
        : await passOn(index, part, peers);
      for (const [i, place] of places.entries()) results[place] = lines[i]!;
    }),
  );
  return results;
}

async function passOn(index: number, part: BatchPart, peers: Peers): Promise<readonly string[]> {
  const { requests } = part;
  try {
    const response = await peers.send(index, {
      method: "POST",
      url: "batch",
      body: JSON.stringify(part),
      // of several numbered requests to a session, only the last can be repeated
      isRepeatable: new Set(requests.map(it => it.session_id)).size === requests.length,
    });
    const { status, text } = toJsonResponse(response);
    if (status === 200) return text.split("\n");
    throw new Error(`a part of a batch was answered with ${status}`);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return requests.map(() => formatResult(error));
  }
}

async function answerAll(
  { requests, maxBytes }: BatchPart,
  { answers, onBug }: Batch,
): Promise<readonly string[]> {
  const pause = startSlices();
  const results: string[] = [];
  let bytes = 0;
  for (const { do: name, session_id: id, body = {} } of requests) {
    const pausing = pause();
    if (pausing) await pausing;
    const result = formatResult(
      bytes >= maxBytes
        ? createAnswerTooLargeError("the request")
        : await answerOne(() => answers[name](id, body), onBug),
    );
    results.push(result);
    bytes += Buffer.byteLength(result);
  }
  return results;
}

/** Assembled by hand, because the bodies are JSON already. */
const formatResult = ({ status, text }: JsonResponse) => `{"status":${status},"body":${text}}`;

/** The answer to one request of a batch, also where it fails. */
async function answerOne(
  answer: () => JsonResponse | Promise<JsonResponse>,
  onBug: ApiOptions["onBug"],
): Promise<JsonResponse> {
  try {
    const response = answer();
    return response instanceof Promise ? await response : response;
  } catch (error) {
    return describeError(error, onBug);
  }
}

function createRepeat(table: SessionTable, sessions: SessionApi, attempts: TaskApi): Repeat {
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
  return (id, { do: name, body, ms }) => {
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action) throw new Error("its journal has a request that this version does not know");
    return action(id, body, ms);
  };
}
