/**
 * Everything in place for a conversation: what it is to be about, a live session, who speaks and
 * who teaches. What all attempts of one synthesis share is kept here: phrases, samples, and how
 * often each tool has been used. Does not judge what comes of it.
 */
import { join } from "node:path";
import { openSessionByName, remember, type Catalog } from "../../environment/catalog.ts";
import { createRandom, type Random } from "../../environment/random.ts";
import { fixtureDigest } from "../../environment/fixture.ts";
import { parseVariantName } from "../../environment/variant.ts";
import type { Task } from "../../trajectory/task.ts";
import {
  trajectoryFormat,
  type CallEvent,
  type Event,
  type Header,
} from "../../trajectory/trajectory.ts";
import { createAbstentionTurn } from "../user/abstentionTurn.ts";
import { readAbstentions, type Abstentions } from "../text/abstentions.ts";
import { UserSimulator } from "../user/userSimulator.ts";
import { readCrossServerLinks } from "../text/crossServerLinks.ts";
import type { CrossServerPlan } from "./crossServerPlan.ts";
import {
  specifyTask,
  defaultVariants,
  type TaskSpecification,
  type SpecificationContext,
} from "./taskSpecification.ts";
import { computeRarity, countUses, type UseCounts } from "../graph/chains.ts";
import type { TaskKind } from "./composition.ts";
import type { LlmRoles, RoleSetup } from "../teachers/chatModelTeacher.ts";
import type { TurnPlan } from "../teachers/turnPrompt.ts";
import { declarationsOf, type EntityInput } from "../graph/declarations.ts";
import { listVerdictFiles, readVerdicts, type EdgeVerdicts } from "../graph/edgeVerdicts.ts";
import { containsToken } from "../text/containsToken.ts";
import type { ConversationSetup } from "./stateMachine.ts";
import type { SimulatedUser } from "../teachers/simulatedUser.ts";
import { readStyleGuide, type StyleGuide } from "../text/personas.ts";
import { findToolsToHide } from "./menu.ts";
import { readTemplates } from "../text/templates.ts";
import type { ServerTemplates } from "../text/templateSchema.ts";
import type { UserPlan } from "../user/userPlan.ts";
import { presets, type MenuKind, type Preset } from "./presets.ts";
import { sampleEntities } from "../user/entitySampling.ts";
import type { EntitySample } from "../user/entityInstance.ts";
import { GraphTeacher } from "../teachers/graphTeacher.ts";
import { RefusingTeacher } from "../teachers/refusingTeacher.ts";
import type { Teacher } from "../teachers/teacher.ts";
import type { ConversationContext } from "../user/conversationContext.ts";
import { createCrossServerDomain, type ServerDomain } from "../user/crossServerDomain.ts";

export interface SynthesisOptions {
  readonly catalog: Catalog;
  /** The product's `resources` folder: phrases and personas. */
  readonly resources: string;
  readonly seed: number;
  /** Servers to make tasks on, by name. */
  readonly servers: readonly string[];
  readonly menu: MenuKind;
  /** The paper's mixture where absent. */
  readonly preset?: Preset["name"];
  /** As many tasks are made, of each kind the exact number; endlessly many where absent. */
  readonly count?: number;
  /** Only tasks of this split. */
  readonly split?: Task["split"];
  /** Share of tasks with a single user turn, where not the preset's. */
  readonly oneTurn?: number;
  /** Share of the normal tasks that need several servers; the preset's where absent. */
  readonly crossServerShare?: number;
  /** Variants of each fixture, under other ids; 0 for the fixtures as they are. */
  readonly variants?: number;
  /** What was said of the graphs' edges; the verdicts that ship where absent. */
  readonly edgeVerdicts?: EdgeVerdicts;
  /** False keeps tasks that make the same calls as an earlier one. */
  readonly distinct?: boolean;
  /** Who words the user's turns and answers them, in place of the graph. */
  readonly cast?: LlmRoles;
  readonly signal?: AbortSignal;
}

