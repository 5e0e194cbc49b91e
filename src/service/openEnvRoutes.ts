/**
 * The HTTP routes of OpenEnv. They have no state: each request is answered by an episode of its
 * own, as in OpenEnv's own servers. Episodes of more than one step need the WebSocket.
 */
import { version } from "../version.ts";
import { createOkResponse, parseBody } from "./jsonResponse.ts";
import { toJsonSchema } from "./openApi.ts";
import { OpenEnvEpisode, type EpisodeOptions, type StepResult } from "./openEnvEpisode.ts";
import type { OpenEnvRpc } from "./openEnvRpc.ts";
import * as schemas from "./openEnvSchemas.ts";
import type { Route } from "./route.ts";

export function createOpenEnvRoutes(options: EpisodeOptions, rpc: OpenEnvRpc): readonly Route[] {
  const withEpisode = async (
    work: (episode: OpenEnvEpisode) => StepResult | Promise<StepResult>,
  ) => {
    const episode = new OpenEnvEpisode(options);
    try {
      return createOkResponse(await work(episode));
    } finally {
      episode.close();
    }
  };
  return [
    {
      method: "GET",
      path: "/metadata",
      summary: "OpenEnv: what this environment is",
      response: schemas.metadataResponse,
      answer: () =>
        createOkResponse({
          name: "PROVE",
          description:
            "Conversations with a scripted user on stateful tool servers, with a programmatic reward",
          version,
        }),
    },
    {
      method: "GET",
      path: "/schema",
      summary: "OpenEnv: the schemas of actions, observations and state",
      response: schemas.schemaResponse,
      answer: () =>
        createOkResponse({
          action: toJsonSchema(schemas.action, "input"),
          observation: toJsonSchema(schemas.observation, "output"),
          state: toJsonSchema(schemas.state, "output"),
        }),
    },
    {
      method: "GET",
      path: "/state",
      summary: "OpenEnv: the state before an episode; that of an episode is asked for over /ws",
      response: schemas.state,
      answer: () => createOkResponse(new OpenEnvEpisode(options).state),
    },
    {
      method: "POST",
      path: "/reset",
      summary: "OpenEnv: the first observation of an episode, which is not kept",
      body: schemas.resetOptions,
      response: schemas.stepResponse,
      answer: ({ body }) => withEpisode(it => it.reset(parseBody(schemas.resetOptions, body))),
    },
    {
      method: "POST",
      path: "/step",
      summary: "OpenEnv: list the tools; other actions need an episode, over /ws",
      body: schemas.stepBody,
      response: schemas.stepResponse,
      answer: ({ body }) => withEpisode(it => it.step(parseBody(schemas.stepBody, body).action)),
    },
    {
      method: "POST",
      path: "/mcp",
      summary: "OpenEnv: list and call tools by JSON-RPC, in a session or without one",
      body: schemas.rpcBody,
      response: schemas.rpcResponse,
      answer: async ({ body }) => createOkResponse(await rpc.answer(body)),
    },
  ];
}
