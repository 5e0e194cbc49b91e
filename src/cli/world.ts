/**
 * `world`: fixtures of all servers that tell of the same people, firms, places and money; made from
 * a seed, or held against one another.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { readIfExists } from "../storage/fileErrors.ts";
import { getFixtureFile, type Fixture } from "../environment/fixture.ts";
import { openCatalog, type Catalog } from "../environment/catalog.ts";
import { UserError } from "../userError.ts";
import { shippedSeed } from "../servers/shared/cast.ts";
import { loadGenerators } from "../servers/catalog.ts";
import type { FixtureSize } from "../servers/shared/generator.ts";
import {
  findInconsistencies,
  formatFixture,
  generateFixtures,
} from "../servers/generateFixtures.ts";
import { readSeed } from "./call.ts";
import type { CliCommand, CliContext } from "./command.ts";

export const world: CliCommand = {
  usage:
    "world [--seed N] [--name NAME] [--size full|small] [--out DIR] | world --check NAME [--seed N]",
  summary:
    "Write one consistent fixture for each server (default: prove/fixtures, named world-N); --check holds the fixtures of that name against one another.",
  options: {
    seed: { type: "string" },
    name: { type: "string" },
    size: { type: "string" },
    out: { type: "string" },
    check: { type: "string" },
  },
  async run(terminal, _positionals, values) {
    const seed = readSeed(values);
    if (typeof values["check"] === "string") return checked(terminal, values["check"], seed);
    const size = sizeOf(values["size"]);
    const name = (values["name"] as string | undefined) ?? `world-${seed}`;
    if (!/^[a-z][a-z0-9-]{0,40}$/.test(name))
      throw new UserError(
        `${name} is no name of a fixture`,
        "use small letters, digits and hyphens",
      );
    const folder = resolve(
      terminal.cwd,
      (values["out"] as string | undefined) ?? join(terminal.prove, "fixtures"),
    );
    for (const [server, fixture] of generateFixtures(await loadGenerators(), {
      seed,
      size,
      name,
      readShipped: shippedOf(terminal),
    })) {
      const file = getFixtureFile(folder, server, name);
      if (!containsFixture(file, fixture)) {
        mkdirSync(dirname(file), { recursive: true });
        writeFileAtomicallySync(file, formatFixture(fixture));
      }
      terminal.print(relative(terminal.cwd, file));
    }
    return 0;
  },
};

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

/** The fixtures that ship, whatever the workspace has of that name. */
export function shippedOf({
  catalog,
  resources,
}: Pick<CliContext, "catalog" | "resources">): (
  server: string,
  size: FixtureSize,
) => ReturnType<Catalog["getFixture"]> {
  const shipped = openCatalog([...catalog.servers.values()], [join(resources, "servers")]);
  return (server, size) => shipped.getFixture(server, size);
}

async function checked(
  { catalog, print, printNote: say }: CliContext,
  name: string,
  seed: number,
): Promise<number> {
  const states = new Map(
    [...catalog.servers.keys()].map(server => [server, catalog.getFixture(server, name).state]),
  );
  // a world of its own names: those of the shipped one are seed 1's
  const lines = findInconsistencies(
    await loadGenerators(),
    states,
    /^world-\d+$/.test(name) && seed === shippedSeed ? Number(name.slice("world-".length)) : seed,
  );
  for (const line of lines) print(line);
  say(
    lines.length === 0
      ? `the ${states.size} fixtures ${name} agree`
      : `${lines.length} disagreements`,
  );
  return lines.length === 0 ? 0 : 1;
}

function sizeOf(value: unknown): FixtureSize {
  if (value === undefined || value === "full" || value === "small") return value ?? "full";
  throw new UserError(
    `--size ${JSON.stringify(value)} is not full or small`,
    "leave it out for full",
  );
}
