/** Creates a task from a finished conversation, or says why the conversation cannot become one. */
import type { Random } from "../../../environment/random.ts";
import { type Json, isJsonObject } from "../../../environment/json.ts";
import type { Catalog } from "../../../environment/catalog.ts";
import {
  computeCallBudget,
  taskFormat,
  type Goal,
  type GoalCall,
  type Task,
} from "../../../trajectory/task.ts";
import {
  listAddedTools,
  startsTurn,
  type CallEvent,
  type Event,
} from "../../../trajectory/trajectory.ts";
import type { Teacher } from "../../teachers/teacher.ts";
import { createCrossServerGraph, getDependencyGraph } from "../../graph/dependencyGraph.ts";
import {
  readHeldOutEdges,
  computeSplit,
  computeStudentSplit,
  type SplitChoice,
  type SplitSubject,
} from "../split.ts";
import type { UnmetRequest } from "../../user/userPlan.ts";
import { connectsServers } from "../specification/crossServerPlan.ts";
import { extractGoals } from "./goals.ts";
import { createMenu, type Menu } from "../menu/menu.ts";
import type { ConversationSummary, PreparedConversation } from "../conversation/conversation.ts";
import { presets, type SynthesisOptions } from "../synthesisOptions.ts";
import { removeAnsweringTools } from "../menu/answerability.ts";
import { needsSeveralServers, type TaskSpecification } from "../specification/taskSpecification.ts";
import type { JsonSchema, Tool } from "../../../environment/server.ts";
import { getArgumentAt, normalizeText } from "../../../trajectory/valueMatching.ts";
import { removeNull } from "../../../environment/schemaKeywords.ts";

/** Why a finished conversation cannot become a task, by the reason in a word. */
export const unusableReasons = {
  "no goals": "no call succeeded",
  "no crossing": "nothing went from one server to another",
  "no obstacle": "what was hidden was not missed",
  "not idle": "something was called where nothing could be done",
  short: "there was nothing more to say after one turn",
  length: "it takes more calls than a task may",
  menu: "what it calls does not fit on a menu",
  answerable: "the offered tools, or what was said, meet what it refuses or asks for",
} as const;

type UnusableReason = keyof typeof unusableReasons;

/** A conversation that has run, with what was extracted from it. */
interface FinishedConversation {
  readonly specification: TaskSpecification;
  readonly prepared: PreparedConversation;
  readonly summary: ConversationSummary;
  readonly log: readonly string[];
  readonly graphHash: Task["provenance"]["graph"];
  readonly goals: Task["goals"];
  readonly turns: Task["turns"];
  readonly calls: readonly CallEvent[];
}

/** The task of a finished conversation, or the reason why there is none. */
export function createTask(
  specification: TaskSpecification,
  prepared: PreparedConversation,
  log: readonly string[],
  options: SynthesisOptions,
  random: Random,
): Task | UnusableReason {
  const { catalog } = options;
  const { events } = prepared.setup.conversation;
  const graph = needsSeveralServers(specification)
    ? createCrossServerGraph(specification.servers.map(it => catalog.getServer(it.name)))
    : getDependencyGraph(catalog.getServer(specification.home));
  const { teacher } = prepared.setup;
  const goals = markTexts(
    extractGoals(events, graph, it =>
      catalog.tools.get(it.name)?.effect === "read" ? getPurpose(teacher, it) : undefined,
    ),
    events,
    catalog,
  );
  const finished: FinishedConversation = {
    specification,
    prepared,
    summary: prepared.summarize(),
    log,
    graphHash: graph.hash,
    goals,
    turns: addProofs(
      addConditional(
        addUnmet(extractTurns(events, goals), prepared.unmetRequests),
        prepared.conditionalCalls ?? [],
      ),
      prepared.proofs ?? [],
    ),
    calls: events.filter(it => it.kind === "call"),
  };
  const reason = findUnusableReason(finished, options);
  if (reason !== undefined) return reason;
  const menu = createTaskMenu(finished, options, random);
  if (!menu) return "menu";
  const needed = new Set([...finished.calls.map(it => it.name), ...listRequiredTools(prepared)]);
  const proven = removeAnsweringTools(menu, needed, { specification, prepared, options });
  return proven ? assembleTask(finished, proven, options) : "answerable";
}

