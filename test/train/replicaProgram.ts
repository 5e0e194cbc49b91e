/** The program that replicas run in tests: runs the case of its setup and sends the results. */
import { startBackend } from "../../src/compute/backend.ts";
import { packGroups, type PackedGroup } from "../../src/model/transformer/packedBatch.ts";
import {
  disposeGradients,
  computeGradients,
  initializeModel,
} from "../../src/model/transformer/transformer.ts";
import { createAdamW } from "../../src/train/optimizer.ts";
import { UserError } from "../../src/userError.ts";
import { runReplica, type Replica } from "../../src/train/replicas.ts";
import * as tf from "@tensorflow/tfjs-core";
import { groups, tiny } from "../model/tiny.ts";

export type Setup =
  | {
      readonly do: "exchange" | "drift" | "fail" | "failSilently" | "userError" | "wait" | "listen";
    }
  | { readonly do: "learn"; readonly backend: "wasm" | "cpu"; readonly programs: string };

export type TestMessage =
  | {
      readonly sums: readonly number[];
      readonly decisions: readonly number[];
      readonly texts: readonly string[][];
    }
  | { readonly received: string }
  | { readonly isWaiting: true }
  | { readonly weights: Float32Array; readonly losses: readonly number[] };

type TestReplica = Replica<Setup, string, TestMessage>;

function exchangeValues({
  rank,
  count,
  allReduce,
  broadcast,
  exchange,
  barrier,
  send,
}: TestReplica): void {
  const sums: number[] = [];
  const decisions: number[] = [];
  const texts: string[][] = [];
  for (let round = 0; round < 500; round++) {
    const values = Float32Array.of(rank + 1, round);
    allReduce(values);
    sums.push(...values);
    decisions.push(broadcast(10 * round + rank));
    if (round % 7 === 0) barrier();
    // of different lengths, and longer than the shared memory at times
    if (round % 50 === 0) texts.push(exchange("a".repeat(round * 100 * (count - rank))));
  }
  send({ sums, decisions, texts });
}

/** Trains two steps on this replica's share of a batch. */
async function learn({
  rank,
  count,
  setup,
  allReduce,
  sumGradients,
  assertSame,
  send,
}: TestReplica): Promise<void> {
  if (setup.do !== "learn") return;
  await startBackend(setup.backend, { programs: setup.programs });
  const model = initializeModel(tiny, 1);
  const optimizer = createAdamW(model);
  const all: readonly PackedGroup[] = groups.flatMap(({ prefix, branches }) =>
    branches.map(it => ({ prefix, branches: [it] })),
  );
  const packed = packGroups(all.filter((_, i) => i % count === rank));
  const targets = packGroups(all).places.length;
  const losses: number[] = [];
  for (let step = 0; step < 2; step++) {
    const own = await computeGradients(model, packed, logprobs =>
      tf.div(tf.neg(tf.sum(logprobs)), targets),
    );
    const gradients = await sumGradients(own.gradients);
    await optimizer.step(gradients, 0.01);
    disposeGradients(gradients);
    const loss = Float32Array.of(own.loss);
    allReduce(loss);
    losses.push(loss[0]!);
  }
  const weights = Float32Array.from(
    [...model.parameters.values()].flatMap(it => [...it.dataSync()]),
  );
  assertSame(weights);
  send({ weights, losses });
}

async function listen({ rank, barrier, receive, send }: TestReplica): Promise<void> {
  let command = receive();
  for (; command === undefined; command = receive())
    await new Promise(resolve => setImmediate(resolve));
  send({ received: `${rank} ${command}` });
  barrier();
}

await runReplica<Setup, string, TestMessage>(replica => {
  switch (replica.setup.do) {
    case "exchange":
      return exchangeValues(replica);
    case "learn":
      return learn(replica);
    case "listen":
      return listen(replica);
    case "drift":
      return replica.assertSame(Float32Array.of(1, replica.rank === 1 ? 2 : 3));
    case "fail":
      if (replica.rank === 1) throw new Error("no memory left");
      return replica.barrier();
    case "failSilently":
      // what the main thread gets of an error that could not be copied
      throw JSON.parse("{}") as Error;
    case "userError":
      throw new UserError("the checkpoint is gone", "choose another");
    case "wait":
      replica.send({ isWaiting: true });
      if (replica.rank === 0) replica.barrier();
      // the others run, but never reach the barrier
      return new Promise<void>(resolve => void setTimeout(resolve, 1e9));
    default:
      throw new Error(`no such program: ${JSON.stringify(replica.setup satisfies never)}`);
  }
});
