/**
 * An MCP server with every feature that the official conformance suite tests (images, audio, logs,
 * progress, elicitation, prompts, completions), on the transport and behind the request guard of
 * our own servers.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  type CallToolResult,
  type ContentBlock,
  type ElicitRequestFormParams,
  type ServerNotification,
  type ServerRequest,
} from "@modelcontextprotocol/sdk/types.js";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { HttpTransport, sendMethodNotAllowed } from "../../src/mcp/httpTransport.ts";
import { readJsonBody, sendJson } from "../../src/service/jsonBody.ts";
import { HttpError } from "../../src/service/httpError.ts";
import { createRequestGuard } from "../../src/service/requestGuard.ts";

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
type Args = Readonly<Record<string, unknown>>;

/** Listens on loopback. */
export async function serveFixture(): Promise<{
  readonly url: string;
  readonly close: () => void;
}> {
  const transport = new HttpTransport();
  await fixtureServer().connect(transport);
  const guard = createRequestGuard("127.0.0.1", undefined);
  const http = createServer((request, response) => {
    const answer = async () => {
      guard(request);
      if (request.method !== "POST") return sendMethodNotAllowed(response);
      transport.handlePost(
        { headers: request.headers, body: await readJsonBody(request) },
        response,
      );
    };
    answer().catch((error: unknown) => {
      if (!(error instanceof HttpError)) throw error;
      sendJson(response, error, error.headers);
    });
  });
  await new Promise<void>(resolve => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close() {
      http.close();
      http.closeAllConnections();
    },
  };
}

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
const text = (it: string): ContentBlock => ({ type: "text", text: it });
const image: ContentBlock = { type: "image", data: png, mimeType: "image/png" };
const pause = () => new Promise(resolve => setTimeout(resolve, 20));

const tools: Readonly<
  Record<
    string,
    (args: Args, extra: Extra) => readonly ContentBlock[] | Promise<readonly ContentBlock[]>
  >
> = {
  test_simple_text: () => [text("This is a simple text response for testing.")],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: "audio", data: wav, mimeType: "audio/wav" }],
  test_embedded_resource: () => [
    {
      type: "resource",
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    },
  ],
  test_multiple_content_types: () => [
    text("Multiple content types test:"),
    image,
    {
      type: "resource",
      resource: {
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: `{"test":"data","value":123}`,
      },
    },
  ],
  async test_tool_with_logging(_, { sendNotification }) {
    for (const it of [
      "Tool execution started",
      "Tool processing data",
      "Tool execution completed",
    ]) {
      await sendNotification({
        method: "notifications/message",
        params: { level: "info", data: it },
      });
      await pause();
    }
    return [text("three things were logged")];
  },
  async test_tool_with_progress(_, { sendNotification, _meta: meta }) {
    for (const progress of [0, 50, 100]) {
      if (meta?.progressToken !== undefined)
        await sendNotification({
          method: "notifications/progress",
          params: { progressToken: meta.progressToken, progress, total: 100 },
        });
      await pause();
    }
    return [text("done")];
  },
  test_error_handling() {
    throw new Error("This tool intentionally returns an error for testing");
  },
  async test_sampling({ prompt }, { sendRequest }) {
    const answer = await sendRequest(
      {
        method: "sampling/createMessage",
        params: {
          messages: [{ role: "user", content: { type: "text", text: String(prompt) } }],
          maxTokens: 100,
        },
      },
      CreateMessageResultSchema,
    );
    return [text(`LLM response: ${JSON.stringify(answer.content)}`)];
  },
  test_elicitation: ({ message }, extra) =>
    elicited(extra, String(message), {
      type: "object",
      properties: {
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      },
      required: ["username", "email"],
    }),
  test_elicitation_sep1034_defaults: (_, extra) =>
    elicited(extra, "defaults", {
      type: "object",
      properties: {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      },
    }),
  test_elicitation_sep1330_enums: (_, extra) =>
    elicited(extra, "enums", {
      type: "object",
      properties: {
        untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
        titledSingle: { type: "string", oneOf: titled("Option") },
        legacyEnum: {
          type: "string",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: {
          type: "array",
          items: { type: "string", enum: ["option1", "option2", "option3"] },
        },
        titledMulti: { type: "array", items: { anyOf: titled("Choice") } },
      },
    }),
};

