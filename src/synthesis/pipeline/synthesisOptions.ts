/**
 * The options of a synthesis; its two presets, `paper` with the paper's mixture of tasks and
 * `student` with tasks that fit the context and the ability of the small model that ships; and how
 * many tasks of each kind follow from them.
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { Task } from "../../trajectory/task.ts";
import type { EdgeVerdicts } from "../graph/dependencyGraph.ts";
import type { ServerScenario } from "../text/scenarios.ts";
import type { LlmRoles } from "../teachers/chatModel/roles.ts";
import type { Difficulty } from "./report/demands.ts";

export interface SynthesisOptions {
  readonly catalog: Catalog;
  /** The product's `resources` folder, which holds templates and personas. */
  readonly resources: string;
  readonly seed: number;
  /** Names of the servers to make tasks on. */
  readonly servers: readonly string[];
  /** Those of the servers that a task can begin on; all of them where absent. */
  readonly homes?: readonly string[];
  readonly menu: MenuKind;
  /** The paper's mixture where absent. */
  readonly preset?: Preset["name"];
  /** The number of tasks, which also fixes the number of each kind; unlimited where absent. */
  readonly count?: number;
  /** Only tasks of this split. */
  readonly split?: Task["split"];
  /** Share of tasks with a single user turn; the preset's where absent. */
  readonly oneTurnShare?: number;
  /** Share of the normal tasks that need several servers; the preset's where absent. */
  readonly crossServerShare?: number;
  /** The number of worlds; the preset's where absent and `variantsPerFixture` is not given. */
  readonly worlds?: number;
  /** Without worlds: variants of each fixture with other ids; 0 for the fixtures as they are. */
  readonly variantsPerFixture?: number;
  /** Verdicts on the edges of the dependency graphs; the shipped ones where absent. */
  readonly edgeVerdicts?: EdgeVerdicts;
  /** What users come for; the shipped scenarios where absent. */
  readonly scenarios?: readonly ServerScenario[];
  /** Whether tasks that make the same calls as an earlier one are rejected; true by default. */
  readonly rejectsDuplicates?: boolean;
  /** The language model in the roles of user and teacher, in place of the graph teacher. */
  readonly llmRoles?: LlmRoles;
  /** Rejects tasks that take more tokens. */
  readonly tokenLimit?: TokenLimit;
  /** Makes normal tasks of this difficulty only. */
  readonly difficulty?: Difficulty;
  readonly signal?: AbortSignal;
}

export interface TokenLimit {
  readonly max: number;
  /** The tokens of a task's prompt and of its teacher's conversation. */
  readonly count: (task: Task) => number;
}

// The two presets of a synthesis: `paper` has the paper's mixture of tasks, `student` has tasks
// that fit the context and the ability of the small model that ships.

/**
 * `chain`: the called tools and a few others; `full`: all tools of the called servers; `realistic`:
 * 20 to 40 tools of several servers, in every kind of task.
 */
export type MenuKind = (typeof menuKinds)[number];

export const menuKinds = ["realistic", "chain", "full"] as const;

export interface Preset {
  readonly name: "paper" | "student";
  readonly mixture: Mixture;
  /** The number of worlds; 0 for the people and days of the fixtures. */
  readonly worlds: number;
  /** The kind of menu where none is chosen. */
  readonly menu: MenuKind;
  /** Share of tasks with a single user turn; the others have two or three. */
  readonly oneTurnShare: number;
  /** Calls in one task. */
  readonly maxCalls: Readonly<Record<MenuKind, number>>;
  /** The longest result that a user asks for, in characters of JSON. */
  readonly maxResultLength: number;
  /**
   * Users sometimes say only a part of a name, which the assistant completes from a server's hint.
   */
  readonly usesPartialNames: boolean;
  /** The longest reply, in characters; unlimited where absent. */
  readonly maxReplyLength?: number;
  /** Share of tasks with three to eight tools of other servers beside the menu. */
  readonly distractorShare: number;
  /** Share of tasks with tools of other servers on the menu, within its size. */
  readonly mixedMenuShare: number;
  /** Share of the first turns that ask as if a value were left out, and then add it. */
  readonly addedValueShare: number;
  /** How often a first turn without a value asks for more before it. */
  readonly moreBeforeQuestion: number;
  /** Share of the refusals and questions that have a contrasting normal task. */
  readonly pairShare: number;
  /** How often tasks have rules, compared with the usual; 0 for never. */
  readonly policyFactor: number;
  /** Share of the tasks with a missing tool in which a later turn brings it. */
  readonly toolArrivalShare: number;
  /** Share of the first turns with a second thought that changes nothing. */
  readonly secondThoughtShare: number;
  /** Share of the normal tasks that need several servers. */
  readonly crossServerShare: number;
  /** Share of the other normal tasks whose users follow a scenario. */
  readonly scenarioShare: number;
  /** Chains are held out as exact sets of tools, and no edges; otherwise as edges and pairs. */
  readonly holdsOutSets: boolean;
  /** Share of the tasks in which the assistant has to recover from something itself. */
  readonly recoveryShare: number;
  /** How often a day in a request is said by its distance from today, whoever the user is. */
  readonly relativeDateShare: number;
  /** How often a value is said by what is there now, where the templates allow it. */
  readonly computedShare: number;
  /** How often a change is asked for three to five things at once, where there are as many. */
  readonly severalShare: number;
  /** How often a user misspells the name of something that has not been named before. */
  readonly misspeltShare: number;
  /** Users may ask for something that undoes what they asked for before, without saying so. */
  readonly keepsContradictions: boolean;
}

