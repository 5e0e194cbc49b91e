/**
 * Synthesizes variants of a task. A variant has the same kind, the same information level and the
 * same tools in the same turns, with other entities and other words.
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { Random } from "../../environment/random.ts";
import { formatFixtureName, isHeldOutWorld, parseFixtureName } from "../../environment/fixture.ts";
import { UserError } from "../../userError.ts";
import { listGoalEdges } from "../../trajectory/seenTasks.ts";
import type { Task } from "../../trajectory/task.ts";
import { readCrossServerLinks, type CrossServerLink } from "../text/crossServerLinks.ts";
import { pickPersona, readStyleGuide, type StyleGuide } from "../text/personas.ts";
import { readScenarios, type ServerScenario } from "../text/scenarios.ts";
import { attemptTask, createAttemptContext, type AttemptContext } from "./task/attemptTask.ts";
import {
  localizePlan,
  createPlanFromLinks,
  type CrossServerPlan,
} from "./specification/crossServerPlan.ts";
import { hasHiddenIds, type ServerFixture } from "./specification/worlds.ts";
import { menuKinds, presets, type Preset, type SynthesisOptions } from "./synthesisOptions.ts";
import { Synthesizer } from "./conversation/synthesizer.ts";
import {
  maxScenarioTurns,
  type TaskSpecification,
  type ConversationScript,
} from "./specification/taskSpecification.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import {
  getCallValue,
  listCalls,
  type CallEvent,
  startsTurn,
  type Event,
} from "../../trajectory/trajectory.ts";
import { getDeclarations } from "../graph/declarations.ts";
import { planScenario, type ScenarioPlan } from "../user/scenarios/scenarioPlan.ts";

interface VariantOptions {
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
  const missing = servers.find(it => !catalog.hasServer(it));
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
    ["conditions", "limits", "changesOfMind", "computedValues", "chosenRows"].map(
      it => knobs[it] ?? null,
    ),
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

// Derives the plan of an existing task from its trajectory: what each turn asks for, without the
// look-ups that the user did not ask for, and the links between its servers.

const neverRefused = { accept: 0, seek: 0 };
const alwaysRefused = { accept: 1, seek: 1 };

interface VariantPlan {
  readonly script: ConversationScript;
  readonly crossServerPlan?: CrossServerPlan;
}

/** The plan of a task, which its variants follow with other entities and words. */
function createVariantPlan(
  task: Task,
  catalog: Catalog,
  links: readonly CrossServerLink[],
  random: Random,
): VariantPlan {
  const hidden = task.hidden.length > 0 ? { hiddenTools: new Set(task.hidden) } : {};
  if (task.kind === "abstain") return { script: { tools: task.chain } };
  if (task.kind === "irrelevant") {
    const tools = task.chain.slice(task.turns.length === 1 ? -1 : -3);
    return { script: { tools, ...hidden } };
  }
  const knownTexts = new Set<string>();
  const turns = splitIntoTurns(task.trajectory.events).map(calls =>
    findRequests(calls, knownTexts, catalog),
  );
  if (task.kind === "clarify") addMissingTool(turns, task, random);
  const withheldAt = task.info === "missing" ? findQuestion(task) : undefined;
  if (withheldAt !== undefined) addWithheldRequest(turns, withheldAt);
  addForbidden(turns, task);
  const crossServerPlan = findCrossServerPlan(task, turns, links, catalog);
  const called = listCalls(task.trajectory).map(it => it.name);
  const tools = [...new Set([...task.chain, ...called])];
  return {
    script: {
      tools: crossServerPlan ? [...crossServerPlan.steps.keys(), ...tools] : tools,
      turns: turns.map((it, i) => ({
        tools: it.tools,
        ...(task.turns[i]?.adds ? { bringsTool: true } : {}),
        ...(i === withheldAt ? { withholdsValue: true } : {}),
        refusalOdds: it.isRefused ? alwaysRefused : neverRefused,
      })),
      ...hidden,
    },
    ...(crossServerPlan ? { crossServerPlan } : {}),
  };
}

/** What a turn asked for. */
interface RequestedTurn {
  /** Full tool names, in order. */
  tools: string[];
  /** The last of them was refused. */
  readonly isRefused: boolean;
}

function splitIntoTurns(events: readonly Event[]): CallEvent[][] {
  const turns: CallEvent[][] = [];
  for (const event of events) {
    if (startsTurn(event)) turns.push([]);
    else if (event.kind === "call") turns.at(-1)?.push(event);
  }
  return turns;
}

/**
 * What a turn asked for: its calls without look-ups, and without failed calls that were corrected
 * in the same turn. Adds the texts of the results to `knownTexts`.
 */
function findRequests(
  calls: readonly CallEvent[],
  knownTexts: Set<string>,
  catalog: Catalog,
): RequestedTurn {
  const requested = calls.filter((it, i) => {
    const later = calls.slice(i + 1);
    const isRequested =
      it.outcome.kind === "ok"
        ? !isLookUp(it, later, knownTexts, catalog)
        : !later.some(other => other.name === it.name && other.outcome.kind === "ok");
    for (const text of listTexts(getCallValue(it) ?? null)) knownTexts.add(text);
    return isRequested;
  });
  const last = requested.at(-1);
  return {
    tools: requested.map(it => it.name),
    isRefused: last !== undefined && last.outcome.kind !== "ok",
  };
}

