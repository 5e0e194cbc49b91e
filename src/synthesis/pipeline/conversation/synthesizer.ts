/**
 * Specifies tasks and prepares their conversations with a live session, a user and a teacher. Keeps
 * what the attempts of one synthesis share: templates, samples, and how often each tool has been
 * used.
 */
import { join } from "node:path";
import { openSessionByName } from "../../../environment/catalog.ts";
import { computeDigest } from "../../../environment/digest.ts";
import type { Random } from "../../../environment/random.ts";
import type { Session } from "../../../environment/session.ts";
import type { Task } from "../../../trajectory/task.ts";
import { trajectoryFormat, type Event, type Header } from "../../../trajectory/trajectory.ts";
import { computeRarity, countUses, limitLength, type UseCounts } from "../../graph/chains.ts";
import { getDeclarations } from "../../graph/declarations.ts";
import { listVerdictFiles, readVerdicts } from "../../graph/dependencyGraph.ts";
import { ConfirmingTeacher } from "../../teachers/confirmingTeacher.ts";
import { GraphTeacher } from "../../teachers/graphTeacher.ts";
import type { Abstentions } from "../../text/abstentions.ts";
import { readCrossServerLinks, type CrossServerLink } from "../../text/crossServerLinks.ts";
import { readStyleGuide, type StyleGuide } from "../../text/personas.ts";
import { readConduct } from "../../text/policyPages.ts";
import { readPoliciesOfServers } from "../../text/serverPolicies.ts";
import type { ServerTemplates } from "../../text/templates.ts";
import { readRecoveries, type ServerRecoveries } from "../../text/recoveries.ts";
import { readScenarios } from "../../text/scenarios.ts";
import {
  abstentionShares,
  createAbstentionTurn,
  type AbstentionSort,
  type AbstentionTurn,
  createRefusedTurn,
  createTurnWithoutValue,
  listRequestedTools,
} from "../../user/turns/abstentionTurn.ts";
import type { ConversationContext, ConversationDomain } from "../../user/conversationContext.ts";
import { createCrossServerDomain } from "../../user/crossServer/crossServerDomain.ts";
import type { UserPlan, UserTurn } from "../../user/userPlan.ts";
import { UserSimulator } from "../../user/userSimulator.ts";
import {
  createAbstentionRoles,
  createUser,
  type ConversationRoles,
  createUserPlan,
  assignLlmRoles,
  chooseHiddenTools,
  selectTools,
} from "./conversationRoles.ts";
import {
  type ConversationSetup,
  listForbiddenTools,
  summarizeSimulation,
  type PreparedConversation,
} from "./conversation.ts";
import { PolicyCounts } from "../specification/taskPolicies.ts";
import { EntitySampleCache, defaultVariants, WorldTexts } from "../specification/worlds.ts";
import { findToolsToHide } from "../menu/menu.ts";
import { choosePreset, type SynthesisOptions } from "../synthesisOptions.ts";
import {
  RecoveryCounts,
  listNeededServers,
  specifyTask,
  type AttemptTarget,
  type SpecificationContext,
  type TaskSpecification,
} from "../specification/taskSpecification.ts";
import { RefusingTeacher, type Teacher } from "../../teachers/teacher.ts";

/** Specifies the task of an attempt, or returns undefined if no chain could be drawn. */
type TaskSpecifier = (target: AttemptTarget, random: Random) => TaskSpecification | undefined;

/** The conversation of an attempt while it is being prepared. */
interface Preparation {
  readonly specification: TaskSpecification;
  readonly context: ConversationContext;
  readonly session: Session;
  readonly events: Event[];
  readonly hiddenTools: ReadonlySet<string>;
}

export class Synthesizer {
  /** Specifies the task of an attempt. */
  readonly specifyTask: TaskSpecifier;
  readonly #options: SynthesisOptions;
  readonly #styleGuide: StyleGuide;
  readonly #texts: WorldTexts;
  readonly #context: SpecificationContext;
  readonly #recoveries = new Map<string, ServerRecoveries>();
  readonly #recoveryCounts = new RecoveryCounts();
  readonly #policyCounts = new PolicyCounts();
  readonly #uses: UseCounts = new Map();
  readonly #infoCounts = new Map<Task["info"], number>();
  readonly #chainCounts = new Map<number, number>();
  readonly #abstentionCounts = new Map<string, number>();
  readonly #samples: EntitySampleCache;

