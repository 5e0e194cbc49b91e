/**
 * An OpenAI-compatible endpoint as a chat model: `POST <base URL>/chat/completions` over fetch,
 * tried again where that may help. The key goes to that address alone. Knows no tasks; every way in
 * which an endpoint fails is an `EndpointFault`.
 */
import { setTimeout } from "node:timers/promises";
import { createRandom, type Random } from "../environment/random.ts";
import type { Json, JsonObject } from "../environment/json.ts";
import { UserError } from "../userError.ts";
import type { ChatAnswer, ChatModel, ChatRequest } from "./chatModel.ts";
import { EndpointFault, excerptText } from "./endpointFault.ts";
import { EndpointKey } from "./endpointKey.ts";
import { RateLimiter, type Clock } from "./endpointRateLimiter.ts";
import {
  parseAnswer,
  createRequestBody,
  compatible,
  findUnsupportedOption,
  type UnsupportedOption,
} from "./endpointFormat.ts";

export interface EndpointOptions {
  /** The base URL, such as `http://127.0.0.1:8000/v1`. */
  readonly url: string;
  readonly model: string;
  readonly key?: string | undefined;
  /** Requests at a time; 8 where absent. */
  readonly concurrency?: number | undefined;
  /** Requests a minute at most. */
  readonly perMinute?: number | undefined;
  /**
   * Tokens read and written at most, over all requests: the first request after that is a fault.
   */
  readonly tokens?: number | undefined;
  /** Of the jitter between tries. */
  readonly seed?: number;
  /** Milliseconds that an answer may take. */
  readonly timeout?: number;
  readonly time?: Clock;
}

/**
 * Tries of one request, and where nobody has ever answered at that address; milliseconds before the
 * second one, doubled for each after it; the longest pause that is waited for; requests that were
 * tried in vain one after another, after which nothing more is sent.
 */
const retryLimits = { most: 5, never: 2, firstPause: 500, longestPause: 120_000, inVain: 8 };
const defaultTimeout = 180_000;
const largestAnswer = 8_000_000;

