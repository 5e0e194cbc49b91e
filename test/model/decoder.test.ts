/** The decoder: log-probabilities against the packed forward pass, sampling, slots and memory. */
import * as tf from "@tensorflow/tfjs-core";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import { mulberry32 } from "../../src/environment/random.ts";
import { openDecoder, type Decoder } from "../../src/model/transformer/decoder.ts";
import type { ChosenToken } from "../../src/model/transformer/decoderStep.ts";
import { packGroups } from "../../src/model/transformer/packedBatch.ts";
import {
  initializeModel,
  computeLogits,
  computeLogProbabilities,
  type Model,
} from "../../src/model/transformer/transformer.ts";
import { checkClose, programs } from "../compute/numbers.ts";
import { tiny, createTokens } from "./tiny.ts";

const greedy = { temperature: 0, uniform: 0 };

type Result = Pick<ChosenToken, "id" | "logprob">;

/** The token that was chosen for a slot. */
const getChosen = (chosen: readonly ChosenToken[], slot: number): ChosenToken =>
  chosen.find(it => it.slot === slot)!;

describe.each(["wasm", "cpu"] as const)("a decoder on %s", name => {
  let model: Model;
  let decoder: Decoder;
  beforeAll(async () => {
    await startBackend(name, { programs });
  });
  afterEach(() => {
    decoder.dispose();
    model.dispose();
  });
  const open = (slots: number, context = tiny.context) => {
    // large weights, so that distributions are far from uniform
    model = initializeModel({ ...tiny, context }, 11);
    tf.tidy(() =>
      model.parameters.get("embedding")!.assign(tf.mul(model.parameters.get("embedding")!, 20)),
    );
    decoder = openDecoder(model, { slots });
  };

  /** log p of each id after a prefix, from the packed forward pass. */
  const computePackedLogprobs = (prefix: readonly number[], ids: readonly number[]) =>
    computeLogProbabilities(
      model,
      packGroups([{ prefix, branches: [{ ids, mask: ids.map(() => 1) }] }]),
    );

  test("prompts, results and single tokens of several slots have the log-probabilities of the packed pass", async () => {
    open(3);
    const uniform = mulberry32(5);
    const [a, b, c] = [decoder.open(), decoder.open(), decoder.open()];
    const fed = new Map([a, b, c].map(it => [it, [] as number[]]));
    const feed = async (feeds: readonly (readonly [slot: number, ids: readonly number[]])[]) => {
      for (const [slot, ids] of feeds) fed.get(slot)!.push(...ids);
      const chosen = await decoder.feed(
        feeds.map(([slot, ids]) => ({ slot, ids, choose: { temperature: 1, uniform: uniform() } })),
      );
      expect(chosen.map(it => it.slot)).toEqual(feeds.map(it => it[0]));
      for (const { slot, id, logprob } of chosen)
        expect(logprob).toBeCloseTo((await computePackedLogprobs(fed.get(slot)!, [id]))[0]!, 4);
      return chosen;
    };
    const first = await feed([
      [a, createTokens(17, 1)],
      [b, createTokens(40, 2)],
    ]);
    const second = await feed([
      [c, createTokens(3, 3)],
      [a, [getChosen(first, a).id]],
      [b, [getChosen(first, b).id, ...createTokens(9, 4)]],
    ]);
    await feed([[a, [getChosen(second, a).id]]]);
    await feed([
      [b, createTokens(1, 5)],
      [a, createTokens(2, 6)],
      [c, createTokens(30, 7)],
    ]);
    expect([a, b, c].map(it => decoder.lengthOf(it))).toEqual([21, 51, 33]);
  });

  test("at temperature 0, the most likely token is chosen, with its log-probability at temperature 1", async () => {
    open(1);
    const prompt = createTokens(12, 8);
    const logits = [
      ...(await computeLogits(
        model,
        packGroups([{ prefix: prompt, branches: [{ ids: [0], mask: [1] }] }]),
      )),
    ];
    const [chosen] = await decoder.feed([{ slot: decoder.open(), ids: prompt, choose: greedy }]);
    expect(chosen!.id).toBe(logits.indexOf(Math.max(...logits)));
    expect(chosen!.logprob).toBeCloseTo((await computePackedLogprobs(prompt, [chosen!.id]))[0]!, 4);
  });

  test("a feed without a choice returns nothing and extends the sequence", async () => {
    open(2);
    const [a, b] = [decoder.open(), decoder.open()];
    expect(
      await decoder.feed([
        { slot: a, ids: createTokens(9, 1) },
        { slot: b, ids: createTokens(4, 2) },
      ]),
    ).toEqual([]);
    const [chosen] = await decoder.feed([
      { slot: a, ids: [3], choose: greedy },
      { slot: b, ids: [5] },
    ]);
    expect(chosen!.logprob).toBeCloseTo(
      (await computePackedLogprobs([...createTokens(9, 1), 3], [chosen!.id]))[0]!,
      4,
    );
  });

  test("a copied slot is independent", async () => {
    open(3);
    const prompt = createTokens(21, 1);
    const slots = [decoder.open(), decoder.open(), decoder.open()];
    await decoder.feed([{ slot: slots[0]!, ids: prompt }]);
    decoder.copy(slots[0]!, slots.slice(1));
    for (const [i, slot] of slots.entries()) {
      const [chosen] = await decoder.feed([{ slot, ids: createTokens(4, 30 + i), choose: greedy }]);
      expect(chosen!.logprob).toBeCloseTo(
        (await computePackedLogprobs([...prompt, ...createTokens(4, 30 + i)], [chosen!.id]))[0]!,
        4,
      );
    }
    // feeding the others did not change the first slot
    const [again] = await decoder.feed([{ slot: slots[0]!, ids: [7], choose: greedy }]);
    expect(again!.logprob).toBeCloseTo(
      (await computePackedLogprobs([...prompt, ...createTokens(4, 30), 7], [again!.id]))[0]!,
      4,
    );
  });

  test("copies keep their beginning while the slot that they were copied from is used again", async () => {
    open(4);
    const [prompt, other] = [createTokens(21, 1), createTokens(30, 3)];
    const later = [createTokens(6, 4), createTokens(6, 5)];
    const first = decoder.open();
    await decoder.feed([{ slot: first, ids: prompt }]);
    const copies = [decoder.open(), decoder.open()] as const;
    decoder.copy(first, copies);
    await decoder.feed(copies.map((slot, i) => ({ slot, ids: later[i]! })));
    decoder.release(first);
    expect(decoder.open()).toBe(first);
    await decoder.feed([{ slot: first, ids: other }]);
    // a copy of a copy, whose own beginning is somewhere else by now
    const copyOfCopy = decoder.open();
    decoder.copy(copies[1], [copyOfCopy]);
    decoder.release(copies[0]);
    const again = decoder.open();
    await decoder.feed([{ slot: again, ids: other }]);
    const sequences = [
      [first, other],
      [copies[1], [...prompt, ...later[1]!]],
      [copyOfCopy, [...prompt, ...later[1]!]],
      [again, other],
    ] as const;
    const chosen = await decoder.feed(
      sequences.map(([slot]) => ({ slot, ids: [7], choose: greedy })),
    );
    for (const [i, { id, logprob }] of chosen.entries())
      expect(logprob).toBeCloseTo(
        (await computePackedLogprobs([...sequences[i]![1], 7], [id]))[0]!,
        4,
      );
  });

  test("many slots with common prompts, results and releases have the log-probabilities of the packed pass", async () => {
    open(20);
    const fed = new Map<number, number[]>();
    const others = Array.from({ length: 8 }, () => decoder.open());
    const group = Array.from({ length: 11 }, () => decoder.open());
    const feedAll = async (slots: readonly number[], createIds: (slot: number) => number[]) => {
      const feeds = slots.map(slot => ({ slot, ids: createIds(slot), choose: greedy }));
      for (const { slot, ids } of feeds) fed.set(slot, [...(fed.get(slot) ?? []), ...ids]);
      const chosen = await decoder.feed(feeds);
      expect(chosen.map(it => it.slot)).toEqual(slots);
      return chosen;
    };
    const checkAll = async (chosen: readonly ChosenToken[]) => {
      for (const { slot, id, logprob } of chosen)
        expect(logprob).toBeCloseTo((await computePackedLogprobs(fed.get(slot)!, [id]))[0]!, 4);
    };
    await feedAll(others, slot => createTokens(5 + 3 * slot, slot));
    // some of the slots that a prompt is copied to are beside it, others not
    await feedAll([group[0]!], () => createTokens(21, 40));
    decoder.copy(group[0]!, group.slice(1));
    for (const it of group) fed.set(it, createTokens(21, 40));
    const all = [...group, ...others];
    // in no order, one of four with a result
    const createIds = (slot: number) => createTokens(slot % 4 === 1 ? 7 : 1, 50 + slot);
    await checkAll(await feedAll(all.toReversed(), createIds));
    for (const it of all.filter(it => it % 3 > 0)) decoder.release(it);
    const left = all.filter(it => it % 3 === 0);
    await checkAll(await feedAll(left, createIds));
    // released slots are opened again, with a copy of one that was left
    const again = [decoder.open(), decoder.open()];
    decoder.copy(left[0]!, again);
    for (const it of again) fed.set(it, [...fed.get(left[0]!)!]);
    await checkAll(await feedAll([...again, ...left], () => createTokens(1, 99)));
  });

  test("long sequences with a common beginning have the same results as without it", async () => {
    open(6, 400);
    const prompt = createTokens(150, 1);
    const feed = async (slots: readonly number[], ids: (i: number) => number[]) => {
      const feeds = slots.map((slot, i) => ({ slot, ids: ids(i), choose: greedy }));
      return (await decoder.feed(feeds)).map(({ id, logprob }) => ({ id, logprob }));
    };
    // on wasm to the bit, because it adds in the same order
    const check = (a: readonly Result[], b: readonly Result[]) => {
      if (name === "wasm") expect(a).toEqual(b);
      expect(a.map(it => it.id)).toEqual(b.map(it => it.id));
      for (const [i, { logprob }] of a.entries()) expect(logprob).toBeCloseTo(b[i]!.logprob, 5);
    };
    const apart = [decoder.open(), decoder.open(), decoder.open()];
    const alike = [decoder.open(), decoder.open(), decoder.open()];
    await feed(apart, () => prompt);
    await feed([alike[0]!], () => prompt);
    decoder.copy(alike[0]!, alike.slice(1));
    // to the end of what they share, beyond it, and one token at a time
    for (const length of [42, 100, 1, 1]) {
      const ids = (i: number) => createTokens(length, 10 * length + i);
      check(await feed(alike, ids), await feed(apart, ids));
    }
    const all = [...prompt, ...[42, 100, 1, 1].flatMap(n => createTokens(n, 10 * n + 2))];
    const [chosen] = await feed([alike[2]!], () => [7]);
    expect(chosen!.logprob).toBeCloseTo(
      (await computePackedLogprobs([...all, 7], [chosen!.id]))[0]!,
      4,
    );
    // what one of them wrote is not seen by those that begin like it later
    decoder.release(apart[0]!);
    const later = decoder.open();
    decoder.copy(alike[1]!, [later]);
    const ids = () => createTokens(30, 5);
    await feed([alike[1]!], () => createTokens(30, 6));
    check(await feed([later], ids), await feed([apart[1]!], ids));
  });

  test("a slot that was released is empty when it is opened again", async () => {
    open(1);
    await decoder.feed([{ slot: decoder.open(), ids: createTokens(50, 1) }]);
    decoder.release(0);
    const slot = decoder.open();
    expect(decoder.lengthOf(slot)).toBe(0);
    const [chosen] = await decoder.feed([{ slot, ids: [4], choose: greedy }]);
    expect(chosen!.logprob).toBeCloseTo((await computePackedLogprobs([4], [chosen!.id]))[0]!, 4);
  });

  test("weights that have changed count once all slots were released", async () => {
    open(2);
    const prompt = createTokens(9, 1);
    const slot = decoder.open();
    await decoder.feed([{ slot, ids: prompt, choose: greedy }]);
    decoder.release(slot);
    const matrix = model.parameters.get("layers.1.feed.down")!;
    tf.tidy(() => matrix.assign(tf.mul(matrix, -2)));
    const [chosen] = await decoder.feed([{ slot: decoder.open(), ids: prompt, choose: greedy }]);
    expect(chosen!.logprob).toBeCloseTo((await computePackedLogprobs(prompt, [chosen!.id]))[0]!, 4);
  });

  test("an invalid feed is refused", async () => {
    open(1);
    const slot = decoder.open();
    expect(() => decoder.open()).toThrow(/all 1 slots are open/);
    await expect(decoder.feed([{ slot: 5, ids: [1] }])).rejects.toThrow(/slot 5 is not open/);
    await expect(decoder.feed([{ slot, ids: [] }])).rejects.toThrow(/no tokens/);
    await expect(decoder.feed([{ slot, ids: [37] }])).rejects.toThrow(
      /token 37 of a vocabulary of 37/,
    );
    await expect(decoder.feed([{ slot, ids: createTokens(97, 1) }])).rejects.toThrow(
      /97 tokens of at most 96/,
    );
    await expect(
      decoder.feed([
        { slot, ids: [1] },
        { slot, ids: [2] },
      ]),
    ).rejects.toThrow(/twice/);
    expect(decoder.lengthOf(slot)).toBe(0);
  });
});

