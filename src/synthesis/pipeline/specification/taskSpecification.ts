/**
 * Specifies the task of an attempt: the chain of tools, the fixtures, the persona, and every other
 * random choice that is made before the conversation.
 */
import type { Random } from "../../../environment/random.ts";
import type { Task } from "../../../trajectory/task.ts";
import type { TaskPolicy } from "../../../trajectory/taskRules.ts";
import {
  computeRarity,
  drawChain,
  listIsolatedTools,
  type ChainSource,
  type LengthCounts,
  type UseCounts,
  computeLengthWeights,
  limitLength,
} from "../../graph/chains.ts";
import type { EdgeVerdicts } from "../../graph/dependencyGraph.ts";
import type { ServerScenario } from "../../text/scenarios.ts";
import type { CrossServerLink } from "../../text/crossServerLinks.ts";
import { pickPersona, type Persona, type StyleGuide } from "../../text/personas.ts";
import type { AbstentionSort } from "../../user/turns/abstentionTurn.ts";
import { type ScenarioPlan, planScenario } from "../../user/scenarios/scenarioPlan.ts";
import { type RecoverySort, recoverySorts } from "../../user/intents/intent.ts";
import type { UserPlan } from "../../user/userPlan.ts";
import type { TaskKind, MenuKind, Preset } from "../synthesisOptions.ts";
import { localizePlan, planCrossServerTask, type CrossServerPlan } from "./crossServerPlan.ts";
import { chooseFixtures, type FixtureSource, type ServerFixture } from "./worlds.ts";
import { isHeldOut } from "../split.ts";
import { areRelatedServers } from "../menu/menu.ts";
import type { ProofTexts } from "../../text/serverPolicies.ts";
import {
  choosePolicy,
  drawPolicyAim,
  type PolicyCounts,
  type PolicyTexts,
} from "./taskPolicies.ts";

/** The paper's shares, and ours: look-ups in whole lists, and tools without dependencies. */
const shares = {
  missing: 0.2,
  minimal: 0.2,
  enumsStripped: 0.3,
  onlyOtherServers: 0.5,
  lists: 0.08,
  listsWhenMinimal: 0.75,
  isolatedTool: 0.08,
};

/** A scenario has up to seven turns, and the user may have to answer a question. */
export const maxScenarioTurns = 8;

export interface TaskSpecification {
  /** The id of the task. */
  readonly id: string;
  /** The server that the conversation is about. */
  readonly home: string;
  readonly chain: readonly string[];
  readonly kind: TaskKind;
  readonly info: Task["info"];
  readonly isOneTurn: boolean;
  readonly prefersLists: boolean;
  /** The servers of the session, the home first. */
  readonly servers: readonly ServerFixture[];
  readonly sessionSeed: number;
  readonly persona: Persona;
  /** Tools of other servers on the menu; `mixed` has some of them within the menu's size. */
  readonly distractors: number | "mixed";
  readonly stripsEnums: boolean;
  /** Nothing can be done, because only tools of other servers are on the menu. */
  readonly onlyOtherServers: boolean;
  /** The links between the servers; absent for a task on one server. */
  readonly crossServerPlan?: CrossServerPlan;
  /** What the user has come for; absent where the conversation grows from the chain. */
  readonly scenario?: ScenarioPlan;
  /** The most turns of the user; three where absent. */
  readonly maxTurns?: number;
  /** The first turn asks as if a value were left out, and then adds it. */
  readonly addsValue?: boolean;
  /** The rules that hold in the conversation. */
  readonly policy?: TaskPolicy;
  /** What those rules accept that demand a proof, by their ids. */
  readonly proofs?: ReadonlyMap<string, ProofTexts>;
  /** A later turn brings a tool that is missing. */
  readonly bringsTool?: boolean;
  /** The sorts of recovery to try, in this order; absent for none. */
  readonly recovery?: readonly RecoverySort[];
  /** Why nothing is to be called; drawn with the conversation where absent. */
  readonly abstention?: AbstentionSort;
  /** The id of the pair of contrasting tasks that the task is in. */
  readonly pair?: string;
  /** The split of the other task of the pair. */
  readonly split?: Task["split"];
  /** The plan of an existing task to follow; absent for a new one. */
  readonly script?: ConversationScript;
}

/** The plan of a conversation that already exists. */
export interface ConversationScript {
  /** Full names of the tools that it calls. */
  readonly tools: readonly string[];
  /** What each turn asks for; absent where nothing can be done. */
  readonly turns?: UserPlan["script"];
  /** Full names of tools that must not be on the menu. */
  readonly hiddenTools?: ReadonlySet<string>;
}

