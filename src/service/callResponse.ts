/** The response to a call: what a model sees of its outcome, and the whole of it. */
import type { Json } from "../environment/json.ts";
import type { Fault, Outcome } from "../environment/outcome.ts";
import { formatFault } from "../mcp/exposedServer.ts";
import { excerptJson } from "../trajectory/excerpt.ts";
import { HttpError } from "./httpError.ts";
import type { JsonResponse } from "./jsonResponse.ts";

/** What a model sees of an outcome, and the whole of it. */
export function formatOutcome(outcome: Outcome): {
  readonly structured: Json;
  readonly text: string;
  readonly truncated: boolean;
} {
  const structured: Json = outcome.kind === "ok" ? outcome.value : { ...formatFault(outcome) };
  return { structured, ...excerptJson(structured) };
}

/** A tool's failure is a normal response. A broken call is an error, so that it is never scored. */
export function createCallResponse(
  outcome: Outcome,
  digest: string,
  elapsedMs: number,
): JsonResponse {
  if (outcome.kind === "broken") return createBrokenResponse(outcome);
  const { structured, text, truncated } = formatOutcome(outcome);
  // assembled by hand, because the text is mostly the JSON of the whole result already
  return {
    status: 200,
    text: `{"is_error":${outcome.kind !== "ok"},"text":${JSON.stringify(text)},"structured":${
      truncated ? JSON.stringify(structured) : text
    },"digest":"${digest}","elapsed_ms":${Number(elapsedMs.toFixed(3))},"truncated":${truncated}}`,
  };
}

/** The response to a call that broke, which is a fault of the service. */
function createBrokenResponse(fault: Fault): JsonResponse {
  const { status, text } = new HttpError(
    "INTERNAL",
    formatFault(fault).message,
    "do not score the attempt, and report what the service printed",
  );
  return { status, text };
}
