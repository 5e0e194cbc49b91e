/** Outputs of models with the text and the calls in them, as the Python package's tests read them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/environment/json.ts";
import type { Call } from "../../src/environment/outcome.ts";
import type { CallSyntax } from "../../src/policy/callText/callText.ts";

interface CallCase {
  readonly name: string;
  /** Absent if a tag in the message says it. */
  readonly syntax?: CallSyntax;
  readonly message: string;
  /** Whether the calls depend on the schemas. */
  readonly needsTools?: boolean;
  readonly text: string;
  readonly calls: readonly Call[];
}

interface CallCases {
  readonly tools: readonly { readonly name: string; readonly inputSchema: JsonObject }[];
  readonly cases: readonly CallCase[];
}

/** Reads them from the folder of this file, which a bundle has to name. */
export const readCallCases = (folder = import.meta.dirname): CallCases =>
  JSON.parse(readFileSync(join(folder, "callText.cases.json"), "utf8")) as CallCases;