  constructor(options: SynthesisOptions, specifier?: TaskSpecifier) {
    const { catalog, resources, seed, servers } = options;
    this.#options = options;
    this.#styleGuide = readStyleGuide(resources);
    this.#texts = new WorldTexts(catalog, resources, servers);
    this.#samples = new EntitySampleCache(catalog, seed);
    const preset = choosePreset(options);
    const crossServerShare = options.crossServerShare ?? preset.crossServerShare;
    const fixtures = new Map(
      [...catalog.servers.keys(), ...catalog.own.keys()].map(it => [it, catalog.listFixtures(it)]),
    );
    const hasDefaultFixtures = options.variantsPerFixture === undefined && catalog.hasWorlds;
    const policies = readPoliciesOfServers(
      resources,
      preset.policyFactor > 0
        ? new Map([...catalog.servers, ...servers.map(it => [it, catalog.getServer(it)] as const)])
        : [],
    );
    this.#context = {
      catalog,
      seed,
      preset,
      menu: options.menu,
      oneTurnShare: options.oneTurnShare ?? preset.oneTurnShare,
      crossServerShare,
      variantsPerFixture: options.variantsPerFixture ?? defaultVariants,
      split: options.split,
      worlds: options.worlds ?? (hasDefaultFixtures ? preset.worlds : 0),
      links: crossServerShare > 0 ? readLinks(options) : [],
      scenarios: preset.scenarioShare > 0 ? (options.scenarios ?? readScenarios(options)) : [],
      chainCounts: this.#chainCounts,
      styleGuide: this.#styleGuide,
      uses: this.#uses,
      infoCounts: this.#infoCounts,
      recoveryCounts: this.#recoveryCounts,
      policyCounts: this.#policyCounts,
      verdicts: options.edgeVerdicts ?? readVerdicts(listVerdictFiles(resources)),
      servers,
      homes: options.homes ?? servers,
      listFixtures: it => fixtures.get(it)!,
      policies: {
        getPolicies: it => policies.get(it) ?? { rules: [] },
        conduct: readConduct(resources),
      },
    };
    this.specifyTask =
      specifier ?? ((target, random) => specifyTask(this.#context, target, random));
    for (const name of servers)
      this.#recoveries.set(
        name,
        readRecoveries(join(resources, "servers"), catalog.getServer(name)),
      );
  }

