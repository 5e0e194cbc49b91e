/**
 * The paper preset gives exact numbers of tasks of every kind, tasks with the properties of their
 * kind, and knobs with the paper's shares.
 */
import { beforeAll, describe, expect, test } from "vitest";
import {
  apportion,
  computeComposition,
  planSlots,
  presets,
} from "../../../src/synthesis/pipeline/synthesisOptions.ts";
import { getDeclarations } from "../../../src/synthesis/graph/declarations.ts";
import { parseStateLog } from "../../../src/synthesis/pipeline/conversation/stateLog.ts";
import { synthesize } from "../../../src/synthesis/pipeline/run/synthesize.ts";
import { heldOutServers, isHeldOut } from "../../../src/synthesis/pipeline/split.ts";
import { containsToken } from "../../../src/trajectory/valueMatching.ts";
import { checkReplay } from "../../../src/trajectory/replay.ts";
import { type Task, formatTaskLine, taskLineSchema } from "../../../src/trajectory/task.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/transports.ts";
import {
  createSynthesisOptions,
  readSharedTasks,
  synthesizeTasks,
  type TaskSet,
} from "../synthesizeTasks.ts";
import { testSpeech } from "../text/speechTests.ts";
import { testAnswerability } from "./answerabilityTests.ts";
import { testReferences } from "./referencesTests.ts";
import { isSubstitute } from "../../../src/synthesis/pipeline/menu/menu.ts";

const { mixture } = presets.paper;

/** The home server of a task, and the other servers whose tools its conversation needs. */
const listNeededServers = ({ kind, servers, turns, trajectory }: Task): string[] => {
  const asked = kind === "abstain" ? turns.flatMap(it => it.unmet ?? []) : [];
  const conditional = turns.flatMap(it => it.conditional ?? []);
  const calls = [...listCalls(trajectory), ...conditional, ...asked];
  const called = calls.map(it => catalog.tools.get(it.name)!.server);
  return [...new Set([servers[0]!.name, ...called])];
};

const paper = { preset: "paper", servers: [...catalog.servers.keys()] } as const;

describe("the composition", () => {
  test.each([
    [13_517, { normal: 10_350, irrelevant: 545, clarify: 1500, abstain: 1122 }],
    [300, { normal: 230, irrelevant: 12, clarify: 33, abstain: 25 }],
    [1, { normal: 1, irrelevant: 0, clarify: 0, abstain: 0 }],
    [0, { normal: 0, irrelevant: 0, clarify: 0, abstain: 0 }],
  ])("of %i tasks", (n, expected) => {
    expect(computeComposition(mixture, n)).toEqual(expected);
  });

  test("adds up, and each count is off by less than one", () => {
    const weights = [10_895, 1500, 1122];
    for (let n = 0; n < 2000; n += 7) {
      const counts = apportion(weights, n);
      expect(counts.reduce((a, b) => a + b, 0)).toBe(n);
      for (const [i, it] of counts.entries())
        expect(Math.abs(it - (n * weights[i]!) / 13_517)).toBeLessThan(1);
    }
  });

  test("is spread evenly over the file, and over the servers that are used", () => {
    const servers = ["a", "b", "c"];
    const slots = planSlots(mixture, computeComposition(mixture, 600), servers);
    const kinds: string[] = [];
    const counts: Record<string, number> = {};
    for (let slot = slots.next(); !slot.done;) {
      kinds.push(slot.value.kind);
      // every fifth slot uses its second server
      const server = slot.value.servers[kinds.length % 5 === 0 ? 1 : 0]!;
      counts[server] = (counts[server] ?? 0) + 1;
      slot = slots.next(server);
    }
    for (const from of [0, 150, 300, 450])
      expect(
        Math.abs(kinds.slice(from, from + 150).filter(it => it === "clarify").length - 16.6),
      ).toBeLessThan(2);
    for (const it of Object.values(counts)) expect(Math.abs(it - 200)).toBeLessThan(4);
  });
});

