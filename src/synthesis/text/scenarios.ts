/** Reads scenario files: those of servers, those over several servers, and those of a workspace. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Catalog } from "../../environment/catalog.ts";
import { findLine } from "../../storage/jsonPosition.ts";
import { parseJson } from "../../storage/parseJson.ts";
import { readTextFile } from "../../storage/readTextFile.ts";
import { UserError } from "../../userError.ts";
import { findScenarioErrors } from "./scenarioErrors.ts";
import { scenariosSchema, type Scenario } from "./scenarioSchema.ts";

/** A scenario with the servers that it needs, in the order in which they are first used. */
export interface ServerScenario extends Scenario {
  readonly servers: readonly string[];
}

/** Reads the shipped scenarios that need no other servers than these. */
export function readScenarios(
  resources: string,
  catalog: Pick<Catalog, "tools">,
  servers: readonly string[],
): ServerScenario[] {
  const files = [
    ...servers.map(it => join(resources, "servers", it, "scenarios.json")),
    join(resources, "scenarios.json"),
  ];
  return files
    .filter(it => existsSync(it))
    .flatMap(it => parseScenarios(readTextFile(it), it, catalog))
    .filter(it => it.servers.every(name => servers.includes(name)));
}

/** Parses the text of a scenario file. Throws a `UserError` that names the first error's line. */
export function parseScenarios(
  text: string,
  file: string,
  { tools }: Pick<Catalog, "tools">,
): ServerScenario[] {
  const { scenarios } = parseJson(scenariosSchema, text, {
    file,
    noun: "a scenario file",
    format: "prove/scenarios@1",
  });
  const error = findScenarioErrors(scenarios, tools)[0];
  if (error)
    throw new UserError(
      `${file}:${findLine(text, error.path)}: ${error.message}`,
      "correct that scenario; `prove-rl tools SERVER` lists the tools of a server",
    );
  return scenarios.map(it => ({
    ...it,
    servers: [...new Set(it.turns.flat().map(step => tools.get(step.tool)!.server))],
  }));
}
