/**
 * One attempt of a solver: its plan, what it has seen so far, and the messages it can send. A call
 * made through `follow` takes only ids and values that a result or the user has shown; what has not
 * been shown is looked up first.
 */
import type { Call } from "../../environment/outcome.ts";
import type { JsonObject } from "../../environment/json.ts";
import { createRandom, type Random } from "../../environment/random.ts";
import type { Tool } from "../../environment/server.ts";
import type { AssistantMessage } from "../../policy/policy.ts";
import type { Task } from "../../trajectory/task.ts";
import { appliesTo, isAgreement } from "../../trajectory/taskRules.ts";
import type { CallEvent, Event } from "../../trajectory/trajectory.ts";
import { Knowledge, type ShownResult } from "../../trajectory/knowledge.ts";
import { getPlan, type PlannedCall, type PlannedTurn } from "./plan.ts";
import { findEntityValues } from "../../trajectory/entities.ts";
import { isShown } from "./shown.ts";
import { replaceStrings } from "./values.ts";
import { listScalars, type Scalar } from "../../trajectory/valueMatching.ts";

/** Messages of a solver, each of which is answered by the events after it. */
export type Steps<T = void> = Generator<AssistantMessage, T, readonly Event[]>;

/** The most messages in which a solver tells a user who keeps answering that it is done. */
const maxReplies = 3;

export class SolverRun {
  readonly task: Task;
  readonly turns: readonly PlannedTurn[];
  readonly knowledge = new Knowledge();
  readonly random: Random;
  /** Lists that did not show everything even with their largest limit, by tool and arguments. */
  readonly cutOffLists = new Set<string>();
  /** How many choices the solver had; see `choose`. */
  choices = 1;
  /** Why the solver could not go on as planned. */
  problem: string | undefined;
  /** Ids that the teacher's calls generated, and the ids that the solver's calls generated. */
  readonly #ownIds = new Map<string, string>();

  readonly #choice: number | undefined;
  /** The tools that the user was asked about last, and those it has agreed to in this turn. */
  #asked: readonly string[] = [];
  readonly #confirmed = new Set<string>();
  #tools: ReadonlyMap<string, Tool>;

