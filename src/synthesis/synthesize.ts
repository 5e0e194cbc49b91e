/**
 * The pipeline, read top to bottom: brief, stage, conversation, goals, menu, screen. A stream of accepted tasks and of what was
 * rejected and why; the same seed gives the same bytes. Does not know where tasks are written or which model will learn from them.
 */
import { crosses } from "./bridgePlan.ts";
import { worldGraph } from "./worldScene.ts";
import { callBudget, taskFormat, type Task } from "../trajectory/task.ts";
import type { Event } from "../trajectory/trajectory.ts";
import { chanceOf, type Chance } from "../environment/chance.ts";
import { goalsOf } from "./goals.ts";
import { graphOf } from "./graph.ts";
import { logOf } from "./log.ts";
import { converse, type Course } from "./machine.ts";
import { menuFor, menuWithout } from "./perturb.ts";
import { Kept, screened } from "./screen.ts";
import { splitOf } from "./split.ts";
import { Studio, type Brief, type Stage, type Synthesis } from "./studio.ts";

/** One attempt at a task: kept, or turned down with the course it took. */
export type Attempted =
  | { readonly kind: "accepted"; readonly task: Task }
  | { readonly kind: "rejected"; readonly server: string; readonly chain: readonly string[]; readonly reason: string; readonly why: string; readonly log: Course["log"]; readonly crossing?: Brief["crossing"] };

/** Calls in one task: more do not fit what a small student can say. */
const mostCalls = { chain: 6, full: 12 };

/** Attempts in a row that come to nothing: the servers have no more to give. */
const patience = 1000;

/** A stream of attempts that ends only when nothing new comes of them. */
export async function* synthesize(synthesis: Synthesis): AsyncGenerator<Attempted> {
  const studio = new Studio(synthesis);
  const kept = new Kept();
  let barren = 0;
  for (let n = 0; barren < patience; n++) {
    synthesis.signal?.throwIfAborted();
    const attempted = await attempt(n, synthesis, studio, kept);
    barren = attempted.kind === "accepted" ? 0 : barren + 1;
    if (attempted.kind === "accepted") studio.kept(attempted.task);
    else studio.failed(attempted.chain, attempted.crossing);
    yield attempted;
  }
}

async function attempt(n: number, synthesis: Synthesis, studio: Studio, kept: Kept): Promise<Attempted> {
  const { seed, servers, catalog, split, distinct = true } = synthesis;
  const chance = chanceOf(seed, "task", n);
  const brief = studio.brief(n, chance);
  const about = { server: servers[n % servers.length]!, chain: brief?.chain ?? [], ...(brief?.crossing ? { crossing: brief.crossing } : {}) };
  const rejected = (reason: string, why: string, log: Course["log"] = []): Attempted => ({ kind: "rejected", ...about, reason, why, log });
  if (!brief) return rejected("chain", "no chain here");
  const stage = studio.stage(brief, n, chance);
  const course = await converse(stage.conversation);
  if (course.rejected !== undefined) return rejected(course.rejected.reason, course.rejected.why, course.log);
  const task = taskOf(brief, stage, course, synthesis, chance);
  if (typeof task === "string") return rejected(task, task, course.log);
  if (split !== undefined && task.split !== split) return rejected("split", `it is ${task.split}`, course.log);
  const flaw = screened(task, catalog);
  if (flaw) return rejected(flaw.reason, flaw.why, course.log);
  if (distinct && !kept.add(task)) return rejected("duplicate", "a task kept before makes nearly the same calls", course.log);
  return { kind: "accepted", task };
}

/** The task, or why there is none. */
function taskOf(brief: Brief, { conversation: { talk }, wished, author }: Stage, course: Course, { catalog, menu: kind }: Synthesis, chance: Chance): Task | string {
  const graph = brief.crossing ? worldGraph(brief.servers.map(it => catalog.server(it.name))) : graphOf(catalog.server(brief.home));
  const goals = goalsOf(talk.events, graph);
  const isIrrelevant = brief.kind === "irrelevant";
  if (goals.length === 0 && !isIrrelevant) return "no goals";
  if (brief.crossing && !crosses(goals, it => catalog.tools.get(it)!.server)) return "no crossing";
  const calls = talk.events.filter(it => it.kind === "call");
  if (calls.length > mostCalls[kind]) return "length";
  const servers = brief.servers.map(it => catalog.server(it.name));
  const called = new Set(calls.map(it => it.name));
  const { menu, hidden, knobs } = isIrrelevant ? menuWithout(wished, servers, kind, chance) : menuFor(called, servers, kind, chance);
  if (menu.length === 0 || (kind === "chain" && called.size > menu.length)) return "menu";
  const header = { ...talk.header, menu: menu.map(it => it.name) };
  const turns = turnsOf(talk.events, goals);
  return {
    format: taskFormat,
    id: header.task,
    servers: [...header.servers],
    catalog: header.catalog,
    seed: header.seed,
    split: splitOf(goals.length > 0 ? goals.flatMap(it => it.calls.map(call => call.name)) : brief.chain),
    kind: brief.kind,
    persona: brief.persona.name,
    now: talk.now,
    menu,
    hidden,
    turns,
    goals,
    knobs: { ...knobs, ...(brief.crossing ? { across: brief.crossing.servers.length, bridges: brief.crossing.bridges.join(", ") } : {}), lists: brief.listsFirst, failedCalls: calls.filter(it => it.outcome !== "ok").length },
    info: brief.info === "missing" && !author.hasWithheld ? "complete" : brief.info,
    chain: [...brief.chain],
    budget: { calls: callBudget(goals), assistantMessages: Math.max(callBudget(goals) + turns.length, turns.length + 1) },
    provenance: { teacher: "graph", graph: graph.hash, log: logOf(course.log) },
    trajectory: { header, events: [...talk.events.map(withoutPatches), { kind: "ended", by: "policy" }] },
  };
}

function turnsOf(events: readonly Event[], goals: Task["goals"]): Task["turns"] {
  const turns: Task["turns"] = [];
  for (const event of events) {
    if (event.kind === "user") turns.push({ user: event.text, goals: goals.flatMap((it, i) => (it.turn === turns.length ? [i] : [])), reply: "" });
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
