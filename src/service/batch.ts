/**
 * Answers a batch: many requests to sessions in one, executed in their order. Requests to sessions
 * of other processes are passed to these, which execute them at the same time.
 */
import type { z } from "zod";
import { HttpError, toHttpError } from "./httpError.ts";
import { parseBody, type JsonResponse } from "./jsonResponse.ts";
import { toJsonResponse, type Peers } from "./peers.ts";
import { batchBody } from "./schemas.ts";

type Answer = (sessionId: string, body: unknown) => JsonResponse | Promise<JsonResponse>;
type BatchRequest = z.infer<typeof batchBody>["requests"][number];

export type BatchAnswers = Readonly<Record<BatchRequest["do"], Answer>>;

/** A request that fails has the status and body of its error; the ones after it are executed. */
export async function answerBatch(
  body: unknown,
  answers: BatchAnswers,
  peers?: Peers,
): Promise<JsonResponse> {
  const { requests } = parseBody(batchBody, body);
  const results = peers
    ? await answerWithPeers(requests, answers, peers)
    : await answerAll(requests, answers);
  return { status: 200, text: `{"results":[${results.join(",")}]}` };
}

/** Answers the part of a batch that another process has passed on: a line for each result. */
export const answerBatchPart = async (
  requests: unknown,
  answers: BatchAnswers,
): Promise<JsonResponse> => ({
  status: 200,
  text: (await answerAll(requests as readonly BatchRequest[], answers)).join("\n"),
});

async function answerWithPeers(
  requests: readonly BatchRequest[],
  answers: BatchAnswers,
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
  await Promise.all(
    Array.from(parts, async ([index, { places, requests: own }]) => {
      const lines = peers.isOwn(own[0]!.session_id)
        ? await answerAll(own, answers)
        : await passOn(index, own, peers);
      for (const [i, place] of places.entries()) results[place] = lines[i]!;
    }),
  );
  return results;
}

async function passOn(
  index: number,
  requests: readonly BatchRequest[],
  peers: Peers,
): Promise<readonly string[]> {
  try {
    const response = await peers.send(index, {
      method: "POST",
      url: "batch",
      body: JSON.stringify(requests),
      // of several numbered requests to a session, only the last can be repeated
      isRepeatable: new Set(requests.map(it => it.session_id)).size === requests.length,
    });
    const { status, text } = toJsonResponse(response);
    if (status === 200) return text.split("\n");
    throw new Error(`a part of a batch was answered with ${status}`);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return requests.map(() => formatResult(toResponse(error)));
  }
}

async function answerAll(
  requests: readonly BatchRequest[],
  answers: BatchAnswers,
): Promise<readonly string[]> {
  const results: string[] = [];
  for (const { do: name, session_id: id, body = {} } of requests) {
    const answer = answerOne(() => answers[name](id, body));
    results.push(formatResult(answer instanceof Promise ? await answer : answer));
  }
  return results;
}

/** Assembled by hand, because the bodies are JSON already. */
const formatResult = ({ status, text }: JsonResponse) => `{"status":${status},"body":${text}}`;

function answerOne(
  answer: () => JsonResponse | Promise<JsonResponse>,
): JsonResponse | Promise<JsonResponse> {
  try {
    const response = answer();
    return response instanceof Promise ? response.catch(toResponse) : response;
  } catch (error) {
    return toResponse(error);
  }
}

/** The response to an error that the client can fix. Any other error ends the batch. */
function toResponse(error: unknown): JsonResponse {
  const known = toHttpError(error);
  if (!known) throw error;
  return { status: known.status, text: known.text };
}
