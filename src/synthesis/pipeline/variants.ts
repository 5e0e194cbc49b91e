/**
 * Synthesizes variants of a task. A variant has the same kind, the same information level and the
 * same tools in the same turns, with other entities and other words.
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { Random } from "../../environment/random.ts";
import {
  formatFixtureName,
  isHeldOutWorld,
  parseFixtureName,
} from "../../environment/fixtureName.ts";
import { UserError } from "../../userError.ts";
import { listGoalEdges } from "../../trajectory/goalEdges.ts";
import type { Task } from "../../trajectory/task.ts";
import { readCrossServerLinks, type CrossServerLink } from "../text/crossServerLinks.ts";
import { pickPersona, readStyleGuide, type StyleGuide } from "../text/personas.ts";
import { readScenarios, type ServerScenario } from "../text/scenarios.ts";
import { attemptTask, createAttemptContext, type AttemptContext } from "./attemptTask.ts";
import { localizePlan } from "./crossServerPlan.ts";
import { hasHiddenIds, type ServerFixture } from "./fixtureChoice.ts";
import { menuKinds, presets, type Preset } from "./presets.ts";
import { replanScenario } from "./scenarioVariant.ts";
import type { SynthesisOptions } from "./synthesisOptions.ts";
import { Synthesizer } from "./synthesizer.ts";
import { maxScenarioTurns, type TaskSpecification } from "./taskSpecification.ts";
import { createVariantPlan, type VariantPlan } from "./variantPlan.ts";

export interface VariantOptions {
  readonly catalog: Catalog;
  /** The product's `resources` folder. */
  readonly resources: string;
  readonly seed: number;
  readonly count: number;
  /** The preset of the task. */
  readonly preset?: Preset["name"];
  /**
   * Whether values flow only along edges along which they flow in the task, too. A model that is
   * trained on such variants sees no edge that is held out.
   */
  readonly keepsEdges?: boolean;
  /** Failed attempts in a row before the synthesis gives up. */
  readonly maxFailures?: number;
  readonly signal?: AbortSignal;
}

/** A request draws from `drawn` of `all` variants of a fixture, because creating one takes long. */
const fixtureVariants = { drawn: 4, all: 40 };

/** How often the variant uses the task's own fixture. */
const ownFixtureShare = 0.85;

/**
 * Yields variants of a task until there are `count` or no more can be found. The same options give
 * the same bytes. Throws a `UserError` if a server of the task does not exist, or if the task has a
 * recovery.
 */
export async function* synthesizeVariants(
  task: Task,
  options: VariantOptions,
): AsyncGenerator<Task> {
  const { count, keepsEdges = false, maxFailures = 300, signal } = options;
  const context = createVariantContext(task, options);
  const target = { home: task.servers[0]!.name, kind: task.kind };
  const shape = getTaskShape(task);
  const edges = new Set(listGoalEdges(task.goals));
  let failures = 0;
  for (let n = 0, found = 0; found < count && failures < maxFailures; n++) {
    signal?.throwIfAborted();
    const result = await attemptTask({ n, ...target }, context);
    const isVariant =
      result.kind === "accepted" &&
      getTaskShape(result.task) === shape &&
      (!keepsEdges || listGoalEdges(result.task.goals).every(it => edges.has(it))) &&
      context.duplicates.addIfNew(result.task);
    if (!isVariant) {
      failures++;
      continue;
    }
    failures = 0;
    found++;
    yield result.task;
  }
}

/** Variants cannot repeat what the assistant has to recover from. */
export const canHaveVariants = (task: Task): boolean => task.knobs["recovery"] === undefined;

function createVariantContext(
  task: Task,
  { catalog, resources, seed, preset, signal }: VariantOptions,
): AttemptContext {
  const servers = task.servers.map(it => it.name);
  const missing = servers.find(it => !catalog.servers.has(it));
  if (missing !== undefined)
    throw new UserError(
      `task ${task.id} is of ${missing}, which is not here`,
      "start it, or choose another task",
    );
  if (!canHaveVariants(task))
    throw new UserError(
      `in task ${task.id} the assistant has to recover from something, which variants cannot repeat`,
      "choose a task without a recovery",
    );
  const options: SynthesisOptions = {
    catalog,
    resources,
    seed,
    servers,
    menu: menuKinds.find(it => it === task.knobs["menu"]) ?? "chain",
    ...(preset ? { preset } : {}),
    // `synthesizeVariants` checks for duplicates after the shape
    rejectsDuplicates: false,
    ...(signal ? { signal } : {}),
  };
  const source = {
    task,
    catalog,
    seed,
    links: readCrossServerLinks(resources, catalog),
    scenarios: readScenarios({ resources, catalog, servers }),
    styleGuide: readStyleGuide(resources),
  };
  const context = createAttemptContext(
    options,
    new Synthesizer(options, ({ n }, random) => specifyVariant(source, n, random)),
  );
  context.duplicates.addIfNew(task);
  return context;
}

