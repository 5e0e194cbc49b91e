/**
 * Creates conversations of one turn in which the assistant calls nothing, of the three categories
 * of When2Call: no tool can fulfil the request, a value is missing that only the user knows, or no
 * tool is needed.
 */
import type { Random } from "../../environment/random.ts";
import type { Abstentions } from "../text/abstentions.ts";
import type { Persona } from "../text/personas.ts";
import { chooseAlternatives, fillSlots } from "../text/templateText.ts";
import { removeAllMarks } from "../text/valueMarks.ts";
import type { ConversationContext } from "./conversationContext.ts";
import type { EntitySample } from "./entityInstance.ts";
import { UserSimulator } from "./userSimulator.ts";
import type { UnmetRequest } from "./unmetRequest.ts";
import type { UserPlan } from "./userPlan.ts";

export interface AbstentionTurn {
  readonly sort: "cannot" | "question" | "no-need";
  readonly user: string;
  readonly reply: string;
  /** The tool for which a value is missing; it must be on the menu. */
  readonly tool?: string;
  readonly unmetRequests: readonly UnmetRequest[];
  /** Servers with a tool that could do it; they must not be on the menu. */
  readonly ableServers?: readonly string[] | undefined;
}

/** How often each sort is drawn. */
const sortWeights = { cannot: 0.3, question: 0.4, "no-need": 0.3 };

/** How often a text is one of the server's own. */
const ownShares = { cannot: 0.65, "no-need": 0.4 };

/** A conversation on a server, or undefined if there are no entities for the drawn text. */
export function createAbstentionTurn(
  server: string,
  plan: UserPlan,
  context: ConversationContext,
  texts: Abstentions,
): AbstentionTurn | undefined {
  const { random, sample, persona } = context;
  const sort = random.pickWeighted(
    ["cannot", "question", "no-need"] as const,
    it => sortWeights[it],
  );
  if (sort === "question") return createQuestionTurn(plan, context, texts);
  const own = texts.servers[server];
  const getSlotText = createSlotTexts(texts, sample, random);
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
  const ownPlan: UserPlan = { ...plan, tools: [tool], info: "missing", isOneTurn: true };
  const simulator = new UserSimulator(ownPlan, context);
  const turn = simulator.nextTurn("open");
  if (turn?.question === undefined) return undefined;
  simulator.recordRefusal();
  const question = removeAllMarks(chooseAlternatives(turn.question, random));
  return {
    sort: "question",
    user: turn.text,
    reply: random.pick(texts.asking).replace("{question}", () => question),
    tool,
    unmetRequests: simulator.unmetRequests,
  };
}

/** Texts for slots, drawn when they are first needed and then the same in every text. */
function createSlotTexts(
  { values, entities }: Abstentions,
  sample: EntitySample,
  random: Random,
): (slot: string) => string | undefined {
  const [a, b] = [13 + random.integer(60), 2 + random.integer(10)];
  const numbers: Readonly<Record<string, number>> = { a, b, sum: a + b, times: a * b };
  const texts = new Map<string, string | undefined>();
  const drawText = (slot: string): string | undefined => {
    if (Object.hasOwn(numbers, slot)) return String(numbers[slot]);
    if (slot === "first") return [getText("name")!, getText("city")!].sort()[0];
    if (values[slot]) return random.pick(values[slot]);
    const instances = sample.instances.get(entities[slot] ?? slot) ?? [];
    const labelled = instances.filter(it => it.label !== undefined);
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