/** What the attempts of one synthesis share. */
export interface SpecificationContext extends FixtureSource {
  readonly seed: number;
  readonly preset: Preset;
  readonly menu: MenuKind;
  readonly oneTurnShare: number;
  /** Share of the normal tasks that need several servers. */
  readonly crossServerShare: number;
  readonly links: readonly CrossServerLink[];
  readonly scenarios: readonly ServerScenario[];
  /** The servers that a task can begin on. */
  readonly homes: readonly string[];
  /** How many of the normal tasks so far grew from a chain of each length. */
  readonly chainCounts: LengthCounts;
  /** How many of the normal tasks so far gave how much information. */
  readonly infoCounts: ReadonlyMap<Task["info"], number>;
  /** How many of the normal tasks so far take which recovery. */
  readonly recoveryCounts: RecoveryCounts;
  /** In how many of the normal tasks so far rules have which effect. */
  readonly policyCounts: PolicyCounts;
  readonly styleGuide: StyleGuide;
  readonly uses: UseCounts;
  readonly verdicts: EdgeVerdicts;
  /** The rules and pages that a task can have. */
  readonly policies: PolicyTexts;
}

/** Attempt number n, and the server and kind of task that it is for. */
export interface AttemptTarget {
  readonly n: number;
  readonly home: string;
  readonly kind: TaskKind;
  /** Whether a refusal or a question may come with a contrasting normal task. */
  readonly mayBePaired?: boolean;
}

/** The servers that the conversation is about. */
export const listNeededServers = ({
  servers,
  crossServerPlan,
  scenario,
}: TaskSpecification): readonly ServerFixture[] =>
  servers.slice(0, (crossServerPlan ?? scenario)?.servers.length ?? 1);

/** Whether the conversation is about several servers. */
export const needsSeveralServers = (specification: TaskSpecification): boolean =>
  listNeededServers(specification).length > 1;

/** Specifies the task of an attempt, or returns undefined if no chain could be drawn. */
export function specifyTask(
  context: SpecificationContext,
  { n, home, kind }: AttemptTarget,
  random: Random,
): TaskSpecification | undefined {
  const { catalog, seed, preset, uses, verdicts } = context;
  const chainSource = {
    server: catalog.getServer(home),
    uses,
    verdicts,
    ...(preset.scenarioShare > 0 ? { lengthCounts: context.chainCounts } : {}),
  };
  const chain = kind === "abstain" ? [] : chooseChain(chainSource, random);
  if (!chain) return undefined;
  const info = drawInformationLevel(context.infoCounts, random);
  const plan = kind === "normal" ? drawCrossServerPlan(context, home, random) : undefined;
  const wantsOnlyOthers = kind === "irrelevant" && random.boolean(shares.onlyOtherServers);
  const distractors = drawDistractors(preset, random);
  const mayFollowScenario = kind === "normal" ? !plan : preset.scenarioShare > 0;
  const scenario =
    mayFollowScenario && random.boolean(preset.scenarioShare)
      ? drawScenario(context, home, random)
      : undefined;
  const neededServers = (plan ?? scenario)?.servers ?? [home];
  const unrelatedServers = random.shuffle(listUnrelatedServers(neededServers, context));
  const otherServerCount =
    context.menu === "realistic"
      ? drawSessionSize(random) - (wantsOnlyOthers ? 0 : neededServers.length)
      : drawOtherServerCount({ distractors, kind, wantsOnlyOthers, preset }, random);
  const otherServers = unrelatedServers.slice(0, otherServerCount);
  const fixtures = chooseFixtures(
    context,
    { needed: neededServers, others: otherServers },
    n,
    random,
  );
  const aim =
    kind === "normal" && !plan
      ? drawPolicyAim(context.policyCounts, preset.policyFactor, random)
      : undefined;
  const chosen =
    aim === undefined
      ? undefined
      : choosePolicy(
          {
            aim,
            followsScenario: scenario !== undefined,
            home: neededServers[0]!,
            state: catalog.getFixture(neededServers[0]!, fixtures[0]!.fixture).state,
            otherServers,
            tools: scenario?.tools ?? chain,
          },
          context.policies,
          random,
        );
  return {
    id: `${neededServers[0]!}-${seed}-${n}`,
    home: neededServers[0]!,
    chain: kind === "abstain" ? [] : (plan?.chain ?? scenario?.tools ?? chain),
    kind,
    info: kind !== "normal" || (plan && info === "missing") ? "complete" : info,
    isOneTurn:
      kind === "abstain" ||
      (preset.name === "student" && kind === "irrelevant") ||
      random.boolean(context.oneTurnShare),
    prefersLists: random.boolean(info === "minimal" ? shares.listsWhenMinimal : shares.lists),
    servers: fixtures,
    sessionSeed: random.integer(100_000),
    persona: pickPersona(context.styleGuide, random),
    distractors,
    stripsEnums: random.boolean(shares.enumsStripped),
    onlyOtherServers: wantsOnlyOthers && otherServers.length > 0,
    ...(!plan && preset.addedValueShare > 0 && random.boolean(preset.addedValueShare)
      ? { addsValue: true }
      : {}),
    ...(kind === "clarify" && random.boolean(preset.toolArrivalShare) ? { bringsTool: true } : {}),
    ...chosen,
    ...(plan ? { crossServerPlan: localizePlan(plan, catalog, fixtures[0]!.fixture) } : {}),
    ...(scenario
      ? { scenario: catalog.localize(scenario, fixtures[0]!.fixture), maxTurns: maxScenarioTurns }
      : drawMaxTurns(preset, kind, random)),
    ...((kind === "normal" || kind === "clarify") && !plan && !chosen
      ? drawRecovery(preset.recoveryShare, context.recoveryCounts, random)
      : {}),
  };
}