  /**
   * Opens a session for attempt number n and chooses the roles, or returns why that is impossible.
   */
  prepareConversation(
    specification: TaskSpecification,
    n: number,
    random: Random,
  ): PreparedConversation | string {
    const { catalog } = this.#options;
    const { home, kind } = specification;
    const needed = listNeededServers(specification).map(it => catalog.getServer(it.name));
    const { context, session } = this.#openConversation(specification, n, random);
    const { preset } = this.#context;
    const isRefusedAtOnce = kind === "irrelevant" && preset.name === "student";
    const tools = selectTools(specification, context, isRefusedAtOnce);
    const hiddenTools = chooseHiddenTools(specification, tools, needed, random);
    const { recovery, ...unobstructed } = specification;
    const isWordedByModel = this.#options.llmRoles !== undefined;
    const plan = createUserPlan(isWordedByModel || !recovery ? unobstructed : specification, {
      session,
      tools,
      hiddenTools: isRefusedAtOnce ? new Set() : hiddenTools,
      preset,
      styleGuide: this.#styleGuide,
      texts: this.#getAbstentions(specification),
      recoveries: catalog.localize(this.#recoveries.get(home)!, specification.servers[0]!.fixture),
      getToolWeight: tool => computeRarity(tool, this.#uses),
    });
    const preparation: Preparation = { specification, context, session, events: [], hiddenTools };
    return kind === "abstain"
      ? this.#prepareAbstention(preparation, plan)
      : this.#prepareSimulation(preparation, plan, isRefusedAtOnce);
  }

  /**
   * Prepares the conversation of one turn that contrasts with a finished one, or returns undefined
   * if the other conversation has no such turn.
   */
  prepareContrast(
    specification: TaskSpecification,
    firstTurn: UserTurn,
    n: number,
    random: Random,
  ): PreparedConversation | undefined {
    const isRefused = specification.abstention === "cannot";
    const opened = this.#openConversation(specification, n, random);
    const contrastContext = { random, state: opened.session.state };
    const texts = this.#getAbstentions(specification);
    const turn = isRefused
      ? createRefusedTurn(firstTurn, texts, contrastContext)
      : createTurnWithoutValue(firstTurn, texts, contrastContext);
    if (!turn) return undefined;
    const { catalog } = this.#options;
    const needed = listNeededServers(specification).map(it => catalog.getServer(it.name));
    const hiddenTools = isRefused
      ? findToolsToHide(listRequestedTools(firstTurn), needed)
      : new Set<string>();
    return this.#prepareTurn({ specification, ...opened, events: [], hiddenTools }, turn);
  }

  #openConversation(
    specification: TaskSpecification,
    n: number,
    random: Random,
  ): Pick<Preparation, "context" | "session"> {
    const { home, servers, sessionSeed } = specification;
    const { relativeDateShare, computedShare, severalShare, misspeltShare } = this.#context.preset;
    const session = openSessionByName(this.#options.catalog, { servers, seed: sessionSeed });
    const context: ConversationContext = {
      ...this.#createDomain(specification, n),
      persona: specification.persona,
      ...(relativeDateShare > 0 ? { relativeDateShare } : {}),
      ...(computedShare > 0 ? { computedShare } : {}),
      ...(severalShare > 0 ? { severalShare } : {}),
      ...(misspeltShare > 0 ? { misspeltShare } : {}),
      isMinimal: specification.info === "minimal",
      now: session.state[home]!.clock,
      random,
      known: new Map(),
      focus: [],
      recent: [],
      localize: it => this.#options.catalog.localize({ it }, servers[0]!.fixture).it,
    };
    return { context, session };
  }

  #prepareAbstention(preparation: Preparation, plan: UserPlan): PreparedConversation | string {
    const { specification, context } = preparation;
    const { home, abstention } = specification;
    const texts = this.#getAbstentions(specification);
    const turn = createAbstentionTurn(home, plan, context, texts, abstention);
    return turn ? this.#prepareTurn(preparation, turn) : "nothing to say";
  }

  #prepareTurn(preparation: Preparation, turn: AbstentionTurn): PreparedConversation {
    const { specification, hiddenTools } = preparation;
    return {
      setup: this.#createSetup(preparation, createAbstentionRoles(turn, this.#options.catalog)),
      hiddenTools,
      excludedServers: turn.ableServers,
      requiredTools: turn.tool === undefined ? [] : [turn.tool],
      unmetRequests: turn.unmetRequests,
      getTemplates: it => this.#getTemplates(specification, it),
      summarize: () => ({ info: specification.info, knobs: { abstention: turn.sort } }),
    };
  }

