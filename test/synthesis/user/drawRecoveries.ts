/** Draws requests that take a recovery on the shipped servers, for tests. */
import { join } from "node:path";
import { openSessionByName } from "../../../src/environment/catalog.ts";
import { createRandom } from "../../../src/environment/random.ts";
import type { Server } from "../../../src/environment/server.ts";
import type { Session } from "../../../src/environment/session.ts";
import { getDeclarations } from "../../../src/synthesis/graph/declarations.ts";
import { pickPersona, readStyleGuide } from "../../../src/synthesis/text/personas.ts";
import { readRecoveries, type ServerRecoveries } from "../../../src/synthesis/text/recoveries.ts";
import { readTemplates } from "../../../src/synthesis/text/readTemplates.ts";
import { sampleEntities } from "../../../src/synthesis/user/entities/entitySample.ts";
import {
  FeasibilityChecker,
  type FeasibilityResult,
} from "../../../src/synthesis/user/intents/feasibility.ts";
import type { RecoverySort } from "../../../src/synthesis/user/intents/intent.ts";
import { IntentSearch } from "../../../src/synthesis/user/intents/intentSearch.ts";
import { findRecovery } from "../../../src/synthesis/user/recoveries/findRecovery.ts";
import { catalog, root } from "../../contracts/transports.ts";

const resources = join(root, "resources");
const styleGuide = readStyleGuide(resources);
export const serversFolder = join(resources, "servers");

export interface DrawnRecovery {
  readonly result: FeasibilityResult;
  /** A session in the state in which the user speaks. */
  readonly session: Session;
}

/** Draws requests of one sort for some tools, in each fixture of their server. */
export function* drawRecoveries(
  server: Server,
  sort: RecoverySort,
  {
    tools = [...server.tools.keys()],
    draws,
    recoveries = readRecoveries(serversFolder, server),
  }: {
    readonly tools?: readonly string[];
    readonly draws: number;
    readonly recoveries?: ServerRecoveries;
  },
): Generator<DrawnRecovery> {
  const { name } = server;
  const templates = readTemplates(serversFolder, server);
  const declarations = getDeclarations(server);
  for (const fixture of catalog.listFixtures(name)) {
    const session = openSessionByName(catalog, { servers: [{ name, fixture }], seed: 3 });
    const random = createRandom(5, "recoveries", name, fixture);
    const sample = sampleEntities(server, session, random);
    for (let draw = 0; draw < draws; draw++)
      for (const tool of tools) {
        const persona = pickPersona(styleGuide, random);
        const now = session.state[name]!.clock;
        const known = new Map();
        const context = { declarations, templates, sample, persona, now, random, known };
        const checker = new FeasibilityChecker(
          session,
          { ...context, isMinimal: false, focus: [], recent: [] },
          { prefersLists: false, preferredTools: new Set() },
        );
        const search = new IntentSearch(
          {
            session,
            styleGuide,
            tools: [],
            info: "complete",
            isOneTurn: false,
            refusalOdds: { accept: 0, seek: 0 },
            prefersLists: false,
            getToolWeight: () => 1,
            recovery: { sorts: [sort], recoveries },
          },
          checker,
        );
        const declaration = declarations.get(tool)!;
        const { forms } = templates.tools[tool]!;
        const result = findRecovery(
          {
            declaration,
            check: ({ context: own, ...options }) =>
              checker.check({ declaration, template: random.pick(forms), ...options }, own),
          },
          search,
        );
        if (result) yield { result, session: session.fork() };
      }
  }
}