const getPurpose = (teacher: Teacher, call: CallEvent) => teacher.getPurpose?.(call) ?? "unknown";

/**
 * The goals with the free texts of their writes, which need not be repeated to the letter, and the
 * facts that read them back.
 */
function markTexts(goals: Task["goals"], events: readonly Event[], { tools }: Catalog): Goal[] {
  const userTexts = events.flatMap(it => (startsTurn(it) ? [it.text] : []));
  const resultTexts = new Set(
    events.flatMap(it =>
      it.kind === "call" && it.outcome.kind === "ok" ? [...listTexts(it.outcome.value)] : [],
    ),
  );
  const dictated = new Set<Json>();
  return goals.map(goal => {
    const userText = userTexts.slice(0, goal.turn + 1).join("\n");
    const mark = (call: GoalCall) => {
      const tool = tools.get(call.name)!;
      if (tool.effect === "read") return loosenFacts(call, dictated);
      const marked = markFreeTexts(call, tool, { userText, resultTexts });
      for (const key of marked.loose ?? []) dictated.add(getArgumentAt(marked.arguments, key)!);
      return marked;
    };
    return { ...goal, calls: goal.calls.map(mark) };
  });
}

/** The goal call with the facts that read back a text which the user dictated. */
const loosenFacts = (call: GoalCall, dictated: ReadonlySet<Json>): GoalCall =>
  call.facts?.some(it => dictated.has(it.value ?? null))
    ? {
        ...call,
        facts: call.facts.map(it =>
          dictated.has(it.value ?? null) ? { ...it, loose: true as const } : it,
        ),
      }
    : call;

function* listTexts(value: Json): Generator<string> {
  if (typeof value === "string") yield value;
  else if (value !== null && typeof value === "object")
    for (const it of Object.values<Json>(value)) yield* listTexts(it);
}

function findUnusableReason(
  { specification, summary, goals, turns, calls }: FinishedConversation,
  { catalog, menu, preset = "paper" }: SynthesisOptions,
): UnusableReason | undefined {
  const { kind, isOneTurn, crossServerPlan } = specification;
  const getServer = (tool: string) => catalog.tools.get(tool)!.server;
  if (summary.flaw !== undefined) return summary.flaw;
  if (goals.length === 0 && kind === "normal") return "no goals";
  if (calls.length > 0 && (kind === "irrelevant" || kind === "abstain")) return "not idle";
  if (crossServerPlan && !connectsServers(goals, crossServerPlan.servers, getServer))
    return "no crossing";
  if (turns.length < 2 && !isOneTurn && preset === "paper") return "short";
  return calls.length > presets[preset].maxCalls[menu] ? "length" : undefined;
}

/** Tools that must be on the menu although nothing calls them. */
const listRequiredTools = (prepared: PreparedConversation): string[] => [
  ...prepared.requiredTools,
  ...(prepared.conditionalCalls ?? []).map(it => it.name),
];

/** The menu, or undefined if the called tools do not fit on it. */
function createTaskMenu(
  { specification, prepared, calls }: FinishedConversation,
  { catalog, menu: kind, preset = "paper" }: SynthesisOptions,
  random: Random,
): Menu | undefined {
  const { servers, distractors, onlyOtherServers, stripsEnums } = specification;
  const added = new Set(listAddedTools(prepared.setup.conversation.events));
  const called = new Set(calls.map(it => it.name).filter(it => !added.has(it)));
  const menu = createMenu(
    {
      kind,
      servers: servers.map(it => catalog.getServer(it.name)),
      calledTools: new Set([...called, ...listRequiredTools(prepared)]),
      hiddenTools: prepared.hiddenTools,
      distractors,
      onlyOtherServers,
      stripsEnums,
    },
    random,
  );
  const { length } = menu.menu;
  const isTooSmall = kind === "chain" && preset === "student" && called.size > length;
  return length === 0 || isTooSmall ? undefined : menu;
}

