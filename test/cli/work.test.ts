/**
 * The terminal program as the editor forks it for long work: what it says over the channel, and
 * that a cancel loses nothing.
 */
import { fork } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { WorkAsk, WorkSays } from "../../src/protocol/work.ts";
import { readTasks } from "../../src/trajectory/file.ts";
import { root } from "../contracts/doors.ts";
import { emptyFolder } from "./program.ts";

type Synthesize = Extract<WorkAsk, { kind: "synthesize" }>;

/** Asks, and gathers all that is said; `cancelAfter` facts it cancels. */
function work(
  ask: Synthesize,
  cancelAfter = Infinity,
): Promise<{ said: WorkSays[]; code: number | null }> {
  const said: WorkSays[] = [];
  const child = fork(join(root, "src/cli/main.ts"), ["work"], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  child.on("message", message => {
    said.push(message as WorkSays);
    if (said.length === cancelAfter) child.send({ kind: "cancel" } satisfies WorkAsk);
  });
  child.send(ask);
  return new Promise(resolve => child.once("exit", code => resolve({ said, code })));
}

const asking = (out: string, more: Partial<Synthesize> = {}): Synthesize => ({
  kind: "synthesize",
  out,
  count: 6,
  seed: 3,
  servers: ["banking"],
  fixtures: [join(root, "resources/servers")],
  ...more,
});

async function idsIn(file: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of readTasks(file)) ids.push(id);
  return ids;
}

test("synthesis says how far it is, and ends with a report of what lies in the file", async () => {
  const out = join(emptyFolder(), "six.tasks.jsonl");
  const { said, code } = await work(asking(out));
  expect(code).toBe(0);
  expect(said[0]).toMatchObject({
    kind: "progress",
    total: 6,
    doing: expect.stringMatching(/^tasks/) as string,
  });
  expect(said.at(-1)).toMatchObject({
    kind: "done",
    report: expect.arrayContaining([expect.stringContaining(`6 tasks in ${out}`)]),
  });
  expect(await idsIn(out)).toHaveLength(6);
});

test("a cancel ends the work and leaves whole tasks", async () => {
  const out = join(emptyFolder(), "many.tasks.jsonl");
  const { said } = await work(asking(out, { count: 100_000 }), 2);
  expect(said.at(-1)).toEqual({ kind: "cancelled" });
  expect((await idsIn(out)).length).toBeGreaterThan(0);
});

test("a mistake comes back with what and remedy", async () => {
  const { said } = await work(
    asking(join(emptyFolder(), "x.tasks.jsonl"), { servers: ["bakery"] }),
  );
  expect(said).toEqual([
    {
      kind: "failed",
      what: "there is no server bakery",
      remedy: expect.stringMatching(
        /^choose one of banking, trading, .*, video_meeting$/,
      ) as string,
    },
  ]);
});
