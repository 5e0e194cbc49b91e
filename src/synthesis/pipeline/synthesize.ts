/**
 * The pipeline, read top to bottom: slot, brief, stage, conversation, goals, menu, screen. A stream
 * of accepted tasks and of what was rejected and why; the same seed gives the same bytes. Does not
 * know where tasks are written or which model will learn from them.
 */
import { UserError } from "../../userError.ts";
import { computeCallBudget, taskFormat, type Task } from "../../trajectory/task.ts";
import type { Event } from "../../trajectory/trajectory.ts";
import { createRandom, type Random } from "../../environment/random.ts";
import { connectsServers } from "./crossServerPlan.ts";
import type { TaskSpecification } from "./taskSpecification.ts";
import { planSlots, type TaskKind } from "./composition.ts";
import { extractGoals } from "./goals.ts";
import { dependencyGraphOf } from "../graph/dependencyGraph.ts";
import { formatStateLog } from "./stateLog.ts";
import { runConversation } from "./stateMachine.ts";
import { createMenu } from "./menu.ts";
import { presets } from "./presets.ts";
import { rejectedFormat, type RejectedAttempt } from "./report.ts";
import { DuplicateFilter, findRejection } from "./filter.ts";
import { heldOutServers, isHeldOut, splitOf } from "./split.ts";
import { Synthesizer, type PreparedConversation, type SynthesisOptions } from "./synthesizer.ts";
import { createCrossServerGraph } from "../graph/crossServerGraph.ts";

/** One attempt at a task: kept, or turned down with the course it took. */
export type AttemptResult =
  | { readonly kind: "accepted"; readonly task: Task }
  | { readonly kind: "rejected"; readonly rejected: RejectedAttempt };

/**
 * Attempts at one place in the file on one server that come to nothing: it has no more of that kind
 * to give.
 */
export const attemptsPerServer = 60;

/**
 * A stream of attempts that ends when there are as many tasks as wanted, or when no server has more
 * to give.
 */
export async function* synthesize(synthesis: SynthesisOptions): AsyncGenerator<AttemptResult> {
  const { signal } = synthesis;
  const servers = selectServers(synthesis);
  const work = { ...synthesis, servers };
  const studio = new Synthesizer(work);
  const kept = new DuplicateFilter();
  const slots = planSynthesisSlots(work);
  let n = 0;
  for (let slot = slots.next(); !slot.done;) {
    const { kind, servers: order } = slot.value;
    let taken: string | undefined;
    for (let i = 0; i < order.length * attemptsPerServer && taken === undefined; i++) {
      signal?.throwIfAborted();
      const home = order[Math.floor(i / attemptsPerServer)]!;
      const attempted = await attemptTask({ n: n++, home, kind }, work, studio, kept);
      if (attempted.kind === "accepted") taken = attempted.task.servers[0]!.name;
      yield attempted;
    }
    if (taken === undefined) return;
    slot = slots.next(taken);
  }
}

/** Where tasks of a split can be made. Throws a `Mistake` where none of the servers has any. */
export function selectServers({ servers, split }: SynthesisOptions): readonly string[] {
  if (split === undefined) return servers;
  const fitting = servers.filter(it => isHeldOut(it) === (split === "heldout-server"));
  if (fitting.length > 0) return fitting;
  throw new UserError(
    `none of ${servers.join(", ")} has tasks of the split ${split}`,
    split === "heldout-server"
      ? `choose some of ${heldOutServers.join(", ")}`
      : "choose others, or leave --split away",
  );
}

/** The places in the file, by the preset's mixture. */
export function planSynthesisSlots({
  preset = "paper",
  count = Infinity,
  split,
  servers,
}: SynthesisOptions): ReturnType<typeof planSlots> {
  const { mixture } = presets[preset];
  // what calls nothing has no chain of tools to hold out
  return planSlots(
    split === "heldout-chain" ? { ...mixture, abstain: 0 } : mixture,
    count,
    servers,
  );
}

interface AttemptTarget {
  readonly n: number;
  readonly home: string;
  readonly kind: TaskKind;
}

