/**
 * Creates the roles of a conversation (the user with a plan, and the teacher), with or without a
 * language model, and decides which tools the user asks for.
 */
import type { Catalog } from "../../../environment/catalog.ts";
import type { Fact } from "../../../trajectory/task.ts";
import type { CallEvent, Event } from "../../../trajectory/trajectory.ts";
import { listReplyFacts } from "../../teachers/replyFacts.ts";
import { renderResultReply } from "../../teachers/resultReply.ts";
import type { IntentResult } from "../../teachers/turnMessage.ts";
import { GraphTeacher } from "../../teachers/graphTeacher.ts";
import type {
  ReadPurpose,
  SimulatedUser,
  Teacher,
  RefusingTeacher,
} from "../../teachers/teacher.ts";
import { containsToken } from "../../../trajectory/valueMatching.ts";
import type { AbstentionTurn } from "../../user/turns/abstentionTurn.ts";
import type { UserSimulator } from "../../user/userSimulator.ts";
import type { LlmRoles } from "../../teachers/chatModel/roles.ts";
import type { TurnPlan } from "../../teachers/chatModel/turnCheck.ts";
import type { ConversationContext, ConversationDomain } from "../../user/conversationContext.ts";
import type { ConversationSetup } from "./conversation.ts";
import type { TaskSpecification } from "../specification/taskSpecification.ts";
import type { Abstentions } from "../../text/abstentions.ts";
import type { StyleGuide } from "../../text/personas.ts";
import type { ServerRecoveries } from "../../text/recoveries.ts";
import type { UserPlan } from "../../user/userPlan.ts";
import type { Preset } from "../synthesisOptions.ts";
import type { Random } from "../../../environment/random.ts";
import type { Server } from "../../../environment/server.ts";
import type { EntityInput, ToolDeclaration } from "../../graph/declarations.ts";
import { findToolsToHide } from "../menu/menu.ts";

export interface ConversationRoles {
  readonly user: SimulatedUser;
  readonly teacher: Teacher;
}

/**
 * Adapts the user simulator: returns its turns, and passes it the outcomes of the teacher's calls.
 */
export function createUser(
  simulator: UserSimulator,
  teacher: GraphTeacher | RefusingTeacher,
  catalog: Catalog,
  events: readonly Event[],
): SimulatedUser {
  return {
    nextTurn: kind => simulator.nextTurn(kind)?.text,
    findFlaw: text => findTextFlaw(text, catalog),
    get addedTools() {
      return simulator.turn.addedTools;
    },
    get stuckReason() {
      return simulator.stuckReason;
    },
    get owesAnswer() {
      return simulator.owesAnswer;
    },
    get hasMore() {
      return simulator.hasMore;
    },
    receiveResult() {
      if (!(teacher instanceof GraphTeacher)) {
        simulator.recordRefusal();
        return undefined;
      }
      const last = events.at(-1);
      simulator.recordOutcomes(
        teacher.results.map(({ intent, call }) => ({ intent, outcome: call.outcome })),
        last?.kind === "assistant" ? last.text : "",
      );
      return undefined;
    },
  };
}

/** The roles of a conversation of one turn in which nothing is called. */
export const createAbstentionRoles = (
  { user, reply }: AbstentionTurn,
  catalog: Catalog,
): ConversationRoles => ({
  user: {
    nextTurn: () => user,
    stuckReason: undefined,
    findFlaw: text => findTextFlaw(text, catalog),
    owesAnswer: false,
    hasMore: false,
    receiveResult: () => undefined,
  },
  teacher: {
    name: "graph",
    next: async () => ({ text: reply, calls: [] }),
    listRecoveries: () => ["give-up"],
  },
});

/** Why a text cannot be a user's, or undefined. */
function findTextFlaw(text: string, catalog: Catalog): string | undefined {
  const shipped = [...catalog.servers.values()].flatMap(it => [...it.tools.keys()]);
  // those of a workspace are not loaded for this
  const isNamed =
    shipped.some(it => containsToken(text, it)) ||
    [...catalog.own.keys()].some(it => text.includes(`${it}_`));
  if (isNamed) return "names a tool";
  return /[{}|\u0000-\u0008]/.test(text) ? "has a slot left open" : undefined;
}

// Assigns a conversation's roles to a language model. The user simulator still plans the turns.

interface LlmAssignment {
  readonly llmRoles: LlmRoles;
  readonly specification: TaskSpecification;
  readonly context: ConversationContext;
  readonly hiddenTools: ReadonlySet<string>;
  /** Undefined where nothing is to be called. */
  readonly simulator: UserSimulator | undefined;
  readonly styleGuide: StyleGuide;
  readonly signal: AbortSignal | undefined;
}

