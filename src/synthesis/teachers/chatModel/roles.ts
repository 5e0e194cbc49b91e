/**
 * A chat model in the roles of a planned conversation: the assistant, which sees what a policy
 * sees, and the user, whose intents are planned on the live session as usual and only worded by the
 * model.
 */
import type { ChatModel, ChatMessage } from "../../../policy/chatModel.ts";
import type { Conversation, AssistantMessage } from "../../../policy/policy.ts";
import type { SimulatedUser, Teacher, Recovery } from "../teacher.ts";
import { createAssistantMessage, createChatMessages } from "../../../policy/chatMessages.ts";
import type { CallEvent, Event } from "../../../trajectory/trajectory.ts";
import { containsToken } from "../../../trajectory/valueMatching.ts";
import {
  findUnspokenId,
  hasInvisibleCharacters,
  findGroundingFlaw,
  type TextFlaw,
} from "./grounding.ts";
import {
  matchesIntent,
  type TurnPlan,
  checkTurn,
  type TurnResult,
  isReticent,
} from "./turnCheck.ts";
import { z } from "zod";
import { completeStructured } from "../../../policy/structuredOutput.ts";
import { describeTool } from "../../../environment/toolDescription.ts";
import type { TurnKind } from "../../user/userPlan.ts";
import type { Json, JsonObject } from "../../../environment/json.ts";
import type { Tool } from "../../../environment/server.ts";
import { getWeekdayName } from "../../../environment/time.ts";
import { removeMarks } from "../../text/templateText.ts";
import type { EntityInstance } from "../../user/entities/entitySample.ts";
import type { Intent } from "../../user/intents/intent.ts";

export interface LlmRoles {
  /** The teacher's name in tasks. */
  readonly name: string;
  assign(setup: RoleSetup): { readonly user: SimulatedUser; readonly teacher: Teacher };
}

/** A planned conversation. */
interface RoleSetup extends Omit<ChatModelUserOptions, "model"> {
  readonly conversation: Conversation;
  /** What must be told of a read that the user asked for; undefined for other reads. */
  readonly getPurpose: NonNullable<Teacher["getPurpose"]>;
}

/** Creates the roles for one chat model. `name`: for example `endpoint:gemma` or `editor:gpt`. */
export const createLlmRoles = (model: ChatModel, name: string): LlmRoles => ({
  name,
  assign(setup) {
    const { conversation, getPurpose, signal } = setup;
    const user = new ChatModelUser({ ...setup, model });
    const getPlan = () => user.plan;
    return {
      user,
      teacher: new ChatModelTeacher({ model, name, getPlan, getPurpose, conversation, signal }),
    };
  },
});

// A chat model as the assistant of a conversation. It sees what a policy sees and nothing of the
// user's plan. Whether it made the right calls is checked by the user's side.

/** The sampling temperature of the first attempt, and the increase per rejected message. */
const teacherTemperature = { first: 0.2, increase: 0.1 };

/** Tokens of a message. */
const maxTeacherTokens = 1200;

/** Characters of a reply. */
const maxReplyLength = 4000;

interface ChatModelTeacherOptions {
  readonly model: ChatModel;
  readonly name: string;
  /** The plan of the user's turn, used to check recoveries and ids, never shown to the model. */
  readonly getPlan: () => TurnPlan | undefined;
  readonly getPurpose: RoleSetup["getPurpose"];
  readonly conversation: Conversation;
  readonly signal: AbortSignal | undefined;
}

class ChatModelTeacher implements Teacher {
  readonly name: string;
  readonly #options: ChatModelTeacherOptions;
  /** Messages in a row that were rejected. */
  #rejections = 0;

