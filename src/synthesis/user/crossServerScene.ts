/**
 * Several servers of one world as one thing to talk about: their declarations, phrases and samples
 * side by side, each entity under its server's name, so that a category of the budget is none of
 * the shop. Knows no bridges and no turns.
 */
import type { Server } from "../../environment/server.ts";
import { digestOf, freeze } from "../../environment/digest.ts";
import { declarationsOf, addServerPrefix, type Declarations } from "../graph/declarations.ts";
import { dependencyGraphOf, type DependencyGraph } from "../graph/dependencyGraph.ts";
import { findArgumentTemplates, type ServerTemplates } from "../text/templateSchema.ts";
import { findSlots } from "../text/templateText.ts";
import type { EntitySample, EntityInstance } from "./entitySampling.ts";
import type { ConversationContext } from "./intent.ts";

/** What one server brings to a scene of several. */
export interface ServerDomain {
  readonly server: Server;
  readonly templates: ServerTemplates;
  readonly sample: EntitySample;
}

/** All servers' declarations, phrases and things, the first server's manners first. */
export function createCrossServerDomain(
  shares: readonly ServerDomain[],
): Pick<ConversationContext, "declarations" | "templates" | "sample"> {
  const declarations: Declarations = new Map(shares.flatMap(({ server }) => declaredIn(server)));
  const samples = new Map(shares.map(it => [it.server.name, it]));
  const things = new Map(
    shares.flatMap(it =>
      [...it.sample.instances].map(
        ([entity, list]) =>
          [`${it.server.name}.${entity}`, list.map(thing => thingOf(thing, it))] as const,
      ),
    ),
  );
  return {
    declarations,
    templates: phrasesOf(shares),
    sample: {
      instances: things,
      find(entity, id) {
        const at = entity.indexOf(".");
        const share = samples.get(entity.slice(0, at));
        const thing = share?.sample.find(entity.slice(at + 1), id);
        return thing && thingOf(thing, share!);
      },
    },
  };
}

/** The edges within each of the servers, as one graph. */
export function createCrossServerGraph(servers: readonly Server[]): DependencyGraph {
  const graphs = new Map(servers.map(it => [it.name, dependencyGraphOf(it)]));
  const of = (tool: string) => graphs.get(servers.find(it => it.tools.has(tool))?.name ?? "");
  return {
    server: servers.map(it => it.name).join(", "),
    edges: [...graphs.values()].flatMap(it => it.edges),
    hash: digestOf(freeze([...graphs.values()].map(it => it.hash))),
    edgesFrom: tool => of(tool)?.edgesFrom(tool) ?? [],
    edgesTo: tool => of(tool)?.edgesTo(tool) ?? [],
  };
}

const declared = new WeakMap<Server, [string, ReturnType<typeof addServerPrefix>][]>();

function declaredIn(server: Server): [string, ReturnType<typeof addServerPrefix>][] {
  let known = declared.get(server);
  if (!known)
    declared.set(
      server,
      (known = [...declarationsOf(server)].map(([name, it]) => [name, addServerPrefix(it)])),
    );
  return known;
}

/**
 * A thing under its server's name. A fact that is called like an entity of the server is found
 * under that name too.
 */
function thingOf(thing: EntityInstance, { server, templates }: ServerDomain): EntityInstance {
  const prefix = `${server.name}.`;
  const named = Object.entries(thing.facts).flatMap(([key, it]) =>
    key in templates.entities ? [[`${prefix}${key}`, it] as const] : [],
  );
  return {
    ...thing,
    entity: `${prefix}${thing.entity}`,
    facts: { ...thing.facts, ...Object.fromEntries(named) },
    parents: Object.fromEntries(
      Object.entries(thing.parents).map(([entity, id]) => [`${prefix}${entity}`, id]),
    ),
  };
}

function phrasesOf(shares: readonly ServerDomain[]): ServerTemplates {
  const entities: ServerTemplates["entities"] = {};
  const args: ServerTemplates["arguments"] = {};
  const tools: ServerTemplates["tools"] = {};
  for (const { server, templates } of shares) {
    for (const [entity, it] of Object.entries(templates.entities)) {
      const isEntity = (slot: string) =>
        slot in templates.entities && slot !== "label" && slot !== "id";
      const renamed = (texts: readonly string[]) =>
        texts.map(text =>
          findSlots(text).reduce(
            (said, slot) =>
              isEntity(slot) ? said.replaceAll(`{${slot}}`, `{${server.name}.${slot}}`) : said,
            text,
          ),
        );
      entities[`${server.name}.${entity}`] = {
        ...it,
        mention: renamed(it.mention),
        ...(it.known ? { known: renamed(it.known) } : {}),
      };
    }
    for (const tool of server.tools.values()) {
      tools[tool.name] = templates.tools[tool.name]!;
      for (const key of Object.keys((tool.inputSchema["properties"] ?? {}) as object)) {
        const words = findArgumentTemplates(templates, tool.name, key);
        if (words) args[`${tool.name}.${key}`] = words;
      }
    }
  }
  const self = shares.map(it => it.templates.self).find(it => it !== undefined);
  return {
    ...shares[0]!.templates,
    ...(self === undefined ? {} : { self }),
    entities,
    arguments: args,
    tools,
  };
}
