/**
 * Synthesizes variants of a task: the same tools called in the same turns, of the same kind and with
 * as much information, about other entities and in other words.
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { Random } from "../../environment/random.ts";
import { formatVariantName, parseVariantName } from "../../environment/variant.ts";
import { UserError } from "../../userError.ts";
import type { Task } from "../../trajectory/task.ts";
import { readCrossServerLinks, type CrossServerLink } from "../text/crossServerLinks.ts";
import { pickPersona, readStyleGuide, type StyleGuide } from "../text/personas.ts";
import { attemptTask } from "./attemptTask.ts";
import { DuplicateFilter } from "./filter.ts";
import { hasHiddenIds, type ServerFixture } from "./fixtureChoice.ts";
import type { SynthesisOptions } from "./synthesisOptions.ts";
import { Synthesizer } from "./synthesizer.ts";
import type { TaskSpecification } from "./taskSpecification.ts";
import { createVariantPlan } from "./variantPlan.ts";

export interface VariantOptions {
  readonly catalog: Catalog;
  /** The product's `resources` folder. */
  readonly resources: string;
  readonly seed: number;
  readonly count: number;
  readonly signal?: AbortSignal;
}

/** Failed attempts in a row after which the fixtures have no more tasks of this shape. */
const maxFailures = 300;

/** Variants of a fixture that one request draws from, because creating one takes long; of so many. */
const fixtureVariants = { drawn: 4, all: 40 };

/** How often the fixture is that of the task. */
const ownFixtureShare = 0.85;

/**
 * Yields variants of a task, as many as wanted or as there are; the same options give the same
 * bytes. Throws a `UserError` if a server of the task does not exist.
 */
export async function* synthesizeVariants(
  task: Task,
  { catalog, resources, seed, count, signal }: VariantOptions,
): AsyncGenerator<Task> {
  for (const { name } of task.servers)
    if (!catalog.servers.has(name))
      throw new UserError(
        `task ${task.id} is of ${name}, which is not here`,
        "start it, or choose another task",
      );
  const servers = task.servers.map(it => it.name);
  const options: SynthesisOptions = {
    catalog,
    resources,
    seed,
    servers,
    menu: task.knobs["menu"] === "full" ? "full" : "chain",
    // duplicates are checked below, after the shape
    rejectsDuplicates: false,
    ...(signal ? { signal } : {}),
  };
  const duplicates = new DuplicateFilter();
  duplicates.addIfNew(task);
  const source = {
    task,
    catalog,
    seed,
    links: readCrossServerLinks(resources, catalog),
    styleGuide: readStyleGuide(resources),
  };
  const synthesizer = new Synthesizer(options, ({ n }, random) =>
    specifyVariant(source, n, random),
  );
  const context = { options, synthesizer, duplicates };
  const shape = getTaskShape(task);
  let failures = 0;
  for (let n = 0, made = 0; made < count && failures < maxFailures; n++) {
    signal?.throwIfAborted();
    const result = await attemptTask({ n, home: servers[0]!, kind: task.kind }, context);
    const isVariant =
      result.kind === "accepted" &&
      getTaskShape(result.task) === shape &&
      duplicates.addIfNew(result.task);
    if (!isVariant) {
      failures++;
      continue;
    }
    failures = 0;
    made++;
    yield result.task;
  }
}

/** Equal for tasks of the same kind and information, with the same tools in the same turns. */
export const getTaskShape = ({ kind, info, turns, goals }: Task): string =>
  JSON.stringify([
    kind,
    info,
    turns.length,
    goals.map(it => [it.turn, it.calls.map(call => call.name)]),
  ]);

interface VariantSource {
  readonly task: Task;
  readonly catalog: Catalog;
  readonly seed: number;
  readonly links: readonly CrossServerLink[];
  readonly styleGuide: StyleGuide;
}

/** Attempt number n at a variant of the task. */
function specifyVariant(source: VariantSource, n: number, random: Random): TaskSpecification {
  const { task, catalog, seed, links, styleGuide } = source;
  const { id, kind, info, turns, chain, knobs, servers } = task;
  const plan = createVariantPlan(task, catalog, links, random);
  const home = servers[0]!.name;
  const fixture = chooseFixtureName(source, random);
  return {
    id: `${id}-v${seed}-${n}`,
    home,
    chain,
    kind,
    info,
    isOneTurn: turns.length === 1,
    prefersLists: knobs["lists"] === true,
    servers: servers.map(({ name }) => chooseVariantOf(source, name, fixture, random)),
    sessionSeed: random.integer(100_000),
    persona: pickPersona(styleGuide, random),
    distractors: Number(knobs["distractors"] ?? 0),
    stripsEnums: knobs["enumsStripped"] === true,
    onlyOtherServers:
      kind === "irrelevant" && !task.menu.some(it => it.name.startsWith(`${home}_`)),
    ...plan,
  };
}

/** The name of a fixture of the home server: mostly the task's own. */
function chooseFixtureName({ task, catalog }: VariantSource, random: Random): string {
  const { name, fixture } = task.servers[0]!;
  const own = parseVariantName(fixture)?.fixture ?? fixture;
  return random.boolean(ownFixtureShare) ? own : random.pick(catalog.listFixtures(name));
}

/** The fixture, or the first one of a server that has none of that name, under other ids. */
function chooseVariantOf(
  { catalog, seed }: VariantSource,
  name: string,
  fixture: string,
  random: Random,
): ServerFixture {
  const names = catalog.listFixtures(name);
  const own = names.includes(fixture) ? fixture : names[0]!;
  if (!hasHiddenIds(catalog.getServer(name))) return { name, fixture: own };
  const { drawn, all } = fixtureVariants;
  const number = 1 + ((seed * drawn + random.integer(drawn)) % all);
  return { name, fixture: formatVariantName(own, number) };
}