export async function attemptTask(
  aim: AttemptTarget,
  synthesis: SynthesisOptions,
  studio: Synthesizer,
  kept: DuplicateFilter,
): Promise<AttemptResult> {
  const { catalog, seed, split, distinct = true } = synthesis;
  const random = createRandom(seed, "task", aim.n);
  const brief = studio.specifyTask(aim, random);
  let log: string[] = [];
  let events: readonly Event[] = [];
  const rejected = (reason: string, why: string): AttemptResult => {
    studio.recordRejected(brief?.chain ?? [], brief?.crossServerPlan);
    const { id, chain, servers } = brief ?? {
      id: `${aim.home}-${seed}-${aim.n}`,
      chain: [],
      servers: [{ name: aim.home }],
    };
    return {
      kind: "rejected",
      rejected: {
        format: rejectedFormat,
        id,
        servers: servers.map(it => it.name),
        kind: aim.kind,
        chain: [...chain],
        reason,
        why,
        log,
        events: events.map(withoutPatches),
      },
    };
  };
  if (!brief) return rejected("chain", "no chain here");
  const stage = studio.prepareConversation(brief, aim.n, random);
  if (typeof stage === "string") return rejected("query", stage);
  const course = await runConversation(stage.setup);
  log = formatStateLog(course.log);
  ({ events } = stage.setup.conversation);
  if (course.rejected !== undefined)
    return rejected(course.rejected.reason, course.rejected.explanation);
  const task = taskOf(brief, stage, log, synthesis, random);
  if (typeof task === "string") return rejected(task, whys[task]);
  if (split !== undefined && task.split !== split) return rejected("split", `it is ${task.split}`);
  const flaw = findRejection(task, catalog);
  if (flaw) return rejected(flaw.reason, flaw.why);
  if (distinct && !kept.addIfNew(task))
    return rejected("duplicate", "a task kept before makes nearly the same calls");
  studio.recordAccepted(task);
  return { kind: "accepted", task };
}

/** Why a finished talk makes no task. */
const whys = {
  "no goals": "no call succeeded",
  "no crossing": "nothing went from one server to another",
  "no obstacle": "what was hidden was not missed",
  "not idle": "something was called where nothing could be done",
  short: "there was nothing more to say after one turn",
  length: "it takes more calls than a task may",
  menu: "what it calls does not fit on a menu",
} as const;

/** The task, or why there is none. */
function taskOf(
  brief: TaskSpecification,
  stage: PreparedConversation,
  log: string[],
  { catalog, menu: kind, preset = "paper" }: SynthesisOptions,
  random: Random,
): Task | keyof typeof whys {
  const { conversation } = stage.setup;
  const servers = brief.servers.map(it => catalog.getServer(it.name));
  const graph = brief.crossServerPlan
    ? createCrossServerGraph(servers)
    : dependencyGraphOf(catalog.getServer(brief.home));
  const goals = extractGoals(conversation.events, graph);
  const turns = turnsOf(conversation.events, goals);
  const calls = conversation.events.filter(it => it.kind === "call");
  const { flaw, info, knobs: more } = stage.summarize();
  if (flaw !== undefined) return flaw;
  if (goals.length === 0 && brief.kind === "normal") return "no goals";
  if (calls.length > 0 && (brief.kind === "irrelevant" || brief.kind === "abstain"))
    return "not idle";
  if (
    brief.crossServerPlan &&
    !connectsServers(goals, brief.crossServerPlan.servers, it => catalog.tools.get(it)!.server)
  )
    return "no crossing";
  if (turns.length < 2 && !brief.isOneTurn && preset === "paper") return "short";
  if (calls.length > presets[preset].maxCalls[kind]) return "length";
  const called = new Set(calls.map(it => it.name));
  const { distractors, onlyOtherServers, stripsEnums } = brief;
  const { menu, hidden, knobs } = createMenu(
    {
      kind,
      servers,
      calledTools: new Set([...called, ...stage.requiredTools]),
      hiddenTools: stage.hiddenTools,
      distractors,
      onlyOtherServers,
      stripsEnums,
    },
    random,
  );
  if (menu.length === 0 || (kind === "chain" && preset === "student" && called.size > menu.length))
    return "menu";
  const header = { ...conversation.header, menu: menu.map(it => it.name) };
  const tools = goals.flatMap(it => it.calls.map(call => call.name));
  return {
    format: taskFormat,
    id: header.task,
    servers: [...header.servers],
    catalog: header.catalog,
    seed: header.seed,
    split: splitOf(tools.length > 0 ? tools : brief.chain, tools.length > 0 ? "" : brief.home),
    kind: brief.kind,
    persona: brief.persona.name,
    now: conversation.now,
    menu,
    hidden,
    turns,
    goals,
    knobs: {
      ...knobs,
      ...more,
      lists: brief.prefersLists,
      failedCalls: calls.filter(it => it.outcome.kind !== "ok").length,
    },
    info,
    chain: [...brief.chain],
    budget: {
      calls: computeCallBudget(goals),
      assistantMessages: Math.max(computeCallBudget(goals) + turns.length, turns.length + 1),
    },
    provenance: { teacher: header.policy, graph: graph.hash, log },
    trajectory: {
      header,
      events: [...conversation.events.map(withoutPatches), { kind: "ended", by: "policy" }],
    },
  };
}

function turnsOf(events: readonly Event[], goals: Task["goals"]): Task["turns"] {
  const turns: Task["turns"] = [];
  for (const event of events) {
    if (event.kind === "user")
      turns.push({
        user: event.text,
        goals: goals.flatMap((it, i) => (it.turn === turns.length ? [i] : [])),
        reply: "",
      });
    else if (event.kind === "assistant" && event.text !== "") turns.at(-1)!.reply = event.text;
  }
  return turns;
}

/** Files keep no patches: replay brings them back. */
function withoutPatches(event: Event): Event {
  if (event.kind !== "call") return event;
  const { patches: _, ...rest } = event;
  return rest;
}
