/** The routes of the service with their schemas, from which its OpenAPI document is generated. */
import type { Catalog } from "../environment/catalog.ts";
import { partNames } from "../reward/breakdown.ts";
import { version } from "../version.ts";
import { Attempts } from "./attempts.ts";
import { createOkResponse, type JsonResponse } from "./jsonBody.ts";
import type { Metrics } from "./metrics.ts";
import { createOpenEnvRoutes, OpenEnvRpc } from "./openEnv/openEnvRoutes.ts";
import { parsePeerJson, statsRequest, type Peers } from "./peers.ts";
import type { Route } from "./route.ts";
import * as schemas from "./schemas.ts";
import { formatTool } from "./servedAttempt.ts";
import {
  answerBatch,
  answerBatchPart,
  createRepeat,
  createSessionAnswers,
} from "./sessions/sessionAnswers.ts";
import { SessionApi, type AdoptRequest } from "./sessions/sessionApi.ts";
import type { Repeat } from "./sessions/sessionKeeper.ts";
import type { SessionTable } from "./sessions/sessionTable.ts";
import { TaskApi } from "./taskApi.ts";
import type { TaskStore } from "./taskStore.ts";

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
}

/** Creates the routes of a service that offers these tasks. */
export function createApi({ catalog, table, tasks, metrics, peers }: ApiOptions): Api {
  const sessions = new SessionApi(catalog, table, peers);
  const core = new Attempts(catalog, sessions, tasks);
  const attempts = new TaskApi(catalog, sessions, core);
  const rpc = new OpenEnvRpc(catalog, sessions, peers);
  const answers = createSessionAnswers(sessions, attempts);
  const { open, fork } = answers;
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
      answer: ({ id, body }) => open(id, body),
    },
    {
      method: "DELETE",
      path: "/v1/sessions/{id}",
      summary: "Close a session, if it exists",
      response: schemas.emptyResponse,
      answer: ({ id, body }) => answers.delete(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/call",
      summary: "Execute a call",
      body: schemas.callBody,
      response: schemas.callResponse,
      answer: ({ id, body }) => answers.call(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/message",
      summary: "Give the policy's message: execute its calls, or let the user answer",
      body: schemas.messageBody,
      response: schemas.messageResponse,
      answer: ({ id, body }) => answers.message(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/user",
      summary: "Give the policy's text: what the user answers",
      body: schemas.userBody,
      response: schemas.userResponse,
      answer: ({ id, body }) => answers.user(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/score",
      summary: "Score the attempt, without changing it",
      body: schemas.scoreBody,
      response: schemas.scoreResponse,
      answer: ({ id, body }) => answers.score(id, body),
    },
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
    {
      method: "POST",
      path: "/v1/sessions/{id}/fork",
      summary: "Open another session that starts from this one's state",
      body: schemas.forkBody,
      response: schemas.openResponse,
      answer: ({ id, body }) => fork(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/restore",
      summary: "Replace the state",
      body: schemas.restoreBody,
      response: schemas.openResponse,
      answer: ({ id, body }) => answers.restore(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/reset",
      summary: "Go back to the fixtures",
      body: schemas.emptyBody,
      response: schemas.openResponse,
      answer: ({ id, body }) => answers.reset(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/tools",
      summary: "Put more tools on the menu",
      body: schemas.toolsBody,
      response: schemas.openResponse,
      answer: ({ id, body }) => answers.tools(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions:batch",
      summary: "Many requests to sessions, executed in their order",
      body: schemas.batchBody,
      response: schemas.batchResponse,
      answer: ({ body }) => answerBatch(body, answers, peers),
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
      batch: body => answerBatchPart(body, answers),
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
  components: partNames,
  catalog_hash: computeCatalogHash(catalog),
});

const computeCatalogHash = (catalog: Catalog) => catalog.hashTools([...catalog.servers.keys()]);