const systemClock: Clock = {
  now: () => Date.now(),
  wait: async (milliseconds, signal) => {
    await setTimeout(milliseconds, undefined, { signal }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
  },
};

/**
 * Opens an endpoint. Sends nothing yet. Throws a `UserError` where the address or the key cannot be
 * one.
 */
export const openEndpoint = (options: EndpointOptions): Endpoint => new Endpoint(options);

export class Endpoint implements ChatModel {
  readonly name: string;
  /** Where requests go. */
  readonly address: URL;
  readonly #key: EndpointKey | undefined;
  readonly #rateLimiter: RateLimiter;
  readonly #time: Clock;
  readonly #timeout: number;
  readonly #random: Random;
  readonly #unsupported = new Set<UnsupportedOption>();
  #permanentFault: EndpointFault | undefined;
  #failures = 0;
  #hasAnswered = false;

  constructor({
    url,
    model,
    key,
    concurrency = 8,
    perMinute,
    tokens,
    seed = 0,
    timeout = defaultTimeout,
    time = systemClock,
  }: EndpointOptions) {
    this.name = model;
    this.address = parseAddress(url);
    this.#key = key === undefined ? undefined : new EndpointKey(key);
    this.#rateLimiter = new RateLimiter({ concurrency, perMinute, tokens, time });
    this.#time = time;
    this.#timeout = timeout;
    this.#random = createRandom(seed, "endpoint");
  }

  /** Tokens read and written so far. */
  get usedTokens(): number {
    return this.#rateLimiter.usedTokens;
  }

  complete(request: ChatRequest, signal?: AbortSignal): Promise<ChatAnswer> {
    return this.#rateLimiter.run(() => this.#completeWithRetries(request, signal), signal);
  }

  async #completeWithRetries(
    request: ChatRequest,
    signal: AbortSignal | undefined,
  ): Promise<ChatAnswer> {
    for (let attempt = 1; ; attempt++) {
      if (this.#permanentFault) throw this.#permanentFault;
      await this.#rateLimiter.waitForTurn(signal);
      const tried = await this.#attempt(request, signal);
      if (!(tried instanceof EndpointFault)) {
        this.#failures = 0;
        return tried;
      }
      const pause =
        tried.pause ??
        Math.round(retryLimits.firstPause * 2 ** (attempt - 1) * (0.5 + this.#random.next()));
      const isNobody = tried.kind === "unreachable" && !this.#hasAnswered;
      const isLast =
        !tried.isRetryable ||
        attempt >= (isNobody ? retryLimits.never : retryLimits.most) ||
        pause > retryLimits.longestPause;
      if (isLast && tried.isRetryable) this.#failures++;
      if (tried.isLasting || (isLast && isNobody) || this.#failures >= retryLimits.inVain)
        this.#permanentFault = tried;
      if (isLast) throw tried;
      // whoever asks for a pause asks it of everybody
      if (tried.pause !== undefined) this.#rateLimiter.pause(pause);
      else await this.#time.wait(pause, signal);
    }
  }

  /**
   * One try: an answer, or why there is none. What the endpoint does not know of the request is
   * left out and remembered.
   */
  async #attempt(
    request: ChatRequest,
    signal: AbortSignal | undefined,
  ): Promise<ChatAnswer | EndpointFault> {
    const without = new Set(this.#unsupported);
    try {
      for (;;) {
        const body = createRequestBody(this.name, request, without);
        const { status, text, response } = await this.#send(body, signal);
        const declined =
          status === 400 || status === 422 ? findUnsupportedOption(text, body) : undefined;
        if (declined !== undefined && !without.has(declined)) {
          without.add(declined);
          continue;
        }
        if (status !== 200) throw this.#createStatusFault(response, text);
        const answer = this.#parseAnswer(response, text);
        for (const it of without) this.#unsupported.add(it);
        const { read, written } = answer.tokens;
        // who does not count is counted by length, so that a budget holds all the same
        this.#rateLimiter.addTokens(
          read + written || Math.ceil((JSON.stringify(body).length + text.length) / 4),
        );
        return answer;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof EndpointFault) return error;
      throw error;
    }
  }

  async #send(
    body: JsonObject,
    signal: AbortSignal | undefined,
  ): Promise<{ status: number; text: string; response: Response }> {
    const late = AbortSignal.timeout(this.#timeout);
    try {
      const response = await fetch(this.address, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          ...(this.#key ? { authorization: this.#key.authorization } : {}),
        },
        body: JSON.stringify(body),
        // a key goes to the address it was given for, and nowhere that answers point to
        redirect: "manual",
        signal: signal ? AbortSignal.any([signal, late]) : late,
      });
      this.#hasAnswered = true;
      return { status: response.status, text: this.#redactKey(await readBody(response)), response };
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof EndpointFault) throw cause;
      if (late.aborted)
        throw new EndpointFault(
          "timed-out",
          `${this.#displayAddress} gave no whole answer within ${this.#timeout / 1000} s`,
          "ask less at a time, or a faster model",
          { cause, isRetryable: true },
        );
      throw new EndpointFault(
        "unreachable",
        `nobody answers at ${this.#displayAddress} (${describeCause(cause)})`,
        "start the server, or correct its base URL",
        { cause, isRetryable: true },
      );
    }
  }

  /** Why a status is no success. */
  #createStatusFault(response: Response, text: string): EndpointFault {
    const { status, headers } = response;
    const said = `${status}${extractErrorMessage(text)}`;
    if (status >= 300 && status < 400) {
      const to = headers.get("location");
      const where =
        to && URL.canParse(to, this.address) ? new URL(to, this.address).origin : "nowhere";
      return new EndpointFault(
        "redirected",
        `${this.#displayAddress} points to ${where}, where nothing was sent`,
        "give the address it points to as the base URL, if you trust it",
        { status },
      );
    }
    if (status === 429 || status === 408 || status === 425 || status >= 500) {
      const pause = this.#parseRetryAfter(headers.get("retry-after"));
      const later =
        pause === undefined ? "" : `, and asks for ${Math.ceil(pause / 1000)} s of quiet`;
      return new EndpointFault(
        "overloaded",
        `${this.#displayAddress} cannot answer at present: ${said}${later}`,
        "try again later, or ask for less at a time",
        { status, isRetryable: true, pause },
      );
    }
    if (status === 401 || status === 403)
      return new EndpointFault(
        "declined",
        `${this.#displayAddress} does not let us in: ${said}`,
        "give a key for that address, in a terminal as PROVE_API_KEY",
        { status },
      );
    if (status === 404)
      return new EndpointFault(
        "declined",
        `${this.#displayAddress} has no such page or model: ${said}`,
        `${compatible}, and that it has the model ${this.name}`,
        { status },
      );
    return new EndpointFault(
      "declined",
      `${this.#displayAddress} declined the request: ${said}`,
      compatible,
      { status },
    );
  }

  /** Milliseconds that a `Retry-After` asks for: seconds, or a date. */
  #parseRetryAfter(retryAfter: string | null): number | undefined {
    if (retryAfter === null) return undefined;
    if (/^\s*\d+(\.\d+)?\s*$/.test(retryAfter)) return Math.ceil(Number(retryAfter) * 1000);
    const at = Date.parse(retryAfter);
    return Number.isNaN(at) ? undefined : Math.max(0, at - this.#time.now());
  }

  #parseAnswer({ headers }: Response, text: string): ChatAnswer {
    let json: Json;
    try {
      json = JSON.parse(text) as Json;
    } catch (cause) {
      const type = headers.get("content-type") ?? "no content type";
      if (!type.includes("json"))
        throw new EndpointFault(
          "not-json",
          `${this.#displayAddress} answered with ${type}, not JSON (${excerptText(text)})`,
          compatible,
          { cause },
        );
      throw new EndpointFault(
        "not-json",
        `${this.#displayAddress} answered with half a JSON (${text.length} characters)`,
        "try again later",
        { cause, isRetryable: true },
      );
    }
    return parseAnswer(json);
  }

  #redactKey(text: string): string {
    return this.#key ? this.#key.redact(text) : text;
  }

  /** The address without what stands behind a question mark. */
  get #displayAddress(): string {
    return this.address.origin + this.address.pathname.replace(/\/chat\/completions$/, "");
  }
}

