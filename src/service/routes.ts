/** The routes of the service with their schemas, from which its OpenAPI document is generated. */
import type { z } from "zod";
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
