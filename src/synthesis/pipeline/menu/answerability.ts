/**
 * Finds out whether a request that a conversation leaves unmet can be met with the offered tools:
 * whether a call or two would show the facts that the user wants or leave the same world, or, for a
 * question, whether the value was said before or can be read.
 */
import { isJsonObject, type Json, type JsonObject } from "../../../environment/json.ts";
import type { Session } from "../../../environment/session.ts";
import { type Scalar, isDistinctive, listScalars } from "../../../trajectory/valueMatching.ts";
import { startsTurn, type Event } from "../../../trajectory/trajectory.ts";
import { type ToolDeclaration, getDeclarations } from "../../graph/declarations.ts";
import { readKnowledge, type Knowledge } from "../../../trajectory/knowledge.ts";
import { findEntities, type EntityId, isEntityId } from "../../../trajectory/entities.ts";
import type { ServerTemplates, ReplyTemplate } from "../../text/templates.ts";
import { removeAllMarks, findSlots } from "../../text/templateText.ts";
import { changesNothing, isEmptyResult } from "../../user/intents/feasibility.ts";
import { pointingWords } from "../../user/entities/entityMentions.ts";
import type { UnmetRequest } from "../../user/userPlan.ts";
import {
  searchReads,
  type FoundResult,
  listDerivingTools,
  searchEquivalentWrites,
} from "./callSearch.ts";
import { indexResult, showsFact, showsValue } from "../../../trajectory/resultIndex.ts";
import type { Fact } from "../../../trajectory/task.ts";
import { getField, selectReplies } from "../../text/replies.ts";
import type { Intent } from "../../user/intents/intent.ts";
import type { Menu } from "./menu.ts";
import type { PreparedConversation } from "../conversation/conversation.ts";
import type { SynthesisOptions } from "../synthesisOptions.ts";
import type { TaskSpecification } from "../specification/taskSpecification.ts";

interface AnswerContext {
  /** A session with all tools of the conversation's servers. */
  readonly session: Session;
  readonly offered: readonly ToolDeclaration[];
  readonly events: readonly Event[];
  readonly getDeclaration: (tool: string) => ToolDeclaration;
  readonly getTemplates: (server: string) => ServerTemplates;
}

/**
 * The tools with which a request can be met, none if the conversation itself meets it, or undefined
 * if it cannot be met.
 */
function findAnsweringTools(
  request: UnmetRequest,
  context: AnswerContext,
): readonly string[] | undefined {
  const session = context.session.fork();
  session.restore(request.state);
  const proof = new Proof(request, { ...context, session });
  return request.asks === undefined ? proof.findWayAround() : proof.findValue(request.asks);
}

class Proof {
  readonly #request: UnmetRequest;
  readonly #context: AnswerContext;
  readonly #declaration: ToolDeclaration;
  /** The events up to the reply that leaves the request unmet. */
  readonly #events: readonly Event[];
  /** What these events have made known. */
  readonly #knowledge: Knowledge;

  constructor(request: UnmetRequest, context: AnswerContext) {
    this.#request = request;
    this.#context = context;
    this.#declaration = context.getDeclaration(request.intent.tool.name);
    this.#events = listEventsBeforeReply(context.events, request.turn);
    this.#knowledge = readKnowledge(this.#events, context.getDeclaration);
  }

  /** The tools that do or show what the request wants. */
  findWayAround(): readonly string[] | undefined {
    const { intent } = this.#request;
    const { session, offered, getTemplates } = this.#context;
    const { tool, arguments: args } = intent;
    const { outcome } = session.fork().call(tool.name, args);
    if (outcome.kind !== "ok") return undefined;
    const isOffered = offered.some(it => it.tool.name === tool.name);
    // what is missing is an id, and without one nothing else can be done either
    if (isOffered) return findShowing(this.#searchReads(), this.#listIdFacts());
    const deriving = listDerivingTools(tool.name);
    const offeredDeriving = offered.map(it => it.tool.name).filter(it => deriving.includes(it));
    if (offeredDeriving.length > 0) return offeredDeriving;
    const declaration = this.#declaration;
    if (tool.effect === "write")
      return searchEquivalentWrites({ session, offered, declaration, arguments: args });
    const replies = getTemplates(tool.server).tools[tool.name]?.reply ?? [];
    const answers = listWantedFacts(intent, outcome.value, declaration, replies);
    const results = this.#searchReads();
    for (const facts of answers) {
      const tools = findShowing(results, facts);
      if (tools) return tools;
    }
    return this.#findShowingMost(results, outcome.value);
  }

  /**
   * The tools that together show most of what the request would have shown, apart from what has
   * been said: a reader would take that for an answer.
   */
  #findShowingMost(results: readonly FoundResult[], wanted: Json): readonly string[] | undefined {
    const args = Object.values(this.#request.intent.arguments).flat();
    const fields = [...listFields(wanted)].filter(
      ({ value }) => !args.includes(value) && !this.#knowledge.isMentioned(String(value)),
    );
    const earlier = this.#events.flatMap(it =>
      it.kind === "call" && it.outcome.kind === "ok" ? [...listFields(it.outcome.value)] : [],
    );
    const shownEarlier = new Set(earlier.map(formatField));
    const toolsByField = new Map(
      results.flatMap(it => [...listFields(it.value)].map(field => [formatField(field), it.name])),
    );
    const shown = fields
      .map(formatField)
      .filter(it => shownEarlier.has(it) || toolsByField.has(it));
    return fields.length > 0 && shown.length >= mostShare * fields.length
      ? [...new Set(shown.flatMap(it => toolsByField.get(it) ?? []))]
      : undefined;
  }