function assembleTask(
  { specification, prepared, summary, log, graphHash, goals, turns, calls }: FinishedConversation,
  { menu, hidden, knobs }: Menu,
  options: SynthesisOptions,
): Task {
  const { conversation } = prepared.setup;
  const { kind, chain, servers, persona, prefersLists, pair } = specification;
  const header = { ...conversation.header, menu: menu.map(it => it.name) };
  const { split, heldOut } = specification.split
    ? { split: specification.split }
    : chooseSplit({ goals, chain, servers }, options);
  const callBudget = computeCallBudget(goals);
  return {
    format: taskFormat,
    id: header.task,
    servers: [...header.servers],
    catalog: header.catalog,
    seed: header.seed,
    split,
    kind,
    persona: persona.name,
    now: conversation.now,
    menu,
    ...(specification.policy ? { policy: specification.policy } : {}),
    hidden,
    turns,
    goals,
    knobs: {
      ...knobs,
      ...summary.knobs,
      ...(pair === undefined ? {} : { pair }),
      ...(options.difficulty && kind === "normal" ? { difficulty: options.difficulty } : {}),
      ...(heldOut ? { heldOut: heldOut.join(", ") } : {}),
      lists: prefersLists,
      failedCalls: calls.filter(it => it.outcome.kind !== "ok").length,
    },
    info: summary.info,
    chain: [...chain],
    budget: {
      calls: callBudget,
      assistantMessages: computeMessageBudget(
        goals.flatMap(it => it.calls).length,
        callBudget,
        specification,
        turns,
      ),
    },
    provenance: { teacher: header.policy, graph: graphHash, log: [...log] },
    trajectory: {
      header,
      events: [...conversation.events.map(removePatches), { kind: "ended", by: "policy" }],
    },
  };
}

const chooseSplit = (
  subject: SplitSubject,
  { resources, preset = "paper" }: SynthesisOptions,
): SplitChoice =>
  presets[preset].holdsOutSets
    ? computeStudentSplit(subject)
    : computeSplit(subject, readHeldOutEdges(resources));

/**
 * The most messages of an attempt. Longer conversations change more, and an assistant may read or
 * ask before each change.
 */
const computeMessageBudget = (
  goalCalls: number,
  callBudget: number,
  { maxTurns }: TaskSpecification,
  { length }: Task["turns"],
): number =>
  spareMessages +
  (maxTurns === undefined
    ? Math.max(callBudget + length, length + 1)
    : Math.max(callBudget, 2 * goalCalls) + 2 * length);

/** Messages beyond the budget of calls, for a check or a question. */
const spareMessages = 2;

function extractTurns(events: readonly Event[], goals: Task["goals"]): Task["turns"] {
  const turns: Task["turns"] = [];
  for (const event of events) {
    if (startsTurn(event))
      turns.push({
        user: event.text,
        goals: goals.flatMap((it, i) => (it.turn === turns.length ? [i] : [])),
        reply: "",
        ...(event.adds ? { adds: event.adds } : {}),
      });
    else if (event.kind === "assistant" && event.text !== "") turns.at(-1)!.reply = event.text;
  }
  return turns;
}

/** The turns with the calls that the assistant could not make. */
const addUnmet = (turns: Task["turns"], requests: readonly UnmetRequest[]): Task["turns"] =>
  turns.map((turn, i) => {
    const unmet = requests.flatMap(({ turn: of, intent: { tool, arguments: args }, asks, rule }) =>
      of === i
        ? [
            {
              name: tool.name,
              arguments: args,
              ...(asks ? { asks } : {}),
              ...(rule ? { rule } : {}),
            },
          ]
        : [],
    );
    return unmet.length > 0 ? { ...turn, unmet } : turn;
  });

