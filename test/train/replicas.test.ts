/** Replicas in worker threads: collectives, data-parallel training, failures and messages. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { UserError } from "../../src/userError.ts";
import { createSingleReplica, runReplica, startReplicas } from "../../src/train/replicas.ts";
import { checkClose, programs } from "../compute/numbers.ts";
import type { Setup, TestMessage } from "./replicaProgram.ts";

const program = join(mkdtempSync(join(tmpdir(), "prove-")), "program.mjs");

// workers load a built program, like those of the trainer
beforeAll(async () => {
  await build({
    entryPoints: [join(import.meta.dirname, "replicaProgram.ts")],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    mainFields: ["module", "main"],
    logLevel: "error",
    banner: {
      js: [
        "import { createRequire as __createRequire } from 'node:module';",
        "const require = __createRequire(import.meta.url), [__filename, __dirname] = [import.meta.filename, import.meta.dirname];",
      ].join("\n"),
    },
  });
});

/** Runs the test program on replicas and returns the messages of each, by rank. */
async function run(count: number, setup: Setup, command?: string): Promise<TestMessage[][]> {
  const messages: TestMessage[][] = Array.from({ length: count }, () => []);
  const replicas = startReplicas<Setup, string, TestMessage>({
    program,
    count,
    maxFloats: 10_000,
    setup,
    onMessage: (rank, it) => void messages[rank]!.push(it),
  });
  if (command !== undefined) replicas.send(command);
  await replicas.done;
  return messages;
}

const learn = async (count: number, backend: "wasm" | "cpu" = "wasm") =>
  (await run(count, { do: "learn", backend, programs })).map(
    ([it]) => it as Extract<TestMessage, { weights: Float32Array }>,
  );

test.each([1, 2, 3])(
  "%i replicas see the same sums and the same decisions, hundreds of times",
  async count => {
    const rounds = Array.from({ length: 500 }, (_, round) => round);
    const ranks = (count * (count + 1)) / 2;
    const expected: TestMessage = {
      sums: rounds.flatMap(round => [ranks, count * round]),
      decisions: rounds.map(round => 10 * round),
      texts: rounds
        .filter(round => round % 50 === 0)
        .map(round =>
          Array.from({ length: count }, (_, rank) => "a".repeat(round * 100 * (count - rank))),
        ),
    };
    expect(await run(count, { do: "exchange" })).toEqual(
      Array.from({ length: count }, () => [expected]),
    );
  },
);

describe("learning", () => {
  test.each(["wasm", "cpu"] as const)(
    "on %s, two replicas with half of the batch each learn the same as one with all of it",
    async backend => {
      const [alone, together] = [await learn(1, backend), await learn(2, backend)];
      expect(together[1]).toEqual(together[0]);
      checkClose(together[0]!.losses, alone[0]!.losses, 1e-5);
      checkClose(together[0]!.weights, alone[0]!.weights, 1e-4);
      expect(alone[0]!.losses[1]).toBeLessThan(alone[0]!.losses[0]!);
    },
  );

  test("the same run again gives the same weights, to the bit", async () => {
    expect(await learn(2)).toEqual(await learn(2));
  });
});

describe("when something fails", () => {
  test("replicas with different weights end", () =>
    expect(run(2, { do: "drift" })).rejects.toThrow(
      /replica 1 holds other numbers than replica 0/,
    ));

  test("the failure of one replica ends all, and the error has its rank", () =>
    expect(run(3, { do: "fail" })).rejects.toThrow("replica 1 failed: no memory left"));

  test("an error of which nothing is left is that of a thread without memory", () =>
    expect(run(2, { do: "failSilently" })).rejects.toThrow(
      /^worker \d of the training ended without a message, as it does if it gets no memory: /,
    ));

  test("a UserError stays one, with its remedy", () =>
    expect(run(2, { do: "userError" })).rejects.toSatisfy(
      it =>
        it instanceof UserError &&
        it.what === "the checkpoint is gone" &&
        it.remedy === "choose another",
    ));

  test("replicas that wait for each other can be terminated", async () => {
    let waiting = 0;
    let resolveWaiting = () => {};
    const allWaiting = new Promise<void>(resolve => (resolveWaiting = resolve));
    const onMessage = () => void (++waiting === 2 && resolveWaiting());
    const replicas = startReplicas<Setup, string, TestMessage>({
      program,
      count: 2,
      maxFloats: 1,
      setup: { do: "wait" },
      onMessage,
    });
    await Promise.race([allWaiting, replicas.done]);
    await replicas.terminate();
    await expect(replicas.done).resolves.toBeUndefined();
  });

  test("more numbers than the shared memory has room for are refused", async () => {
    const replicas = startReplicas<Setup, string, TestMessage>({
      program,
      count: 2,
      maxFloats: 1,
      setup: { do: "exchange" },
      onMessage: () => {},
    });
    await expect(replicas.done).rejects.toThrow(/2 numbers to sum where there is room for 1/);
  });
});

test("a message of the main thread reaches every replica", async () => {
  expect(await run(2, { do: "listen" }, "pause")).toEqual([
    [{ received: "0 pause" }],
    [{ received: "1 pause" }],
  ]);
});

test("a single replica needs no worker", async () => {
  const messages: string[] = [];
  const replica = createSingleReplica<string, string, string>("setup", {
    receive: () => "stop",
    send: it => void messages.push(it),
  });
  const values = Float32Array.of(1, 2);
  replica.allReduce(values);
  replica.send("ready");
  expect([
    ...values,
    replica.broadcast(7),
    replica.count,
    replica.receive(),
    replica.setup,
  ]).toEqual([1, 2, 7, 1, "stop", "setup"]);
  expect(messages).toEqual(["ready"]);
});

test("a thread that is not a replica does not run the program", async () => {
  expect(await runReplica(() => Promise.reject(new Error("ran")))).toBe(false);
});
