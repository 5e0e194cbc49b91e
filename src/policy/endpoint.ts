/**
 * An OpenAI-compatible endpoint as a chat model: `POST <base URL>/chat/completions`, retried when
 * that may help. The key is sent to that address only, and appears in no error message. Requests
 * are limited: how many at a time and per minute, how many tokens in total, and a pause for all
 * when the endpoint asks for one. Every failure is an `EndpointFault`.
 */
import { setTimeout } from "node:timers/promises";
import { createRandom, type Random } from "../environment/random.ts";
import type { Json, JsonObject } from "../environment/json.ts";
import { parseMessageJson } from "../storage/jsonDepth.ts";
import { UserError } from "../userError.ts";
import type { ChatAnswer, ChatModel, ChatRequest } from "./chatModel.ts";
import {
  EndpointFault,
  excerptText,
  parseAnswer,
  createRequestBody,
  compatibleRemedy,
  findUnsupportedOption,
  type UnsupportedOption,
} from "./endpointFormat.ts";

export interface EndpointOptions {
  /** The base URL, such as `http://127.0.0.1:8000/v1`. */
  readonly url: string;
  readonly model: string;
  readonly key?: string | undefined;
  /** The most requests at a time; 8 if absent. */
  readonly concurrency?: number | undefined;
  /** The most requests per minute. */
  readonly perMinute?: number | undefined;
  /** The most tokens read and written over all requests; the next request then fails. */
  readonly tokens?: number | undefined;
  /** The seed of the jitter between retries. */
  readonly seed?: number;
  /** The most milliseconds for an answer. */
  readonly timeout?: number;
  readonly time?: Clock;
}

const retryLimits = {
  /** Attempts at one request. */
  attempts: 5,
  /** Attempts at one request while the endpoint has never answered. */
  attemptsBeforeContact: 2,
  /** Milliseconds before the second attempt, doubled before each further one. */
  firstPause: 500,
  /** The longest pause to wait for. */
  longestPause: 120_000,
  /** Failed requests in a row after which nothing more is sent. */
  failedRequests: 8,
};
const defaultTimeout = 180_000;
const maxAnswerBytes = 8_000_000;

