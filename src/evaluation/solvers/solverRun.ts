/**
 * One attempt of a solver: its plan, what it has seen so far, and the messages it can send. A call
 * made through `follow` takes only ids and values that a result or the user has shown; what has not
 * been shown is looked up first.
 */
import type { Call } from "../../environment/outcome.ts";
import { type JsonObject, canonicalJson, type Json, isJsonObject } from "../../environment/json.ts";
import { createRandom, type Random } from "../../environment/random.ts";
import type { Tool } from "../../environment/server.ts";
import type { AssistantMessage } from "../../policy/policy.ts";
import { listProofs, type Task, type Fact } from "../../trajectory/task.ts";
import { appliesTo, isAgreement } from "../../trajectory/taskRules.ts";
import {
  type CallEvent,
  type Event,
  getCallValue,
  listCalls,
} from "../../trajectory/trajectory.ts";
import { Knowledge, type ShownResult } from "../../trajectory/knowledge.ts";
import { findEntityValues, type EntityId, isEntityId } from "../../trajectory/entities.ts";
import {
  listScalars,
  type Scalar,
  isDistinctive,
  containsToken,
} from "../../trajectory/valueMatching.ts";
import { indexResult, showsFact, showsValue } from "../../trajectory/resultIndex.ts";
import { listArguments } from "./toolSchemas.ts";

/** Messages of a solver, each of which is answered by the events after it. */
export type Steps<T = void> = Generator<AssistantMessage, T, readonly Event[]>;