  constructor(options: ChatModelTeacherOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async next(
    conversation: Conversation,
    recovery?: { readonly kind: Recovery; readonly failed: CallEvent },
    complaint?: string,
  ): Promise<AssistantMessage> {
    const { model, signal } = this.#options;
    this.#rejections = complaint === undefined ? 0 : this.#rejections + 1;
    const instruction =
      complaint === undefined
        ? recovery && recoveryInstructions[recovery.kind]
        : `Your last message was not used: ${complaint}. Write it again.`;
    const messages: ChatMessage[] = [
      ...createChatMessages(conversation),
      ...(instruction === undefined
        ? []
        : [{ role: "user" as const, content: `(${instruction})` }]),
    ];
    const answer = await model.complete(
      {
        messages,
        tools: conversation.tools.map(describeTool),
        temperature: teacherTemperature.first + teacherTemperature.increase * this.#rejections,
        maxTokens: maxTeacherTokens,
      },
      signal,
    );
    const message = createAssistantMessage(answer);
    if (recovery?.kind === "give-up") return { ...message, calls: [] };
    // the user does not see text beside calls
    return message.calls.length > 0 ? { ...message, text: "" } : message;
  }

  /**
   * A call for an intent can only be retried as the intent's fallback; any recovery is possible
   * after another call.
   */
  listRecoveries(failed: CallEvent): readonly Recovery[] {
    const { turn } = this.#options.getPlan() ?? {};
    const intent = turn?.intents.find(it => matchesIntent(failed, it));
    if (!intent) return ["retry", "alternative", "give-up"];
    return intent.fallback ? ["retry", "give-up"] : ["give-up"];
  }

  getPurpose(call: CallEvent): ReturnType<RoleSetup["getPurpose"]> {
    return this.#options.getPurpose(call);
  }

  findFlaw(text: string): string | undefined {
    const { conversation, getPlan } = this.#options;
    const tool = conversation.tools.find(it => containsToken(text, it.name));
    if (tool) return `it names the tool ${tool.name}`;
    const plan = getPlan();
    const userText = conversation.events
      .flatMap(it => (it.kind === "user" ? [it.text] : []))
      .join("\n");
    const id = plan && findUnspokenId(text, { ...plan, plain: userText });
    if (id !== undefined) return `it says the identifier ${id}, which means nothing to the user`;
    if (text.length > maxReplyLength) return `it has ${text.length} characters`;
    return /^\s*[[{]|```|<\/?tool_call>/.test(text) || hasInvisibleCharacters(text)
      ? "it is no message to a person"
      : undefined;
  }
}

const recoveryInstructions: Readonly<Record<Recovery, string>> = {
  retry:
    "That call failed. Correct it if the answer tells you how, or do what was asked for in that case.",
  alternative: "That call failed. Try another way with the tools on offer, if there is one.",
  "give-up":
    "Call nothing more. Tell the user in one or two sentences what was done, what could not be done and why.",
};

// The user's side of a conversation, worded by a chat model. The intents are planned on the live
// session as usual; the model's text must say them and nothing else.

/** The sampling temperature of the first attempt, and the increase per further attempt. */
const userTemperature = { first: 0.8, increase: 0.1 };

/** Tokens of a message. */
const maxUserTokens = 600;

const messageSchema = z.strictObject({ text: z.string() });

interface ChatModelUserOptions {
  readonly model: ChatModel;
  /** Plans the turns. */
  readonly planner: SimulatedUser;
  /** Returns the plan of the latest turn. `plain`: its text by the templates. */
  readonly getPlan: (kind: TurnKind, plain: string) => TurnPlan;
  /** Called with the calls that were made for the turn's intents. */
  readonly onTurnChecked: (done: TurnResult["done"]) => void;
  readonly signal: AbortSignal | undefined;
}

class ChatModelUser implements SimulatedUser {
  readonly #options: ChatModelUserOptions;
  #plan: TurnPlan | undefined;
  #rejected: RejectedText | undefined;
  #attempt = 0;
  #flaw: TextFlaw | undefined;

  constructor(options: ChatModelUserOptions) {
    this.#options = options;
  }

  /** The plan of the current turn. */
  get plan(): TurnPlan | undefined {
    return this.#plan;
  }

  get stuckReason(): string | undefined {
    return this.#flaw?.complaint ?? this.#options.planner.stuckReason;
  }

  get owesAnswer(): boolean {
    return this.#options.planner.owesAnswer;
  }

  get hasMore(): boolean {
    return this.#options.planner.hasMore;
  }

  /** A further call within a turn words the same plan again. */
  async nextTurn(kind: TurnKind): Promise<string | undefined> {
    const { model, planner, getPlan, signal } = this.#options;
    if (!this.#plan) {
      const plain = await planner.nextTurn(kind);
      if (plain === undefined) return undefined;
      this.#plan = getPlan(kind, plain);
      this.#attempt = 0;
      this.#rejected = undefined;
    }
    const request = {
      messages: buildTurnPrompt(this.#plan, this.#rejected),
      temperature: userTemperature.first + userTemperature.increase * this.#attempt++,
      maxTokens: maxUserTokens,
    };
    const answer = await completeStructured(model, "user_message", messageSchema, request, signal);
    if ("flaw" in answer) {
      this.#flaw = { event: "unusable", complaint: answer.flaw };
      this.#rejected = undefined;
      return "";
    }
    const text = answer.value.text.trim();
    this.#flaw = this.#checkText(text, this.#plan);
    this.#rejected = this.#flaw && { text, complaint: this.#flaw.complaint };
    return text;
  }

  #checkText(text: string, plan: TurnPlan): TextFlaw | undefined {
    const leak = this.#options.planner.findFlaw(text);
    return leak === undefined
      ? findGroundingFlaw(text, plan)
      : { event: leak, complaint: `it ${leak}` };
  }

  findFlaw(): string | undefined {
    return this.#flaw?.event;
  }

  receiveResult(calls: readonly CallEvent[]): string | undefined {
    const plan = this.#plan!;
    this.#plan = undefined;
    const { done, failure } = checkTurn(plan, calls);
    if (failure === undefined) this.#options.onTurnChecked(done);
    return failure;
  }
}

// Builds the prompt with which a chat model words a user turn: the person, the day, the intents
// with every value that must be said, and the names that exist. It contains no ids that people do
// not say and no tool names.

/** Most kinds of entities in a prompt, and most names of each kind. */
const nameLimits = { kinds: 8, names: 8 };

const rules = `You write one message that a person types to an assistant. You are told in JSON who the person is, what day it is, what the person wants, and which names exist.
- Ask for everything under "wants", in that order, and for nothing else. Where it is empty, say just what "plain" says.
- Whatever stands under "say" must be in the message so that its exact value can be read from it: copy names, texts, paths and codes letter by letter, write amounts in digits, say days and times so that nobody can mistake them. What has no "words" there has to be clear from the message all the same.
- Use only names, numbers, places and days that you are given. Invent none, not even a signature.
- Never write an identifier such as acc_12, the name of a tool, JSON, markdown or a placeholder.
- "plain" is a plain wording of the same message. Say it in the person's own way, as people really write, and keep its meaning: what it leaves out, leave out too.
- Do not answer the message, do not explain it, do not greet twice in one talk.
Answer with JSON: {"text": "the message"}.`;

/** A message that could not be used. */
interface RejectedText {
  readonly text: string;
  readonly complaint: string;
}

/** Builds the messages of the request. `rejected`: the model's previous attempt. */
function buildTurnPrompt(plan: TurnPlan, rejected: RejectedText | undefined): ChatMessage[] {
  const messages: ChatMessage[] = [
    { role: "system", content: rules },
    { role: "user", content: JSON.stringify(describeTurn(plan), null, 1) },
  ];
  if (!rejected) return messages;
  const { text, complaint } = rejected;
  return [
    ...messages,
    { role: "assistant", content: JSON.stringify({ text }) },
    { role: "user", content: `That message cannot be used: ${complaint}. Write it again.` },
  ];
}

function describeTurn(plan: TurnPlan): JsonObject {
  const { plain, turn, kind, persona, now, isMinimal } = plan;
  const conversation = describeConversation(plan.events);
  const wants = (turn?.intents ?? []).map(it => ({
    ...describeIntent(it),
    ...(it.fallback ? { if_refused: describeIntent(it.fallback) } : {}),
  }));
  return {
    person: {
      manner: persona.name,
      sounds_like: persona.ask.slice(0, 4).map(it => it.replace("{clause}", "…")),
      ...(persona.casual ? { writes: "without capitals and full stops" } : {}),
    },
    now: `${getWeekdayName(now)}, ${now.replace("T", " ")}`,
    turn: kind === "open" ? "first message" : kind,
    ...(conversation.length > 0 ? { talk_so_far: conversation } : {}),
    detail: isMinimal ? "only the goal, in as few words as a busy person uses" : "enough to act on",
    wants,
    ...(turn?.question === undefined
      ? {}
      : { leave_out: `what the assistant will have to ask for: "${turn.question}"` }),
    plain,
    ...(isReticent(plan) ? {} : { names_that_exist: listNames(plan) }),
  };
}

const describeConversation = (events: readonly Event[]): JsonObject[] =>
  events.flatMap((it): JsonObject[] => {
    if (it.kind === "user") return [{ person: it.text }];
    return it.kind === "assistant" && it.text !== "" ? [{ assistant: it.text }] : [];
  });

/**
 * Describes an intent. `means` is the exact value behind the words; an id that people do not say
 * has words alone.
 */
function describeIntent(intent: Intent): JsonObject {
  const { tool, clause, argumentTexts, mentions } = intent;
  const say: Record<string, Json> = {};
  for (const [key, value] of Object.entries(intent.arguments)) {
    const own = mentions.filter(it => [value].flat().includes(it.instance.id));
    const words = argumentTexts[key] === undefined ? undefined : removeMarks(argumentTexts[key]);
    const means = own.every(it => it.isIdSpoken) ? { means: value } : {};
    if (words !== undefined) say[key] = { ...means, words };
    // a value from a result is not said; only a choice that the clause makes can have no words
    else if (isChoice(tool, key)) say[key] = means;
  }
  return { does: tool.summary, in_words: removeMarks(clause), say };
}

function isChoice({ inputSchema }: Tool, key: string): boolean {
  const schema = JSON.stringify((inputSchema["properties"] as JsonObject | undefined)?.[key] ?? {});
  return schema.includes('"enum"') || schema.includes('"boolean"');
}

/** Lists names by kind, those of the intents first, so that the intents' own are included. */
function listNames({ turn, sample }: TurnPlan): JsonObject {
  const mentioned = (turn?.intents ?? []).flatMap(it =>
    it.mentions.map(({ instance }) => instance),
  );
  const kinds = [
    ...new Set([...mentioned.map(it => it.entity), ...(sample?.instances.keys() ?? [])]),
  ].slice(0, nameLimits.kinds);
  const listNamesOfKind = (kind: string) => {
    const instances = [...mentioned, ...(sample?.instances.get(kind) ?? [])];
    const names = instances.filter(it => it.entity === kind).flatMap(getName);
    return [...new Set(names)].slice(0, nameLimits.names);
  };
  return Object.fromEntries(
    kinds.map(it => [it, listNamesOfKind(it)] as const).filter(([, names]) => names.length > 0),
  );
}

const getName = ({ label }: EntityInstance): string[] => (label === undefined ? [] : [label]);
