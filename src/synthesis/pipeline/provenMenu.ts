/**
 * Removes from a menu the tools with which the assistant could do what it says that it cannot do,
 * or find out what it asks for.
 */
import { getDeclarations } from "../graph/declarations.ts";
import { findAnsweringTools } from "./answerability.ts";
import type { Menu } from "./menu.ts";
import type { PreparedConversation } from "./preparedConversation.ts";
import type { SynthesisOptions } from "./synthesisOptions.ts";
import type { TaskSpecification } from "./taskSpecification.ts";

/** How often tools are removed before the attempt is given up. */
const maxRemovals = 4;

/** The fewest tools on a menu after others were removed. */
const minMenuSize = 2;

/** The same for a realistic menu, unless the servers have too few tools for one. */
const minRealisticSize = 20;

export interface MenuConversation {
  readonly specification: TaskSpecification;
  readonly prepared: PreparedConversation;
  readonly options: Pick<SynthesisOptions, "catalog">;
}

/**
 * The menu without those tools, or undefined if one of them is needed, or if the conversation
 * itself contains what the assistant asks for.
 */
export function removeAnsweringTools(
  menu: Menu,
  neededTools: ReadonlySet<string>,
  { specification, prepared, options: { catalog } }: MenuConversation,
): Menu | undefined {
  const { setup } = prepared;
  // what a rule forbids can be done, but must not
  const unmetRequests = prepared.unmetRequests.filter(it => it.rule === undefined);
  const getServer = (tool: string) => catalog.getServer(catalog.tools.get(tool)!.server);
  const getDeclaration = (tool: string) => getDeclarations(getServer(tool)).get(tool)!;
  const { excludedServers = [] } = prepared;
  const isRealistic = menu.knobs.menu === "realistic" && menu.menu.length >= minRealisticSize;
  const fewest = isRealistic ? minRealisticSize : minMenuSize;
  let offered = menu.menu.filter(it => !excludedServers.includes(getServer(it.name).name));
  for (let removal = 0; removal <= maxRemovals; removal++) {
    if (offered.length < fewest) return undefined;
    const context = {
      session: setup.session,
      offered: offered.map(it => getDeclaration(it.name)),
      events: setup.conversation.events,
      getDeclaration,
      getTemplates: (server: string) => prepared.getTemplates(server),
    };
    const answering = unmetRequests.flatMap(it => {
      const tools = findAnsweringTools(it, context);
      return tools ? [tools.filter(tool => !neededTools.has(tool))] : [];
    });
    if (answering.length === 0)
      return keepTools(menu, offered, it => getServer(it).name === specification.home);
    if (menu.knobs.menu === "full" || answering.some(it => it.length === 0)) return undefined;
    offered = offered.filter(({ name }) => !answering.some(it => it.includes(name)));
  }
  return undefined;
}

/** The menu with only these tools. */
function keepTools(menu: Menu, offered: Menu["menu"], isOfHome: (tool: string) => boolean): Menu {
  const removed = menu.menu.filter(it => !offered.includes(it)).map(it => it.name);
  if (removed.length === 0) return menu;
  const near = removed.filter(isOfHome).length;
  const { company, distractors } = menu.knobs;
  return {
    ...menu,
    menu: offered,
    knobs: {
      ...menu.knobs,
      company: Math.max(0, company - near),
      distractors: Math.max(0, distractors - (removed.length - near)),
    },
  };
}
