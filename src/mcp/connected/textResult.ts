/** Reads results of other servers that are text: failures, and values that are written as text. */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { Outcome } from "../../environment/outcome.ts";
import { removeVolatile } from "./observation.ts";
import { readPythonValue } from "./pythonValue.ts";
import type { ServerFile } from "./serverFile.ts";

/** What is known of results: how text is read, what reports a failure, and what varies. */
type KnownResults = Pick<ServerFile, "tools" | "failures" | "volatile">;

/** Creates a function that reads the outcome of a call on a tool, by its name in tasks. */
export function createResultReader({
  tools,
  failures,
  volatile,
}: KnownResults): (name: string, outcome: Outcome) => Outcome {
  const patterns = failures.map(it => new RegExp(it, "u"));
  return (name, answer) => {
    const outcome = readResult(answer, tools[name]!.text, patterns);
    if (outcome.kind !== "ok") return outcome;
    const masked = removeVolatile({ results: { [name]: outcome.value } }, volatile);
    return { kind: "ok", value: (masked as { results: JsonObject }).results[name]! };
  };
}

type TextForm = ServerFile["tools"][string]["text"];

/**
 * An outcome as a record, as all results of environments are: another value is its `result`. A text
 * that a failure matches is a refusal.
 */
function readResult(outcome: Outcome, form: TextForm, failures: readonly RegExp[]): Outcome {
  if (outcome.kind !== "ok") return outcome;
  const { value } = outcome;
  if (failures.length > 0) {
    const text = findOnlyText(value) ?? JSON.stringify(value);
    if (failures.some(it => it.test(text)))
      return { kind: "refused", type: findType(text), message: text.trim().slice(0, 1000) };
  }
  return { kind: "ok", value: readRecord(value, form) };
}

/** A result as a record. What a text holds replaces it; some servers wrap it in a field. */
export function readRecord(value: Json, form: TextForm): JsonObject {
  const text = findOnlyText(value);
  const read = text === undefined ? value : readText(text, form);
  if (isJsonObject(read)) return read;
  const [key = "result"] = isJsonObject(value) ? Object.keys(value) : [];
  return { [key]: read };
}

/** The text that is a result, or its only field, as in `{"result": "…"}`. */
export function findOnlyText(value: Json): string | undefined {
  if (typeof value === "string") return value;
  const values = isJsonObject(value) ? Object.values(value) : [];
  return values.length === 1 && typeof values[0] === "string" ? values[0] : undefined;
}

const findType = (text: string): "not_found" | "invalid_params" | "precondition_failed" =>
  /\b(not found|no such|does ?n.t exist|does not exist|unknown)\b/i.test(text)
    ? "not_found"
    : /\b(invalid|must be|expected|required)\b/i.test(text)
      ? "invalid_params"
      : "precondition_failed";

function readText(text: string, form: TextForm): Json {
  if (form === "python") {
    const read = readPythonValue(text);
    return read !== null && typeof read === "object" ? read : text;
  }
  if (form === "lines") return text.split("\n").filter(it => it.trim() !== "");
  return text;
}
