/**
 * A policy as a chat endpoint in OpenAI's format: `/v1/chat/completions` and `/v1/models`. Requests
 * end when their client disconnects.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HttpError } from "../httpError.ts";
import { sendJson, readJsonBody } from "../jsonBody.ts";
import type { ServedPolicy } from "../../policy/servedPolicy.ts";
import { decodeSegment, type Route } from "../route.ts";
import { answerChoice, chooseSeed, sumUsage, streamCompletion } from "./chatAnswer.ts";
import {
  chatBody,
  ChatError,
  completionResponse,
  modelResponse,
  modelsResponse,
  parseChatRequest,
  type ChatRequest,
  type Completion,
} from "./chatRequest.ts";

/** Choices that may be in progress at the same time; a student batches 64 of them. */
const maxChoices = 1_024;

/** Whether errors at a path have OpenAI's format. */
export const isChatPath = (url: string | undefined): boolean =>
  /^\/v1\/(chat\/|models(?:[/?]|$))/.test(url ?? "");

export class ChatRoutes {
  readonly #policy: ServedPolicy;
  readonly #created: number;
  #choices = 0;

  /** `created` is in seconds since 1970. */
  constructor(policy: ServedPolicy, created: number) {
    this.#policy = policy;
    this.#created = created;
  }

  /** What OpenAPI describes; `answer` below answers the requests for completions itself. */
  get routes(): readonly Omit<Route, "answer">[] {
    return [
      {
        method: "GET",
        path: "/v1/models",
        summary: "The policy that is served, as a model",
        response: modelsResponse,
      },
      {
        method: "GET",
        path: "/v1/models/{id}",
        summary: "The model with that name",
        response: modelResponse,
      },
      {
        method: "POST",
        path: "/v1/chat/completions",
        summary: "The policy's next message in a chat, in OpenAI's format; a stream if asked for",
        body: chatBody,
        response: completionResponse,
      },
    ];
  }

  /** Answers a request and returns the path of its route. `describe` explains later errors. */
  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    describe: (error: unknown) => HttpError,
  ): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0]!;
    const isCompletion = path === "/v1/chat/completions";
    checkMethod(request, isCompletion ? "POST" : "GET");
    if (isCompletion) return this.#complete(request, response, describe);
    if (path === "/v1/models")
      return sendJson(response, {
        status: 200,
        text: JSON.stringify({ object: "list", data: [this.#describeModel()] }),
      });
    if (!path.startsWith("/v1/models/"))
      throw new HttpError(
        "UNKNOWN_ROUTE",
        "nothing is served at this address",
        "use /v1/chat/completions",
      );
    const name = path.slice("/v1/models/".length);
    this.#checkModel(decodeSegment(name) ?? name);
    sendJson(response, { status: 200, text: JSON.stringify(this.#describeModel()) });
  }

  #describeModel() {
    const { model } = this.#policy;
    return { id: model, object: "model", created: this.#created, owned_by: "prove" };
  }

  #checkModel(name: string): void {
    if (name === this.#policy.model) return;
    throw new ChatError(
      "UNKNOWN_MODEL",
      `there is no model ${JSON.stringify(name)}`,
      `the model is ${this.#policy.model}`,
      { param: "model", chatCode: "model_not_found" },
    );
  }

  async #complete(
    request: IncomingMessage,
    response: ServerResponse,
    describe: (error: unknown) => HttpError,
  ): Promise<void> {
    const body = parseChatRequest(await readJsonBody(request));
    this.#checkModel(body.model);
    if (this.#choices + body.count > maxChoices)
      throw new HttpError(
        "CAPACITY_REACHED",
        `${this.#choices} choices are in progress`,
        "send the request again later",
        { "retry-after": "1" },
      );
    const controller = new AbortController();
    response.once("close", () => controller.abort());
    this.#choices += body.count;
    try {
      await this.#answerCompletion(body, response, controller.signal, describe);
    } catch (error) {
      // the other choices of a request that failed are not needed
      controller.abort();
      throw error;
    } finally {
      this.#choices -= body.count;
    }
  }

  async #answerCompletion(
    body: ChatRequest,
    response: ServerResponse,
    signal: AbortSignal,
    describe: (error: unknown) => HttpError,
  ): Promise<void> {
    const head = {
      id: `chatcmpl-${randomUUID()}`,
      created: Math.floor(Date.now() / 1_000),
      model: this.#policy.model,
    };
    if (body.isStream)
      return streamCompletion(this.#policy, body, response, { head, signal, describe });
    const seed = chooseSeed(body);
    const answers = await Promise.all(
      Array.from({ length: body.count }, (_, index) =>
        answerChoice(this.#policy, body, seed, { index, signal }),
      ),
    );
    const completion: Completion = {
      ...head,
      object: "chat.completion",
      choices: answers.map(it => it.choice),
      usage: sumUsage(answers.map(it => it.usage)),
    };
    sendJson(response, { status: 200, text: JSON.stringify(completion) });
  }
}

function checkMethod({ method }: IncomingMessage, allow: string): void {
  if (method === allow) return;
  throw new HttpError(
    "METHOD_NOT_ALLOWED",
    `this address does not answer ${method}`,
    `use ${allow}`,
    {
      allow,
    },
  );
}
