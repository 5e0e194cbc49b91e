/** The routes of the service with their schemas, from which its OpenAPI document is generated. */
import type { Catalog } from "../environment/catalog.ts";
import { Attempts } from "./attempts.ts";
import { answerBatch } from "./batch.ts";
import { describeCatalog, describeHealth } from "./catalog.ts";
import { createOkResponse } from "./jsonResponse.ts";
import { createOpenEnvRoutes } from "./openEnvRoutes.ts";
import { OpenEnvRpc } from "./openEnvRpc.ts";
import type { Route } from "./route.ts";
import * as schemas from "./schemas.ts";
import { SessionApi } from "./sessionApi.ts";
import type { SessionTable } from "./sessionTable.ts";
import { hasTaskId, TaskApi } from "./taskApi.ts";
import type { TaskStore } from "./taskStore.ts";

export interface Api {
  readonly sessions: SessionApi;
  readonly attempts: Attempts;
  readonly rpc: OpenEnvRpc;
  readonly routes: readonly Route[];
}

/** Creates the routes of a service that offers these tasks. */
export function createApi(catalog: Catalog, table: SessionTable, tasks: TaskStore): Api {
  const sessions = new SessionApi(catalog, table);
  const core = new Attempts(catalog, sessions, tasks);
  const attempts = new TaskApi(catalog, sessions, core);
  const rpc = new OpenEnvRpc(catalog, sessions);
  const open = (id: string, body: unknown) =>
    hasTaskId(body) ? attempts.open(id, body) : sessions.open(id, body);
  const routes: Route[] = [
    {
      method: "GET",
      path: "/health",
      summary: "Whether the service is healthy, and how many sessions are open",
      response: schemas.healthResponse,
      answer: () => createOkResponse(describeHealth(catalog, table, tasks, sessions.isDraining)),
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
      answer: ({ id }) => sessions.delete(id),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/call",
      summary: "Execute a call",
      body: schemas.callBody,
      response: schemas.callResponse,
      answer: ({ id, body }) => sessions.call(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/message",
      summary: "Give the policy's message: execute its calls, or let the user answer",
      body: schemas.messageBody,
      response: schemas.messageResponse,
      answer: ({ id, body }) => attempts.message(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/user",
      summary: "Give the policy's text: what the user answers",
      body: schemas.userBody,
      response: schemas.userResponse,
      answer: ({ id, body }) => attempts.user(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/score",
      summary: "Score the attempt, without changing it",
      body: schemas.scoreBody,
      response: schemas.scoreResponse,
      answer: ({ id, body }) => attempts.score(id, body),
    },
    {
      method: "GET",
      path: "/v1/sessions/{id}/trajectory",
      summary: "The attempt as trajectory files contain it",
      response: schemas.trajectoryResponse,
      answer: ({ id }) => attempts.trajectory(id),
    },
    {
      method: "GET",
      path: "/v1/sessions/{id}/state",
      summary: "The state of the session, or of one server",
      query: schemas.stateQuery,
      response: schemas.stateResponse,
      answer: ({ id, query }) => sessions.state(id, query),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/fork",
      summary: "Open another session that starts from this one's state",
      body: schemas.forkBody,
      response: schemas.openResponse,
      answer: ({ id, body }) => sessions.fork(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/restore",
      summary: "Replace the state",
      body: schemas.restoreBody,
      response: schemas.openResponse,
      answer: ({ id, body }) => sessions.restore(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/reset",
      summary: "Go back to the fixtures",
      body: schemas.emptyBody,
      response: schemas.openResponse,
      answer: ({ id, body }) => sessions.reset(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions/{id}/tools",
      summary: "Put more tools on the menu",
      body: schemas.toolsBody,
      response: schemas.openResponse,
      answer: ({ id, body }) => sessions.tools(id, body),
    },
    {
      method: "POST",
      path: "/v1/sessions:batch",
      summary: "Many requests to sessions, executed in their order",
      body: schemas.batchBody,
      response: schemas.batchResponse,
      answer: ({ body }) =>
        answerBatch(body, {
          open,
          call: (id, it) => sessions.call(id, it),
          message: (id, it) => attempts.message(id, it),
          user: (id, it) => attempts.user(id, it),
          score: (id, it) => attempts.score(id, it),
          delete: id => sessions.delete(id),
        }),
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
  return { sessions, attempts: core, rpc, routes };
}