/** The setup with the model in both roles. It sees only tools that may be on the menu. */
export function assignLlmRoles(
  setup: ConversationSetup,
  { llmRoles, specification, context, hiddenTools, simulator, styleGuide, signal }: LlmAssignment,
): ConversationSetup {
  const { crossServerPlan, home, onlyOtherServers } = specification;
  const needed = crossServerPlan?.servers ?? [home];
  const tools = setup.conversation.tools.filter(
    it => !hiddenTools.has(it.name) && needed.includes(it.server) !== onlyOtherServers,
  );
  const conversation = { ...setup.conversation, tools };
  const { persona, now, isMinimal, sample } = context;
  const getPlan = (kind: TurnPlan["kind"], plain: string): TurnPlan => ({
    kind,
    plain,
    turn: simulator?.turn,
    persona,
    now,
    isMinimal,
    sample,
    tools,
    events: conversation.events,
  });
  const answers = new Map<CallEvent, ReadPurpose>();
  const listDueFacts = (
    { intent, call }: IntentResult,
    { turn, feasibility: { context } }: UserSimulator,
  ): Fact[] => {
    const declaration = context.declarations.get(call.name);
    if (call.outcome.kind !== "ok" || intent.tool.effect !== "read" || !declaration) return [];
    const reply = renderResultReply(intent, call, context, styleGuide);
    return listReplyFacts(reply, { intent, call, declaration, turn, context }).filter(
      it => it.tell,
    );
  };
  const roles = llmRoles.assign({
    planner: setup.user,
    getPlan,
    onTurnChecked(done) {
      if (!simulator) return;
      for (const it of done) {
        const facts = listDueFacts(it, simulator);
        if (facts.length > 0) answers.set(it.call, { for: "answers", facts });
      }
      simulator.recordOutcomes(done.map(({ intent, call }) => ({ intent, outcome: call.outcome })));
    },
    getPurpose: call => answers.get(call),
    conversation,
    signal,
  });
  return { ...setup, conversation, ...roles };
}

// Creates the plan that the user simulator follows in a conversation.

/** How often an intent that the session refuses is kept, and how often one is searched for. */
const refusalOdds = { accept: 0.35, seek: 0.15 };

interface UserPlanSource extends Pick<
  UserPlan,
  "session" | "tools" | "styleGuide" | "getToolWeight"
> {
  readonly preset: Preset;
  readonly hiddenTools: ReadonlySet<string>;
  /** Texts for requests that cannot be fulfilled, and for second thoughts. */
  /** What the home server declares about recovering. */
  readonly recoveries: ServerRecoveries;
  readonly texts: Pick<Abstentions, "missingCapability" | "secondThoughts">;
}

export function createUserPlan(
  specification: TaskSpecification,
  {
    session,
    tools,
    styleGuide,
    getToolWeight,
    preset,
    hiddenTools,
    texts,
    recoveries,
  }: UserPlanSource,
): UserPlan {
  const { kind, crossServerPlan, script, scenario, info, isOneTurn, prefersLists } = specification;
  const { addsValue, bringsTool, policy, proofs, recovery } = specification;
  const {
    name,
    secondThoughtShare,
    moreBeforeQuestion,
    maxResultLength,
    maxReplyLength,
    usesPartialNames,
  } = preset;
  const isAll = kind === "irrelevant";
  return {
    session,
    styleGuide,
    tools,
    ...(crossServerPlan ? { linkSteps: crossServerPlan.steps } : {}),
    scenario,
    ...(script?.turns ? { script: script.turns } : {}),
    info,
    addsValue,
    ...(moreBeforeQuestion > 0 ? { moreBeforeQuestion } : {}),
    isOneTurn,
    refusalOdds: isAll ? { accept: 0, seek: 0 } : refusalOdds,
    prefersLists,
    getToolWeight,
    ...(policy ? { rules: policy.rules } : {}),
    ...(proofs ? { proofs } : {}),
    ...(hiddenTools.size > 0 || policy
      ? {
          missingTools: {
            hidden: hiddenTools,
            templates: texts.missingCapability,
            isAll,
            ...(bringsTool ? { arrival: texts.missingCapability.arrival } : {}),
          },
        }
      : {}),
    ...(secondThoughtShare > 0
      ? { secondThoughts: { texts: texts.secondThoughts, share: secondThoughtShare } }
      : {}),
    maxResultLength,
    maxReplyLength,
    usesPartialNames,
    ...(recovery ? { recovery: { sorts: recovery, recoveries } } : {}),
    startsNewTopics: !isOneTurn && !isAll && name === "paper",
  };
}

// Decides which tools the user asks for, and which are hidden from the menu.

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