/**
 * Equal for tasks of the same kind and information, with the same tools in the same turns and the
 * same difficulties: conditions that turn out the same, limits and changes of mind.
 */
export const getTaskShape = ({ kind, info, turns, goals, knobs }: Task): string =>
  JSON.stringify([
    kind,
    info,
    turns.map(it => it.conditional?.map(call => call.name) ?? []),
    goals.map(it => [it.turn, it.calls.map(call => call.name)]),
    ["conditions", "limits", "changesOfMind"].map(it => knobs[it] ?? null),
  ]);

interface VariantSource {
  readonly task: Task;
  readonly catalog: Catalog;
  readonly seed: number;
  readonly links: readonly CrossServerLink[];
  readonly scenarios: readonly ServerScenario[];
  readonly styleGuide: StyleGuide;
}

/** Specifies attempt number n at a variant of the task. */
function specifyVariant(source: VariantSource, n: number, random: Random): TaskSpecification {
  const { task, catalog, seed, links, scenarios, styleGuide } = source;
  const { id, kind, info, turns, chain, knobs, servers } = task;
  const scenario = replanScenario(task, scenarios, random);
  const plan = scenario ? {} : createVariantPlan(task, catalog, links, random);
  const home = servers[0]!.name;
  const fixture = chooseFixtureName(source, random);
  const world = chooseWorld(source, random);
  const fixtures = servers.map(({ name }) =>
    world === undefined
      ? chooseVariantOf(source, name, fixture, random)
      : { name, fixture: formatFixtureName({ base: findFixture(source, name, fixture), world }) },
  );
  const { crossServerPlan }: Partial<VariantPlan> = plan;
  return {
    id: `${id}-v${seed}-${n}`,
    home,
    chain,
    kind,
    info,
    isOneTurn: turns.length === 1,
    prefersLists: knobs["lists"] === true,
    servers: fixtures,
    sessionSeed: random.integer(100_000),
    persona: pickPersona(styleGuide, random),
    distractors: Number(knobs["distractors"] ?? 0),
    stripsEnums: knobs["enumsStripped"] === true,
    onlyOtherServers:
      kind === "irrelevant" && !task.menu.some(it => it.name.startsWith(`${home}_`)),
    ...(task.policy ? { policy: task.policy } : {}),
    // the other task of its pair may be the one that is held out
    ...(knobs["pair"] === undefined || task.goals.length > 0 ? {} : { split: task.split }),
    bringsTool: turns.some(it => it.adds !== undefined),
    ...plan,
    ...(scenario
      ? {
          scenario: catalog.localize(scenario, fixtures[0]!.fixture),
          maxTurns: maxScenarioTurns,
        }
      : {}),
    ...(crossServerPlan
      ? { crossServerPlan: localizePlan(crossServerPlan, catalog, fixtures[0]!.fixture) }
      : {}),
  };
}

/** The name of a fixture of the home server: mostly the task's own. */
function chooseFixtureName({ task, catalog }: VariantSource, random: Random): string {
  const { name, fixture } = task.servers[0]!;
  const own = parseFixtureName(fixture).base;
  return random.boolean(ownFixtureShare) ? own : random.pick(catalog.listFixtures(name));
}

/**
 * The world of all servers of the variant, undefined if the task is of none. It is held out of
 * training if the task's own world is.
 */
function chooseWorld({ task, seed }: VariantSource, random: Random): number | undefined {
  const { fixture } = task.servers[0]!;
  const own = parseFixtureName(fixture).world;
  if (own === undefined) return undefined;
  const { drawn } = fixtureVariants;
  const world = 1 + ((seed * drawn + random.integer(drawn)) % presets.paper.worlds);
  const isSameKind =
    isHeldOutWorld(formatFixtureName({ base: "full", world })) === isHeldOutWorld(fixture);
  return isSameKind ? world : own;
}

/** The fixture, or the first one of a server that has none of that name. */
function findFixture({ catalog }: VariantSource, name: string, fixture: string): string {
  const names = catalog.listFixtures(name);
  return names.includes(fixture) ? fixture : names[0]!;
}

/** The fixture of a server, under other ids. */
function chooseVariantOf(
  source: VariantSource,
  name: string,
  fixture: string,
  random: Random,
): ServerFixture {
  const { catalog, seed } = source;
  const own = findFixture(source, name, fixture);
  if (!hasHiddenIds(catalog.getServer(name))) return { name, fixture: own };
  const { drawn, all } = fixtureVariants;
  const number = 1 + ((seed * drawn + random.integer(drawn)) % all);
  return { name, fixture: formatFixtureName({ base: own, variant: number }) };
}
