/**
 * More tasks like a given one: the same tools called in the same turns, of the same kind and with
 * as much said, about other things and in other words. What a trainer asks for when a task is at
 * its student's boundary. Knows no student and no files.
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { Random } from "../../environment/random.ts";
import { formatVariantName, parseVariantName } from "../../environment/variant.ts";
import { UserError } from "../../userError.ts";
import type { Task } from "../../trajectory/task.ts";
import { readCrossServerLinks, type CrossServerLink } from "../text/crossServerLinks.ts";
import { hasHiddenIds, type TaskSpecification } from "./taskSpecification.ts";
import { pickPersona, readStyleGuide, type StyleGuide } from "../text/personas.ts";
import { DuplicateFilter } from "./filter.ts";
import { Synthesizer, type SynthesisOptions } from "./synthesizer.ts";
import { attemptTask } from "./synthesize.ts";
import { createVariantPlan } from "./variantPlan.ts";

export interface VariantOptions {
  readonly catalog: Catalog;
  /** The product's `resources` folder. */
  readonly resources: string;
  readonly seed: number;
  readonly count: number;
  readonly signal?: AbortSignal;
}

/** Attempts in a row that come to nothing: the worlds have no more of this shape to give. */
const patience = 300;

/** Renumbered fixtures that one order draws from: building one takes as long as many attempts. */
const renumbered = 4;

/**
 * Variants of a task, as many as wanted or as there are; equal orders give equal bytes. Throws a
 * `Mistake` where a server of the task is not there.
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
  const work: SynthesisOptions = {
    catalog,
    resources,
    seed,
    servers,
    menu: task.knobs["menu"] === "full" ? "full" : "chain",
    ...(signal ? { signal } : {}),
  };
  const studio = new VariantSynthesizer(work, task, {
    bridges: readCrossServerLinks(resources, catalog),
    manners: readStyleGuide(resources),
  });
  const kept = new DuplicateFilter();
  kept.addIfNew(task);
  const shape = getTaskShape(task);
  let barren = 0;
  for (let n = 0, made = 0; made < count && barren < patience; n++, barren++) {
    signal?.throwIfAborted();
    const attempted = await attemptTask(
      { n, home: servers[0]!, kind: task.kind },
      { ...work, distinct: false },
      studio,
      kept,
    );
    if (
      attempted.kind === "rejected" ||
      getTaskShape(attempted.task) !== shape ||
      !kept.addIfNew(attempted.task)
    )
      continue;
    barren = -1;
    made++;
    yield attempted.task;
  }
}

/**
 * Equal for tasks of one shape: kind, what is said, turns, and the tools of the goals in their
 * order and turn.
 */
export const getTaskShape = ({ kind, info, turns, goals }: Task): string =>
  JSON.stringify([
    kind,
    info,
    turns.length,
    goals.map(it => [it.turn, it.calls.map(call => call.name)]),
  ]);

/** A studio all of whose briefs are like one task. */
class VariantSynthesizer extends Synthesizer {
  readonly #work: SynthesisOptions;
  readonly #task: Task;
  readonly #ground: { readonly bridges: readonly CrossServerLink[]; readonly manners: StyleGuide };

  constructor(
    work: SynthesisOptions,
    task: Task,
    ground: { bridges: readonly CrossServerLink[]; manners: StyleGuide },
  ) {
    super(work);
    this.#work = work;
    this.#task = task;
    this.#ground = ground;
  }

  override specifyTask({ n }: { readonly n: number }, random: Random): TaskSpecification {
    const { id, kind, info, turns, chain, knobs, servers } = this.#task;
    const { catalog, seed } = this.#work;
    const { bridges, manners } = this.#ground;
    const { like, crossing } = createVariantPlan(this.#task, catalog, bridges, random);
    const fixture = this.#fixture(random);
    return {
      id: `${id}-v${seed}-${n}`,
      home: servers[0]!.name,
      chain,
      kind,
      info,
      isOneTurn: turns.length === 1,
      prefersLists: knobs["lists"] === true,
      servers: servers.map(({ name }) => ({
        name,
        fixture: numbered(
          catalog,
          name,
          catalog.listFixtures(name).includes(fixture) ? fixture : catalog.listFixtures(name)[0]!,
          seed,
          random,
        ),
      })),
      sessionSeed: random.integer(100_000),
      persona: pickPersona(manners, random),
      distractors: Number(knobs["distractors"] ?? 0),
      stripsEnums: knobs["enumsStripped"] === true,
      onlyOtherServers:
        kind === "irrelevant" &&
        !this.#task.menu.some(it => it.name.startsWith(`${servers[0]!.name}_`)),
      ...(crossing ? { crossServerPlan: crossing } : {}),
      script: like,
    };
  }

  /** A world: mostly the task's own. */
  #fixture(random: Random): string {
    const [home] = this.#task.servers;
    const own = parseVariantName(home!.fixture)?.of ?? home!.fixture;
    return random.boolean(0.85) ? own : random.pick(this.#work.catalog.listFixtures(home!.name));
  }
}

const numbered = (
  catalog: Catalog,
  name: string,
  fixture: string,
  seed: number,
  random: Random,
): string =>
  hasHiddenIds(catalog.getServer(name))
    ? formatVariantName(fixture, 1 + ((seed * renumbered + random.integer(renumbered)) % 40))
    : fixture;
