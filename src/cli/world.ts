/**
 * `world`: generates one fixture per server from a seed, which share people, companies, places and
 * money; or checks the fixtures of one name against each other.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { openCatalog, type Catalog } from "../environment/catalog.ts";
import { getFixtureFile, type Fixture } from "../environment/fixture.ts";
import { loadGenerators } from "../servers/catalog.ts";
import {
  findInconsistencies,
  formatFixture,
  generateFixtures,
} from "../servers/generateFixtures.ts";
import { shippedSeed } from "../servers/shared/cast.ts";
import type { FixtureSize } from "../servers/shared/generator.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { readIfExists } from "../storage/fileErrors.ts";
import { UserError } from "../userError.ts";
import { defineCommand, option, type CliContext, type Parser } from "./command.ts";
import { oneOf, outputPath } from "./parsers.ts";
import { seedOption } from "./sharedOptions.ts";

const fixtureName: Parser<string> = {
  parse(text, { name }) {
    if (/^[a-z][a-z0-9-]{0,40}$/.test(text)) return text;
    throw new UserError(
      `${name} ${text} is not a name for fixtures`,
      "use lower-case letters, digits and hyphens, starting with a letter",
    );
  },
};

export const world = defineCommand({
  name: "world",
  description:
    "Generate one fixture for each server from a seed; all of them share the same people, companies, places and money. With --check, check the existing fixtures of one name against each other instead, and exit with 1 if they disagree.",
  arguments: [],
  options: {
    seed: seedOption,
    name: option("--name <name>", "name of the fixtures (default: world-<seed>)", {
      parser: fixtureName,
    }),
    size: option("--size <size>", "size of each fixture", {
      parser: oneOf<FixtureSize>(["full", "small"], "there is no size"),
      default: "full",
    }),
    out: option("--out <folder>", "folder to write to (default: prove/fixtures)", {
      parser: outputPath("prove/fixtures"),
    }),
    check: option("--check <name>", "check the fixtures of this name"),
  },
  examples: ["world --seed 7", "world --seed 7 --size small --out fixtures", "world --check full"],
  async run(context, _positionals, { seed, name = `world-${seed}`, size, out, check }) {
    if (check !== undefined) return checkFixtures(context, check, seed);
    const { cwd, prove, print, signal } = context;
    const folder = out === undefined ? join(prove, "fixtures") : resolve(cwd, out);
    const readShipped = createShippedReader(context);
    const options = { seed, size, name, readShipped };
    for (const [server, fixture] of generateFixtures(await loadGenerators(), options)) {
      // lets an interruption be noticed
      await setImmediate();
      signal.throwIfAborted();
      const file = getFixtureFile(folder, server, name);
      if (!containsFixture(file, fixture)) {
        mkdirSync(dirname(file), { recursive: true });
        writeFileAtomicallySync(file, formatFixture(fixture));
      }
      print(relative(cwd, file));
    }
    return 0;
  },
});

/** Whether the file already contains this fixture. Its layout does not matter. */
function containsFixture(file: string, fixture: Fixture): boolean {
  const text = readIfExists(file, () => readFileSync(file, "utf8"));
  if (text === undefined) return false;
  try {
    return isDeepStrictEqual(JSON.parse(text), fixture);
  } catch {
    return false; // the file is not JSON and is overwritten
  }
}

/** Reads fixtures that ship with the product, even if the workspace has some of the same name. */
function createShippedReader({
  catalog,
  resources,
}: CliContext): (server: string, size: FixtureSize) => ReturnType<Catalog["getFixture"]> {
  const shipped = openCatalog([...catalog.servers.values()], [join(resources, "servers")]);
  return (server, size) => shipped.getFixture(server, size);
}

async function checkFixtures(
  { catalog, print, printNote }: CliContext,
  name: string,
  seed: number,
): Promise<number> {
  const states = new Map(
    [...catalog.servers.keys()].map(server => [server, catalog.getFixture(server, name).state]),
  );
  // world-7 was generated from seed 7, unless another seed is given
  const isNamedBySeed = /^world-\d+$/.test(name) && seed === shippedSeed;
  const inconsistencies = findInconsistencies(
    await loadGenerators(),
    states,
    isNamedBySeed ? Number(name.slice("world-".length)) : seed,
  );
  for (const line of inconsistencies) print(line);
  printNote(
    inconsistencies.length === 0
      ? `the ${states.size} fixtures ${name} agree`
      : `${inconsistencies.length} disagreements`,
  );
  return inconsistencies.length === 0 ? 0 : 1;
}