function parseAddress(url: string): URL {
  if (!URL.canParse(url))
    throw new UserError(
      `${excerptText(url)} is no address of an endpoint`,
      "give a base URL such as http://127.0.0.1:8000/v1",
    );
  const address = new URL(url);
  if (address.protocol !== "http:" && address.protocol !== "https:")
    throw new UserError(
      `an endpoint is not reached by ${address.protocol}`,
      "give a base URL that begins with http:// or https://",
    );
  if (address.username !== "" || address.password !== "")
    throw new UserError(
      `the address of the endpoint at ${address.host} holds a name or a password`,
      "take it out, and set the key as PROVE_API_KEY",
    );
  address.pathname = `${address.pathname.replace(/\/+$/, "").replace(/\/chat\/completions$/, "")}/chat/completions`;
  address.hash = "";
  return address;
}

/** The body as text, up to what an answer can be. */
async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > largestAnswer)
      throw new EndpointFault(
        "not-a-completion",
        `an answer of more than ${largestAnswer / 1e6} MB came`,
        compatible,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** `ECONNREFUSED` and the like: fetch itself only says that it failed. */
function describeCause(error: unknown): string {
  const { cause, message } = error as {
    cause?: { code?: string; message?: string };
    message: string;
  };
  return excerptText(cause?.code ?? cause?.message ?? message);
}

/** What an error's body says, where it says it as endpoints do; nothing of pages. */
function extractErrorMessage(text: string): string {
  try {
    const { error, message } = JSON.parse(text) as {
      error?: { message?: unknown } | string;
      message?: unknown;
    };
    const said = (typeof error === "string" ? error : error?.message) ?? message;
    return typeof said === "string" && said !== "" ? ` (${excerptText(said)})` : "";
  } catch {
    // a page, or nothing: the status says it
    return "";
  }
}
