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

/** The part of a response that follows from the outcome, which attempts at one task may share. */
const outcomeTexts = new WeakMap<Outcome, { readonly start: string; readonly end: string }>();

function formatOutcomeParts(outcome: Outcome): { readonly start: string; readonly end: string } {
  let parts = outcomeTexts.get(outcome);
  if (!parts) {
    const { structured, text, truncated } = formatOutcome(outcome);
    // assembled by hand, because the text is mostly the JSON of the whole result already
    const whole = truncated ? JSON.stringify(structured) : text;
    parts = {
      start: `{"is_error":${outcome.kind !== "ok"},"text":${JSON.stringify(text)},"structured":${whole}`,
      end: `"truncated":${truncated}}`,
    };
    outcomeTexts.set(outcome, parts);
  }
  return parts;
}

/** A tool's failure is a normal response. A broken call is an error, so that it is never scored. */
export function createCallResponse(
  outcome: Outcome,
  digest: string,
  elapsedMs: number,
): JsonResponse {
  if (outcome.kind === "broken") return createBrokenResponse(outcome);
  const { start, end } = formatOutcomeParts(outcome);
  const elapsed = Number(elapsedMs.toFixed(3));
  return { status: 200, text: `${start},"digest":"${digest}","elapsed_ms":${elapsed},${end}` };
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
