/**
 * Chooses the arguments of calls that verify the edges of a dependency graph, in the same way as
 * the user simulator chooses them for its intents.
 */
import type { Catalog } from "../../environment/catalog.ts";
import { createRandom } from "../../environment/random.ts";
import { getDeclarations } from "../graph/declarations.ts";
import type { VerificationSetup } from "../graph/verifyEdges.ts";
import type { Persona } from "../text/personas.ts";
import type { ServerTemplates } from "../text/templates.ts";
import { sampleEntities, mergeResultEntity } from "./entities/entitySample.ts";
import { createIntent } from "./intents/createIntent.ts";
import type { ConversationContext } from "./conversationContext.ts";

const plainPersona: Persona = { name: "plain", weight: 1, ask: ["{clause}"], dates: "plain" };

interface VerificationOptions {
  readonly catalog: Catalog;
  readonly server: string;
  readonly fixtures: readonly string[];
  readonly templates: ServerTemplates;
  readonly seed: number;
}

/** Completes the setup of an edge verification with the user simulator's choice of arguments. */
export function createVerificationSetup({
  catalog,
  server: name,
  fixtures,
  templates,
  seed,
}: VerificationOptions): VerificationSetup {
  const server = catalog.getServer(name);
  const declarations = getDeclarations(server);
  const createChooser: VerificationSetup["createChooser"] = (session, fixture) => {
    const now = session.state[name]!.clock;
    const sample = sampleEntities(server, session, createRandom(seed, "audit", name, fixture));
    return (tool, random, given) => {
      const context: ConversationContext = {
        declarations,
        templates,
        persona: plainPersona,
        sample,
        now,
        random,
        known: new Map(),
        focus: [],
        recent: [],
        isMinimal: false,
      };
      const found = given && sample.find(given.entity.entity, given.entity.id);
      const flow = given && { [given.input]: [mergeResultEntity(found, given.entity, {})] };
      return createIntent(context, {
        declaration: declarations.get(tool)!,
        template: random.pick(templates.tools[tool]!.forms),
        ...(flow ? { flow } : {}),
      })?.arguments;
    };
  };
  return { catalog, server: name, fixtures, seed, createChooser };
}