export const presets: Readonly<Record<Preset["name"], Preset>> = {
  paper: {
    name: "paper",
    mixture: { multi: 10_895, clarify: 1_500, abstain: 1_122, irrelevant: 0.05 },
    worlds: 300,
    menu: "realistic",
    oneTurnShare: 0,
    maxCalls: { realistic: 16, chain: 16, full: 16 },
    maxResultLength: 2400,
    usesPartialNames: true,
    distractorShare: 0.4,
    mixedMenuShare: 0,
    addedValueShare: 0.3,
    moreBeforeQuestion: 0.8,
    pairShare: 0.8,
    policyFactor: 1,
    toolArrivalShare: 0.5,
    secondThoughtShare: 0.05,
    crossServerShare: 0.12,
    scenarioShare: 0.6,
    holdsOutSets: false,
    recoveryShare: 0.115,
    relativeDateShare: 0.6,
    computedShare: 0.8,
    severalShare: 0.35,
    misspeltShare: 0.3,
    keepsContradictions: false,
  },
  student: {
    name: "student",
    mixture: { multi: 1, clarify: 0, abstain: 0, irrelevant: 0.05 },
    worlds: 0,
    menu: "chain",
    oneTurnShare: 0.4,
    // more calls do not fit the small student's context
    maxCalls: { realistic: 12, chain: 6, full: 12 },
    maxResultLength: 800,
    // the small student does not use hints
    usesPartialNames: false,
    maxReplyLength: 60,
    distractorShare: 0,
    mixedMenuShare: 0.5,
    addedValueShare: 0,
    moreBeforeQuestion: 0,
    pairShare: 0,
    policyFactor: 0,
    toolArrivalShare: 0,
    secondThoughtShare: 0,
    crossServerShare: 0,
    scenarioShare: 0,
    holdsOutSets: true,
    recoveryShare: 0,
    relativeDateShare: 0,
    computedShare: 0,
    severalShare: 0,
    misspeltShare: 0,
    keepsContradictions: true,
  },
};

/** What changes with the difficulty, so that most tasks have it and few are rejected. */
const shares: Readonly<Record<Difficulty, Partial<Preset>>> = {
  easy: {
    crossServerShare: 0,
    policyFactor: 0,
    recoveryShare: 0,
    scenarioShare: 0.2,
    computedShare: 0,
    severalShare: 0,
    relativeDateShare: 0,
  },
  medium: {},
  hard: {
    crossServerShare: 0.3,
    policyFactor: 2,
    recoveryShare: 0.25,
    scenarioShare: 0.8,
    computedShare: 0.9,
    severalShare: 0.7,
    relativeDateShare: 0.8,
  },
};

/**
 * The preset of a synthesis. A language model knows nothing of later tools and of rules, and says
 * by itself why it changes its mind.
 */
export const choosePreset = ({
  preset = "paper",
  llmRoles,
  difficulty,
}: {
  readonly preset?: Preset["name"];
  readonly llmRoles?: object;
  readonly difficulty?: Difficulty;
}): Preset => ({
  ...presets[preset],
  ...(difficulty ? shares[difficulty] : {}),
  ...(llmRoles ? { toolArrivalShare: 0, policyFactor: 0, keepsContradictions: true } : {}),
});

// Computes how many tasks of each kind a synthesis makes, and plans the kind and the server of each
// task. Counts are exact, kinds and servers are spread evenly, and the same input gives the same
// plan.

