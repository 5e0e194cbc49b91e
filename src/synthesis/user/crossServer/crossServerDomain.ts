/**
 * Combines several servers into one domain of conversation. Each entity gets its server's name as a
 * prefix, so that a category of the budget differs from a category of the shop.
 */
import type { Server } from "../../../environment/server.ts";
import {
  addServerPrefix,
  getDeclarations,
  type ToolDeclaration,
} from "../../graph/declarations.ts";
import { type ServerTemplates, findArgumentTemplates } from "../../text/templates.ts";
import type { ConversationDomain } from "../conversationContext.ts";
import type { EntityInstance, EntitySample } from "../entities/entitySample.ts";
import { findSlots } from "../../text/templateText.ts";

/** What one server contributes. */
interface ServerDomain {
  readonly server: Server;
  readonly templates: ServerTemplates;
  readonly sample: EntitySample;
}

/** The domain of several servers, with the general phrases of the first one. */
export function createCrossServerDomain(domains: readonly ServerDomain[]): ConversationDomain {
  const domainsByName = new Map(domains.map(it => [it.server.name, it]));
  const instances = new Map(
    domains.flatMap(domain =>
      [...domain.sample.instances].map(
        ([entity, list]) =>
          [
            `${domain.server.name}.${entity}`,
            list.map(it => addPrefixToInstance(it, domain)),
          ] as const,
      ),
    ),
  );
  return {
    declarations: new Map(domains.flatMap(it => listPrefixedDeclarations(it.server))),
    templates: combineTemplates(domains),
    sample: {
      instances,
      rows: domains.flatMap(it => it.sample.rows),
      find(entity, id) {
        const dot = entity.indexOf(".");
        const domain = domainsByName.get(entity.slice(0, dot));
        const instance = domain?.sample.find(entity.slice(dot + 1), id);
        return instance && addPrefixToInstance(instance, domain!);
      },
    },
  };
}

const declarationsByServer = new WeakMap<Server, [string, ToolDeclaration][]>();

function listPrefixedDeclarations(server: Server): [string, ToolDeclaration][] {
  let declarations = declarationsByServer.get(server);
  if (!declarations)
    declarationsByServer.set(
      server,
      (declarations = [...getDeclarations(server)].map(([name, it]) => [
        name,
        addServerPrefix(it),
      ])),
    );
  return declarations;
}

/** A fact with the name of an entity of the server gets a second, prefixed name. */
function addPrefixToInstance(
  instance: EntityInstance,
  { server, templates }: ServerDomain,
): EntityInstance {
  const prefix = `${server.name}.`;
  const prefixedFacts = Object.entries(instance.facts).flatMap(([key, it]) =>
    key in templates.entities ? [[`${prefix}${key}`, it] as const] : [],
  );
  return {
    ...instance,
    entity: `${prefix}${instance.entity}`,
    facts: { ...instance.facts, ...Object.fromEntries(prefixedFacts) },
    parents: Object.fromEntries(
      Object.entries(instance.parents).map(([entity, id]) => [`${prefix}${entity}`, id]),
    ),
  };
}

function combineTemplates(domains: readonly ServerDomain[]): ServerTemplates {
  const entities: ServerTemplates["entities"] = {};
  const args: ServerTemplates["arguments"] = {};
  const tools: ServerTemplates["tools"] = {};
  for (const { server, templates } of domains) {
    for (const [entity, it] of Object.entries(templates.entities))
      entities[`${server.name}.${entity}`] = {
        ...it,
        mention: addPrefixToSlots(it.mention, server.name, templates),
        ...(it.known ? { known: addPrefixToSlots(it.known, server.name, templates) } : {}),
      };
    for (const tool of server.tools.values()) {
      tools[tool.name] = templates.tools[tool.name]!;
      for (const key of Object.keys((tool.inputSchema["properties"] ?? {}) as object)) {
        const own = findArgumentTemplates(templates, tool.name, key);
        if (own) args[`${tool.name}.${key}`] = own;
      }
      for (const [key, own] of Object.entries(templates.arguments))
        if (key.startsWith(`${tool.name}.`)) args[key] = own;
    }
  }
  const self = domains.map(it => it.templates.self).find(it => it !== undefined);
  return {
    ...domains[0]!.templates,
    ...(self === undefined ? {} : { self }),
    entities,
    arguments: args,
    tools,
  };
}

/** The texts with prefixed names in the slots that name an entity. */
function addPrefixToSlots(
  texts: readonly string[],
  server: string,
  { entities }: ServerTemplates,
): string[] {
  const isEntity = (slot: string) => slot in entities && slot !== "label" && slot !== "id";
  return texts.map(text =>
    findSlots(text)
      .filter(isEntity)
      .reduce((result, slot) => result.replaceAll(`{${slot}}`, `{${server}.${slot}}`), text),
  );
}