const titled = (noun: string) =>
  ["First", "Second", "Third"].map((it, i) => ({ const: `value${i + 1}`, title: `${it} ${noun}` }));

async function elicited(
  { sendRequest }: Extra,
  message: string,
  requestedSchema: ElicitRequestFormParams["requestedSchema"],
): Promise<ContentBlock[]> {
  const { action, content } = await sendRequest(
    { method: "elicitation/create", params: { message, requestedSchema } },
    ElicitResultSchema,
  );
  return [text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)];
}

const schemas: Readonly<Record<string, object>> = {
  test_sampling: { properties: { prompt: { type: "string" } }, required: ["prompt"] },
  test_elicitation: { properties: { message: { type: "string" } }, required: ["message"] },
  json_schema_2020_12_tool: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: {
      address: {
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
    additionalProperties: false,
  },
};

const resources = [
  {
    uri: "test://static-text",
    name: "text",
    description: "A text",
    mimeType: "text/plain",
    text: "This is the content of the static text resource.",
  },
  {
    uri: "test://static-binary",
    name: "binary",
    description: "An image",
    mimeType: "image/png",
    blob: png,
  },
  {
    uri: "test://watched-resource",
    name: "watched",
    description: "A text that is watched",
    mimeType: "text/plain",
    text: "watched",
  },
];

const prompts: Readonly<
  Record<
    string,
    { readonly takes: readonly string[]; readonly give: (args: Args) => readonly ContentBlock[] }
  >
> = {
  test_simple_prompt: { takes: [], give: () => [text("This is a simple prompt for testing.")] },
  test_prompt_with_arguments: {
    takes: ["arg1", "arg2"],
    give: ({ arg1, arg2 }) => [
      text(`Prompt with arguments: arg1='${String(arg1)}', arg2='${String(arg2)}'`),
    ],
  },
  test_prompt_with_embedded_resource: {
    takes: ["resourceUri"],
    give: ({ resourceUri }) => [
      {
        type: "resource",
        resource: {
          uri: String(resourceUri),
          mimeType: "text/plain",
          text: "Embedded resource content for testing.",
        },
      },
      text("Please process the embedded resource above."),
    ],
  },
  test_prompt_with_image: {
    takes: [],
    give: () => [image, text("Please analyze the image above.")],
  },
};

function fixtureServer(): Server {
  const server = new Server(
    { name: "fixture", version: "1" },
    {
      capabilities: {
        tools: {},
        resources: { subscribe: true },
        prompts: {},
        logging: {},
        completions: {},
      },
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...Object.keys(tools), "json_schema_2020_12_tool"].map(name => ({
      name,
      description: `${name} of the conformance suite`,
      inputSchema: { type: "object" as const, ...schemas[name] },
    })),
  }));
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params }, extra): Promise<CallToolResult> => {
      try {
        return { content: [...(await tools[params.name]!(params.arguments ?? {}, extra))] };
      } catch (error) {
        return { isError: true, content: [text((error as Error).message)] };
      }
    },
  );
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: resources.map(({ uri, name, description, mimeType }) => ({
      uri,
      name,
      description,
      mimeType,
    })),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [
      {
        uriTemplate: "test://template/{id}/data",
        name: "template",
        description: "A resource by id",
      },
    ],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const known = resources.find(it => it.uri === uri);
    if (known) return { contents: [known] as { uri: string; text: string }[] };
    const [, id] = /^test:\/\/template\/(.+)\/data$/.exec(uri) ?? [];
    return {
      contents: [
        {
          uri,
          mimeType: "application/json",
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    };
  });
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: Object.entries(prompts).map(([name, { takes }]) => ({
      name,
      description: `${name} of the conformance suite`,
      arguments: takes.map(it => ({ name: it, required: true })),
    })),
  }));
  server.setRequestHandler(
    GetPromptRequestSchema,
    ({ params: { name, arguments: args = {} } }) => ({
      messages: prompts[name]!.give(args).map(content => ({ role: "user" as const, content })),
    }),
  );
  server.setRequestHandler(CompleteRequestSchema, () => ({
    completion: { values: [], total: 0, hasMore: false },
  }));
  return server;
}
