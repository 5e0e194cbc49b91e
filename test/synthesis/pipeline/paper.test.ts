/**
 * The paper's mixture: exact numbers of every kind, each of them what it says it is, and every knob
 * turned as often as it should be.
 */
import { beforeAll, describe, expect, test } from "vitest";
import {
  apportion,
  computeComposition,
  planSlots,
} from "../../../src/synthesis/pipeline/composition.ts";
import { getDeclarations } from "../../../src/synthesis/graph/declarations.ts";
import { parseStateLog } from "../../../src/synthesis/pipeline/stateLog.ts";
import { presets } from "../../../src/synthesis/pipeline/presets.ts";
import { heldOutServers, isHeldOut } from "../../../src/synthesis/pipeline/split.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { formatTaskLine, taskLineSchema } from "../../../src/trajectory/taskLine.ts";
import { listCalls } from "../../../src/trajectory/trajectory.ts";
import { catalog } from "../../contracts/doors.ts";
import { made } from "../made.ts";
import { isSubstitute } from "../../../src/synthesis/pipeline/substitutes.ts";

const { mixture } = presets.paper;
const paper = { preset: "paper", servers: [...catalog.servers.keys()] } as const;

describe("the composition", () => {
  test.each([
    [13_517, { normal: 10_350, irrelevant: 545, clarify: 1500, abstain: 1122 }],
    [300, { normal: 230, irrelevant: 12, clarify: 33, abstain: 25 }],
    [1, { normal: 1, irrelevant: 0, clarify: 0, abstain: 0 }],
    [0, { normal: 0, irrelevant: 0, clarify: 0, abstain: 0 }],
  ])("of %i", (n, wanted) => {
    expect(computeComposition(mixture, n)).toEqual(wanted);
  });

  test("always adds up, and is off by less than one", () => {
    const weights = [10_895, 1500, 1122];
    for (let n = 0; n < 2000; n += 7) {
      const counts = apportion(weights, n);
      expect(counts.reduce((a, b) => a + b, 0)).toBe(n);
      for (const [i, it] of counts.entries())
        expect(Math.abs(it - (n * weights[i]!) / 13_517)).toBeLessThan(1);
    }
  });

  test("is spread evenly over the file, and over servers whichever takes a place", () => {
    const servers = ["a", "b", "c"];
    const slots = planSlots(mixture, 600, servers);
    const kinds: string[] = [];
    const taken: Record<string, number> = {};
    for (let slot = slots.next(); !slot.done;) {
      kinds.push(slot.value.kind);
      // the second best takes every fifth
      const server = slot.value.servers[kinds.length % 5 === 0 ? 1 : 0]!;
      taken[server] = (taken[server] ?? 0) + 1;
      slot = slots.next(server);
    }
    for (const from of [0, 150, 300, 450])
      expect(
        Math.abs(kinds.slice(from, from + 150).filter(it => it === "clarify").length - 16.6),
      ).toBeLessThan(2);
    for (const it of Object.values(taken)) expect(Math.abs(it - 200)).toBeLessThan(4);
  });
});

