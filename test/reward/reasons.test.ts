/** Why attempts fail is said by the names of entities and the numbers of calls, on every server. */
import { expect, test } from "vitest";
import { createSolverPolicy } from "../../src/evaluation/solvers/solver.ts";
import {
  guesser,
  lazy,
  oneWrongValue,
  skipper,
} from "../../src/evaluation/solvers/wrongSolvers.ts";
import { rollout } from "../../src/policy/rollout.ts";
import { createScriptedPolicy } from "../../src/policy/scripted.ts";
import { describeTotals } from "../../src/reward/breakdownText.ts";
import { provePlusProfile } from "../../src/reward/profiles.ts";
import { isScored, scoreAttempt } from "../../src/reward/reward.ts";
import { getSuccess, type Success } from "../../src/reward/success.ts";
import { createAttemptFactory } from "../../src/trajectory/attempt.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { catalog } from "../contracts/transports.ts";
import { readSharedTasks, synthesizeTasks } from "../synthesis/synthesizeTasks.ts";
import { calling, saying } from "../trajectory/sampleTasks.ts";

const createAttempt = createAttemptFactory(catalog);
test("a file is named by its path, and the call that changed it by its number", async () => {
  const { tasks } = await synthesizeTasks(1, { servers: ["filesystem"] });
  const path = findFile(tasks[0]!);
  const list = { name: "filesystem_ls", arguments: {} };
  const chmod = (mode: string) => ({ name: "filesystem_chmod", arguments: { path, mode } });
  const task: Task = {
    ...tasks[0]!,
    menu: [list, chmod("600")].map(({ name }) => ({ name })),
    goals: [{ calls: [chmod("600")], after: [], turn: 0 }],
  };
  const policy = createScriptedPolicy("test", [
    calling(list),
    calling(chmod("666")),
    saying("Done."),
  ]);
  const { trajectory, finalState } = await rollout(task, policy, catalog);
  const attempt = createAttempt(task, trajectory, finalState);
  expect(getSuccess(attempt).reasons[0]).toBe(
    `${path}: mode is 666, should be 600 (changed by call 2)`,
  );
  expect(getSuccess(attempt).differences).toEqual([
    { pointer: expect.stringMatching(/^\/filesystem\/.*\/mode$/), found: "666", wanted: "600" },
  ]);
  const breakdown = scoreAttempt(attempt, provePlusProfile);
  if (!isScored(breakdown)) throw new Error(breakdown.unscorable);
  const totals = describeTotals(breakdown).join("\n");
  expect(totals).toContain("goal 1 was called with other arguments");
  expect(totals).toMatch(/efficiency .*= no penalty/);
});

/** The path of a file in the home folder of a task's user. */
function findFile(task: Task): string {
  const { name, fixture } = task.servers[0]!;
  const { state } = catalog.getFixture(name, fixture) as unknown as {
    readonly state: { readonly user: string; readonly root: Directory };
  };
  const home = (state.root.entries["home"] as Directory).entries[state.user] as Directory;
  const [file] = Object.entries(home.entries).find(([, it]) => it.type === "file")!;
  return `~/${file}`;
}

interface Directory {
  readonly type: string;
  readonly entries: Readonly<Record<string, { readonly type: string }>>;
}

test("no reason of a wrong attempt has a pointer, whatever its servers", async () => {
  const { tasks } = await readSharedTasks("paper");
  const reasons: { readonly server: string; readonly success: Success }[] = [];
  for (const task of tasks.slice(0, 60).filter(it => it.goals.length > 0))
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
  const changed = reasons
    .flatMap(it => it.success.reasons)
    .filter(it => it.includes(", should be"));
  for (const it of changed)
    expect(it).toMatch(/\((?:changed by call \d+|no call changed it)\)$|looked up as/);
});
