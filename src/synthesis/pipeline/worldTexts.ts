/**
 * The templates of the servers and the texts without calls, with the names and dates of the world
 * that a task is in. Keeps those of the worlds that were used last.
 */
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import type { Catalog } from "../../environment/catalog.ts";
import { parseFixtureName } from "../../environment/fixtureName.ts";
import { readAbstentions, type Abstentions } from "../text/abstentions.ts";
import { readTemplates } from "../text/templates.ts";
import type { ServerTemplates } from "../text/templateSchema.ts";
import type { ServerFixture } from "./fixtureChoice.ts";

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
