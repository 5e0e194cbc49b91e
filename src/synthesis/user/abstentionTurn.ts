/**
 * Talks of one turn in which nothing is to be called, of the three sorts of When2Call: nothing on
 * offer can do it, a value is missing that only the user knows, or no tool is needed. Knows what is
 * said, not what is on the menu.
 */
import type { Random } from "../../environment/random.ts";
import type { Abstentions } from "../text/abstentions.ts";
import { UserSimulator } from "./userSimulator.ts";
import type { Persona } from "../text/personas.ts";
import { removeAllMarks } from "../text/valueMarks.ts";
import { chooseAlternatives, fillSlots } from "../text/templateText.ts";
import type { UserPlan } from "./userPlan.ts";
import type { EntitySample } from "./entitySampling.ts";
import type { ConversationContext } from "./intent.ts";

/** What is said in such a talk. */
export interface AbstentionTurn {
  readonly sort: "cannot" | "question" | "no-need";
  readonly user: string;
  readonly reply: string;
  /** The tool that a value is missing for: it has to be on the menu. */
  readonly tool?: string;
}

/** One such talk on a server, or undefined where this draw leads nowhere. */
export function createAbstentionTurn(
  server: string,
  plot: UserPlan,
  scene: ConversationContext,
  words: Abstentions,
): AbstentionTurn | undefined {
  const { random, sample, persona } = scene;
  const sort = random.pickWeighted(["cannot", "question", "no-need"] as const, it =>
    it === "question" ? 0.4 : 0.3,
  );
  if (sort === "question") return questionOf(plot, scene, words);
  const own = words.servers[server];
  const values = valuesFor(words, sample, random);
  if (sort === "cannot") {
    const { say, it } = random.pick(own && random.boolean(0.65) ? own.never : words.never);
    const user = filledBy(random.pick(say), values);
    return user === undefined
      ? undefined
      : {
          sort,
          user: spoken(user, persona, random),
          reply: random.pick(words.cannot).replace("{it}", it),
        };
  }
  const { say, reply } = random.pick(own && random.boolean(0.4) ? own.idle : words.idle);
  const i = random.integer(say.length);
  const [user, answer] = [filledBy(say[i]!, values), filledBy(reply[i % reply.length]!, values)];
  return user === undefined || answer === undefined
    ? undefined
    : { sort, user: spoken(user, persona, random), reply: answer };
}

/** A request with a required value left out, which the assistant has to ask for. */
function questionOf(
  plot: UserPlan,
  scene: ConversationContext,
  words: Abstentions,
): AbstentionTurn | undefined {
  const { random, templates } = scene;
  const tools = [...scene.declarations.keys()].filter(it => templates.tools[it]?.missing);
  if (tools.length === 0) return undefined;
  const tool = random.pickWeighted(tools, plot.getToolWeight);
  const author = new UserSimulator(
    { ...plot, tools: [tool], info: "missing", isOneTurn: true },
    scene,
  );
  const turn = author.nextTurn("open");
  if (turn?.question === undefined) return undefined;
  const question = removeAllMarks(chooseAlternatives(turn.question, random));
  return {
    sort: "question",
    user: turn.text,
    reply: random.pick(words.asking).replace("{question}", () => question),
    tool,
  };
}

/** The words for slots, drawn as they are needed and the same in all that is said. */
function valuesFor(
  { values, entities }: Abstentions,
  sample: EntitySample,
  random: Random,
): (slot: string) => string | undefined {
  const [a, b] = [13 + random.integer(60), 2 + random.integer(10)];
  const numbers: Readonly<Record<string, number>> = { a, b, sum: a + b, times: a * b };
  const known = new Map<string, string | undefined>();
  const valueOf = (slot: string): string | undefined => {
    if (Object.hasOwn(numbers, slot)) return String(numbers[slot]);
    if (slot === "first") return [word("name")!, word("city")!].sort()[0];
    if (values[slot]) return random.pick(values[slot]);
    const things = (sample.instances.get(entities[slot] ?? slot) ?? []).filter(
      it => it.label !== undefined,
    );
    return things.length === 0 ? undefined : random.pick(things).label;
  };
  const word = (slot: string): string | undefined => {
    if (!known.has(slot)) known.set(slot, valueOf(slot));
    return known.get(slot);
  };
  return word;
}

function filledBy(text: string, word: (slot: string) => string | undefined): string | undefined {
  const full = fillSlots(text, word);
  return full === undefined ? undefined : full.charAt(0).toUpperCase() + full.slice(1);
}

/** As this person would write it. */
function spoken(text: string, { open, casual }: Persona, random: Random): string {
  const lead = random.pick((open ?? [""]).filter(it => it === "" || it.endsWith("! ")).concat(""));
  const greets = /^(Good|Hello|Hi|Thanks|Sorry|Oops)\b/.test(text);
  return casual ? text.replace(/\.$/, "") : `${greets ? "" : lead}${text}`;
}
