/**
 * Creates conversations of one turn in which the assistant calls nothing, of the three categories
 * of When2Call: no tool can fulfil the request, a value is missing that only the user knows, or no
 * tool is needed.
 */
import type { Tool } from "../../../environment/server.ts";
import type { Random } from "../../../environment/random.ts";
import type { Abstentions } from "../../text/abstentions.ts";
import type { Persona } from "../../text/personas.ts";
import { capitalize, isRequest } from "../../text/grammar.ts";
import {
  chooseAlternatives,
  fillSlots,
  tidyText,
  removeAllMarks,
} from "../../text/templateText.ts";
import type { ConversationContext } from "../conversationContext.ts";
import { UserSimulator } from "../userSimulator.ts";
import type { UnmetRequest, UserPlan, UserTurn } from "../userPlan.ts";
import type { State } from "../../../environment/state.ts";
import { renderTurnRefusal } from "./turnBuilder.ts";

export type AbstentionSort = "cannot" | "question" | "no-need";

export interface AbstentionTurn {
  readonly sort: AbstentionSort;
  readonly user: string;
  readonly reply: string;
  /** The tool for which a value is missing; it must be on the menu. */
  readonly tool?: string;
  readonly unmetRequests: readonly UnmetRequest[];
  /** Servers with a tool that could do it; they must not be on the menu. */
  readonly ableServers?: readonly string[] | undefined;
}

/** How often each sort is drawn. */
export const abstentionShares = { cannot: 0.42, question: 0.38, "no-need": 0.2 };

/** How often a message that needs no tool is about a request that is not made. */
const unmadeRequestShare = 0.85;

const drawAbstentionSort = (random: Random): AbstentionSort =>
  random.pickWeighted(["cannot", "question", "no-need"] as const, it => abstentionShares[it]);

/** How often a text is one of the server's own. */
const ownShares = { cannot: 0.65, "no-need": 0.4 };

/**
 * A conversation on a server, or undefined if there are no entities for the drawn text. The sort is
 * drawn where it is absent.
 */
export function createAbstentionTurn(
  server: string,
  plan: UserPlan,
  context: ConversationContext,
  texts: Abstentions,
  sort = drawAbstentionSort(context.random),
): AbstentionTurn | undefined {
  const { random, persona } = context;
  if (sort === "question") return createQuestionTurn(plan, context, texts);
  if (sort === "no-need" && random.boolean(unmadeRequestShare))
    return createUnmadeRequest(plan, context, texts.unmade);
  const own = texts.servers[server];
  const getSlotText = createSlotTexts(texts, context);
  if (sort === "cannot") {
    const choices = own && random.boolean(ownShares.cannot) ? own.never : texts.never;
    const { say, it, doneBy } = random.pick(choices);
    const user = fillSentence(random.pick(say), getSlotText);
    if (user === undefined) return undefined;
    return {
      sort,
      user: applyPersona(user, persona, random),
      reply: random.pick(texts.cannot).replace("{it}", it),
      unmetRequests: [],
      ableServers: doneBy,
    };
  }
  const choices = own && random.boolean(ownShares["no-need"]) ? own.idle : texts.idle;
  const { say, reply } = random.pick(choices);
  const i = random.integer(say.length);
  const user = fillSentence(say[i]!, getSlotText);
  const answer = fillSentence(reply[i % reply.length]!, getSlotText);
  if (user === undefined || answer === undefined) return undefined;
  return { sort, user: applyPersona(user, persona, random), reply: answer, unmetRequests: [] };
}

/** A request with a required value left out, which the assistant has to ask for. */
function createQuestionTurn(
  plan: UserPlan,
  context: ConversationContext,
  texts: Abstentions,
): AbstentionTurn | undefined {
  const { random, templates, declarations } = context;
  const tools = [...declarations.keys()].filter(it => templates.tools[it]?.missing);
  if (tools.length === 0) return undefined;
  const tool = random.pickWeighted(tools, plan.getToolWeight);
  const ownPlan: UserPlan = {
    ...plan,
    tools: [tool],
    info: "missing",
    moreBeforeQuestion: 0,
    isOneTurn: true,
    addsValue: false,
  };
  const simulator = openWithScenario(ownPlan, context, it => it.question !== undefined);
  const { turn } = simulator;
  if (turn.question === undefined || turn.intents.length > 0) return undefined;
  simulator.recordRefusal();
  const question = removeAllMarks(chooseAlternatives(turn.question, random));
  return {
    sort: "question",
    user: turn.text,
    reply: random.pick(texts.asking).replace("{question}", () => question),
    tool: simulator.unmetRequests[0]!.intent.tool.name,
    unmetRequests: simulator.unmetRequests,
  };
}

/** A user who has said a first turn of one request, from the plan's scenario if that has one. */
function openWithScenario(
  { scenario, ...plan }: UserPlan,
  context: ConversationContext,
  isSuitable: (turn: UserTurn) => boolean,
): UserSimulator {
  if (scenario) {
    const simulator = new UserSimulator({ ...plan, scenario }, context);
    const turn = simulator.nextTurn("open");
    const isSingle = turn && turn.intents.length + (turn.question === undefined ? 0 : 1) === 1;
    if (isSingle && !turn.conditional && isSuitable(turn)) return simulator;
  }
  const simulator = new UserSimulator(plan, context);
  simulator.nextTurn("open");
  return simulator;
}