  /** `choice` is the number of what the solver chooses; by the task's seed if absent. */
  constructor(task: Task, tools: readonly Tool[], name: string, choice?: number) {
    this.#choice = choice;
    this.task = task;
    this.#tools = mapByName(tools);
    this.turns = getPlan(task, this.#tools);
    this.random = createRandom(task.seed, "solver", name, task.id);
  }

  /** The tools offered so far, by name. */
  get tools(): ReadonlyMap<string, Tool> {
    return this.#tools;
  }

  /** Chooses what the solver does otherwise; undefined if there is nothing. */
  choose<T>(list: readonly T[]): T | undefined {
    this.choices = Math.max(1, list.length);
    return list[this.#choice ?? this.random.integer(list.length)];
  }

  /** Learns from the events since the last message; `tools` are those offered now. */
  readEvents(events: readonly Event[], tools: readonly Tool[]): void {
    if (tools.length !== this.#tools.size) this.#tools = mapByName(tools);
    for (const it of events) {
      if (it.kind === "user" && !it.answers) this.#confirmed.clear();
      if (it.kind === "user" && it.answers && isAgreement(it.text))
        for (const asked of this.#asked) this.#confirmed.add(asked);
      if (it.kind === "user") this.knowledge.learnUserText(it.text);
      if (it.kind !== "call" || it.outcome.kind !== "ok") continue;
      const { name, arguments: args } = it;
      const tool = this.tools.get(name);
      this.knowledge.learnResult(
        { name, arguments: args as JsonObject, value: it.outcome.value },
        tool && { tool },
      );
    }
  }

  /** Makes calls in one message, after asking the user where a rule demands it. */
  *call(...calls: readonly Call[]): Steps<readonly CallEvent[]> {
    if (calls.length === 0) return [];
    const ruled = calls.filter(it => this.needsConfirmation(it)).map(it => it.name);
    this.#asked = [...new Set(ruled)].filter(it => !this.#confirmed.has(it));
    if (this.#asked.length > 0) {
      const actions = this.#asked.map(it => getBareName(it, this.tools).replaceAll("_", " "));
      yield { text: `Please confirm this: shall I ${actions.join(" and ")}?`, calls: [] };
    }
    return yield* this.callAtOnce(...calls);
  }

  /** Whether a rule of the task wants a call confirmed. */
  needsConfirmation(call: Call): boolean {
    const rules = this.task.policy?.rules ?? [];
    return rules.some(it => it.demands === "confirm" && appliesTo(it, call));
  }

  /** Makes calls in one message and asks nobody. */
  *callAtOnce(...calls: readonly Call[]): Steps<readonly CallEvent[]> {
    const events = yield { text: "", calls };
    return events.filter(it => it.kind === "call");
  }

  /** Says the last words of a turn; the user may answer if they sound like a question. */
  *reply(text: string): Steps {
    let events = yield { text, calls: [] };
    for (let i = 0; i < maxReplies && events.some(it => it.kind === "user" && it.answers); i++)
      events = yield { text: "That is all that I can do.", calls: [] };
  }

  /** Makes planned calls in one message, after looking up what nothing has shown yet. */
  *follow(...planned: readonly PlannedCall[]): Steps {
    const ready: PlannedCall[] = [];
    for (const it of planned) if (yield* this.lookUpUnseen(it)) ready.push(it);
    yield* this.make(...ready);
  }

  /** Makes planned calls in one message, whether their values have been shown or not. */
  *make(...planned: readonly PlannedCall[]): Steps {
    this.#learnAllIds(planned, yield* this.call(...planned.map(it => this.toCall(it))));
  }

  /** The same without asking anybody. */
  *makeAtOnce(...planned: readonly PlannedCall[]): Steps {
    this.#learnAllIds(planned, yield* this.callAtOnce(...planned.map(it => this.toCall(it))));
  }

  #learnAllIds(planned: readonly PlannedCall[], made: readonly CallEvent[]): void {
    for (const [i, it] of made.entries()) this.#learnOwnIds(planned[i]!, it);
  }

  /** A planned call with the ids that the solver's own calls generated. */
  toCall({ name, arguments: args }: PlannedCall): Pick<PlannedCall, "name" | "arguments"> {
    return { name, arguments: replaceStrings(args, this.#ownIds) as JsonObject };
  }

  /** The ids that a planned call takes, without those that people know and say. */
  listIds(planned: PlannedCall): readonly string[] {
    const { name, arguments: args } = this.toCall(planned);
    const tool = this.tools.get(name);
    const { ids } = tool ? findEntityValues(tool.inputSchema, args) : { ids: [] };
    return ids.filter(it => !it.isSpoken).map(it => it.value);
  }

  /** The ids and taken values of a planned call that neither a result nor the user has shown. */
  listUnseen(planned: PlannedCall): readonly Scalar[] {
    const taken = [...planned.taken].map(it =>
      typeof it === "string" ? (this.#ownIds.get(it) ?? it) : it,
    );
    const values = new Set([...this.listIds(planned), ...taken]);
    return [...values].filter(it => !this.knowledge.hasSeen(it));
  }

  /** Whether everything that a planned call takes has been shown, after looking it up if not. */
  *lookUpUnseen(planned: PlannedCall, depth = 0): Steps<boolean> {
    for (const value of this.listUnseen(planned)) {
      if (this.knowledge.hasSeen(value)) continue;
      const source = this.#findSource(value, planned);
      if (source && depth < 4 && (yield* this.lookUpUnseen(source, depth + 1)))
        yield* this.make(source);
    }
    const unseen = this.listUnseen(planned);
    if (unseen.length === 0) return true;
    this.problem ??= `${planned.name} needs ${JSON.stringify(unseen[0])}, which nothing has shown`;
    return false;
  }

  /** The last planned read before a call whose recorded result has a value. */
  #findSource(value: Scalar, before: PlannedCall): PlannedCall | undefined {
    return this.turns
      .flatMap(it => it.calls)
      .filter(it => it.goal < before.goal && it.isRead)
      .findLast(it => it.result !== undefined && [...listScalars(it.result)].includes(value));
  }

  /** Whether results together show what a planned read is for. */
  isShownBy(planned: PlannedCall, results: readonly ShownResult[]): boolean {
    return isShown(planned, results, this.tools.get(planned.name));
  }

  /** Makes a read, unless its result is known and still right. Undefined if it fails. */
  *read(call: Pick<ShownResult, "name" | "arguments">): Steps<ShownResult | undefined> {
    const earlier = this.knowledge.findCurrent(call);
    if (earlier) return earlier;
    const [made] = yield* this.call(call);
    return made?.outcome.kind === "ok" ? { ...call, value: made.outcome.value } : undefined;
  }

  /** Finds out which ids of the solver's result correspond to generated ids of the teacher's. */
  #learnOwnIds({ name, result }: PlannedCall, made: CallEvent): void {
    const tool = this.tools.get(name);
    if (made.outcome.kind !== "ok" || result === undefined || !tool || tool.effect === "read")
      return;
    const theirs = findEntityValues(tool.outputSchema, result).ids;
    const own = findEntityValues(tool.outputSchema, made.outcome.value).ids;
    if (own.length !== theirs.length) return;
    for (const [i, it] of theirs.entries())
      if (it.value !== own[i]!.value) this.#ownIds.set(it.value, own[i]!.value);
  }
}

const mapByName = (tools: readonly Tool[]): ReadonlyMap<string, Tool> =>
  new Map(tools.map(it => [it.name, it]));

/** The name of a tool without that of its server. */
const getBareName = (name: string, tools: ReadonlyMap<string, Tool>): string =>
  name.slice((tools.get(name)?.server.length ?? -1) + 1);