  /** The tools that show the value that is asked for; none if it has been said. */
  findValue(key: string): readonly string[] | undefined {
    if (this.#isSaid(key)) return [];
    const { intent } = this.#request;
    const value = intent.arguments[key]!;
    const results = this.#searchReads(key);
    const input = this.#declaration.inputs.find(it => it.key === key);
    if (!input) {
      const mentions = intent.mentions.filter(it => it.instance.id !== value);
      const owners = listOwners({ mentions });
      const beside = owners.length > 0 && findShowing(results, [{ owners, field: key, value }]);
      return beside || this.#findOnlyValue(key, results);
    }
    const candidates = new Map<EntityId, string>();
    for (const { declaration, value: shown } of results)
      for (const { entity, id } of findEntities(declaration, shown))
        if (entity === input.entity && declaration.tool.server === intent.tool.server)
          candidates.set(id, declaration.tool.name);
    const possible = [...candidates.keys()].filter(id => this.#isPossible(key, id));
    return possible.length === 1 ? [candidates.get(possible[0]!)!] : undefined;
  }

  /**
   * The tools that show the plain value, if it is the only one of this name that the call works
   * with; none if an earlier call has shown it.
   */
  #findOnlyValue(key: string, results: readonly FoundResult[]): readonly string[] | undefined {
    const value = this.#request.intent.arguments[key]!;
    const earlier = this.#events.flatMap(it =>
      it.kind === "call" && it.outcome.kind === "ok" ? [...listNamed(key, it.outcome.value)] : [],
    );
    const shown = results.map(it => ({ it, values: new Set(listNamed(key, it.value)) }));
    const candidates = new Set([...earlier, ...shown.flatMap(it => [...it.values])]);
    const possible = [...candidates].filter(it => this.#isPossible(key, it));
    if (possible.length !== 1 || possible[0] !== value) return undefined;
    return earlier.includes(value)
      ? []
      : [...new Set(shown.flatMap(({ it, values }) => (values.has(value) ? [it.name] : [])))];
  }

  /** Whether the user or the assistant has said the value, or a name of it, in these words. */
  #isSaid(key: string): boolean {
    const { intent } = this.#request;
    const value = intent.arguments[key]!;
    const words = removeAllMarks(intent.argumentTexts[key] ?? "").replace(leadingWords, "");
    const labels = intent.mentions.flatMap(it =>
      [value].flat().includes(it.instance.id) ? (it.instance.label ?? []) : [],
    );
    const plain = [value].flat().filter(it => typeof it === "string" || typeof it === "number");
    const said = [...plain.map(String), ...labels, ...(pointingWords.test(words) ? [] : [words])];
    return said.some(it => this.#knowledge.isMentioned(it));
  }

  /** Whether the session accepts the call with this value, and it finds or changes something. */
  #isPossible(key: string, candidate: Scalar): boolean {
    const { tool, arguments: args } = this.#request.intent;
    const value = Array.isArray(args[key]) ? [candidate] : candidate;
    const { outcome, patches } = this.#context.session
      .fork()
      .call(tool.name, { ...args, [key]: value });
    if (outcome.kind !== "ok") return false;
    return tool.effect === "read" ? !isEmptyResult(outcome.value) : !changesNothing(patches);
  }

