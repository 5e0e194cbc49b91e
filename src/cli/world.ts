/**
 * `world`: writes the fixtures of one generated world as files to edit, or checks the fixtures of
 * one name against each other.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  formatFixture,
  getFixtureFile,
  type Fixture,
  parseFixtureName,
} from "../environment/fixture.ts";
import { Cast, findDisagreements } from "../servers/worldChecks.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { readIfExists } from "../storage/fileErrors.ts";
import { parseJson } from "../storage/parseJson.ts";
import { UserError } from "../userError.ts";
import { defineCommand, option, type CliContext, type Parser } from "./command.ts";
import { oneOf, outputPath, seedOption } from "./options.ts";

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
    "Write one fixture for each server: the shipped ones in the world with the number of the seed, with other people, companies, places and dates, which all of them share. With --check, check the existing fixtures of one name against each other instead, and exit with 1 if they disagree.",
  arguments: [],
  options: {
    seed: seedOption,
    name: option("--name <name>", "name of the fixtures (default: world-<seed>)", {
      parser: fixtureName,
    }),
    size: option("--size <size>", "size of each fixture", {
      parser: oneOf(["full", "small"], "there is no size"),
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
    const { cwd, prove, print, signal, catalog, resources } = context;
    const folder = out === undefined ? join(prove, "fixtures") : resolve(cwd, out);
    // fixtures of the workspace may have the names of those that ship with the product
    const shipped = catalog.reopen([join(resources, "servers")]);
    for (const server of catalog.servers.keys()) {
      // lets an interruption be noticed
      await setImmediate();
      signal.throwIfAborted();
      const fixture = { ...shipped.getFixture(server, `${size}@${seed}`), name };
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

function checkFixtures(
  { catalog, resources, print, printNote }: CliContext,
  name: string,
  seed: number,
): number {
  const fixtures = new Map(
    [...catalog.servers.keys()].map(server => [server, catalog.getFixture(server, name)]),
  );
  const file = join(resources, "servers/cast.json");
  const cast = parseJson(Cast, readFileSync(file, "utf8"), { file });
  // world-7 and full@7 are world 7 of the shipped fixtures, other names those of the seed
  const world =
    parseFixtureName(name).world ??
    /^world-(\d+)$/.exec(name)?.[1] ??
    (seed === seedOption.default ? undefined : seed);
  const disagreements = findDisagreements(
    fixtures,
    world === undefined ? cast : catalog.localize(cast, `full@${world}`),
  );
  for (const it of disagreements) print(it);
  printNote(
    disagreements.length === 0
      ? `the ${fixtures.size} fixtures ${name} agree`
      : `${disagreements.length} disagreements`,
  );
  return disagreements.length === 0 ? 0 : 1;
}
