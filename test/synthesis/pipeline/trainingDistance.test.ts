/** The report says how far held-out tasks are from training tasks, and what shape tasks have. */
import { expect, test } from "vitest";
import { DemandCounts } from "../../../src/synthesis/pipeline/report/demands.ts";
import { TaskShapes, TrainingDistances } from "../../../src/synthesis/pipeline/report/measures.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { moveFifty } from "../../trajectory/sampleTasks.ts";

const move = await moveFifty();

/** A task that makes these calls in each turn, each call with a value of the one before it. */
const createTask = (
  split: Task["split"],
  turns: readonly (readonly string[])[],
  user = "please",
): Task => {
  const goals = turns.flatMap((names, turn) =>
    names.map(name => ({ calls: [{ name, arguments: {} }], after: [], turn })),
  );
  return {
    ...move,
    split,
    goals: goals.map((it, i) => ({
      ...it,
      after: i === 0 ? [] : [{ goal: i - 1, kind: "explicit" as const, via: "id" }],
    })),
    turns: turns.map(() => ({ user, goals: [], reply: "Done." })),
  };
};

const measure = (...tasks: Task[]) => {
  const distances = new TrainingDistances();
  for (const it of tasks) distances.add(it);
  return distances.measure();
};

const training = [
  createTask("train", [["a", "b"], ["c"]], "write to Ana Ruiz"),
  createTask("train", [["d", "e"]]),
];

test.each<[string, string[][], object]>([
  [
    "the same calls as a training task are at no distance",
    [["a", "b"], ["c"]],
    { contained: 1, oneTool: 1, distance: 0, newSequence: 0, newEdge: 0, far: 0 },
  ],
  [
    "some of the tools of a training task are contained in it",
    [["a", "b"]],
    { contained: 1, oneTool: 1, distance: 0.3333, newSequence: 0, newEdge: 0, far: 0 },
  ],
  [
    "an unseen order of trained tools is a new sequence, but not far",
    [["b", "a"]],
    { contained: 1, oneTool: 1, newSequence: 1, newEdge: 1, far: 0 },
  ],
  [
    "another tool in place of one is at one tool",
    [["a", "b", "d"]],
    { contained: 0, oneTool: 1, distance: 0.5, newSequence: 1, newEdge: 1, far: 1 },
  ],
  [
    "tools of different training tasks are more than one tool away",
    [
      ["a", "b"],
      ["d", "e"],
    ],
    { contained: 0, oneTool: 0, distance: 0.5, newSequence: 0, newEdge: 1, far: 0 },
  ],
  [
    "unseen tools are at the largest distance",
    [["x", "y"]],
    { contained: 0, oneTool: 0, distance: 1, newSequence: 1, newEdge: 1, far: 1 },
  ],
])("%s", (_, turns, expected) => {
  const { "heldout-edge": edge } = measure(...training, createTask("heldout-edge", turns));
  expect(edge).toMatchObject({ tasks: 1, ...expected });
});

test("names are capitalized words within a sentence", () => {
  const user = "Can you write to Ana Weber? Then call her, Pieter.";
  const task = createTask("heldout-world", [["a"]], user);
  // Weber and Pieter are new
  expect(measure(...training, task)["heldout-world"]).toMatchObject({ newName: 0.6667 });
});

test("without training tasks there is nothing to compare with", () => {
  expect(measure(createTask("heldout-edge", [["a"]]))).toEqual({});
});

test("the shape counts turns by their calls, and several writes in a turn", () => {
  const shapes = new TaskShapes();
  shapes.add({
    ...createTask("train", [["banking_a", "banking_b", "banking_c"], ["maps_a"], []]),
    servers: ["banking", "maps", "crm"].map(name => ({ name, fixture: "full", digest: "" })),
    knobs: { failedCalls: 1, conditions: "met, not met" },
  });
  shapes.add({ ...createTask("train", [[]]), knobs: {} });
  expect(shapes.measure()).toMatchObject({
    turns: 2,
    calls: 4,
    mostCalls: 4,
    callsPerTurn: 1,
    turnsByCalls: [0.5, 0.25, 0, 0.25],
    turnsWithWrites: 0.25,
    servers: 2,
    withFailedCall: 0.5,
    withoutGoals: 0.5,
    withCondition: 0.5,
    withLimit: 0,
    tasksWithWrites: 0.5,
    mostTurns: 3,
  });
});

test("the demands say where values come from, and what users say", () => {
  const demands = new DemandCounts();
  // "Move 50 euros from acc_101 to my savings.", of which one id is looked up by a name
  const [first, second] = move.goals;
  const lookUp = { ...first!, calls: first!.calls.map(it => ({ ...it, for: "feeds" as const })) };
  demands.add({ ...move, goals: [lookUp, second!] });
  const [turn] = move.turns;
  const user = "And 20 more tomorrow.";
  demands.add({
    ...move,
    turns: [{ ...turn!, user }],
    goals: [{ ...move.goals[1]!, calls: [1, 2, 3].map(() => move.goals[1]!.calls[0]!) }],
    knobs: { ...move.knobs, policy: "forbids" },
    trajectory: {
      ...move.trajectory,
      events: move.trajectory.events.map(it => (it.kind === "user" ? { ...it, text: user } : it)),
    },
  });
  const wordsOfMove = turn!.user.split(" ").length;
  expect(demands.measure()).toEqual({
    // Savings, acc_101 and 50 are said in the first task; the second says none of its three
    verbatim: 0.4286,
    lookedUp: 0.2857,
    normalized: 0,
    computed: 0.2857,
    turnsWithThreeWrites: 0.5,
    oneHit: 1,
    severalHits: 0,
    noHit: 0,
    wordsPerTurn: (wordsOfMove + 4) / 2,
    longTurns: 0,
    relativeDates: 0.5,
    decidingPolicy: 0.5,
    normalDecided: 0.5,
    normalOutcomes: 0.5,
    // the second one computes, makes three writes, and has a rule
    easy: 0.5,
    medium: 0.5,
    hard: 0,
  });
});
