/**
 * Users refer only to what they have named or been told, and say what stays the same. Assistants
 * look up only what somebody has named. Read from the tasks alone.
 */
import { beforeAll, expect, test } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../../src/environment/json.ts";
import type { JsonSchema } from "../../../src/environment/server.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import type { CallEvent } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";

/** A call with all that was said up to it. */
interface Moment {
  readonly task: Task;
  readonly call: CallEvent & { readonly arguments: JsonObject };
  /** What the user said in this turn, in the turns before, and what the assistant replied. */
  readonly turnText: string;
  readonly earlierText: string;
  readonly replies: string;
  /** The texts beside each id in results so far: its name, or what describes it. */
  readonly descriptions: ReadonlyMap<string, ReadonlySet<string>>;
  readonly earlierCalls: readonly (CallEvent & { readonly turnText: string })[];
}

function* listMoments(task: Task): Generator<Moment> {
  const descriptions = new Map<string, Set<string>>();
  const earlierCalls: Moment["earlierCalls"][number][] = [];
  let [turnText, earlierText, replies] = ["", "", ""];
  for (const event of task.trajectory.events) {
    if (event.kind === "user") {
      earlierText += `\n${turnText}`;
      turnText = event.text;
    } else if (event.kind === "assistant") replies += `\n${event.text}`;
    else if (event.kind === "call") {
      const call = event as Moment["call"];
      yield { task, call, turnText, earlierText, replies, descriptions, earlierCalls };
      earlierCalls.push({ ...event, turnText });
      if (event.outcome.kind === "ok") describe(event.outcome.value, descriptions);
    }
  }
}

function describe(value: Json, descriptions: Map<string, Set<string>>): void {
  if (Array.isArray(value)) for (const it of value) describe(it as Json, descriptions);
  else if (isJsonObject(value)) {
    const texts = Object.values(value).filter(it => typeof it === "string");
    for (const id of texts)
      descriptions.set(id, new Set([...(descriptions.get(id) ?? []), ...texts]));
    for (const it of Object.values(value)) describe(it, descriptions);
  }
}

/** The ids in a call's arguments that nobody says. */
const listIds = ({ name, arguments: args }: Moment["call"]): string[] => {
  const { inputSchema } = catalog.tools.get(name)!;
  return Object.entries(inputSchema["properties"] as Record<string, JsonSchema>).flatMap(
    ([key, schema]) =>
      JSON.stringify(schema).includes('"x-entity"') && !JSON.stringify(schema).includes("x-spoken")
        ? [args[key] ?? []].flat().filter(it => typeof it === "string")
        : [],
  );
};

/** Whether a text has a word of three letters or more, or a number, of one of the descriptions. */
const names = (text: string, descriptions: Iterable<string>): boolean =>
  [...descriptions].some(it =>
    it
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .some(word => (word.length > 2 || /\d/.test(word)) && text.toLowerCase().includes(word)),
  );

const isLookUp = ({ task, call }: Moment): boolean =>
  task.goals.some(goal =>
    goal.calls.some(
      it =>
        it.for === "feeds" &&
        it.name === call.name &&
        JSON.stringify(it.arguments) === JSON.stringify(call.arguments),
    ),
  );

/** Tests what users and assistants refer to. */
export function testReferences(readTasks: () => readonly Task[]): void {
  let tasks: readonly Task[];
  beforeAll(() => {
    tasks = readTasks();
  });
  test("look-ups begin with what somebody has named", () => {
    const unnamed = tasks.flatMap(task =>
      [...listMoments(task)].filter(isLookUp).flatMap(it => {
        const { turnText, earlierText, replies, descriptions } = it;
        const said = `${turnText}\n${earlierText}\n${replies}`;
        return listIds(it.call)
          .filter(id => !names(said, descriptions.get(id) ?? [id]))
          .map(id => `${task.id} ${it.call.name} ${id}: ${turnText}`);
      }),
    );
    expect(unnamed).toEqual([]);
  });

  test("“that card” is a card that the user has named or been told of", () => {
    const dangling = tasks.flatMap(task =>
      [...listMoments(task)].flatMap(it => {
        const { call, turnText, earlierText, replies, descriptions, earlierCalls } = it;
        // not as in "the place that made the order"
        if (!/(?<!\bthe \w+ )\bthat (?!is\b|was\b|says\b)[a-z]+\b/.test(turnText)) return [];
        const said = `${turnText}\n${earlierText}\n${replies}`;
        const made = JSON.stringify(
          earlierCalls.filter(it => catalog.tools.get(it.name)!.effect === "write"),
        );
        return listIds(call)
          .filter(id => !made.includes(`"${id}"`) && !names(said, descriptions.get(id) ?? [id]))
          .map(id => `${task.id} ${call.name} ${id}: ${turnText}`);
      }),
    );
    expect(dangling).toEqual([]);
  });

  test("a follow-up that takes over an optional argument says so", () => {
    const silent = tasks.flatMap(task =>
      [...listMoments(task)].flatMap(({ call, turnText, earlierCalls }) => {
        const before = earlierCalls.findLast(it => it.name === call.name);
        const isFollowUp =
          turnText.length < 60 && /^(\w+[,.] )?(and|then|what about|i meant)\b/i.test(turnText);
        if (!before || before.turnText === turnText || !isFollowUp) return [];
        const { inputSchema } = catalog.tools.get(call.name)!;
        const required = (inputSchema["required"] ?? []) as readonly string[];
        const kept = Object.entries(call.arguments).filter(
          ([key, value]) =>
            !required.includes(key) &&
            !listIds({ ...call, arguments: { [key]: value } }).length &&
            JSON.stringify(value) ===
              JSON.stringify((before.arguments as JsonObject)[key] ?? null) &&
            !names(turnText, [JSON.stringify(value)]),
        );
        return kept.length > 0 && !/\b(same|again|as before)\b/.test(turnText)
          ? [`${task.id} ${kept.map(([key]) => key).join(", ")}: ${turnText}`]
          : [];
      }),
    );
    expect(silent).toEqual([]);
  });
}