describe("two thousand tasks", () => {
  const count = 2000;
  let tasks: Task[];
  beforeAll(async () => {
    ({ tasks } = await made(count, { ...paper, count }));
  }, 120_000);

  const of = (kind: Task["kind"]) => tasks.filter(it => it.kind === kind);
  const share = (of: readonly Task[], is: (it: Task) => boolean) =>
    of.filter(is).length / of.length;
  const checkNear = (is: number, wanted: number, by: number) =>
    expect(Math.abs(is - wanted), `${is} is about ${wanted}`).toBeLessThan(by);

  test("are as many of each kind as the paper has", () => {
    expect(
      Object.fromEntries(
        ["normal", "irrelevant", "clarify", "abstain"].map(it => [
          it,
          of(it as Task["kind"]).length,
        ]),
      ),
    ).toEqual(computeComposition(mixture, count));
  });

  test("are as many on every server", () => {
    const counts = [...catalog.servers.keys()].map(
      name => tasks.filter(it => it.servers[0]!.name === name).length,
    );
    const mean = count / catalog.servers.size;
    for (const it of counts) expect(Math.abs(it - mean)).toBeLessThanOrEqual(1);
  });

  test("fit their schema, take no more than 4.4 KB each, and speak of nearly every tool", () => {
    for (const it of tasks)
      expect(taskLineSchema.safeParse(JSON.parse(formatTaskLine(it))).error).toBeUndefined();
    expect(tasks.reduce((sum, it) => sum + formatTaskLine(it).length, 0) / count).toBeLessThan(
      4400,
    );
    const called = new Set(
      tasks.flatMap(it => it.goals.flatMap(goal => goal.calls.map(call => call.name))),
    );
    expect([...catalog.tools.keys()].filter(it => !called.has(it)).length).toBeLessThan(12);
  });

  test("have their knobs turned as often as the paper's", () => {
    checkNear(
      share(tasks, it => it.knobs["distractors"] !== 0),
      0.4,
      0.04,
    );
    checkNear(
      share(tasks, it => it.knobs["enumsStripped"] === true),
      0.3,
      0.04,
    );
    const normal = of("normal");
    checkNear(
      share(normal, it => it.info === "complete"),
      0.6,
      0.04,
    );
    checkNear(
      share(normal, it => it.info === "missing"),
      0.2,
      0.03,
    );
    checkNear(
      share(normal, it => it.info === "minimal"),
      0.2,
      0.03,
    );
  });

  test("have three to eight tools of servers that are about other things as distractors, or none", () => {
    for (const { menu, servers, knobs, goals, kind } of tasks) {
      const needed = new Set([
        servers[0]!.name,
        ...goals.flatMap(it => it.calls.map(call => catalog.tools.get(call.name)!.server)),
      ]);
      const foreign = menu.filter(it => !needed.has(catalog.tools.get(it.name)!.server)).length;
      const distractors = knobs["distractors"] as number;
      expect([0, 3, 4, 5, 6, 7, 8]).toContain(distractors);
      if (kind !== "irrelevant") expect(foreign).toBe(distractors);
      else if (foreign < menu.length) expect(foreign).toBe(distractors);
      expect(menu.length).toBeLessThanOrEqual(24);
    }
  });

  test("show no tool of a held-out server but where they are about one", () => {
    const shown = tasks
      .filter(it => it.split !== "heldout-server")
      .flatMap(it => it.menu.map(tool => catalog.tools.get(tool.name)!.server));
    expect(shown.filter(isHeldOut)).toEqual([]);
    checkNear(
      share(tasks, it => it.split === "heldout-server"),
      heldOutServers.length / catalog.servers.size,
      0.05,
    );
    checkNear(
      share(
        tasks.filter(it => it.split !== "heldout-server"),
        it => it.split === "heldout-chain",
      ),
      0.19,
      0.05,
    );
  });

  test("are talks of two or three turns, but for those in which nothing is to be called", () => {
    for (const it of tasks) expect(it.kind === "abstain" ? [1] : [2, 3]).toContain(it.turns.length);
  });

  test("that nothing can do offer nothing that does it, and nothing is called", () => {
    const both = of("irrelevant");
    for (const it of both) {
      const server = catalog.getServer(it.servers[0]!.name);
      const declared = getDeclarations(server);
      expect(listCalls(it.trajectory)).toEqual([]);
      expect(it.goals).toEqual([]);
      expect(it.hidden.length).toBeGreaterThan(0);
      for (const shown of it.menu)
        expect(
          it.hidden.some(
            name =>
              name === shown.name ||
              (declared.has(shown.name) &&
                isSubstitute(declared.get(name)!, declared.get(shown.name)!)),
          ),
        ).toBe(false);
    }
    expect(
      both.some(it =>
        it.menu.every(entry => catalog.tools.get(entry.name)!.server !== it.servers[0]!.name),
      ),
    ).toBe(true);
    expect(
      both.some(it =>
        it.menu.some(entry => catalog.tools.get(entry.name)!.server === it.servers[0]!.name),
      ),
    ).toBe(true);
  });

  test("that lack a tool do what can be done, call nothing that is hidden, and say what they cannot", () => {
    const lacking = of("clarify");
    for (const it of lacking) {
      expect(it.hidden.length).toBeGreaterThan(0);
      expect(it.hidden.some(name => it.chain.includes(name))).toBe(true);
      const names = [
        ...it.menu.map(entry => entry.name),
        ...listCalls(it.trajectory).map(call => call.name),
      ];
      expect(names.filter(name => it.hidden.includes(name))).toEqual([]);
      expect(it.turns.map(turn => turn.reply).join("\n")).toMatch(
        /can't|no way|missing|nothing (I have )?here/,
      );
    }
    checkNear(
      share(lacking, it => it.goals.length > 0),
      0.93,
      0.07,
    );
    expect(lacking.some(it => it.knobs["obstacle"] === "thing")).toBe(true);
    expect(lacking.some(it => it.knobs["obstacle"] === "tool")).toBe(true);
  });

  test("in which nothing is to be called are of three sorts, no two alike", () => {
    const idle = of("abstain");
    expect(new Set(idle.map(it => it.knobs["abstention"]))).toEqual(
      new Set(["cannot", "no-need", "question"]),
    );
    expect(new Set(idle.map(it => it.turns[0]!.user)).size).toBe(idle.length);
    for (const it of idle) {
      expect([it.goals, listCalls(it.trajectory), it.hidden]).toEqual([[], [], []]);
      expect(it.menu.length).toBeGreaterThan(0);
      expect(`${it.turns[0]!.user}${it.turns[0]!.reply}`).not.toMatch(/[{}]/);
      if (it.knobs["abstention"] === "question") expect(it.turns[0]!.reply).toMatch(/\?$/);
    }
  });

  test("recover in every way there is", () => {
    const recoveries = tasks.flatMap(it =>
      parseStateLog(it.provenance.log)
        .filter(step => step.from === "recover")
        .map(step => step.event),
    );
    for (const kind of ["retry", "alternative", "give-up"])
      expect(recoveries.filter(it => it === kind).length, kind).toBeGreaterThan(3);
  });
});

test("the same count gives the same bytes", async () => {
  const [one, other] = [
    await made(60, { ...paper, count: 60 }),
    await made(60, { ...paper, count: 60 }),
  ];
  expect(JSON.stringify(one)).toBe(JSON.stringify(other));
});

test("a wish for tasks of held-out servers is granted", async () => {
  const { tasks } = await made(30, { ...paper, count: 30, split: "heldout-server" });
  expect([...new Set(tasks.map(it => it.split))]).toEqual(["heldout-server"]);
  expect(tasks.map(it => it.servers[0]!.name).every(isHeldOut)).toBe(true);
});

test("a menu of kind full offers every tool of the server, and now and then others", async () => {
  const { tasks } = await made(40, { ...paper, count: 40, menu: "full", crossServerShare: 0 });
  for (const { menu, servers, kind, knobs } of tasks) {
    if (kind !== "normal") continue;
    const own = menu
      .filter(it => catalog.tools.get(it.name)!.server === servers[0]!.name)
      .map(it => it.name);
    expect(own.toSorted()).toEqual(
      [...catalog.getServer(servers[0]!.name).tools.keys()].toSorted(),
    );
    expect(menu.length - own.length).toBe(knobs["distractors"]);
  }
});