/** The turns with the calls that depend on a condition that does not hold. */
const addConditional = (
  turns: Task["turns"],
  calls: NonNullable<PreparedConversation["conditionalCalls"]>,
): Task["turns"] =>
  turns.map((turn, i) => {
    const conditional = calls.flatMap(({ turn: of, name, arguments: args }) =>
      of === i ? [{ name, arguments: args }] : [],
    );
    return conditional.length > 0 ? { ...turn, conditional } : turn;
  });

/** The turns with what the user says if asked for a proof. */
const addProofs = (
  turns: Task["turns"],
  all: NonNullable<PreparedConversation["proofs"]>,
): Task["turns"] =>
  turns.map((turn, i) => {
    const proofs = all.flatMap(({ turn: of, rule, about, say, isAccepted }) =>
      of === i
        ? [{ rule, about: [...about], say, ...(isAccepted ? { isAccepted: true as const } : {}) }]
        : [],
    );
    return proofs.length > 0 ? { ...turn, proofs } : turn;
  });

/** The event without patches. Files omit them because replaying the calls restores them. */
export function removePatches(event: Event): Event {
  if (event.kind !== "call") return event;
  const { patches: _, ...rest } = event;
  return rest;
}

// Finds the arguments of a write that are free text, and says how attempts at it are compared.

/** Words of fewer letters, unless they have a digit, say little of what a text is about. */
const minWordLength = 3;

/** What was said and shown before a call. */
interface TextSources {
  /** All that the user said. */
  readonly userText: string;
  readonly resultTexts: ReadonlySet<string>;
}

/**
 * The goal call with its free texts. What the user dictated is compared loosely, and what was
 * copied from a result must occur as it is. Of what the teacher composed, the words that the user
 * said must occur.
 */
function markFreeTexts(
  call: GoalCall,
  tool: Tool,
  { userText, resultTexts }: TextSources,
): GoalCall {
  const said = ` ${normalizeText(userText)} `;
  const loose: string[] = [];
  const words: Record<string, string[]> = {};
  const mask: string[] = [];
  for (const { path, value } of listFreeTexts(call.arguments, tool.inputSchema)) {
    const key = path.join("/");
    const text = normalizeText(value);
    if (text === "") continue;
    if (said.includes(` ${text} `)) loose.push(key);
    else if (path.length > 1) continue;
    else if (resultTexts.has(value)) words[key] = [value];
    else {
      const own = listContentWords(text).filter(it => said.includes(` ${it} `));
      if (own.length > 0) words[key] = own;
      else mask.push(key);
    }
  }
  return {
    ...call,
    ...(mask.length > 0 ? { mask } : {}),
    ...(loose.length > 0 ? { loose } : {}),
    ...(Object.keys(words).length > 0 ? { words } : {}),
  };
}

/** Keywords of arguments whose values mean something to the server. */
const exactKeywords = ["enum", "const", "format", "x-entity"];

/** The pattern of texts that are not blank. */
const notBlank = "\\S";

/** The texts of several words in a value that nothing else depends on, with their paths. */
function* listFreeTexts(
  value: Json,
  published: Json | undefined,
  path: readonly string[] = [],
): Generator<{ readonly path: readonly string[]; readonly value: string }> {
  if (!isJsonObject(published)) return;
  const schema: JsonSchema = removeNull(published);
  if (typeof value === "string") {
    const isFree =
      value.includes(" ") &&
      schema["type"] === "string" &&
      (schema["pattern"] ?? notBlank) === notBlank &&
      exactKeywords.every(it => schema[it] === undefined);
    if (isFree) yield { path, value };
  } else if (Array.isArray(value)) {
    for (const [i, it] of (value as readonly Json[]).entries())
      yield* listFreeTexts(it, schema["items"], [...path, `${i}`]);
  } else if (isJsonObject(value)) {
    const properties = schema["properties"];
    for (const [key, it] of Object.entries(value))
      if (isJsonObject(properties)) yield* listFreeTexts(it, properties[key], [...path, key]);
  }
}

const listContentWords = (text: string): string[] => [
  ...new Set(text.split(" ").filter(it => it.length >= minWordLength || /\d/.test(it))),
];
