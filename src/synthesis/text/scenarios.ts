/** Reads scenario files: those of servers, those over several servers, and those of a workspace. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Catalog } from "../../environment/catalog.ts";
import { findLine } from "../../storage/jsonPosition.ts";
import { parseJson } from "../../storage/parseJson.ts";
import { withReadErrors } from "../../storage/fileErrors.ts";
import { readTextFile } from "../../storage/readTextFile.ts";
import { UserError } from "../../userError.ts";
import { findScenarioErrors } from "./scenarioErrors.ts";
import { scenariosSchema, type Scenario } from "./scenarioSchema.ts";

/** A scenario with the servers that it needs, in the order in which they are first used. */
export interface ServerScenario extends Scenario {
  readonly servers: readonly string[];
}

export interface ScenarioSource {
  /** The product's `resources` folder. */
  readonly resources: string;
  readonly catalog: Pick<Catalog, "tools">;
  /** Names of servers; scenarios that need others are left out. */
  readonly servers: readonly string[];
}

/**
 * Reads the scenarios of a file; without one, the shipped ones and those in `prove/scenarios` of
 * the workspace, which replace shipped ones of the same name.
 */
export function readChosenScenarios(
  source: ScenarioSource,
  prove: string,
  file?: string,
): ServerScenario[] {
  const { catalog, servers } = source;
  if (file !== undefined) {
    const scenarios = selectScenarios(readScenarioFile(file, catalog), servers);
    if (scenarios.length > 0) return scenarios;
    throw new UserError(
      `no scenario of ${file} is about these servers alone: ${servers.join(", ")}`,
      "choose the servers that its steps name",
    );
  }
  const folder = join(prove, "scenarios");
  const files = existsSync(folder)
    ? readdirSync(folder)
        .filter(it => it.endsWith(".json"))
        .toSorted()
    : [];
  const own = selectScenarios(
    files.flatMap(it => readScenarioFile(join(folder, it), catalog)),
    servers,
  );
  const shipped = readScenarios(source);
  return [...shipped.filter(it => !own.some(other => other.name === it.name)), ...own];
}

const readScenarioFile = (file: string, catalog: Pick<Catalog, "tools">): ServerScenario[] =>
  parseScenarios(
    withReadErrors(file, () => readTextFile(file)),
    file,
    catalog,
  );

const selectScenarios = (scenarios: readonly ServerScenario[], servers: readonly string[]) =>
  scenarios.filter(it => it.servers.every(name => servers.includes(name)));

/** Reads the shipped scenarios; those over several servers only for several servers. */
export function readScenarios({ resources, catalog, servers }: ScenarioSource): ServerScenario[] {
  const files = [
    ...servers.map(it => join(resources, "servers", it, "scenarios.json")),
    ...(servers.length > 1 ? [join(resources, "scenarios.json")] : []),
  ];
  const scenarios = files.filter(it => existsSync(it)).flatMap(it => readScenarioFile(it, catalog));
  return selectScenarios(scenarios, servers);
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
