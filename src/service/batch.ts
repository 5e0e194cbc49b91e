/** Answers a batch: many requests to sessions in one, executed in their order. */
import type { z } from "zod";
import { toHttpError } from "./httpError.ts";
import { parseBody, type JsonResponse } from "./jsonResponse.ts";
import { batchBody } from "./schemas.ts";

type Answer = (sessionId: string, body: unknown) => JsonResponse | Promise<JsonResponse>;

export type BatchAnswers = Readonly<
  Record<z.infer<typeof batchBody>["requests"][number]["do"], Answer>
>;

/** A request that fails has the status and body of its error; the ones after it are executed. */
export async function answerBatch(body: unknown, answers: BatchAnswers): Promise<JsonResponse> {
  const { requests } = parseBody(batchBody, body);
  const results: string[] = [];
  for (const { do: name, session_id: id, body: own = {} } of requests) {
    const answer = answerOne(() => answers[name](id, own));
    const { status, text } = answer instanceof Promise ? await answer : answer;
    // assembled by hand, because the bodies are JSON already
    results.push(`{"status":${status},"body":${text}}`);
  }
  return { status: 200, text: `{"results":[${results.join(",")}]}` };
}

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
