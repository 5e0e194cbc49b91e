/** Caches the entity samples of one synthesis by fixture. */
import { LRUCache } from "lru-cache";
import { openSessionByName, type Catalog } from "../../environment/catalog.ts";
import { createRandom } from "../../environment/random.ts";
import { parseFixtureName } from "../../environment/fixtureName.ts";
import type { EntitySample } from "../user/entityInstance.ts";
import { sampleEntities } from "../user/entitySampling.ts";
import type { ServerFixture } from "./fixtureChoice.ts";

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
