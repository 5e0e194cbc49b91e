/**
 * Chooses the fixtures of a task: worlds of a fixture, the same world for all servers of a task; or
 * without worlds, where ids have to be found out, variants of a fixture with other ids. Only few
 * are in use at a time, because sampling their entities takes long.
 */
import { type Catalog, openSessionByName } from "../../../environment/catalog.ts";
import {
  formatFixtureName,
  isHeldOutWorld,
  parseFixtureName,
} from "../../../environment/fixture.ts";
import type { Split } from "../../../trajectory/task.ts";
import { type Random, createRandom } from "../../../environment/random.ts";
import type { Server } from "../../../environment/server.ts";
import { getDeclarations } from "../../graph/declarations.ts";
import { LRUCache } from "lru-cache";
import { type EntitySample, sampleEntities } from "../../user/entities/entitySample.ts";
import { join } from "node:path";
import { readAbstentions, type Abstentions } from "../../text/abstentions.ts";
import { readTemplates } from "../../text/readTemplates.ts";
import type { ServerTemplates } from "../../text/templates.ts";

/** Variants of a fixture, unless the options of the synthesis say otherwise. */
export const defaultVariants = 40;

/** Variants in use at a time, and for how many attempts on a server. */
const variantWindow = { size: 2, attempts: 40 };

/** For how many attempts on a server its tasks are in the same world. */
const attemptsPerWorld = 12;

export interface FixtureSource {
  readonly catalog: Catalog;
  /** The servers that tasks are made on, by name. */
  readonly servers: readonly string[];
  readonly variantsPerFixture: number;
  /** The number of worlds; 0 for the people and days of the fixtures. */
  readonly worlds: number;
  /** The split that all tasks are of, where one is chosen. */
  readonly split?: Split | undefined;
  /** Names of a server's fixtures. */
  readonly listFixtures: (server: string) => readonly string[];
}

export interface ServerFixture {
  readonly name: string;
  readonly fixture: string;
}

/**
 * The fixtures of attempt number n: of the servers that the task needs, which have the same fixture
 * so that their data is consistent, and of others. The first server is the task's home.
 */
export function chooseFixtures(
  source: FixtureSource,
  { needed, others }: { readonly needed: readonly string[]; readonly others: readonly string[] },
  n: number,
  random: Random,
): ServerFixture[] {
  const [first, ...rest] = needed.map(source.listFixtures);
  const fixture = random.pick(first!.filter(it => rest.every(list => list.includes(it))));
  const choose = (name: string, base: string): ServerFixture => ({
    name,
    fixture: source.catalog.getServer(name).isConnected
      ? base
      : source.worlds > 0 && source.catalog.servers.has(name)
        ? formatFixtureName({ base, world: chooseWorld(source, needed[0]!, n) })
        : chooseVariant(source, { name, fixture: base }, n, random),
  });
  return [
    ...needed.map(name => choose(name, fixture)),
    ...others.map(name => choose(name, random.pick(source.listFixtures(name)))),
  ];
}

/**
 * Servers are in different worlds at a time. Their order changes with each step, so that the worlds
 * that are held out of training are not always those of the same servers.
 */
function chooseWorld({ servers, worlds, split }: FixtureSource, home: string, n: number): number {
  const step = Math.floor(n / (attemptsPerWorld * servers.length));
  const index = (Math.max(0, servers.indexOf(home)) + step) % servers.length;
  const numbers = Array.from({ length: worlds }, (_, i) => i + 1).filter(
    it =>
      split !== "heldout-world" || isHeldOutWorld(formatFixtureName({ base: "full", world: it })),
  );
  return numbers[(step * servers.length + index) % numbers.length]!;
}

function chooseVariant(
  { catalog, servers, variantsPerFixture }: FixtureSource,
  { name, fixture }: ServerFixture,
  n: number,
  random: Random,
): string {
  const { size, attempts } = variantWindow;
  const start = Math.floor(n / (attempts * servers.length)) * size;
  const number = 1 + ((start + random.integer(size)) % Math.max(1, variantsPerFixture));
  return hasHiddenIds(catalog.getServer(name)) && variantsPerFixture > 0
    ? formatFixtureName({ base: fixture, variant: number })
    : fixture;
}

const hiddenIdsByServer = new WeakMap<Server, boolean>();

/** Whether people do not know most of the server's ids, so that they must be looked up. */
export function hasHiddenIds(server: Server): boolean {
  let result = hiddenIdsByServer.get(server);
  if (result === undefined) {
    const inputs = [...getDeclarations(server).values()].flatMap(it => it.inputs);
    result = inputs.filter(it => !it.isSpoken).length * 2 > inputs.length;
    hiddenIdsByServer.set(server, result);
  }
  return result;
}

// Caches the entity samples of one synthesis by fixture.

/** The most samples that are kept. */
const maxSamples = 256;

/** Samples of a fixture that has no variants, and how many attempts in a row use the same one. */
const rotation = { samples: 4, attempts: 20 };

export class EntitySampleCache {
  readonly #catalog: Catalog;
  readonly #seed: number;
  readonly #samples = new LRUCache<string, EntitySample>({ max: maxSamples });

  constructor(catalog: Catalog, seed: number) {
    this.#catalog = catalog;
    this.#seed = seed;
  }

  /**
   * The sample for attempt number n. A fixture without variants has several samples, so that the
   * tasks are not all about the same few entities.
   */
  getSample({ name, fixture }: ServerFixture, n: number): EntitySample {
    const isPlain = parseFixtureName(fixture).base === fixture;
    const index = !isPlain ? 0 : Math.floor(n / rotation.attempts) % rotation.samples;
    const key = `${name}/${fixture}/${index}`;
    const sample = this.#samples.get(key) ?? this.#createSample({ name, fixture }, key);
    this.#samples.set(key, sample);
    return sample;
  }

  #createSample(server: ServerFixture, key: string): EntitySample {
    const session = openSessionByName(this.#catalog, { servers: [server], seed: this.#seed });
    const random = createRandom(this.#seed, "sample", key);
    return sampleEntities(this.#catalog.getServer(server.name), session, random);
  }
}

// The templates of the servers and the texts without calls, with the names and dates of the world
// that a task is in. Keeps those of the worlds that were used last.

const maxTexts = 512;

export class WorldTexts {
  readonly #catalog: Catalog;
  readonly #abstentions: Abstentions;
  readonly #templates: ReadonlyMap<string, ServerTemplates>;
  readonly #localized = new LRUCache<string, object>({ max: maxTexts });

  constructor(catalog: Catalog, resources: string, servers: readonly string[]) {
    this.#catalog = catalog;
    this.#abstentions = readAbstentions(resources);
    this.#templates = new Map(
      servers.map(it => [it, readTemplates(join(resources, "servers"), catalog.getServer(it))]),
    );
  }

  getTemplates({ name, fixture }: ServerFixture): ServerTemplates {
    return this.#localize(name, this.#templates.get(name)!, fixture);
  }

  getAbstentions(fixture: string): Abstentions {
    return this.#localize("", this.#abstentions, fixture);
  }

  #localize<T extends object>(name: string, value: T, fixture: string): T {
    const { world } = parseFixtureName(fixture);
    if (world === undefined) return value;
    const key = `${name}@${world}`;
    const localized = this.#localized.get(key) ?? this.#catalog.localize(value, fixture);
    this.#localized.set(key, localized);
    return localized as T;
  }
}
