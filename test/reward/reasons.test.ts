/** Why attempts fail is said by the names of entities and the numbers of calls, on every server. */
import { expect, test } from "vitest";
import { createSolverPolicy } from "../../src/evaluation/solvers/solver.ts";
import {
  guesser,
  lazy,
  oneWrongValue,
  skipper,
} from "../../src/evaluation/solvers/wrongSolvers.ts";
import type { AssistantMessage } from "../../src/policy/policy.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { describeTotals } from "../../src/reward/breakdownText.ts";
import { provePlusProfile } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess, type Success } from "../../src/reward/success.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import type { Goal, Task } from "../../src/trajectory/task.ts";
import { catalog } from "../contracts/transports.ts";
import { synthesizeTasks } from "../synthesis/synthesizeTasks.ts";
import { calling, saying } from "../trajectory/sampleTasks.ts";

const createAttempt = createAttemptFactory(catalog);
const done = saying("Done.");

const call = (name: string, args: Goal["calls"][number]["arguments"]) => ({
  name,
  arguments: args,
});

/** A task on one server whose goals are these calls. */
async function createTask(server: string, goals: Goal["calls"]): Promise<Task> {
  const { tasks } = await synthesizeTasks(1, { servers: [server] });
  return {
    ...tasks[0]!,
    goals: goals.map(it => ({ calls: [it], after: [], turn: 0 })),
    turns: [{ user: "Please.", reply: "Done." }] as unknown as Task["turns"],
  };
}

async function attemptTask(task: Task, ...messages: readonly AssistantMessage[]) {
  const policy = createScriptedPolicy("test", [...messages]);
  const { trajectory, finalState } = await rollout(task, policy, catalog);
  return createAttempt(task, trajectory, finalState);
}

test("a file is named by its path, and the call that changed it by its number", async () => {
  const { tasks } = await synthesizeTasks(1, { servers: ["filesystem"] });
  const [{ files }] = [readFiles(tasks[0]!)];
  const path = files[0]!;
  const chmod = (mode: string) => call("filesystem_chmod", { path, mode });
  const task = await createTask("filesystem", [chmod("600")]);
  const attempt = await attemptTask(
    task,
    calling(call("filesystem_ls", {})),
    calling(chmod("666")),
    done,
  );
  expect(getSuccess(attempt)).toMatchObject({
    reasons: [`${path}: mode is 666, should be 600 (changed by call 2)`],
    differences: [{ pointer: expect.stringMatching(/^\/filesystem\/world\/root\/.*\/mode$/) }],
  });
  const breakdown = scoreAttempt(attempt, provePlusProfile);
  if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
  const totals = describeTotals(breakdown).join("\n");
  expect(totals).toContain("goal 1 was called with other arguments");
  expect(totals).toMatch(/efficiency .*= no penalty/);
});

/** The paths of files in the home folder of a task's user. */
function readFiles(task: Task): { readonly files: readonly string[] } {
  const { name, fixture } = task.servers[0]!;
  const { state } = catalog.getFixture(name, fixture) as unknown as {
    readonly state: {
      readonly user: string;
      readonly root: Directory;
    };
  };
  const home = (state.root.entries["home"] as Directory).entries[state.user] as Directory;
  const files = Object.entries(home.entries).filter(([, it]) => it.type === "file");
  return { files: files.map(([it]) => `~/${it}`) };
}

interface Directory {
  readonly type: string;
  readonly entries: Readonly<Record<string, { readonly type: string }>>;
}

test("no reason of a wrong attempt has a pointer, whatever its servers", async () => {
  const { tasks } = await synthesizeTasks(60, {
    preset: "paper",
    servers: [...catalog.servers.keys()],
  });
  const reasons: { readonly server: string; readonly success: Success }[] = [];
  for (const task of tasks.filter(it => it.goals.length > 0))
    for (const solver of [guesser, lazy, oneWrongValue, skipper]) {
      const { trajectory, finalState } = await rollout(
        task,
        createSolverPolicy(solver, task),
        catalog,
      );
      const success = getSuccess(createAttempt(task, trajectory, finalState));
      if (!success.achieved) reasons.push({ server: task.servers[0]!.name, success });
    }
  expect(new Set(reasons.map(it => it.server)).size).toBeGreaterThan(15);
  for (const { success } of reasons) {
    expect(success.reasons.join("\n")).not.toMatch(/\/world\/|undefined|\[object/);
    // programs find the place by its pointer
    for (const it of success.differences) expect(it.pointer).toMatch(/^\/\w+\/world\//);
  }
  const changed = reasons.flatMap(it => it.success.reasons).filter(it => it.includes("should be"));
  for (const it of changed)
    expect(it).toMatch(/\((?:changed by call \d+|no call changed it)\)$|looked up as/);
});