describe("four hundred tasks", () => {
  const count = 400;
  let tasks: TaskSet["tasks"];
  let rejected: TaskSet["rejected"];
  beforeAll(async () => {
    ({ tasks, rejected } = await readSharedTasks("paper"));
  });

  const filterByKind = (kind: Task["kind"]) => tasks.filter(it => it.kind === kind);
  const getShare = (list: readonly Task[], is: (it: Task) => boolean) =>
    list.filter(is).length / list.length;
  const checkNear = (actual: number, expected: number, tolerance: number) =>
    expect(Math.abs(actual - expected), `${actual} is about ${expected}`).toBeLessThan(tolerance);

  test("have the paper's numbers of each kind", () => {
    expect(
      Object.fromEntries(
        ["normal", "irrelevant", "clarify", "abstain"].map(it => [
          it,
          filterByKind(it as Task["kind"]).length,
        ]),
      ),
    ).toEqual(computeComposition(mixture, count));
  });

  test("are spread evenly over the servers", () => {
    const counts = [...catalog.servers.keys()].map(
      name => tasks.filter(it => it.servers[0]!.name === name).length,
    );
    const mean = count / catalog.servers.size;
    // where every attempt on a server fails, the task is on the next one
    for (const it of counts) expect(Math.abs(it - mean)).toBeLessThanOrEqual(2);
  });

  test("are valid and take at most 9 KB each on average", () => {
    for (const it of tasks)
      expect(taskLineSchema.safeParse(JSON.parse(formatTaskLine(it))).error).toBeUndefined();
    expect(tasks.reduce((sum, it) => sum + formatTaskLine(it).length, 0) / count).toBeLessThan(
      9_000,
    );
  });

  test("call every tool, or more tasks on its server do", async () => {
    const missing = new Set(catalog.tools.keys());
    const count = (it: Task) => listCalls(it.trajectory).forEach(call => missing.delete(call.name));
    tasks.forEach(count);
    expect(missing.size).toBeLessThan(45);
    const servers = [...new Set([...missing].map(it => catalog.tools.get(it)!.server))];
    const options = createSynthesisOptions({
      preset: "paper",
      servers,
      crossServerShare: 0,
      scenarios: [],
    });
    let attempts = 0;
    for await (const it of synthesize(options)) {
      if (it.kind === "accepted") count(it.task);
      if (missing.size === 0 || ++attempts === 1000) break;
    }
    expect([...missing]).toEqual([]);
  });

  test("have users who say no tool names and only ids that are declared as spoken", () => {
    for (const { turns, goals } of tasks) {
      const userText = turns.map(it => it.user).join("\n");
      expect([...catalog.tools.keys()].filter(it => containsToken(userText, it))).toEqual([]);
      for (const call of goals.flatMap(it => it.calls)) {
        const declarations = getDeclarations(
          catalog.getServer(catalog.tools.get(call.name)!.server),
        );
        for (const { key, isSpoken } of declarations.get(call.name)?.inputs ?? []) {
          const id = call.arguments[key];
          if (!isSpoken && typeof id === "string")
            expect(containsToken(userText, id), `${id} in ${userText}`).toBe(false);
        }
      }
    }
  });

  test("have texts without open slots, and replies that are not empty", () => {
    for (const { user, reply } of tasks.flatMap(it => it.turns)) {
      expect(`${user}${reply}`).not.toMatch(/[{}|\u0000-\u0008]|undefined|\bobject\b|  |\.\.$/);
      expect(user).toMatch(/^["“~/#€-]*[\p{L}\d.]/u);
      expect(reply).not.toBe("");
    }
  });

  test("have trajectories that replay exactly", () => {
    for (const it of tasks) expect(checkReplay(catalog, it.trajectory).verdict, it.id).toBe("same");
  });

  test("have the paper's shares of knobs and information levels", () => {
    checkNear(
      getShare(tasks, it => it.knobs["distractors"] !== 0),
      0.4,
      0.08,
    );
    checkNear(
      getShare(tasks, it => it.knobs["enumsStripped"] === true),
      0.3,
      0.08,
    );
    const normal = filterByKind("normal");
    checkNear(
      getShare(normal, it => it.info === "complete"),
      0.6,
      0.08,
    );
    checkNear(
      getShare(normal, it => it.info === "missing"),
      0.2,
      0.06,
    );
    checkNear(
      getShare(normal, it => it.info === "minimal"),
      0.2,
      0.06,
    );
  });

  test("have no distractors, or three to eight tools of unrelated servers", () => {
    for (const task of tasks) {
      const { menu, knobs, kind } = task;
      const needed = listNeededServers(task);
      const foreign = menu.filter(
        it => !needed.includes(catalog.tools.get(it.name)!.server),
      ).length;
      const distractors = knobs["distractors"] as number;
      // tools that would answer a question or do what is refused are taken off the menu
      if (kind === "abstain") expect(distractors).toBeLessThanOrEqual(8);
      else expect([0, 3, 4, 5, 6, 7, 8]).toContain(distractors);
      // a tool that comes later may be of the server of a distractor
      if (knobs["broughtTool"] === true) expect(foreign).toBeLessThanOrEqual(distractors);
      else if (kind !== "irrelevant") expect(foreign).toBe(distractors);
      else if (foreign < menu.length) expect(foreign).toBe(distractors);
      expect(menu.length).toBeLessThanOrEqual(24);
    }
  });

  test("have tools of held-out servers only in the split of those servers", async () => {
    const realistic = await readSharedTasks("realistic");
    const menuServers = tasks
      .filter(it => it.split !== "heldout-server")
      .flatMap(it => it.menu.map(tool => catalog.tools.get(tool.name)!.server));
    expect(menuServers.filter(isHeldOut)).toEqual([]);
    checkNear(
      getShare([...tasks, ...realistic.tasks], it => it.split === "heldout-server"),
      heldOutServers.length / catalog.servers.size,
      0.05,
    );
    checkNear(
      getShare(
        [...tasks, ...realistic.tasks].filter(it => it.split !== "heldout-server"),
        it => it.split === "heldout-chain" || it.split === "heldout-edge",
      ),
      // of 13,517 tasks 15%: the more tools a task has, the more edges and pairs
      0.15,
      0.04,
    );
  });

  test("have two to seven turns, or one if no tool should be called", () => {
    const longest = Math.max(...tasks.map(it => it.turns.length));
    expect([6, 7, 8]).toContain(longest);
    for (const it of tasks) {
      if (it.kind === "abstain") expect(it.turns.length).toBe(1);
      else expect(it.turns.length).toBeGreaterThan(1);
    }
    checkNear(
      getShare(filterByKind("normal"), it => it.turns.length > 3),
      0.15,
      0.06,
    );
  });

  test("of kind irrelevant offer no tool for the request or a substitute, and call nothing", () => {
    const irrelevant = filterByKind("irrelevant");
    for (const it of irrelevant) {
      const declarations = new Map(
        it.servers.flatMap(({ name }) => [...getDeclarations(catalog.getServer(name))]),
      );
      expect(listCalls(it.trajectory)).toEqual([]);
      expect(it.goals).toEqual([]);
      expect(it.hidden.length).toBeGreaterThan(0);
      for (const entry of it.menu)
        expect(
          it.hidden.some(
            name =>
              name === entry.name ||
              (declarations.has(entry.name) &&
                isSubstitute(declarations.get(name)!, declarations.get(entry.name)!)),
          ),
        ).toBe(false);
    }
    expect(
      irrelevant.some(it =>
        it.menu.every(entry => catalog.tools.get(entry.name)!.server !== it.servers[0]!.name),
      ),
    ).toBe(true);
    expect(
      irrelevant.some(it =>
        it.menu.some(entry => catalog.tools.get(entry.name)!.server === it.servers[0]!.name),
      ),
    ).toBe(true);
  });

  test("of kind clarify do what is possible, call no hidden tool, and say what is impossible", () => {
    const clarify = filterByKind("clarify");
    for (const it of clarify) {
      expect(it.hidden.length).toBeGreaterThan(0);
      expect(it.hidden.some(name => it.chain.includes(name))).toBe(true);
      const brought = it.turns.flatMap(turn => turn.adds ?? []);
      const called = listCalls(it.trajectory).map(call => call.name);
      const names = [
        ...it.menu.map(entry => entry.name),
        ...called.filter(name => !brought.includes(name)),
      ];
      expect(names.filter(name => it.hidden.includes(name))).toEqual([]);
      expect(it.turns.map(turn => turn.reply).join("\n")).toMatch(
        /can't|no way|missing|not able|not? (have|tool)|no tool|don't have|isn't (possible|something)|goes beyond|nothing (I have )?here/,
      );
    }
    checkNear(
      getShare(clarify, it => it.goals.length > 0),
      0.93,
      0.07,
    );
    checkNear(
      getShare(clarify, it => it.turns.some(turn => turn.adds)),
      0.38,
      0.2,
    );
    expect(clarify.some(it => it.knobs["obstacle"] === "thing")).toBe(true);
    expect(clarify.some(it => it.knobs["obstacle"] === "tool")).toBe(true);
  });

  test("of kind abstain are of three categories and all different on a server", () => {
    const abstain = filterByKind("abstain");
    expect(new Set(abstain.map(it => it.knobs["abstention"]))).toEqual(
      new Set(["cannot", "no-need", "question"]),
    );
    const firstTurns = abstain.map(it => `${it.servers[0]!.name}: ${it.turns[0]!.user}`);
    expect(new Set(firstTurns).size).toBe(abstain.length);
    for (const it of abstain) {
      expect([it.goals, listCalls(it.trajectory)]).toEqual([[], []]);
      // tools are hidden where a normal task makes the same request
      if (it.knobs["abstention"] !== "cannot" || it.knobs["pair"] === undefined)
        expect(it.hidden).toEqual([]);
      expect(it.menu.length).toBeGreaterThan(0);
      expect(`${it.turns[0]!.user}${it.turns[0]!.reply}`).not.toMatch(/[{}]/);
      if (it.knobs["abstention"] === "question") expect(it.turns[0]!.reply).toMatch(/\?$/);
    }
  });

  test("undo nothing that the user asked for, unless the user has a change of mind", async () => {
    const realistic = await readSharedTasks("realistic");
    const undone = [...tasks, ...realistic.tasks].filter(({ goals }) =>
      goals.some(it => it.calls.some(call => call.required)),
    );
    expect(undone.length).toBeGreaterThan(0);
    for (const { knobs } of undone) expect(knobs).toHaveProperty("changesOfMind");
  });

  test("are rejected if the user takes back what was just asked for", async () => {
    const realistic = await readSharedTasks("realistic");
    const reasons = [...rejected, ...realistic.rejected].map(it => it.reason);
    expect(reasons).toContain("contradiction");
  });

  testAnswerability(
    () => tasks.slice(0, 200),
    () => rejected,
  );
  testReferences(() => tasks);
  testSpeech(() => tasks);

  test("have every kind of recovery", async () => {
    const realistic = await readSharedTasks("realistic");
    const recoveries = [...tasks, ...realistic.tasks].flatMap(it =>
      parseStateLog(it.provenance.log)
        .filter(step => step.from === "recover")
        .map(step => step.event),
    );
    for (const kind of ["retry", "alternative", "give-up"])
      expect(recoveries.filter(it => it === kind).length, kind).toBeGreaterThan(0);
  });
});

test("the same count gives the same bytes", async () => {
  const [one, other] = [
    await synthesizeTasks(30, { ...paper, count: 30 }),
    await synthesizeTasks(30, { ...paper, count: 30 }),
  ];
  expect(JSON.stringify(one)).toBe(JSON.stringify(other));
});

test("tasks of held-out servers can be requested", async () => {
  const { tasks } = await synthesizeTasks(30, { ...paper, count: 30, split: "heldout-server" });
  expect([...new Set(tasks.map(it => it.split))]).toEqual(["heldout-server"]);
  expect(tasks.map(it => it.servers[0]!.name).every(isHeldOut)).toBe(true);
});

test("a menu of kind full has every tool of the server and the distractors", async () => {
  const { tasks } = await synthesizeTasks(40, {
    ...paper,
    count: 40,
    menu: "full",
    crossServerShare: 0,
  });
  for (const task of tasks) {
    const { menu, kind, knobs } = task;
    if (kind !== "normal") continue;
    const needed = listNeededServers(task);
    const own = menu
      .map(it => it.name)
      .filter(it => needed.includes(catalog.tools.get(it)!.server));
    const all = needed.flatMap(it => [...catalog.getServer(it).tools.keys()]);
    expect(own.toSorted()).toEqual(all.toSorted());
    expect(menu.length - own.length).toBe(knobs["distractors"]);
  }
});
