/** The program that replicas run in tests: does what its setup says and tells what came of it. */
import { startBackend } from "../../src/compute/backend.ts";
import { packGroups, type PackedGroup } from "../../src/model/packedBatch.ts";
import {
  disposeGradients,
  computeGradients,
  initializeModel,
} from "../../src/model/transformer.ts";
import { createAdamW } from "../../src/train/optimizer.ts";
import { UserError } from "../../src/userError.ts";
import { runReplica, type Replica } from "../../src/train/replicas.ts";
import * as tf from "@tensorflow/tfjs-core";
import { sheaves, tiny } from "../model/tiny.ts";

export type Setup =
  | { readonly do: "exchange" | "drift" | "fail" | "mistake" | "wait" | "listen" }
  | { readonly do: "learn"; readonly backend: "wasm" | "cpu"; readonly programs: string };

export type Said =
  | { readonly sums: readonly number[]; readonly agreed: readonly number[] }
  | { readonly heard: string }
  | { readonly waits: true }
  | { readonly weights: Float32Array; readonly losses: readonly number[] };

type Here = Replica<Setup, string, Said>;

function exchange({ rank, allReduce, broadcast, barrier, send }: Here): void {
  const sums: number[] = [];
  const agreed: number[] = [];
  for (let round = 0; round < 500; round++) {
    const values = Float32Array.of(rank + 1, round);
    allReduce(values);
    sums.push(...values);
    agreed.push(broadcast(10 * round + rank));
    if (round % 7 === 0) barrier();
  }
  send({ sums, agreed });
}

/** Three steps on shares of a batch. */
async function learn({
  rank,
  count,
  setup,
  allReduce,
  sumGradients,
  assertSame,
  send,
}: Here): Promise<void> {
  if (setup.do !== "learn") return;
  await startBackend(setup.backend, { programs: setup.programs });
  const model = initializeModel(tiny, 1);
  const optimizer = createAdamW(model);
  const all: readonly PackedGroup[] = sheaves.flatMap(({ prefix, branches }) =>
    branches.map(it => ({ prefix, branches: [it] })),
  );
  const packed = packGroups(all.filter((_, i) => i % count === rank));
  const targets = packGroups(all).targets.length;
  const losses: number[] = [];
  for (let step = 0; step < 3; step++) {
    const own = computeGradients(model, packed, logprobs =>
      tf.div(tf.neg(tf.sum(logprobs)), targets),
    );
    const whole = sumGradients(own.gradients);
    optimizer.step(whole, 0.01);
    disposeGradients(whole);
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

async function listen({ rank, barrier, receive, send }: Here): Promise<void> {
  let word = receive();
  for (; word === undefined; word = receive()) await new Promise(resolve => setImmediate(resolve));
  send({ heard: `${rank} ${word}` });
  barrier();
}

await runReplica<Setup, string, Said>(replica => {
  switch (replica.setup.do) {
    case "exchange":
      return exchange(replica);
    case "learn":
      return learn(replica);
    case "listen":
      return listen(replica);
    case "drift":
      return replica.assertSame(Float32Array.of(1, replica.rank === 1 ? 2 : 3));
    case "fail":
      if (replica.rank === 1) throw new Error("no memory left");
      return replica.barrier();
    case "mistake":
      throw new UserError("the checkpoint is gone", "choose another");
    case "wait":
      replica.send({ waits: true });
      if (replica.rank === 0) replica.barrier();
      // the others never come to the barrier, but they live
      return new Promise<void>(resolve => void setTimeout(resolve, 1e9));
    default:
      throw new Error(`no such program: ${JSON.stringify(replica.setup satisfies never)}`);
  }
});