  /** What the offered reads show, without the argument that is asked for. */
  #searchReads(asked?: string): FoundResult[] {
    const { session, offered, getDeclaration } = this.#context;
    const { intent } = this.#request;
    const { [asked ?? ""]: value, ...values } = intent.arguments;
    const isAsked = (id: EntityId) => value !== undefined && [value].flat().includes(id);
    const mentions = intent.mentions.filter(it => !isAsked(it.instance.id));
    // the calls are limited, and the server that the request is about is the likeliest to help
    const isNear = (it: ToolDeclaration) => it.tool.server === intent.tool.server;
    const nearFirst = [...offered.filter(isNear), ...offered.filter(it => !isNear(it))];
    return searchReads({
      session,
      offered: nearFirst,
      knowledge: readKnowledge(this.#events, getDeclaration),
      labels: mentions.flatMap(it => it.instance.label ?? []),
      values: omitUnspokenIds(values, this.#declaration),
      now: session.state[intent.tool.server]!.clock,
      wantedIds: new Set(
        mentions.flatMap(({ instance }) => [instance.id, ...Object.values(instance.parents)]),
      ),
    });
  }

  /** The ids that the assistant does not know, each as a row with its name or a fact. */
  #listIdFacts(): WantedFact[] {
    return this.#request.intent.mentions
      .filter(it => !it.isIdSpoken && !this.#knowledge.isShown(it.instance.id))
      .map(({ instance }) => ({ owners: [String(instance.id)] }));
  }
}

/** The share of the fields of a result that answers the request for it. */
const mostShare = 0.7;

interface Field {
  readonly key: string;
  readonly value: Scalar;
}

/** The fields with plain values, at any depth. */
function* listFields(value: Json, key = ""): Generator<Field> {
  if (Array.isArray(value)) for (const it of value) yield* listFields(it as Json, key);
  else if (isJsonObject(value))
    for (const [name, it] of Object.entries(value)) yield* listFields(it, name);
  else if (value !== null) yield { key, value: value as Scalar };
}

const formatField = ({ key, value }: Field): string => `${key} ${JSON.stringify(value)}`;

/** The plain values of the fields of one name, at any depth. */
const listNamed = (name: string, value: Json): Scalar[] =>
  [...listFields(value)].flatMap(it => (it.key === name ? [it.value] : []));

const leadingWords = /^(?:(?:my|our|the|a|an|to|from|on|in|into|with|by|for|at|of) )+/i;

/** The arguments without ids that no user says. */
const omitUnspokenIds = (args: JsonObject, { inputs }: ToolDeclaration): JsonObject =>
  Object.fromEntries(
    Object.entries(args).filter(([key]) => !inputs.some(it => it.key === key && !it.isSpoken)),
  );

/** The tools whose results show all facts, or undefined if one is not shown. */
function findShowing(
  results: readonly FoundResult[],
  facts: readonly WantedFact[],
): readonly string[] | undefined {
  if (facts.length === 0) return undefined;
  const tools = new Set<string>();
  for (const fact of facts) {
    const showing = results.filter(it => showsWantedFact(it, fact));
    if (showing.length === 0) return undefined;
    for (const it of showing) tools.add(it.declaration.tool.name);
  }
  return [...tools];
}

/** The events up to the assistant's last message of a turn. */
function listEventsBeforeReply(events: readonly Event[], turn: number): readonly Event[] {
  let turns = -1;
  const end = events.findIndex(it => startsTurn(it) && ++turns > turn);
  const own = end < 0 ? events : events.slice(0, end);
  const reply = own.findLastIndex(it => it.kind === "assistant" && it.text !== "");
  return own.slice(0, reply);
}

// The facts that an answer to a request would tell, and whether a result shows them.

/**
 * Something that a result must show: with `field`, that this field, or one of another name, has
 * this value for one of the owners; without, a row of one of them.
 */
interface WantedFact {
  /** Ids and names of the entity; empty for a value that belongs to none. */
  readonly owners: readonly string[];
  readonly field?: string;
  readonly value?: Json;
}

/**
 * The facts of each reply that suits the result of an intent's call. What the user has said is
 * left out. Replies without facts are too.
 */
function listWantedFacts(
  intent: Intent,
  value: Json,
  declaration: ToolDeclaration,
  toolReplies: readonly ReplyTemplate[],
): WantedFact[][] {
  const rows = findRows(value);
  const getFieldOrCount = (path: string) =>
    getField(value, path) ?? (path === "count" ? rows?.length : undefined);
  const own = intent.replies ?? [];
  const list = (replies: readonly ReplyTemplate[]) =>
    replies
      .filter(it => selectReplies([it], getFieldOrCount, all => all).length > 0)
      .map(it => listReplyFacts(it, intent, value, declaration))
      .filter(it => it.length > 0);
  const ownFacts = list(own);
  return ownFacts.length > 0 ? ownFacts : list(toolReplies);
}

function listReplyFacts(
  reply: ReplyTemplate,
  intent: Intent,
  value: Json,
  declaration: ToolDeclaration,
): WantedFact[] {
  const text = typeof reply === "string" ? reply : reply.say;
  const conditions = typeof reply === "string" ? [] : Object.keys(reply.if);
  const paths = new Set([...findSlots(text).map(it => it.replace(/\.size$/, "")), ...conditions]);
  const said = new Set<Json | undefined>([
    ...Object.values(intent.arguments).flat(),
    ...intent.mentions.map(it => it.instance.label),
  ]);
  return [...paths].flatMap((path): WantedFact[] => {
    if (path === "items" || path === "count") return listRowFacts(value, declaration);
    const field = getField(value, path);
    if (field === undefined || typeof field === "object" || said.has(field)) return [];
    return [{ owners: listOwners(intent), field: path.split(".").at(-1)!, value: field }];
  });
}

/** The ids and names of what a request is about. */
const listOwners = ({ mentions }: Pick<Intent, "mentions">): string[] =>
  mentions.flatMap(({ instance: { id, label } }) => [String(id), label ?? []].flat());

/** One fact per row of the first list. */
function listRowFacts(value: Json, declaration: ToolDeclaration): WantedFact[] {
  const ids = new Set(findEntities(declaration, value).map(it => it.id));
  return (findRows(value) ?? []).flatMap((row): WantedFact[] => {
    if (!isJsonObject(row)) return typeof row === "string" ? [{ owners: [row] }] : [];
    const own = Object.values(row)
      .filter(isEntityId)
      .find(it => ids.has(it));
    if (own !== undefined) return [{ owners: [String(own)] }];
    return Object.entries(row)
      .filter(([, it]) => it === null || typeof it !== "object")
      .slice(0, 1)
      .map(([field, it]) => ({ owners: [], field, value: it }));
  });
}

const findRows = (value: Json): readonly Json[] | undefined =>
  isJsonObject(value)
    ? (Object.values(value).find(it => Array.isArray(it)) as readonly Json[] | undefined)
    : undefined;

/**
 * Whether a result shows a fact. A distinctive value may be in a field of another name, because
 * what is found is neither refused nor asked for.
 */
function showsWantedFact(result: FoundResult, { owners, field, value }: WantedFact): boolean {
  const wanted = { texts: new Set(owners), aliases: new Map<string, string>() };
  const { tool } = result.declaration;
  const index = indexResult(result.value, result.arguments, wanted, tool);
  if (field === undefined) return owners.some(entity => showsFact(index, { entity }));
  const isAnywhere = isScalar(value) && isDistinctive(value);
  if (owners.length === 0)
    return (
      showsValue(result.value, field, value!) ||
      (isAnywhere && [...listScalars(result.value)].includes(value))
    );
  return owners.some(
    entity =>
      showsFact(index, { entity, field, value: value as Fact["value"] }) ||
      (isAnywhere && [...(index.fields.get(entity)?.values() ?? [])].flat().includes(value)),
  );
}

const isScalar = (value: Json | undefined): value is Scalar =>
  value !== undefined && value !== null && typeof value !== "object";

// Removes from a menu the tools with which the assistant could do what it says that it cannot do,
// or find out what it asks for.

/** How often tools are removed before the attempt is given up. */
const maxRemovals = 4;

/** The fewest tools on a menu after others were removed. */
const minMenuSize = 2;

/** The same for a realistic menu, unless the servers have too few tools for one. */
const minRealisticSize = 20;

interface MenuConversation {
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
  const isWrite = (tool: string) => catalog.tools.get(tool)?.effect === "write";
  const ways = listNamedTools(setup.conversation.events).filter(isWrite);
  const isFixed = (tool: string) => menu.knobs.menu === "full" || neededTools.has(tool);
  if (menu.menu.some(it => ways.includes(it.name) && isFixed(it.name))) return undefined;
  let offered = menu.menu.filter(
    it => !ways.includes(it.name) && !excludedServers.includes(getServer(it.name).name),
  );
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

/** The tools that the hints of refusals name with which a turn ends. */
function listNamedTools(events: readonly Event[]): string[] {
  return events.flatMap((event, i) => {
    if (event.kind !== "call" || event.outcome.kind !== "refused") return [];
    const next = events.slice(i + 1).find(it => it.kind === "call" || startsTurn(it));
    if (next?.kind === "call") return [];
    return event.outcome.hint?.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
  });
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