/**
 * Of evenly spaced numbers in [0, 1), each token gets its share in softmax(logits / temperature),
 * to within one.
 */
test.each(["wasm", "cpu"] as const)(
  "sampling on %s follows softmax at every temperature, with log-probabilities at it",
  async name => {
    await startBackend(name, { programs });
    const model = initializeModel(tiny, 11);
    const sampleCount = 100;
    const decoder = openDecoder(model, { slots: sampleCount + 1 });
    const slot = decoder.open();
    const forks = Array.from({ length: sampleCount }, () => decoder.open());
    await decoder.feed([{ slot, ids: createTokens(6, 1) }]);
    const logits = await computeLogits(
      model,
      packGroups([{ prefix: [...createTokens(6, 1), 9], branches: [{ ids: [0], mask: [1] }] }]),
    );
    for (const temperature of [1, 0.5, 2]) {
      decoder.copy(slot, forks);
      const counts = Array.from({ length: tiny.vocabulary }, () => 0);
      const feeds = forks.map((slot, i) => ({
        slot,
        ids: [9],
        choose: { temperature, uniform: (i + 0.5) / sampleCount },
      }));
      const weights = [...logits].map(it => Math.exp(it / temperature));
      const sum = weights.reduce((x, y) => x + y);
      for (const { id, logprob } of await decoder.feed(feeds)) {
        counts[id]!++;
        expect(logprob).toBeCloseTo(Math.log(weights[id]! / sum), 4);
      }
      counts.forEach((count, id) =>
        expect(Math.abs(count - (sampleCount * weights[id]!) / sum), `token ${id}`).toBeLessThan(
          1.01,
        ),
      );
    }
    decoder.dispose();
    model.dispose();
  },
);

