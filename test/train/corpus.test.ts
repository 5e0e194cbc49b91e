/**
 * The corpus of supervised training: which tokens are taught, injected errors that are not learned,
 * and shortened replies; and the orders and rates of training.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { Catalog } from "../../src/environment/catalog.ts";
import { shortenReply, createCompactFormat } from "../../src/model/student/compactChat.ts";
import type { Tokenizer } from "../../src/model/student/tokenizer.ts";
import { defaultSftSettings } from "../../src/run/config.ts";
import {
  buildCorpus,
  getConversation,
  countConversations,
  tokenPart,
} from "../../src/train/sft/corpus.ts";
import { createKeyedStream } from "../../src/environment/random.ts";
import { createEpochSampler } from "../../src/train/trainingMethod.ts";
import { learningRateFactor } from "../../src/train/sft/sft.ts";
import { createCarelessTrajectory, injectError } from "../../src/train/sft/teacherErrors.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { listCalls } from "../../src/trajectory/trajectory.ts";
import { createBoxCatalog, createBoxTasks, createBoxTokenizer } from "./boxes.ts";

let catalog: Catalog;
let tasks: Task[];
let tokenizer: Tokenizer;
beforeAll(async () => {
  catalog = createBoxCatalog();
  tasks = await createBoxTasks(catalog);
  tokenizer = createBoxTokenizer(tasks);
});

const build = (slips: number, careless = 0) =>
  buildCorpus(tasks, {
    catalog,
    chat: createCompactFormat(tokenizer),
    settings: { ...defaultSftSettings, slips, careless },
    seed: 1,
  });

describe("a corpus", () => {
  test("teaches what the student should write, and nothing else", async () => {
    const { corpus, overLong } = await build(0);
    expect([countConversations(corpus), corpus.trainingCount, overLong]).toEqual([
      tasks.length,
      tasks.length,
      0,
    ]);
    const { ids, parts } = getConversation(corpus, 0);
    const text = (part: number) => tokenizer.decode(ids.filter((_, i) => parts[i] === part));
    expect(text(tokenPart.taught)).toBe(
      "<call> box_find name= red<eoc><call> box_open box_id= box_11<eoc><fin> Done.<eot>",
    );
    expect(text(tokenPart.given)).toContain(
      "<user> Open the red box.<asst><res> red box_11<asst><res> box_11",
    );
  });

  test("has conversations with an injected error, whose wrong call is not learned", async () => {
    const { corpus, injectedErrors } = await build(1);
    expect(injectedErrors).toBeGreaterThan(tasks.length / 2);
    expect(countConversations(corpus)).toBe(tasks.length + injectedErrors);
    const withError = Array.from({ length: countConversations(corpus) }, (_, i) =>
      getConversation(corpus, i),
    ).filter(it => it.parts.includes(tokenPart.ignored));
    expect(withError).toHaveLength(injectedErrors);
    for (const { ids, parts } of withError) {
      expect(tokenizer.decode(ids.filter((_, i) => parts[i] === tokenPart.ignored))).toMatch(
        /^<call> box_\w+.*<eoc>$/,
      );
      expect(tokenizer.decode(ids.filter((_, i) => parts[i] === tokenPart.taught))).toContain(
        "<call> box_open box_id= box_",
      );
    }
  });
});

test("an injected call fails in a live session, and the teacher's own calls then succeed", async () => {
  for (const task of tasks) {
    const injected = await injectError(task, catalog, createKeyedStream(7, tasks.indexOf(task)));
    if (!injected) continue;
    const calls = listCalls(injected.trajectory);
    expect(calls.filter(it => it.outcome.kind !== "ok").map(it => it.message)).toEqual([
      injected.message,
    ]);
    expect(calls.filter(it => it.outcome.kind === "ok").map(it => it.name)).toEqual([
      "box_find",
      "box_open",
    ]);
  }
});

describe("a careless teacher", () => {
  const careless = (share: number, seed = 3) =>
    Promise.all(tasks.map(it => createCarelessTrajectory(it, catalog, { share, seed })));

  test("says that all is done, although it left out, guessed or repeated a call", async () => {
    const seeds = [1, 2, 3, 4, 5];
    const trajectories = (await Promise.all(seeds.map(it => careless(1, it))))
      .flat()
      .flatMap(it => it ?? []);
    expect(trajectories).toHaveLength(tasks.length * seeds.length);
    const ways = new Set(
      trajectories.map(it =>
        listCalls(it)
          .map(call => `${call.name} ${call.outcome.kind}`)
          .join(", "),
      ),
    );
    expect(ways).not.toContain("box_find ok, box_open ok");
    expect(ways).toContain("box_find ok");
    expect(ways).toContain("box_open refused");
    expect(ways).toContain("box_find ok, box_find ok, box_open ok");
    for (const { events } of trajectories)
      expect(events.findLast(it => it.kind === "assistant")?.text).toBe("Done.");
  });

  test("is careless in no turn with a share of 0, and always in the same ones with a seed", async () => {
    expect((await careless(0)).every(it => it === undefined)).toBe(true);
    const twice = await Promise.all([careless(0.5), careless(0.5)]);
    expect(twice[0]).toEqual(twice[1]);
    const count = twice[0].filter(it => it !== undefined).length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(tasks.length);
  });

  test("teaches its own conversations", async () => {
    const { corpus, careless: count } = await build(0, 1);
    expect([count, countConversations(corpus)]).toEqual([tasks.length, tasks.length]);
    const { ids, parts } = getConversation(corpus, 0);
    const taught = tokenizer.decode(ids.filter((_, i) => parts[i] === tokenPart.taught));
    expect(taught).not.toBe(
      "<call> box_find name= red<eoc><call> box_open box_id= box_11<eoc><fin> Done.<eot>",
    );
    expect(taught).toContain("<fin> Done.<eot>");
  });
});

describe("a teacher's reply", () => {
  const check = (text: string, expected: string) => expect(shortenReply(text)).toBe(expected);
  test("that is short stays as it is", () =>
    check("Done, the card works again.", "Done, the card works again."));
  test("of several sentences is cut to the first ones", () =>
    check(
      "The balance is 1250.75. It was booked on 9 March at 09:00, by card. All is well.",
      "The balance is 1250.75.",
    ));
  test("with a question keeps the question", () =>
    check(
      "Everyday is open, with full access, and has two cards that are active. Which card is it?",
      "Which card is it?",
    ));
  test("of one long sentence is cut at a word", () =>
    check(
      `On that day you have ${"a very long meeting and ".repeat(5)}lunch.`,
      "On that day you have a very long meeting and a very long…",
    ));
});

test("an epoch has every index once, and a position always the same index", () => {
  const sample = createEpochSampler(7, 3);
  const twice = Array.from({ length: 14 }, (_, i) => sample(i));
  for (const round of [twice.slice(0, 7), twice.slice(7)])
    expect(new Set(round)).toEqual(new Set([0, 1, 2, 3, 4, 5, 6]));
  expect(createEpochSampler(7, 3)(9)).toBe(twice[9]);
});

test("the learning rate rises over 10 steps, stays, and falls to a twentieth over the last half", () => {
  const at = (step: number, progress: number) =>
    learningRateFactor(step, progress, { warmUp: 10, decay: 0.5 });
  expect([at(1, 0), at(5, 0.05), at(10, 0.1), at(50, 0.5), at(75, 0.75), at(100, 1)]).toEqual([
    0.1, 0.5, 1, 1, 0.5, 0.05,
  ]);
});

test("in a run of few steps, the learning rate rises over the first tenth", () => {
  const at = (step: number) => learningRateFactor(step, step / 20, { warmUp: 40, decay: 0.5 });
  expect([at(1), at(2), at(10)]).toEqual([0.5, 1, 1]);
});