function chooseChain(source: ChainSource, random: Random): readonly string[] | undefined {
  const chain = drawChain(source, random);
  const isolated = listIsolatedTools(source);
  if (!chain) return undefined;
  const isolatedShare = isolated.length / source.server.tools.size;
  // where many tools are isolated, they must not be rare
  const chance = isolatedShare > 0.25 ? isolatedShare : shares.isolatedTool;
  return isolated.length > 0 && chain.edges.length > 0 && random.boolean(chance)
    ? [...chain.tools, random.pickWeighted(isolated, it => computeRarity(it, source.uses))]
    : chain.tools;
}

/** With fewer tasks than this, the shares measured so far are not used. */
const minTasksForShares = 50;

/**
 * How much information the user gives: by the shares, and more often what has been rare so far,
 * because not every task allows a value to be left out.
 */
function drawInformationLevel(
  counts: SpecificationContext["infoCounts"],
  random: Random,
): Task["info"] {
  const total = [...counts.values()].reduce((a, b) => a + b, 0);
  const getWeight = (info: "missing" | "minimal") => {
    const deficit = total < minTasksForShares ? 0 : shares[info] - (counts.get(info) ?? 0) / total;
    return Math.max(0, shares[info] + 10 * deficit);
  };
  const [missing, minimal] = [getWeight("missing"), getWeight("minimal")];
  const weights = { complete: Math.max(0.1, 1 - missing - minimal), missing, minimal };
  return random.pickWeighted(["complete", "missing", "minimal"] as const, it => weights[it]);
}

function drawCrossServerPlan(
  { links, servers, homes, uses, crossServerShare }: SpecificationContext,
  home: string,
  random: Random,
): CrossServerPlan | undefined {
  return links.length > 0 && random.boolean(crossServerShare)
    ? planCrossServerTask({ links, servers, homes, home, uses }, random)
    : undefined;
}

/** The most turns of a conversation that follows from a chain, with their weights. */
const turnLimits = [
  { maxTurns: 2, weight: 0.6 },
  { maxTurns: 3, weight: 0.4 },
];

function drawMaxTurns(
  { name }: Preset,
  kind: TaskKind,
  random: Random,
): Pick<TaskSpecification, "maxTurns"> {
  if (name === "student" || kind !== "normal") return {};
  const { maxTurns } = random.pickWeighted(turnLimits, it => it.weight);
  return { maxTurns };
}

function drawDistractors(preset: Preset, random: Random): TaskSpecification["distractors"] {
  if (preset.mixedMenuShare > 0) return "mixed";
  return random.boolean(preset.distractorShare) ? 3 + random.integer(6) : 0;
}

/** The fewest and the most servers in the session of a task with a realistic menu. */
const sessionSize = { min: 4, max: 5 };

const drawSessionSize = (random: Random): number =>
  sessionSize.min + random.integer(sessionSize.max - sessionSize.min + 1);

/** How many servers are in the session beside those that are needed. */
function drawOtherServerCount(
  {
    distractors,
    kind,
    wantsOnlyOthers,
    preset,
  }: Pick<TaskSpecification, "distractors" | "kind"> & {
    readonly wantsOnlyOthers: boolean;
    readonly preset: Preset;
  },
  random: Random,
): number {
  if (distractors === "mixed")
    return kind === "irrelevant" || random.boolean(preset.mixedMenuShare)
      ? 1 + random.integer(2)
      : 0;
  return distractors > 0 || wantsOnlyOthers ? 2 + random.integer(2) : 0;
}

/**
 * Servers whose tools have nothing to do with the needed ones. Held-out servers are only among the
 * distractors of tasks on held-out servers.
 */