export type TaskKind = Task["kind"];

/** The shares of the kinds of tasks. */
export interface Mixture {
  /** Weight of conversations of several turns. */
  readonly multi: number;
  /** Weight of conversations with a missing tool. */
  readonly clarify: number;
  /** Weight of conversations in which no tool should be called. */
  readonly abstain: number;
  /** Share of the conversations of several turns that no tool on the menu can serve, 0 to 1. */
  readonly irrelevant: number;
}

export type Composition = Readonly<Record<TaskKind, number>>;

const kinds: readonly TaskKind[] = ["normal", "irrelevant", "clarify", "abstain"];

/** Divides n into whole numbers in proportion to weights, by the largest remainder method. */
export function apportion(weights: readonly number[], n: number): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  const counts = weights.map(it => Math.floor((n * it) / sum));
  // remainders times the sum, which avoids a rounding error
  const remainders = weights.map((it, i) => n * it - counts[i]! * sum);
  const order = weights.map((_, i) => i).sort((a, b) => remainders[b]! - remainders[a]! || a - b);
  const left = n - counts.reduce((a, b) => a + b, 0);
  for (const i of order.slice(0, left)) counts[i]!++;
  return counts;
}

/** Computes the number of tasks of each kind among n. */
export function computeComposition(
  { multi, clarify, abstain, irrelevant }: Mixture,
  n: number,
): Composition {
  const [multiCount, clarifyCount, abstainCount] = apportion([multi, clarify, abstain], n) as [
    number,
    number,
    number,
  ];
  const [normalCount, irrelevantCount] = apportion([1 - irrelevant, irrelevant], multiCount) as [
    number,
    number,
  ];
  return {
    normal: normalCount,
    irrelevant: irrelevantCount,
    clarify: clarifyCount,
    abstain: abstainCount,
  };
}

/** The composition of a synthesis without an end. */
export const endless: Composition = {
  normal: Infinity,
  irrelevant: Infinity,
  clarify: Infinity,
  abstain: Infinity,
};

export const countTasks = (composition: Composition): number =>
  kinds.reduce((sum, it) => sum + composition[it], 0);

/**
 * Divides a composition into parts of nearly equal size: what is left of a kind goes to the next
 * part in turn.
 */
export function divideComposition(composition: Composition, parts: number): Composition[] {
  const result = Array.from({ length: parts }, () => ({ ...endless }));
  let next = 0;
  for (const kind of kinds) {
    const total = composition[kind];
    if (total === Infinity) continue;
    for (const it of result) it[kind] = Math.floor(total / parts);
    for (let left = total % parts; left > 0; left--) result[next++ % parts]![kind]++;
  }
  return result;
}

/** The kind and the possible servers of one task in the file. */
export interface TaskSlot {
  readonly kind: TaskKind;
  /** Names of servers in order of preference: the next one is used if the ones before fail. */
  readonly servers: readonly string[];
}

/**
 * Yields the slots of these numbers of tasks, which may be infinite, in order. Kinds alternate in
 * proportion to their counts, and servers alternate within each kind. Each `next` call takes the
 * name of the server that was used for the slot before.
 */
export function* planSlots(
  mixture: Mixture,
  totals: Composition,
  servers: readonly string[],
): Generator<TaskSlot, void, string> {
  const { multi, clarify, abstain, irrelevant } = mixture;
  const weights = {
    normal: multi * (1 - irrelevant),
    irrelevant: multi * irrelevant,
    clarify,
    abstain,
  };
  const counts = { normal: 0, irrelevant: 0, clarify: 0, abstain: 0 };
  const countsByServer = new Map(
    servers.map(it => [it, { all: 0, normal: 0, irrelevant: 0, clarify: 0, abstain: 0 }]),
  );
  const getCounts = (server: string) => countsByServer.get(server)!;
  for (;;) {
    const openKinds = kinds.filter(it => weights[it] > 0 && counts[it] < totals[it]);
    if (openKinds.length === 0) return;
    const kind = openKinds.reduce((a, b) =>
      (counts[b] + 0.5) / weights[b] < (counts[a] + 0.5) / weights[a] ? b : a,
    );
    const order = servers.toSorted(
      (a, b) => getCounts(a)[kind] - getCounts(b)[kind] || getCounts(a).all - getCounts(b).all,
    );
    counts[kind]++;
    const usedCounts = getCounts(yield { kind, servers: order });
    usedCounts[kind]++;
    usedCounts.all++;
  }
}
