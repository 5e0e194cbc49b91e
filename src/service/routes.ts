/** The routes of the service with their schemas, from which its OpenAPI document is generated. */
import type { Catalog } from "../environment/catalog.ts";
import { Attempts } from "./attempts.ts";
import { answerBatch, answerBatchPart } from "./batch.ts";
import { describeCatalog, describeHealth, describeUse, type Use } from "./catalog.ts";
import { createOkResponse, type JsonResponse } from "./jsonResponse.ts";
import type { Metrics } from "./metrics.ts";
import { createOpenEnvRoutes } from "./openEnvRoutes.ts";
import { OpenEnvRpc } from "./openEnvRpc.ts";
import { parsePeerJson, statsRequest, type Peers } from "./peers.ts";
import { createRepeat } from "./repeat.ts";
import type { Route } from "./route.ts";
import * as schemas from "./schemas.ts";
import { createSessionAnswers } from "./sessionAnswers.ts";
import { SessionApi, type AdoptRequest } from "./sessionApi.ts";
import type { Repeat } from "./sessionKeeper.ts";
import type { SessionTable } from "./sessionTable.ts";
import { TaskApi } from "./taskApi.ts";
import type { TaskStore } from "./taskStore.ts";

export interface Api {
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

export interface ApiOptions {
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