test.each(["wasm", "cpu"] as const)(
  "on %s, only allowed tokens are chosen, with log-probabilities among them",
  async name => {
    await startBackend(name, { programs });
    const model = initializeModel(tiny, 11);
    const logits = await computeLogits(
      model,
      packGroups([{ prefix: createTokens(6, 1), branches: [{ ids: [0], mask: [1] }] }]),
    );
    const likeliest = logits.indexOf(Math.max(...logits));
    const allowed = Uint8Array.from(logits, (_, id) => Number(id % 5 === 0 && id !== likeliest));
    const sum = logits.reduce((x, y, id) => (allowed[id] ? x + Math.exp(y) : x), 0);
    const decoder = openDecoder(model, { slots: 41 });
    const slots = Array.from({ length: 41 }, () => decoder.open());
    const chosen = await decoder.feed(
      slots.map((slot, i) => ({
        slot,
        ids: createTokens(6, 1),
        choose: { temperature: Math.min(i, 1), uniform: i / 41, allowed },
      })),
    );
    expect(chosen).toHaveLength(41);
    for (const { id, logprob } of chosen) {
      expect(allowed[id], `token ${id}`).toBe(1);
      expect(logprob).toBeCloseTo(Math.log(Math.exp(logits[id]!) / sum), 4);
    }
    const best = Math.max(...[...logits].filter((_, id) => allowed[id]));
    expect(logits[chosen[0]!.id]).toBeCloseTo(best, 5);
    decoder.dispose();
    model.dispose();
  },
);

