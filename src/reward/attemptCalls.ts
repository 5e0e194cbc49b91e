/** The calls of an attempt with their turns and what their results show, for resolving goals. */
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import type { Tool } from "../environment/server.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import type { Goal, GoalCall, Task } from "../trajectory/task.ts";
import type { Event } from "../trajectory/trajectory.ts";
import { EntityNames } from "./entityNames.ts";
import { countDueCalls, listTurns } from "../trajectory/oneTurn.ts";
import { indexResult, type ResultIndex, type WantedTexts } from "../trajectory/resultIndex.ts";
import { areEqual, getPropertySchema } from "../trajectory/valueMatching.ts";

interface AttemptCall {
  readonly name: string;
  readonly arguments: JsonObject;
  /** Undefined for a call that failed. */
  readonly result: Json | undefined;
  /** Undefined for a name that is not a tool. */
  readonly tool: Tool | undefined;
  readonly turn: number;
  /** All that the user has said before the call. */
  readonly userText: string;
}

export class AttemptCalls {
  readonly calls: readonly AttemptCall[];
  readonly #attempt: Attempt;
  readonly #wanted: WantedTexts;
  readonly #indexes: (ResultIndex | undefined)[] = [];

  constructor(attempt: Attempt, aliases: WantedTexts["aliases"]) {
    const { task, trajectory, tools } = attempt;
    this.#attempt = attempt;
    this.calls = listAttemptCalls(task, trajectory.events, tools);
    this.#wanted = { texts: listWantedTexts(task.goals), aliases };
  }

  /** The names of entities, for texts about the attempt. */
  get names(): EntityNames {
    return new EntityNames(this.#attempt);
  }

  /** The positions of the calls that succeeded. */
  listSuccesses(): number[] {
    return this.calls.flatMap((it, i) => (it.result === undefined ? [] : [i]));
  }

  /** What the result of a call that succeeded shows. */
  getIndex(call: number): ResultIndex {
    const { result, arguments: args, tool } = this.calls[call]!;
    return (this.#indexes[call] ??= indexResult(result!, args, this.#wanted, tool));
  }

  /** The position of the first call after the turn in which the goals of a turn are due. */
  findEnd(turn: number): number {
    const { task, trajectory } = this.#attempt;
    return countDueCalls(task, trajectory.events, turn);
  }

  isWrite(call: number): boolean {
    return this.calls[call]!.tool?.effect === "write";
  }

  /** Whether a call has the name of another and equal arguments. */
  equals(call: number, { name, arguments: args }: Pick<GoalCall, "name" | "arguments">): boolean {
    const own = this.calls[call]!;
    return (
      own.name === name &&
      Object.keys(own.arguments).length === Object.keys(args).length &&
      this.hasEqual(call, args, Object.keys(args))
    );
  }

  /** Whether some of a call's arguments equal others. Generated ids are compared by their alias. */
  hasEqual(call: number, args: JsonObject, keys: readonly string[]): boolean {
    const { arguments: own, tool } = this.calls[call]!;
    return keys.every(
      key =>
        Object.hasOwn(own, key) &&
        Object.hasOwn(args, key) &&
        areEqual(
          this.#replaceAliases(own[key]!),
          args[key]!,
          getPropertySchema(tool?.inputSchema, key),
        ),
    );
  }

  /** Whether the arguments of a call contain a value. */
  usesValue(call: number, text: string): boolean {
    return containsValue(this.calls[call]!.arguments, text, this.#wanted.aliases);
  }

  #replaceAliases(value: Json): Json {
    return typeof value === "string" ? (this.#wanted.aliases.get(value) ?? value) : value;
  }
}

/** Whether a value contains a plain value that reads like the text. */
export function containsValue(
  value: Json,
  text: string,
  aliases: WantedTexts["aliases"] = new Map(),
): boolean {
  if (value !== null && typeof value === "object")
    return Object.values<Json>(value).some(it => containsValue(it, text, aliases));
  const own = String(value);
  return own === text || aliases.get(own) === text;
}

function listAttemptCalls(
  task: Task,
  events: readonly Event[],
  tools: Attempt["tools"],
): AttemptCall[] {
  const turns = listTurns(task, events);
  let userText = "";
  return events.flatMap((event, i): AttemptCall[] => {
    if (event.kind === "user") userText += `\n${event.text}`;
    if (event.kind !== "call") return [];
    const { name, arguments: args, outcome } = event;
    return [
      {
        name,
        arguments: isJsonObject(args) ? args : {},
        result: outcome.kind === "ok" ? outcome.value : undefined,
        tool: tools.get(name),
        turn: turns[i]!,
        userText,
      },
    ];
  });
}

const wantedTexts = new WeakMap<readonly Goal[], ReadonlySet<string>>();

/** The ids and values that the goals ask about. Cached, because many attempts share a task. */
function listWantedTexts(goals: readonly Goal[]): ReadonlySet<string> {
  let texts = wantedTexts.get(goals);
  if (!texts) {
    const calls = goals.flatMap(it => it.calls);
    const facts = calls.flatMap(it => it.facts ?? []);
    const ids = facts.flatMap(it => [
      ...(it.entity === undefined ? [] : [it.entity]),
      ...(it.of ?? []),
    ]);
    const values = calls.flatMap(it => it.values ?? []).map(String);
    wantedTexts.set(goals, (texts = new Set([...ids, ...values])));
  }
  return texts;
}