  #prepareSimulation(
    preparation: Preparation,
    plan: UserPlan,
    isRefusedAtOnce: boolean,
  ): PreparedConversation {
    const { specification, context, events, hiddenTools } = preparation;
    const simulator = new UserSimulator(plan, context);
    const teacher = isRefusedAtOnce
      ? new RefusingTeacher(this.#styleGuide, context.random)
      : new GraphTeacher(simulator, this.#styleGuide);
    const user = createUser(simulator, teacher, this.#options.catalog, events);
    const obedient = this.#createObedient(teacher, simulator, preparation);
    return {
      setup: this.#createSetup(preparation, { user, teacher: obedient ?? teacher }, simulator),
      hiddenTools,
      get requiredTools() {
        return listForbiddenTools(simulator);
      },
      unmetRequests: simulator.unmetRequests,
      conditionalCalls: simulator.conditionalCalls,
      proofs: simulator.proofs,
      getTemplates: it => this.#getTemplates(specification, it),
      getFirstTurn: () => simulator.firstTurn,
      summarize: () => summarizeSimulation(simulator, specification, obedient?.hasAsked),
    };
  }

  #getAbstentions({ servers }: TaskSpecification): Abstentions {
    return this.#texts.getAbstentions(servers[0]!.fixture);
  }

  #getTemplates({ servers }: TaskSpecification, name: string): ServerTemplates {
    const { fixture } = servers[0]!;
    return this.#texts.getTemplates({ name, fixture });
  }

  /** The teacher that also asks for the confirmations that rules demand. */
  #createObedient(
    teacher: Teacher,
    simulator: UserSimulator,
    { specification, context }: Preparation,
  ): ConfirmingTeacher | undefined {
    const { policy } = specification;
    if (!policy) return undefined;
    const { confirmation: texts } = this.#getAbstentions(specification);
    const { random } = context;
    return new ConfirmingTeacher(teacher, { simulator, rules: policy.rules, texts, random });
  }

  /** What the conversation can be about: the home server, or all servers of the plan. */
  #createDomain(specification: TaskSpecification, n: number): ConversationDomain {
    const { catalog } = this.#options;
    const domains = listNeededServers(specification).map(it => ({
      server: catalog.getServer(it.name),
      templates: this.#texts.getTemplates(it),
      sample: this.#samples.getSample(it, n),
    }));
    if (domains.length > 1) return createCrossServerDomain(domains);
    const { server, templates, sample } = domains[0]!;
    return { declarations: getDeclarations(server), templates, sample };
  }

  /** The setup with these roles, or with a language model in both roles where there is one. */
  #createSetup(
    preparation: Preparation,
    roles: ConversationRoles,
    simulator?: UserSimulator,
  ): ConversationSetup {
    const { specification, context, session, events } = preparation;
    const { isOneTurn, kind, maxTurns = 3 } = specification;
    const setup = {
      session,
      conversation: {
        header: this.#createHeader(specification),
        tools: [...session.tools.values()],
        now: context.now,
        events,
      },
      random: context.random,
      minTurns: isOneTurn ? 1 : 2,
      maxTurns: isOneTurn ? 1 : kind === "irrelevant" ? 2 : maxTurns,
      ...roles,
    };
    const { llmRoles, signal } = this.#options;
    return llmRoles
      ? assignLlmRoles(setup, {
          ...preparation,
          simulator,
          llmRoles,
          styleGuide: this.#styleGuide,
          signal,
        })
      : setup;
  }

  /** The header of the teacher's trajectory. Its menu is added when the called tools are known. */
  #createHeader({ id, servers, sessionSeed }: TaskSpecification): Header {
    const { catalog, llmRoles } = this.#options;
    const teacher = llmRoles?.name ?? "graph";
    return {
      kind: "header",
      format: trajectoryFormat,
      id: `${id}/${teacher}`,
      task: id,
      servers: servers.map(it => ({
        ...it,
        digest: computeDigest(catalog.getFixture(it.name, it.fixture)),
      })),
      catalog: catalog.hashTools(servers.map(it => it.name)),
      seed: sessionSeed,
      menu: [],
      policy: teacher,
    };
  }

  /** The kind of abstention that is rarest among the accepted tasks, for its share. */
  chooseAbstention(): AbstentionSort {
    const getRate = (it: AbstentionSort) =>
      ((this.#abstentionCounts.get(it) ?? 0) + 0.5) / abstentionShares[it];
    return (["cannot", "question", "no-need"] as const).reduce((a, b) =>
      getRate(b) < getRate(a) ? b : a,
    );
  }

  /** Counts the tools and links of an accepted task, so that later tasks use others. */
  recordAccepted(task: Task): void {
    const { chain, goals, knobs, kind, info } = task;
    this.#recoveryCounts.record(task);
    this.#policyCounts.record(task);
    if (kind === "normal") {
      increment(this.#infoCounts, info);
      increment(this.#chainCounts, limitLength(chain.length));
    }
    const { abstention } = knobs;
    if (typeof abstention === "string")
      this.#abstentionCounts.set(abstention, (this.#abstentionCounts.get(abstention) ?? 0) + 1);
    if (typeof knobs["bridges"] === "string") countUses(knobs["bridges"].split(", "), this.#uses);
    if (typeof knobs["scenario"] === "string") countUses([knobs["scenario"]], this.#uses);
    const called = new Set(goals.flatMap(it => it.calls.map(call => call.name)));
    countUses(called, this.#uses);
    const uncalled = chain.filter(it => !called.has(it));
    countUses(uncalled, this.#uses, true);
  }

  /** Counts the tools and links of a rejected attempt as failed uses, which count less. */
  recordRejected(specification: TaskSpecification | undefined): void {
    const { chain = [], crossServerPlan, scenario } = specification ?? {};
    if (scenario) return countUses([scenario.name], this.#uses, true);
    countUses([...chain, ...(crossServerPlan?.links ?? [])], this.#uses, true);
  }
}

const increment = <Key>(counts: Map<Key, number>, key: Key): void =>
  void counts.set(key, (counts.get(key) ?? 0) + 1);

/** The links between the servers of a synthesis. */
function readLinks({ catalog, resources, servers }: SynthesisOptions): readonly CrossServerLink[] {
  if (servers.length < 2) return [];
  const isIncluded = (tool: string) => servers.includes(catalog.tools.get(tool)!.server);
  return readCrossServerLinks(resources, catalog).filter(
    it => isIncluded(it.from) && isIncluded(it.to),
  );
}