/** Whether a call is a read without plain values that first shows what a later call takes. */
function isLookUp(
  call: CallEvent,
  later: readonly CallEvent[],
  knownTexts: ReadonlySet<string>,
  catalog: Catalog,
): boolean {
  const tool = catalog.tools.get(call.name)!;
  const { values } = getDeclarations(catalog.getServer(tool.server)).get(call.name)!;
  if (tool.effect === "write" || values.some(it => it.key in (call.arguments as JsonObject)))
    return false;
  const argumentTexts = new Set(listTexts(call.arguments));
  const resultTexts = new Set(listTexts(getCallValue(call) ?? null));
  const isFirstShown = (text: string) =>
    resultTexts.has(text) && !argumentTexts.has(text) && !knownTexts.has(text);
  return later.some(it => [...listTexts(it.arguments)].some(isFirstShown));
}

/** The texts, and the numbers that are not whole, of a value. */
function* listTexts(value: Json): Generator<string> {
  if (typeof value === "string" && value.length > 2) yield value;
  else if (typeof value === "number" && !Number.isInteger(value)) yield String(value);
  else if (value !== null && typeof value === "object")
    for (const it of Object.values(value)) yield* listTexts(it);
}

/** Adds the request for what cannot be done to a turn that called nothing, or to any turn. */
function addMissingTool(
  turns: readonly RequestedTurn[],
  { chain, hidden, knobs, info, turns: taskTurns }: Task,
  random: Random,
): void {
  const hiddenTools = chain.filter(it => hidden.includes(it));
  const others = chain.filter(it => !hidden.includes(it));
  const tool = knobs["obstacle"] === "tool" ? hiddenTools[0] : (others.at(-1) ?? hiddenTools[0]);
  if (tool === undefined) return;
  const isQuestion = (i: number) => i === 0 && info === "missing";
  const arrival = taskTurns.findIndex(it => it.adds !== undefined);
  if (arrival > 0) {
    turns[arrival - 1]!.tools.push(taskTurns[arrival]!.adds![0]!);
    return;
  }
  const idle = turns.findIndex((it, i) => it.tools.length === 0 && !isQuestion(i));
  turns[idle >= 0 ? idle : random.integer(turns.length)]!.tools.push(tool);
}

/** Adds the requests that a rule forbids. */
function addForbidden(turns: readonly RequestedTurn[], task: Task): void {
  for (const [i, { unmet = [] }] of task.turns.entries())
    for (const { name, rule } of unmet) if (rule !== undefined) turns[i]!.tools.push(name);
}

/** The turn in which the assistant asks for a value; the first where the task does not say. */
const findQuestion = ({ turns }: Task): number =>
  Math.max(
    0,
    turns.findIndex(({ unmet = [] }) => unmet.some(it => it.asks !== undefined)),
  );

/** The turn of a question asks for what is called after the answer in the next one. */
function addWithheldRequest(turns: readonly RequestedTurn[], index: number): void {
  const answer = turns[index + 1];
  if (!answer) return;
  // the answer itself asks for nothing more
  answer.tools = answer.tools.slice(0, 1);
  turns[index]!.tools.push(...answer.tools);
}

/** The plan over the task's links. Replaces the tools of the turns by the steps of the plan. */
function findCrossServerPlan(
  { knobs, servers }: Task,
  turns: readonly RequestedTurn[],
  links: readonly CrossServerLink[],
  catalog: Catalog,
): CrossServerPlan | undefined {
  if (typeof knobs["bridges"] !== "string") return undefined;
  const names = knobs["bridges"].split(", ");
  const first = links.find(it => it.name === names[0]);
  if (!first) return undefined;
  const isRequested = turns.some(it => it.tools.includes(first.from));
  const ownServers = servers.map(it => it.name).filter(it => catalog.hasServer(it));
  const plan = createPlanFromLinks(names, isRequested, links, ownServers);
  if (!plan) return undefined;
  const steps = [...plan.steps].map(([name, { link, end }]) => ({ name, tool: link[end] }));
  for (const turn of turns)
    turn.tools = turn.tools.map(tool => (steps[0]?.tool === tool ? steps.shift()!.name : tool));
  return plan;
}

// Plans the scenario of an existing task again, so that its variants keep its conditions.

/** Plans that are drawn before one has the tools of the task; optional steps make them differ. */
const maxDraws = 200;

/**
 * A plan of the task's scenario with the same tools, or undefined if the task has none or stops at
 * its first turn.
 */
function replanScenario(
  { kind, knobs, chain }: Pick<Task, "kind" | "knobs" | "chain">,
  scenarios: readonly ServerScenario[],
  random: Random,
): ScenarioPlan | undefined {
  const scenario = scenarios.find(it => it.name === knobs["scenario"]);
  if (!scenario || (kind !== "normal" && kind !== "clarify")) return undefined;
  const tools = chain.join(" ");
  for (let draw = 0; draw < maxDraws; draw++) {
    const plan = planScenario(scenario, random);
    if (plan?.tools.join(" ") === tools) return plan;
  }
  return undefined;
}