function listUnrelatedServers(
  needed: readonly string[],
  { catalog, servers, preset }: SpecificationContext,
): string[] {
  const all = preset.name === "paper" ? [...catalog.servers.keys()] : servers;
  const isUnrelated = (it: string) =>
    needed.every(own => own !== it && (preset.name === "student" || !areRelatedServers(own, it)));
  return all.filter(it => isUnrelated(it) && (!isHeldOut(it) || needed.some(isHeldOut)));
}

// Chooses the scenario of a conversation: one used least so far, of a length that is still rare.

/** Scenarios among which one is chosen by its length. */
const candidateCount = 6;

/**
 * How much more often than others a scenario is used whose user wants the same done with several
 * things, or leaves something to be computed. The weight falls with the third power of the uses.
 */
const demandingUses = { several: 4, computed: 3 };

/** Those over several servers would take tasks from all but their first server. */
function computeDemandWeight({ turns, servers }: ServerScenario): number {
  if (servers.length > 1) return 1;
  const steps = turns.flat();
  const { several, computed } = demandingUses;
  if (steps.some(it => it.rows ?? it.each)) return several ** 3;
  return steps.some(it => it.compute) ? computed ** 3 : 1;
}

interface ScenarioSource {
  readonly scenarios: readonly ServerScenario[];
  /** The servers that a task can begin on. */
  readonly homes: readonly string[];
  /** How often each scenario has been used, by name. */
  readonly uses: UseCounts;
  readonly chainCounts: LengthCounts;
}

/** A scenario in which the home server takes part, or undefined if there is none. */
function drawScenario(
  { scenarios, homes, uses, chainCounts }: ScenarioSource,
  home: string,
  random: Random,
): ScenarioPlan | undefined {
  const own = scenarios.filter(
    ({ servers }) => servers.includes(home) && homes.includes(servers[0]!),
  );
  if (own.length === 0) return undefined;
  const plans = Array.from({ length: candidateCount }).flatMap(
    () =>
      planScenario(
        random.pickWeighted(own, it => computeRarity(it.name, uses) * computeDemandWeight(it)),
        random,
      ) ?? [],
  );
  const weights = new Map(computeLengthWeights(chainCounts).map(it => [it.tools, it.weight]));
  return plans.length === 0
    ? undefined
    : random.pickWeighted(plans, it => weights.get(limitLength(it.tools.length)) ?? 0.01);
}

// Decides in which tasks the assistant has to recover from something, and from what: by the shares,
// and more often what has been rare so far, because not every conversation has a place for it.

/** What part of the recoveries should be of which sort. */
const recoveryShares: Readonly<Record<RecoverySort, number>> = {
  repair: 0.35,
  hint: 0.25,
  ambiguous: 0.2,
  page: 0.1,
  stale: 0.1,
};

/** With fewer tasks than this, what has been counted is not used. */
const minTasks = 30;

/**
 * How much more often than its share a recovery is tried, because some tasks cannot have one, and
 * how strongly a deficit makes it more frequent.
 */
const odds = { surplus: 10, gain: 40 };

/** Counts of tasks: all, and those that take a recovery of a sort. */
export class RecoveryCounts {
  #total = 0;
  readonly #bySort = new Map<RecoverySort, number>();

  record({ knobs }: Pick<Task, "knobs">): void {
    this.#total++;
    const sort = recoverySorts.find(it => it === knobs["recovery"]);
    if (sort) this.#bySort.set(sort, this.count(sort) + 1);
  }

  get total(): number {
    return this.#total;
  }

  count(sort: RecoverySort): number {
    return this.#bySort.get(sort) ?? 0;
  }

  /** The share of the tasks that take any recovery. */
  get share(): number {
    return this.#total === 0
      ? 0
      : [...this.#bySort.values()].reduce((a, b) => a + b, 0) / this.#total;
  }
}

/** The sorts to try in a task, the one that is most wanted first; nothing for most tasks. */
function drawRecovery(
  share: number,
  counts: RecoveryCounts,
  random: Random,
): { readonly recovery?: readonly RecoverySort[] } {
  if (share === 0) return {};
  const deficit = counts.total < minTasks ? 0 : share - counts.share;
  if (!random.boolean(Math.min(1, Math.max(0, odds.surplus * share + odds.gain * deficit))))
    return {};
  const getRate = (it: RecoverySort) => (counts.count(it) + random.next()) / recoveryShares[it];
  const rates = new Map(recoverySorts.map(it => [it, getRate(it)]));
  return { recovery: recoverySorts.toSorted((a, b) => rates.get(a)! - rates.get(b)!) };
}