/**
 * Shares of what is ours: refusals that the user runs into, look-ups asked for aloud, missing
 * look-ups rather than missing ends.
 */
const shares = { refusals: 0.35, courted: 0.15, saidLookUp: 0.15, hiddenLookUp: 0.4 };

const none: ReadonlySet<string> = new Set();

/** Samples of a fixture that has no variants. */
const stretches = 4;

/** Samples that are remembered. */
const mostSamples = 256;

/** A conversation that can begin. */
export interface PreparedConversation {
  readonly setup: ConversationSetup;
  /** Full names of tools that are not on offer. */
  readonly hiddenTools: ReadonlySet<string>;
  /** Full names of tools that are on offer although nothing calls them. */
  readonly requiredTools: readonly string[];
  /**
   * What the talk came to, once it is over: why it is not of the kind that was wanted, and what the
   * task records of it.
   */
  summarize(): {
    readonly flaw?: "no obstacle";
    readonly info: Task["info"];
    readonly knobs: Task["knobs"];
  };
}

export class Synthesizer {
  readonly #of: SynthesisOptions;
  readonly #manners: StyleGuide;
  readonly #abstentions: Abstentions;
  readonly #ground: SpecificationContext;
  readonly #phrases = new Map<string, ServerTemplates>();
  readonly #uses: UseCounts = new Map();
  readonly #infos = new Map<Task["info"], number>();
  readonly #samples = new Map<string, EntitySample>();

