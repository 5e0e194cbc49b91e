/** Decides which tools the user asks for, and which are hidden from the menu. */
import type { Random } from "../../environment/random.ts";
import type { Server } from "../../environment/server.ts";
import type { EntityInput, ToolDeclaration } from "../graph/declarations.ts";
import type { ConversationContext, ConversationDomain } from "../user/conversationContext.ts";
import { findToolsToHide } from "./substitutes.ts";
import type { TaskSpecification } from "./taskSpecification.ts";

/** How often the user asks for a look-up, and how often a hidden tool is a look-up. */
const shares = { requestedLookUp: 0.15, hiddenLookUp: 0.4 };

/** The tools, or the steps of the cross-server plan, that the user asks for. */
export function selectTools(
  { kind, chain, script, scenario, crossServerPlan }: TaskSpecification,
  context: ConversationContext,
  isRefusedAtOnce: boolean,
): readonly string[] {
  if (script) return script.tools;
  if (scenario) return scenario.tools;
  if (crossServerPlan) return [...crossServerPlan.steps.keys()];
  if (kind === "irrelevant" && isRefusedAtOnce) return chain.slice(-1);
  return selectRequestedTools(chain, context, context.random);
}

/** The tools that must not be on the menu. */
export function chooseHiddenTools(
  { kind, chain, script }: TaskSpecification,
  requested: readonly string[],
  servers: readonly Server[],
  random: Random,
): ReadonlySet<string> {
  if (script?.hiddenTools) return script.hiddenTools;
  if (kind === "irrelevant") return findToolsToHide(requested, servers);
  return kind === "clarify" ? chooseMissingTools(chain, requested, servers, random) : new Set();
}

/**
 * The tools of a chain that the user asks for: all but the look-ups that only find what the next
 * tool takes.
 */
function selectRequestedTools(
  chain: readonly string[],
  { declarations, sample }: ConversationDomain,
  random: Random,
): readonly string[] {
  const getParents = (entity: string) =>
    Object.keys(sample.instances.get(entity)?.[0]?.parents ?? {});
  return chain.filter((name, i) => {
    const declaration = declarations.get(name)!;
    const nextName = chain[i + 1];
    const next = nextName === undefined ? undefined : declarations.get(nextName);
    if (!next || declaration.tool.effect === "write") return true;
    const isLookUp = listPassedEntities(declaration, next).some(entity =>
      declaration.inputs.every(it => !it.isRequired || getParents(entity).includes(it.entity)),
    );
    return !isLookUp || random.boolean(shares.requestedLookUp);
  });
}

/** The entities whose ids the next tool takes from this one, because the user does not say them. */
function listPassedEntities({ outputs, labels }: ToolDeclaration, next: ToolDeclaration): string[] {
  const isUnknown = (input: EntityInput) =>
    !input.isSpoken || labels.some(it => it.entity === input.entity);
  const passed = next.inputs.filter(it => it.isRequired && isUnknown(it));
  return outputs.map(it => it.entity).filter(entity => passed.some(it => it.entity === entity));
}

/**
 * A tool of the chain and its substitutes, to be hidden. Later tools are preferred, so that
 * something can be done before.
 */
function chooseMissingTools(
  chain: readonly string[],
  requested: readonly string[],
  servers: readonly Server[],
  random: Random,
): Set<string> {
  const unrequested = chain.filter(it => !requested.includes(it));
  const missing =
    unrequested.length > 0 && random.boolean(shares.hiddenLookUp)
      ? random.pick(unrequested)
      : random.pickWeighted(requested, it => 1 + requested.indexOf(it));
  return findToolsToHide([missing], servers);
}