type Proof = NonNullable<Task["turns"][number]["proofs"]>[number];

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
  /**
   * Whether the solver does anything in its own way, if that is not to be judged by its calls: what
   * it says, or what it undoes again.
   */
  differs: boolean | undefined;
  /** What the user said last. */
  userText = "";
  /** Why the solver could not go on as planned. */
  problem: string | undefined;
  /** Ids that the teacher's calls generated, and the ids that the solver's calls generated. */
  readonly #ownIds = new Map<EntityId, EntityId>();

  readonly #choice: number | undefined;
  /** The tools that the user was asked about last, and those it has agreed to in this turn. */
  #asked: readonly string[] = [];
  readonly #confirmed = new Set<string>();
  /** The index of the user's turn, and what the user has said in it. */
  #turn = -1;
  #heard: string[] = [];
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
      if (it.kind === "user" && !it.answers) {
        this.#confirmed.clear();
        this.#heard = [];
        this.#turn++;
      }
      if (it.kind === "user") this.#heard.push(it.text);
      if (it.kind === "user" && it.answers && isAgreement(it.text))
        for (const asked of this.#asked) this.#confirmed.add(asked);
      if (it.kind === "user") {
        this.userText = it.text;
        this.knowledge.learnUserText(it.text);
      }
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
    const rules = this.task.policy?.rules.filter(
      rule => rule.demands === "proof" && calls.some(it => appliesTo(rule, it)),
    );
    for (const it of this.#listUnsaid(proof => rules?.some(of => of.id === proof.rule) === true))
      yield this.#askFor(it);
    const ruled = calls.filter(it => this.needsConfirmation(it)).map(it => it.name);
    this.#asked = [...new Set(ruled)].filter(it => !this.#confirmed.has(it));
    if (this.#asked.length > 0) {
      const actions = this.#asked.map(it => getBareName(it, this.tools).replaceAll("_", " "));
      yield { text: `Please confirm this: shall I ${actions.join(" and ")}?`, calls: [] };
    }
    return yield* this.callAtOnce(...calls);
  }

  /** What the user of this turn says if asked for a proof, and has not said. */
  #listUnsaid(isMeant: (proof: Proof) => boolean): readonly Proof[] {
    return listProofs(this.task, this.#turn).filter(
      proof => isMeant(proof) && !this.#heard.some(it => it.includes(proof.say)),
    );
  }

  #askFor({ about }: Proof): AssistantMessage {
    return { text: `Please tell me one thing first: what about the ${about[0]!}?`, calls: [] };
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
    // what is refused for want of a proof is asked for first
    for (const it of this.#listUnsaid(it => it.isAccepted !== true)) yield this.#askFor(it);
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
    return { name, arguments: replaceIds(args, this.#ownIds) as JsonObject };
  }

  /** The ids that a planned call takes, without those that people know and say. */
  listIds(planned: PlannedCall): readonly EntityId[] {
    const { name, arguments: args } = this.toCall(planned);
    const tool = this.tools.get(name);
    const { ids } = tool ? findEntityValues(tool.inputSchema, args) : { ids: [] };
    return ids.filter(it => !it.isSpoken).map(it => it.value);
  }

  /** The ids and taken values of a planned call that neither a result nor the user has shown. */
  listUnseen(planned: PlannedCall): readonly Scalar[] {
    const taken = [...planned.taken].map(it =>
      isEntityId(it) ? (this.#ownIds.get(it) ?? it) : it,
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

// What a solver has to do in a task: its goals as calls, turn by turn, with the results that the
// teacher saw and the values that flow from one call to another.

export interface PlannedCall {
  readonly goal: number;
  readonly turn: number;
  readonly name: string;
  readonly arguments: JsonObject;
  /** Keys of arguments that are free text. */
  readonly mask: readonly string[];
  readonly isRead: boolean;
  /** The result that the teacher saw; undefined if the task has no trajectory of its teacher. */
  readonly result: Json | undefined;
  /** The values of the result that later calls take and that the user has not said. */
  readonly flows: ReadonlySet<Scalar>;
  /** What the user asked for; undefined if the task does not say, as older ones. */
  readonly facts: readonly Fact[] | undefined;
  /** The values of earlier results that the arguments take and that the user has not said. */
  readonly taken: ReadonlySet<Scalar>;
  /** Goals that must come before. */
  readonly after: ReadonlySet<number>;
  /** The user did not ask for it: its result only supplies arguments of later calls. */
  readonly isLookUp: boolean;
}

interface PlannedTurn {
  /** What the user says, and what the teacher answered when all was done. */
  readonly user: string;
  readonly reply: string;
  readonly calls: readonly PlannedCall[];
}

const plans = new WeakMap<Task, readonly PlannedTurn[]>();

/** The plan of a task by its goals; `tools` are those that it offers. */
function getPlan(task: Task, tools: ReadonlyMap<string, Tool>): readonly PlannedTurn[] {
  let plan = plans.get(task);
  if (!plan) plans.set(task, (plan = createPlan(task, tools)));
  return plan;
}

function createPlan(
  { goals, turns, trajectory }: Task,
  tools: ReadonlyMap<string, Tool>,
): readonly PlannedTurn[] {
  const results = collectResults({ goals, trajectory });
  const drafts = goals.flatMap(({ calls, after, turn }, goal) =>
    calls.map((call, part) => {
      const userText = turns
        .slice(0, turn + 1)
        .map(it => it.user)
        .join("\n");
      const inputSchema = tools.get(call.name)?.inputSchema ?? {};
      const ids = new Set(findEntityValues(inputSchema, call.arguments).ids.map(it => it.value));
      const unsaid = [...listScalars(call.arguments)].filter(
        it =>
          (isDistinctive(it) || (typeof it === "number" && ids.has(it))) &&
          !containsToken(userText, String(it)),
      );
      return {
        goal,
        turn,
        name: call.name,
        arguments: call.arguments,
        mask: call.mask ?? [],
        purpose: call.for,
        values: call.values,
        facts: call.facts,
        // a tool that a later turn adds is not among the tools; only reads have a purpose
        isRead: call.for !== undefined || tools.get(call.name)?.effect === "read",
        result: results[goal]![part],
        unsaid,
        after: new Set(after.map(it => it.goal)),
      };
    }),
  );
  const planned = drafts.map(({ unsaid, purpose, values, ...call }): PlannedCall => {
    const own = new Set(call.result === undefined ? [] : listScalars(call.result));
    const users = drafts.filter(it => it.goal > call.goal && it.after.has(call.goal));
    const flows = new Set(users.flatMap(it => it.unsaid.filter(value => own.has(value))));
    const taken = unsaid.filter(it =>
      drafts.some(
        other =>
          call.after.has(other.goal) &&
          other.result !== undefined &&
          [...listScalars(other.result)].includes(it),
      ),
    );
    const feedsOwnTurn = users.some(
      it => it.turn === call.turn && it.unsaid.some(value => flows.has(value)),
    );
    const isLookUp = purpose === undefined ? call.isRead && feedsOwnTurn : purpose === "feeds";
    return {
      ...call,
      flows: new Set([...flows, ...(values ?? [])]),
      taken: new Set(taken),
      isLookUp,
    };
  });
  return turns.map(({ user, reply }, turn) => ({
    user,
    reply,
    calls: planned.filter(it => it.turn === turn),
  }));
}

/** The teacher's result of each goal call: that of its next equal call. */
function collectResults({
  goals,
  trajectory,
}: Pick<Task, "goals" | "trajectory">): readonly (readonly (Json | undefined)[])[] {
  const made = listCalls(trajectory).filter(it => it.outcome.kind === "ok");
  const used = new Set<number>();
  return goals.map(goal =>
    goal.calls.map(call => {
      const wanted = canonicalJson(call.arguments);
      const at = made.findIndex(
        (it, i) => !used.has(i) && it.name === call.name && canonicalJson(it.arguments) === wanted,
      );
      if (at < 0) return undefined;
      used.add(at);
      return getCallValue(made[at]!);
    }),
  );
}

// Decides whether results show what a planned read is for, as the success of an attempt does.

/**
 * Whether results together show the values that later calls take, the facts that the user asked for
 * or, where the task does not name them, all of the teacher's result.
 */
function isShown(
  planned: PlannedCall,
  results: readonly ShownResult[],
  tool: Tool | undefined,
): boolean {
  const { result, facts, flows } = planned;
  if (result === undefined) return false;
  if (planned.isLookUp) {
    const scalars = new Set(results.flatMap(it => [...listScalars(it.value)]));
    return [...flows].every(it => scalars.has(it));
  }
  if (!facts) return results.some(it => showsAll(it.value, result));
  return (
    facts.length > 0 && facts.every(fact => results.some(it => shows(it, fact, planned, tool)))
  );
}

/**
 * A fact that is about no entity, such as a travel time, depends on the call: only a result of the
 * planned tool with the same required arguments shows it.
 */
function shows(
  made: ShownResult,
  fact: Fact,
  planned: PlannedCall,
  tool: Tool | undefined,
): boolean {
  const { entity, of = [], field, value } = fact;
  const args = made.arguments;
  if (entity !== undefined) {
    const wanted = { texts: new Set([entity, ...of]), aliases: new Map<string, string>() };
    return showsFact(indexResult(made.value, args, wanted, tool), fact);
  }
  if (made.name !== planned.name || !tool || field === undefined) return false;
  return haveSameRequired(tool, args, planned.arguments) && showsValue(made.value, field, value!);
}

const haveSameRequired = (tool: Tool, a: JsonObject, b: JsonObject): boolean =>
  listArguments(tool).every(
    ({ key, isRequired }) => !isRequired || canonicalJson(a[key]) === canonicalJson(b[key]),
  );

/** What a teacher's call showed, as a result of one's own. */
export const toShownResult = ({ name, arguments: args, result }: PlannedCall): ShownResult[] =>
  result === undefined ? [] : [{ name, arguments: args, value: result }];

// Compares results by what they show: their rows and their plain values.

/** The plain fields of every object in a value, an object each. */
export function listRows(value: Json): JsonObject[] {
  const rows: JsonObject[] = [];
  collectRows(value, rows);
  return rows;
}

function collectRows(value: Json, rows: JsonObject[]): void {
  if (Array.isArray(value)) for (const it of value) collectRows(it as Json, rows);
  else if (isJsonObject(value)) {
    const fields = Object.entries(value);
    const plain = fields.filter(([, it]) => it === null || typeof it !== "object");
    if (plain.length > 0) rows.push(Object.fromEntries(plain));
    for (const [, it] of fields) collectRows(it, rows);
  }
}

/** Whether a value shows every row and every plain value of another one. */
function showsAll(value: Json, wanted: Json): boolean {
  const rows = listRows(value);
  const scalars = new Set(listScalars(value));
  return (
    [...listScalars(wanted)].every(it => scalars.has(it)) &&
    listRows(wanted).every(row => rows.some(it => contains(it, row)))
  );
}

const contains = (row: JsonObject, part: JsonObject): boolean =>
  Object.entries(part).every(([key, it]) => Object.hasOwn(row, key) && row[key] === it);

/** Replaces ids in a value, wherever they are. */
export function replaceIds(value: Json, replacements: ReadonlyMap<EntityId, EntityId>): Json {
  if (replacements.size === 0) return value;
  if (isEntityId(value)) return replacements.get(value) ?? value;
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(it => replaceIds(it as Json, replacements));
  return Object.fromEntries(
    Object.entries(value).map(([key, it]) => [key, replaceIds(it, replacements)]),
  );
}