test("on wasm, the token of a slot does not depend on other slots in the call, to the bit", async () => {
  await startBackend("wasm", { programs });
  const model = initializeModel(tiny, 11);
  const chooseBeside = async (others: number) => {
    const decoder = openDecoder(model, { slots: others + 1 });
    const slots = Array.from({ length: others + 1 }, () => decoder.open());
    const feeds = slots.map((slot, i) => ({
      slot,
      ids: createTokens(i === 0 ? 13 : 5 + i, i),
      choose: { temperature: 1, uniform: 0.4 },
    }));
    const chosen = getChosen(await decoder.feed(feeds), slots[0]!);
    decoder.dispose();
    return chosen;
  };
  expect(await chooseBeside(30)).toEqual(await chooseBeside(0));
  model.dispose();
});

test("a call with more tokens than one pass has the results of several calls", async () => {
  await startBackend("wasm", { programs });
  const model = initializeModel(tiny, 11);
  const decoder = openDecoder(model, { slots: 16 });
  const slots = Array.from({ length: 8 }, () => [decoder.open(), decoder.open()] as const);
  const together = await decoder.feed(
    slots.map(([slot], i) => ({ slot, ids: createTokens(61 + i, i), choose: greedy })),
  );
  const singly: ChosenToken[] = [];
  for (const [i, [, slot]] of slots.entries())
    singly.push(...(await decoder.feed([{ slot, ids: createTokens(61 + i, i), choose: greedy }])));
  expect(together.map(it => it.id)).toEqual(singly.map(it => it.id));
  checkClose(
    together.map(it => it.logprob),
    singly.map(it => it.logprob),
  );
  decoder.dispose();
  model.dispose();
});

