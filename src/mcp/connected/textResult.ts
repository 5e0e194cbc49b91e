/** Reads results of other servers that are text: failures, and values that are written as text. */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { Outcome } from "../../environment/outcome.ts";
import { readPythonValue } from "./pythonValue.ts";
import type { ServerFile } from "./serverFile.ts";

type TextForm = ServerFile["tools"][string]["text"];

/**
 * An outcome as a record, as all results of environments are: another value is its `result`. A text
 * that a failure matches is a refusal.
 */
export function readResult(outcome: Outcome, form: TextForm, failures: readonly RegExp[]): Outcome {
  if (outcome.kind !== "ok") return outcome;
  const { value } = outcome;
  const text = typeof value === "string" ? value : findOnlyText(value);
  if (text !== undefined && failures.some(it => it.test(text)))
    return { kind: "refused", type: findType(text), message: text.trim().slice(0, 1000) };
  return { kind: "ok", value: toRecord(typeof value === "string" ? readText(value, form) : value) };
}

/** Some servers wrap the text of a tool without a schema: `{"result": "…"}`. */
const findOnlyText = (value: Json): string | undefined => {
  const values = isJsonObject(value) ? Object.values(value) : [];
  return values.length === 1 && typeof values[0] === "string" ? values[0] : undefined;
};

const toRecord = (value: Json): JsonObject => (isJsonObject(value) ? value : { result: value });

const findType = (text: string): "not_found" | "invalid_params" | "precondition_failed" =>
  /\b(not found|no such|does ?n.t exist|does not exist|unknown)\b/i.test(text)
    ? "not_found"
    : /\b(invalid|must be|expected|required)\b/i.test(text)
      ? "invalid_params"
      : "precondition_failed";

function readText(text: string, form: TextForm): Json {
  if (form === "python") return readPythonValue(text) ?? text;
  if (form === "lines") return text.split("\n").filter(it => it.trim() !== "");
  return text;
}
