/** The shards of a synthesis: the tasks do not depend on where they run. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createShardStarter } from "../../../src/app/shardThread.ts";
import {
  runSynthesis,
  type SynthesisRequest,
} from "../../../src/synthesis/pipeline/run/runSynthesis.ts";
import type { StartShard } from "../../../src/synthesis/pipeline/run/synthesize.ts";
import { catalog, root } from "../../contracts/transports.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "prove-shards-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const resources = join(root, "resources");

async function synthesize(
  name: string,
  {
    resume = false,
    createStarter,
  }: { resume?: boolean; createStarter?: (request: SynthesisRequest) => StartShard | undefined },
): Promise<readonly string[]> {
  const file = join(folder, `${name}.tasks.jsonl`);
  const request = { file, count: 200, seed: 5, resume };
  await runSynthesis(request, {
    catalog,
    resources,
    prove: folder,
    createTeacher: () => undefined,
    startShard: createStarter?.(request),
    onProgress: () => {},
    onRemark: () => {},
    readClock: () => performance.now(),
    signal: new AbortController().signal,
  });
  return [file, file.replace(".tasks.", ".rejected.")].map(it => readFileSync(it, "utf8"));
}

const startThread = (
  request: SynthesisRequest,
  program = join(root, "dist", "thread.js"),
): StartShard | undefined =>
  createShardStarter({
    program,
    request,
    resources,
    prove: folder,
    signal: new AbortController().signal,
    fixtureFolders: [join(resources, "servers")],
  });

test("a shard makes the same tasks in a worker thread as in the same thread", async () => {
  const here = await synthesize("here", {});
  // what a file has already is compared with what is made again
  const file = join(folder, "thread.tasks.jsonl");
  writeFileSync(file, here[0]!.split("\n").slice(0, 120).join("\n") + "\n");
  expect(await synthesize("thread", { createStarter: startThread, resume: true })).toEqual(here);
});

test("a thread that fails ends the synthesis with an error and keeps the tasks", async () => {
  const createStarter = (request: SynthesisRequest) =>
    startThread(request, join(folder, "missing.js"));
  await expect(synthesize("failed", { createStarter })).rejects.toThrow(
    "a thread of the synthesis failed",
  );
  const file = join(folder, "failed.tasks.jsonl");
  expect(readFileSync(file, "utf8").split("\n").length).toBe(2);
});