  constructor(synthesis: SynthesisOptions) {
    this.#of = synthesis;
    const { catalog, resources, seed, servers, variants = defaultVariants } = synthesis;
    const preset = presets[synthesis.preset ?? "paper"];
    const { oneTurn = preset.oneTurnShare, crossServerShare = preset.crossServerShare } = synthesis;
    this.#manners = readStyleGuide(resources);
    this.#abstentions = readAbstentions(resources);
    const isHere = (tool: string) => servers.includes(catalog.tools.get(tool)!.server);
    const bridges =
      crossServerShare > 0 && servers.length > 1
        ? readCrossServerLinks(resources, catalog).filter(it => isHere(it.from) && isHere(it.to))
        : [];
    const names = new Map([...catalog.servers.keys()].map(it => [it, catalog.listFixtures(it)]));
    this.#ground = {
      catalog,
      seed,
      preset,
      oneTurn,
      variants,
      crossing: crossServerShare,
      bridges,
      manners: this.#manners,
      uses: this.#uses,
      infos: this.#infos,
      audit: synthesis.edgeVerdicts ?? readVerdicts(listVerdictFiles(resources)),
      servers,
      fixtures: it => names.get(it)!,
    };
    for (const name of servers)
      this.#phrases.set(name, readTemplates(join(resources, "servers"), catalog.getServer(name)));
  }

  /** What attempt number n sets out to make, or undefined where its draw leads nowhere. */
  specifyTask(
    aim: { readonly n: number; readonly home: string; readonly kind: TaskKind },
    random: Random,
  ): TaskSpecification | undefined {
    return specifyTask(this.#ground, aim, random);
  }

  /** A live session, who speaks and who teaches; or why there is none. */
  prepareConversation(
    brief: TaskSpecification,
    n: number,
    random: Random,
  ): PreparedConversation | string {
    const { catalog } = this.#of;
    const { kind, crossServerPlan } = brief;
    const session = openSessionByName(catalog, { servers: brief.servers, seed: brief.sessionSeed });
    const now = session.state[brief.home]!.clock;
    const shares = brief.servers
      .slice(0, crossServerPlan?.servers.length ?? 1)
      .map(it => this.#share(it, n));
    const home = shares[0]!;
    const scenery = crossServerPlan
      ? createCrossServerDomain(shares)
      : {
          declarations: declarationsOf(home.server),
          templates: home.templates,
          sample: home.sample,
        };
    const scene: ConversationContext = {
      ...scenery,
      persona: brief.persona,
      isMinimal: brief.info === "minimal",
      now,
      random,
      known: new Map(),
      focus: [],
      recent: [],
    };
    const conversation = {
      header: headerOf(brief, catalog, this.#of.cast?.name),
      tools: [...session.tools.values()],
      now,
      events: [] as Event[],
    };
    const held = {
      session,
      conversation,
      random,
      ...(brief.isOneTurn
        ? { minTurns: 1, maxTurns: 1 }
        : { minTurns: 2, maxTurns: kind === "irrelevant" ? 2 : 3 }),
    };
    const isTerse = kind === "irrelevant" && this.#ground.preset.name === "student";
    const wished = brief.script
      ? brief.script.tools
      : crossServerPlan
        ? [...crossServerPlan.steps.keys()]
        : kind === "irrelevant"
          ? brief.chain.slice(isTerse ? -1 : -3)
          : wishedFor(brief.chain, scene, random);
    const hidden =
      brief.script?.hiddenTools ??
      (kind === "irrelevant"
        ? findToolsToHide(wished, home.server)
        : kind === "clarify"
          ? this.#missing(brief, wished, random)
          : none);
    const plot = this.#plotOf(brief, { session, wished, hidden: isTerse ? none : hidden });
    if (kind === "abstain") {
      const said = createAbstentionTurn(brief.home, plot, scene, this.#abstentions);
      if (!said) return "nothing to say";
      const { user, teacher } = told(said, catalog);
      return {
        setup: this.#played({ ...held, user, teacher }, { brief, scene, hidden }),
        hiddenTools: hidden,
        requiredTools: said.tool === undefined ? [] : [said.tool],
        summarize: () => ({ info: brief.info, knobs: { abstention: said.sort } }),
      };
    }
    const author = new UserSimulator(plot, scene);
    const teacher = isTerse
      ? new RefusingTeacher(this.#manners, random)
      : new GraphTeacher(author, this.#manners);
    const user = speakerOf(author, teacher, catalog, conversation.events);
    return {
      setup: this.#played({ ...held, user, teacher }, { brief, scene, hidden, author }),
      hiddenTools: hidden,
      requiredTools: [],
      summarize: () => endOf(author, brief),
    };
  }

  /** As the cast plays it, where there is one: on the tools that a menu may show. */
  #played(
    setup: ConversationSetup,
    {
      brief,
      scene,
      hidden,
      author,
    }: {
      brief: TaskSpecification;
      scene: ConversationContext;
      hidden: ReadonlySet<string>;
      author?: UserSimulator;
    },
  ): ConversationSetup {
    const { cast, signal } = this.#of;
    if (!cast) return setup;
    const needed = brief.crossServerPlan?.servers ?? [brief.home];
    const tools = setup.conversation.tools.filter(
      it => !hidden.has(it.name) && needed.includes(it.server) !== brief.onlyOtherServers,
    );
    const conversation = { ...setup.conversation, tools };
    const { persona, now, isMinimal, sample } = scene;
    const plan = (kind: TurnPlan["kind"], plain: string): TurnPlan => ({
      kind,
      plain,
      turn: author?.turn,
      persona,
      now,
      isMinimal,
      sample,
      tools,
      events: conversation.events,
    });
    const heard: RoleSetup["onTurnChecked"] = done =>
      author?.recordOutcomes(done.map(({ intent, call }) => ({ intent, outcome: call.outcome })));
    return {
      ...setup,
      conversation,
      ...cast.assign({ planner: setup.user, plan, onTurnChecked: heard, conversation, signal }),
    };
  }

  #share({ name, fixture }: TaskSpecification["servers"][number], n: number): ServerDomain {
    return {
      server: this.#of.catalog.getServer(name),
      templates: this.#phrases.get(name)!,
      sample: this.#sample(name, fixture, n),
    };
  }

  #plotOf(
    { kind, crossServerPlan, script, info, isOneTurn, prefersLists }: TaskSpecification,
    {
      session,
      wished,
      hidden,
    }: { session: UserPlan["session"]; wished: readonly string[]; hidden: ReadonlySet<string> },
  ): UserPlan {
    const isIrrelevant = kind === "irrelevant";
    return {
      session,
      styleGuide: this.#manners,
      tools: wished,
      ...(crossServerPlan ? { linkSteps: crossServerPlan.steps } : {}),
      ...(script?.turns ? { script: script.turns } : {}),
      info,
      isOneTurn,
      refusalOdds: isIrrelevant
        ? { accept: 0, seek: 0 }
        : { accept: shares.refusals, seek: shares.courted },
      prefersLists,
      getToolWeight: tool => computeRarity(tool, this.#uses),
      ...(hidden.size > 0
        ? {
            missingTools: {
              hidden,
              templates: this.#abstentions.missingCapability,
              isAll: isIrrelevant,
            },
          }
        : {}),
      maxResultLength: this.#ground.preset.maxResultLength,
      maxReplyLength: this.#ground.preset.maxReplyLength,
      usesPartialNames: this.#ground.preset.usesPartialMentions,
      startsNewTopics: !isOneTurn && !isIrrelevant && this.#ground.preset.name === "paper",
    };
  }

  /** Told of a task that is kept, so that the next ones use other tools. */
  recordAccepted({ chain, goals, knobs, kind, info }: Task): void {
    if (kind === "normal") this.#infos.set(info, (this.#infos.get(info) ?? 0) + 1);
    if (typeof knobs["bridges"] === "string") countUses(knobs["bridges"].split(", "), this.#uses);
    const called = new Set(goals.flatMap(it => it.calls.map(call => call.name)));
    countUses(called, this.#uses);
    countUses(
      chain.filter(it => !called.has(it)),
      this.#uses,
      true,
    );
  }

  /** Told of a chain that came to nothing. */
  recordRejected(chain: readonly string[], crossing?: CrossServerPlan): void {
    countUses([...chain, ...(crossing?.links ?? [])], this.#uses, true);
  }

  /**
   * One tool of the chain and what would do as well: the later ones rather, so that something can
   * be done before.
   */
  #missing(
    { home, chain }: TaskSpecification,
    wished: readonly string[],
    random: Random,
  ): Set<string> {
    const server = this.#of.catalog.getServer(home);
    const silent = chain.filter(it => !wished.includes(it));
    const target =
      silent.length > 0 && random.boolean(shares.hiddenLookUp)
        ? random.pick(silent)
        : random.pickWeighted(wished, it => 1 + wished.indexOf(it));
    return findToolsToHide([target], server);
  }

  /**
   * Kept by fixture; another for every variant and every stretch of tasks, so that no few things
   * are all that is ever talked about.
   */
  #sample(name: string, fixture: string, n: number): EntitySample {
    const { catalog, seed } = this.#of;
    const key = `${name}/${fixture}/${parseVariantName(fixture) ? 0 : Math.floor(n / 20) % stretches}`;
    let sample = this.#samples.get(key);
    if (!sample) {
      const session = openSessionByName(catalog, { servers: [{ name, fixture }], seed });
      sample = sampleEntities(catalog.getServer(name), session, createRandom(seed, "sample", key));
    }
    remember(this.#samples, key, sample, mostSamples);
    return sample;
  }
}

/** What the teacher's trajectory pins. Its menu is drawn when it is known which tools it calls. */
const headerOf = (
  { id, servers, sessionSeed }: TaskSpecification,
  catalog: Catalog,
  teacher = "graph",
): Header => ({
  kind: "header",
  format: trajectoryFormat,
  id: `${id}/${teacher}`,
  task: id,
  servers: servers.map(it => ({
    ...it,
    digest: fixtureDigest(catalog.getFixture(it.name, it.fixture)),
  })),
  catalog: catalog.hashTools(servers.map(it => it.name)),
  seed: sessionSeed,
  menu: [],
  policy: teacher,
});

/**
 * The chain's tools that the user asks for: a look-up that only finds what the next tool takes goes
 * unsaid.
 */
function wishedFor(
  chain: readonly string[],
  { declarations, sample }: Pick<ConversationContext, "declarations" | "sample">,
  random: Random,
): readonly string[] {
  return chain.filter((name, i) => {
    const { tool, inputs, labels } = declarations.get(name)!;
    const next = chain[i + 1] === undefined ? undefined : declarations.get(chain[i + 1]!);
    if (!next || tool.effect === "write") return true;
    // what people say themselves needs no look-up, unless it goes by another name too
    const isHidden = (input: EntityInput) =>
      !input.isSpoken || labels.some(it => it.entity === input.entity);
    const fed = declarations
      .get(name)!
      .outputs.filter(it =>
        next.inputs.some(
          input => input.isRequired && isHidden(input) && input.entity === it.entity,
        ),
      );
    const hangsOn = (entity: string) =>
      Object.keys(sample.instances.get(entity)?.[0]?.parents ?? {});
    const isLookUp = fed.some(it =>
      inputs.every(input => !input.isRequired || hangsOn(it.entity).includes(input.entity)),
    );
    return !isLookUp || random.boolean(shares.saidLookUp);
  });
}

/** The author as the machine knows a speaker. */
function speakerOf(
  author: UserSimulator,
  teacher: GraphTeacher | RefusingTeacher,
  catalog: Catalog,
  events: readonly Event[],
): SimulatedUser {
  return {
    nextTurn: kind => author.nextTurn(kind)?.text,
    findFlaw: text => flawOf(text, catalog),
    get stuckReason() {
      return author.stuckReason;
    },
    get owesAnswer() {
      return author.owesAnswer;
    },
    get hasMore() {
      return author.hasMore;
    },
    receiveResult() {
      const last = events.at(-1);
      if (teacher instanceof GraphTeacher)
        author.recordOutcomes(
          teacher.results.map(({ intent, call }) => ({ intent, outcome: call.outcome })),
          last?.kind === "assistant" ? last.text : "",
        );
    },
  };
}

/** What a talk is worth once it is over. */
function endOf(
  author: UserSimulator,
  { kind, info, crossServerPlan }: TaskSpecification,
): ReturnType<PreparedConversation["summarize"]> {
  const met = author.missingCapability;
  return {
    ...(kind === "clarify" && !met ? { flaw: "no obstacle" as const } : {}),
    info: info === "missing" && !author.hasWithheld ? "complete" : info,
    knobs: {
      ...(crossServerPlan
        ? { across: crossServerPlan.servers.length, bridges: crossServerPlan.links.join(", ") }
        : {}),
      ...(kind === "clarify" && met ? { obstacle: met.kind } : {}),
    },
  };
}

/** One thing said and one thing answered. */
function told(
  { user, reply }: { user: string; reply: string },
  catalog: Catalog,
): { user: SimulatedUser; teacher: Teacher } {
  return {
    user: {
      nextTurn: () => user,
      stuckReason: undefined,
      findFlaw: text => flawOf(text, catalog),
      owesAnswer: false,
      hasMore: false,
      receiveResult: () => {},
    },
    teacher: {
      name: "graph",
      next: async () => ({ text: reply, calls: [] }),
      listRecoveries: () => ["give-up"],
    },
  };
}

/** Why no user may say this. */
const flawOf = (text: string, catalog: Catalog): string | undefined =>
  [...catalog.tools.keys()].some(it => containsToken(text, it))
    ? "names a tool"
    : /[{}|\u0000-\u0008]/.test(text)
      ? "has a slot left open"
      : undefined;
