/**
 * Chooses the fixtures of a task. Where ids have to be found out, it chooses a variant of the
 * fixture with other ids, and only few variants at a time, because creating one takes long.
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { Random } from "../../environment/random.ts";
import type { Server } from "../../environment/server.ts";
import { formatFixtureName } from "../../environment/fixtureName.ts";
import { getDeclarations } from "../graph/declarations.ts";

/** Variants of a fixture, unless the options of the synthesis say otherwise. */
export const defaultVariants = 40;

/** Variants in use at a time, and for how many attempts on a server. */
const variantWindow = { size: 2, attempts: 40 };

export interface FixtureSource {
  readonly catalog: Catalog;
  /** The servers that tasks are made on, by name. */
  readonly servers: readonly string[];
  readonly variantsPerFixture: number;
  /** Names of a server's fixtures. */
  readonly listFixtures: (server: string) => readonly string[];
}

export interface ServerFixture {
  readonly name: string;
  readonly fixture: string;
}

/** One of the server's fixtures, for attempt number n. */
export function chooseFixture(
  source: FixtureSource,
  name: string,
  n: number,
  random: Random,
): ServerFixture {
  const fixture = random.pick(source.listFixtures(name));
  return { name, fixture: chooseVariant(source, { name, fixture }, n, random) };
}

/** The same fixture for several servers, so that their data is consistent. */
export function chooseSharedFixture(
  source: FixtureSource,
  names: readonly string[],
  n: number,
  random: Random,
): ServerFixture[] {
  const [first, ...others] = names.map(source.listFixtures);
  const fixture = random.pick(first!.filter(it => others.every(list => list.includes(it))));
  return names.map(name => ({
    name,
    fixture: chooseVariant(source, { name, fixture }, n, random),
  }));
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