const systemClock: Clock = {
  // does not jump when the clock of the machine is set
  now: () => performance.timeOrigin + performance.now(),
  wait: async (milliseconds, signal) => {
    await setTimeout(milliseconds, undefined, { signal }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
  },
};

/** Opens an endpoint without sending anything. Throws a `UserError` for an invalid URL or key. */
export const openEndpoint = (options: EndpointOptions): Endpoint => new Endpoint(options);

export class Endpoint implements ChatModel {
  readonly name: string;
  /** The URL of the requests. */
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
      const result = await this.#attempt(request, signal);
      if (!(result instanceof EndpointFault)) {
        this.#failures = 0;
        return result;
      }
      const pause =
        result.pause ??
        Math.round(retryLimits.firstPause * 2 ** (attempt - 1) * (0.5 + this.#random.next()));
      const hasNoContact = result.kind === "unreachable" && !this.#hasAnswered;
      const isLast =
        !result.isRetryable ||
        attempt >= (hasNoContact ? retryLimits.attemptsBeforeContact : retryLimits.attempts) ||
        pause > retryLimits.longestPause;
      if (isLast && result.isRetryable) this.#failures++;
      if (
        result.isPermanent ||
        (isLast && hasNoContact) ||
        this.#failures >= retryLimits.failedRequests
      )
        this.#permanentFault = result;
      if (isLast) throw result;
      // a pause that the endpoint asks for applies to all requests
      if (result.pause !== undefined) this.#rateLimiter.pause(pause);
      else await this.#time.wait(pause, signal);
    }
  }

  /**
   * Sends a request once and returns the answer or the fault. Options that the endpoint does not
   * support are left out of this and later requests.
   */
  async #attempt(
    request: ChatRequest,
    signal: AbortSignal | undefined,
  ): Promise<ChatAnswer | EndpointFault> {
    const omitted = new Set(this.#unsupported);
    try {
      for (;;) {
        const body = createRequestBody(this.name, request, omitted);
        const { status, text, response } = await this.#send(body, signal);
        const unsupported =
          status === 400 || status === 422 ? findUnsupportedOption(text, body) : undefined;
        if (unsupported !== undefined && !omitted.has(unsupported)) {
          omitted.add(unsupported);
          continue;
        }
        if (status !== 200) throw this.#createStatusFault(response, text);
        const answer = this.#parseAnswer(response, text, request.tools);
        for (const it of omitted) this.#unsupported.add(it);
        const { read, written } = answer.tokens;
        // if the endpoint does not report usage, tokens are estimated from length
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
    const timeout = AbortSignal.timeout(this.#timeout);
    try {
      const response = await fetch(this.address, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          ...(this.#key ? { authorization: this.#key.authorization } : {}),
        },
        body: JSON.stringify(body),
        // following a redirect would send the key to another address
        redirect: "manual",
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      this.#hasAnswered = true;
      return { status: response.status, text: this.#redactKey(await readBody(response)), response };
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof EndpointFault) throw cause;
      if (timeout.aborted)
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

  /** The fault of a response with a status other than 200. */
  #createStatusFault(response: Response, text: string): EndpointFault {
    const { status, headers } = response;
    const detail = `${status}${extractErrorMessage(text)}`;
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
        `${this.#displayAddress} cannot answer at present: ${detail}${later}`,
        "try again later, or ask for less at a time",
        { status, isRetryable: true, pause },
      );
    }
    if (status === 401 || status === 403)
      return new EndpointFault(
        "declined",
        `${this.#displayAddress} does not let us in: ${detail}`,
        "give a key for that address, in a terminal as PROVE_API_KEY",
        { status },
      );
    if (status === 404)
      return new EndpointFault(
        "declined",
        `${this.#displayAddress} has no such page or model: ${detail}`,
        `${compatibleRemedy}, and that it has the model ${this.name}`,
        { status },
      );
    return new EndpointFault(
      "declined",
      `${this.#displayAddress} declined the request: ${detail}`,
      compatibleRemedy,
      { status },
    );
  }

  /** The milliseconds of a `Retry-After` header, which contains seconds or a date. */
  #parseRetryAfter(retryAfter: string | null): number | undefined {
    if (retryAfter === null) return undefined;
    if (/^\s*\d+(\.\d+)?\s*$/.test(retryAfter)) return Math.ceil(Number(retryAfter) * 1000);
    const at = Date.parse(retryAfter);
    return Number.isNaN(at) ? undefined : Math.max(0, at - this.#time.now());
  }

  #parseAnswer({ headers }: Response, text: string, tools: ChatRequest["tools"]): ChatAnswer {
    let json: Json;
    try {
      json = parseMessageJson(text) as Json;
    } catch (cause) {
      const type = headers.get("content-type") ?? "no content type";
      if (!type.includes("json"))
        throw new EndpointFault(
          "not-json",
          `${this.#displayAddress} answered with ${type}, not JSON (${excerptText(text)})`,
          compatibleRemedy,
          { cause },
        );
      throw new EndpointFault(
        "not-json",
        `${this.#displayAddress} answered with half a JSON (${text.length} characters)`,
        "try again later",
        { cause, isRetryable: true },
      );
    }
    return parseAnswer(json, tools);
  }

  #redactKey(text: string): string {
    return this.#key ? this.#key.redact(text) : text;
  }

  /** The address for messages, without its query. */
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

/** The body as text. Throws an `EndpointFault` if it is too large. */
async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxAnswerBytes)
      throw new EndpointFault(
        "not-a-completion",
        `an answer of more than ${maxAnswerBytes / 1e6} MB came`,
        compatibleRemedy,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The cause of a failed fetch, such as `ECONNREFUSED`; its own message says nothing. */
function describeCause(error: unknown): string {
  const { cause, message } = error as {
    cause?: { code?: string; message?: string };
    message: string;
  };
  return excerptText(cause?.code ?? cause?.message ?? message);
}

/** The message in the JSON body of an error, in parentheses; empty for other bodies. */
function extractErrorMessage(body: string): string {
  try {
    const { error, message } = JSON.parse(body) as {
      error?: { message?: unknown } | string;
      message?: unknown;
    };
    const text = (typeof error === "string" ? error : error?.message) ?? message;
    return typeof text === "string" && text !== "" ? ` (${excerptText(text)})` : "";
  } catch {
    // not JSON: the status has to do
    return "";
  }
}

/** The passing of time, which tests replace. */
export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after that many milliseconds; rejects with the signal's reason when it is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

interface RateLimiterOptions {
  readonly concurrency: number;
  /** The most requests per minute; no limit if absent. */
  readonly perMinute?: number | undefined;
  /** The most tokens read and written; no limit if absent. */
  readonly tokens?: number | undefined;
  readonly time: Clock;
}

class RateLimiter {
  readonly #options: RateLimiterOptions;
  #freeSlots: number;
  readonly #queue: (() => void)[] = [];
  /** The earliest time at which the next request may begin. */
  #nextStart = 0;
  #usedTokens = 0;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    this.#freeSlots = options.concurrency;
  }

  /** Tokens read and written so far. */
  get usedTokens(): number {
    return this.#usedTokens;
  }

  addTokens(tokens: number): void {
    this.#usedTokens += tokens;
  }

  /** Delays all further requests. */
  pause(milliseconds: number): void {
    this.#nextStart = Math.max(this.#nextStart, this.#options.time.now() + milliseconds);
  }

  /** Runs the work when one of the concurrent slots is free. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    await this.#acquireSlot(signal);
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#freeSlots++;
    }
  }

  /** Waits until a request may begin. Throws an `EndpointFault` once the budget is spent. */
  async waitForTurn(signal: AbortSignal | undefined): Promise<void> {
    const { tokens, perMinute, time } = this.#options;
    for (;;) {
      signal?.throwIfAborted();
      if (tokens !== undefined && this.#usedTokens >= tokens)
        throw new EndpointFault(
          "spent",
          `the budget of ${tokens} tokens is spent (${this.#usedTokens} were read and written)`,
          "give a larger budget, or none",
        );
      const now = time.now();
      if (now >= this.#nextStart) break;
      await time.wait(this.#nextStart - now, signal);
    }
    if (perMinute !== undefined) this.#nextStart = time.now() + 60_000 / perMinute;
  }

  #acquireSlot(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#freeSlots > 0) {
      this.#freeSlots--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const takeSlot = () => {
        signal?.removeEventListener("abort", leaveQueue);
        resolve();
      };
      const leaveQueue = () => {
        this.#queue.splice(this.#queue.indexOf(takeSlot), 1);
        reject(signal!.reason as Error);
      };
      this.#queue.push(takeSlot);
      signal?.addEventListener("abort", leaveQueue, { once: true });
    });
  }
}

class EndpointKey {
  readonly #key: string;

  /** Trims the key. Throws a `UserError` if it cannot be part of a header. */
  constructor(key: string) {
    this.#key = key.trim();
    // checked here, because the error of an invalid header would quote the key
    if (!/^[\x21-\x7e]+$/.test(this.#key))
      throw new UserError(
        "the endpoint's key holds characters that no key has",
        "copy it again, in one line and without quotes",
      );
  }

  get authorization(): string {
    return `Bearer ${this.#key}`;
  }

  /**
   * Replaces the key in a text. Short words such as `EMPTY`, which local servers accept as keys,
   * are not secrets and stay.
   */
  redact(text: string): string {
    const isSecret = this.#key.length >= 20 || (this.#key.length >= 8 && /\d/.test(this.#key));
    if (!isSecret) return text;
    return text
      .replaceAll(this.#key, "[key]")
      .replaceAll(JSON.stringify(this.#key).slice(1, -1), "[key]");
  }
}