/** A request that the user thinks of but does not make, or takes back at once. */
function createUnmadeRequest(
  plan: UserPlan,
  context: ConversationContext,
  texts: Abstentions["unmade"],
): AbstentionTurn | undefined {
  const { random, declarations, persona } = context;
  const tool = random.pickWeighted([...declarations.keys()], plan.getToolWeight);
  const ownPlan: UserPlan = {
    ...plan,
    tools: [tool],
    isOneTurn: true,
    addsValue: false,
    refusalOdds: { accept: 0, seek: 0 },
  };
  const simulator = openWithScenario(ownPlan, context, () => true);
  const [intent, ...others] = simulator.turn.intents;
  if (!intent || others.length > 0) return undefined;
  const clause = removeAllMarks(intent.clause);
  const suitable = texts.filter(it => isSuitableFrame(it, clause, intent.tool.effect));
  if (suitable.length === 0) return undefined;
  const { say, reply } = random.pickWeighted(suitable, it => it.say.length);
  const user = tidyText(
    random
      .pick(say)
      .replace("{clause}", () => clause)
      .replace("{Clause}", () => capitalize(clause)),
  );
  const motive = simulator.scenario?.pickMotive() ?? "";
  return {
    sort: "no-need",
    user: applyPersona(`${motive} ${capitalize(user)}`.trim(), persona, random),
    reply: random.pick(reply),
    unmetRequests: [],
  };
}

/** Whether a clause reads well in the sentences of a frame. */
function isSuitableFrame(
  { on, say }: Abstentions["unmade"][number],
  clause: string,
  effect: Tool["effect"],
): boolean {
  const isWhole = say.every(it => it.includes("{Clause}"));
  if (clause.endsWith("?") || clause.endsWith("!")) return on === "question";
  if (on === "question" || (on !== "any" && on !== effect)) return false;
  return isWhole || (isRequest(clause) && !/[,:;.]( |$)|please/.test(clause));
}

/** Texts for slots, drawn when they are first needed and then the same in every text. */
function createSlotTexts(
  { values, entities }: Abstentions,
  { sample, random, templates }: ConversationContext,
): (slot: string) => string | undefined {
  const [a, b] = [13 + random.integer(60), 2 + random.integer(10)];
  const numbers: Readonly<Record<string, number>> = { a, b, sum: a + b, times: a * b };
  const texts = new Map<string, string | undefined>();
  const drawText = (slot: string): string | undefined => {
    if (Object.hasOwn(numbers, slot)) return String(numbers[slot]);
    if (slot === "first") return [getText("name")!, getText("city")!].sort()[0];
    if (values[slot]) return random.pick(values[slot]);
    const instances = sample.instances.get(entities[slot] ?? slot) ?? [];
    // nobody speaks of themselves by name
    const labelled = instances.filter(it => it.label !== undefined && it.label !== templates.self);
    return labelled.length === 0 ? undefined : random.pick(labelled).label;
  };
  const getText = (slot: string): string | undefined => {
    if (!texts.has(slot)) texts.set(slot, drawText(slot));
    return texts.get(slot);
  };
  return getText;
}

function fillSentence(
  template: string,
  getSlotText: (slot: string) => string | undefined,
): string | undefined {
  const text = fillSlots(template, getSlotText);
  return text === undefined ? undefined : text.charAt(0).toUpperCase() + text.slice(1);
}

/** The text with an opening of the persona, or without the full stop. */
function applyPersona(text: string, { open, casual }: Persona, random: Random): string {
  const lead = random.pick((open ?? [""]).filter(it => it === "" || it.endsWith("! ")).concat(""));
  const hasGreeting = /^(Good|Hello|Hi|Thanks|Sorry|Oops)\b/.test(text);
  return casual ? text.replace(/\.$/, "") : `${hasGreeting ? "" : lead}${text}`;
}

// Creates the turn that contrasts with the first turn of a normal task: the same words where the
// tool for them is missing, or nearly the same words without a value.

interface ContrastContext {
  readonly random: Random;
  /** The state in which the conversation begins. */
  readonly state: State;
}

/** The turn in which the tools of all requests of the first turn are missing. */
export function createRefusedTurn(
  turn: UserTurn,
  { missingCapability: templates }: Abstentions,
  { random, state }: ContrastContext,
): AbstentionTurn {
  const { text, intents } = turn;
  const reply = renderTurnRefusal(turn, templates, random);
  const unmetRequests = intents.map(intent => ({ turn: 0, intent, state }));
  return { sort: "cannot", user: text, reply: removeAllMarks(reply), unmetRequests };
}

/** The turn without the value that the first turn adds, or undefined if it adds none. */
export function createTurnWithoutValue(
  { intents, withoutValue }: UserTurn,
  { asking }: Abstentions,
  { random, state }: ContrastContext,
): AbstentionTurn | undefined {
  if (!withoutValue) return undefined;
  const { intent, key } = withoutValue;
  const question = removeAllMarks(chooseAlternatives(withoutValue.question, random));
  return {
    sort: "question",
    user: withoutValue.text,
    reply: random.pick(asking).replace("{question}", () => question),
    tool: intents[0]!.tool.name,
    unmetRequests: [{ turn: 0, intent, asks: key, state }],
  };
}

/** Full names of the tools that a turn asks for. */
export const listRequestedTools = ({ intents, conditional = [] }: UserTurn): string[] => [
  ...intents.flatMap(it => [
    it.tool.name,
    ...(it.fallback ? [it.fallback.tool.name] : []),
    ...(it.prerequisite ? [it.prerequisite.intent.tool.name] : []),
  ]),
  ...conditional.map(it => it.name),
];