test("on cpu, released slots leave no tensors", async () => {
  await startBackend("cpu", { programs });
  const model = initializeModel(tiny, 11);
  const decoder = openDecoder(model, { slots: 9 });
  const before = tf.memory().numTensors;
  for (let i = 0; i < 2; i++) {
    const slots = Array.from({ length: 9 }, () => decoder.open());
    await decoder.feed([{ slot: slots[0]!, ids: createTokens(5, 1) }]);
    decoder.copy(slots[0]!, slots.slice(1));
    await decoder.feed(slots.map(slot => ({ slot, ids: [3], choose: greedy })));
    // keys and values of two layers, of eight slots and of one
    expect(tf.memory().numTensors - before).toBe(2 * 2 * 2);
    for (const it of slots) decoder.release(it);
    expect(tf.memory().numTensors).toBe(before);
  }
  decoder.dispose();
  model.dispose();
});

test("a disposed decoder frees its memory for the next", async () => {
  const { memory } = await startBackend("wasm", { programs });
  const model = initializeModel(tiny, 11);
  const heap = () => memory!.floatsAt(0, 1).buffer.byteLength;
  // 13 MB each
  const openAndDispose = () => openDecoder(model, { slots: 512 }).dispose();
  openAndDispose();
  const before = heap();
  for (let i = 0; i < 10; i++) openAndDispose();
  expect(heap()).toBe(before);
  model.dispose();
});
