/** The alarms of a training, from made-up metrics. */
import { expect, test } from "vitest";
import {
  findAlarms,
  findFinalAlarms,
  formatFinalAlarms,
  replaceInvalidNumbers,
} from "../../src/run/alarms.ts";
import { stepMetrics, type GrpoStep, type SftStep } from "../../src/run/metrics.ts";

const healthy: GrpoStep = {
  step: 1,
  method: "grpo",
  loss: 0.01,
  gradientNorm: 1,
  learningRate: 1e-4,
  reward: { mean: 1, std: 0.3 },
  paper: 1,
  parts: { validity: 1, coverage: 1, efficiency: 0, name: 1, argument: 1 },
  success: 0.5,
  calls: 3,
  budget: 5,
  errors: { syntax: 0, tool: 0.05, arguments: 0, refused: 0.1 },
  cut: 0.1,
  zeroVariance: 0.4,
  attempts: 128,
  faults: 0,
  tokensPerRollout: 60,
  rolloutsPerSecond: 20,
  kl: 0.01,
  clipShare: 0,
  entropy: 0.2,
  seconds: { environment: 1, sampling: 1, learning: 1, total: 3 },
};
const steps = (n: number, change: (i: number) => Partial<GrpoStep> = () => ({})): GrpoStep[] =>
  Array.from({ length: n }, (_, i) => ({ ...healthy, step: i + 1, ...change(i) }));
/** Success that varies from step to step. */
const varied = (mean: number, i: number) => ({ success: mean + (i % 2 ? 0.05 : -0.05) });

const check = (title: string, list: GrpoStep[], kinds: string[]) =>
  test(title, () => expect(findAlarms(list).map(it => it.kind)).toEqual(kinds));

check(
  "a healthy run has none",
  steps(40, i => varied(0.5, i)),
  [],
);
check(
  "flat groups",
  steps(5, () => ({ zeroVariance: 0.9 })),
  ["flat-groups"],
);
check(
  "many flat groups",
  steps(5, () => ({ zeroVariance: 0.6 })),
  ["many-flat-groups"],
);
test("many flat groups do not make a run fail, more of them do", () => {
  const list = (zeroVariance: number) => steps(5, () => ({ zeroVariance }));
  expect(findFinalAlarms(list(0.6))).toEqual([]);
  expect(findFinalAlarms(list(0.9)).map(it => it.kind)).toEqual(["flat-groups"]);
});
check(
  "four steps are too few to tell",
  steps(4, () => ({ zeroVariance: 0.9 })),
  [],
);
check(
  "no entropy",
  steps(5, () => ({ entropy: 0.001 })),
  ["entropy"],
);
check(
  "attempts that are cut",
  steps(5, () => ({ cut: 0.35 })),
  ["cut"],
);
check(
  "attempts that end by a fault",
  steps(5, () => ({ attempts: 80, faults: 48 })),
  ["faults"],
);
test("if tools fail, the learning rate is not to blame", () => {
  const list = steps(9, i => (i < 4 ? {} : { attempts: 80, faults: 48 }));
  expect(formatFinalAlarms(findFinalAlarms(list), list)).toMatch(
    /^the training ended with an alarm: 38% of the attempts .*\. To do: fix the tools, or/,
  );
});
check(
  "tools that are not offered",
  steps(5, () => ({ errors: { ...healthy.errors, tool: 0.25 } })),
  ["unknown-tools"],
);
check(
  "a student that is far from its start",
  steps(5, () => ({ kl: 0.6 })),
  ["kl"],
);
check(
  "a student that is far from its start, where that is not measured in each step",
  steps(5, i => ({ kl: i % 2 ? undefined : 0.9 })),
  ["kl"],
);
check(
  "a student that is near its start, where that is not measured in each step",
  steps(5, i => ({ kl: i % 2 ? undefined : 0.1 })),
  [],
);

/** Eight tasks that are new, and eight that a curriculum chooses again after six steps. */
const chosen = (i: number, ofNew: number, ofOld: number): Partial<GrpoStep> => ({
  success: i < 6 ? ofNew : (ofNew + ofOld) / 2,
  outcomes: Array.from({ length: 16 }, (_, n) => {
    const isOld = i >= 6 && n >= 8;
    const rate = (isOld ? ofOld : ofNew) + (i % 2 ? 0.05 : -0.05);
    return { task: isOld ? n : i * 16 + n, attempts: 8, successes: 8 * rate };
  }),
});
check(
  "success that is lower because a curriculum chooses undecided tasks",
  steps(40, i => chosen(i, 0.9, 0.5)),
  [],
);
check(
  "success that fell by far with a curriculum",
  steps(40, i => chosen(i, i < 20 ? 0.9 : 0.6, 0.5)),
  ["success"],
);
check(
  "a curriculum in its second pass over the tasks, of which mastered ones are left out",
  steps(40, i => ({ ...chosen(i % 20, i < 20 ? 0.9 : 0.6, 0.5) })),
  [],
);

check(
  "success that fell by far",
  steps(20, i => varied(i < 10 ? 0.5 : 0.3, i)),
  ["success"],
);
check(
  "success that fell by chance",
  steps(20, i => varied(i < 10 ? 0.5 : 0.47, i)),
  [],
);
check(
  "a loss that explodes",
  steps(12, i => ({ loss: i < 6 ? 0.01 : 40 })),
  ["rising-loss"],
);
check(
  "what was once and is over",
  steps(12, i => ({ cut: i < 6 ? 0.9 : 0.1 })),
  [],
);

test("a supervised loss that rises again", () => {
  const list = [2, 1.5, 1, 0.8, 0.7, 0.6, 0.6, 0.6, 2, 4, 5, 5, 5].map((loss, i): SftStep => {
    const { step, gradientNorm, learningRate } = { ...healthy, step: i + 1 };
    const common = { step, gradientNorm, learningRate, tokens: 1, taught: 1, conversations: 1 };
    return { ...common, method: "sft", loss, seconds: { learning: 1, total: 1 } };
  });
  expect(findAlarms(list.slice(0, 8))).toEqual([]);
  expect(findAlarms(list).map(it => it.kind)).toEqual(["rising-loss"]);
});

test("the loss of a very long run is looked at, too", () => {
  const { step: _, ...rest } = healthy;
  const list = Array.from({ length: 200_000 }, (_, i) => ({ ...rest, step: i + 1 }));
  expect(findAlarms(list)).toEqual([]);
});

test("what is not a number is named, and the line stays readable", () => {
  const broken = replaceInvalidNumbers({
    ...healthy,
    loss: NaN,
    reward: { mean: Infinity, std: 0 },
  });
  expect(stepMetrics.parse(JSON.parse(JSON.stringify(broken)))).toMatchObject({
    loss: 0,
    alarms: [{ kind: "not-a-number", text: expect.stringMatching(/^loss, reward\.mean are not/) }],
  });
  expect(findAlarms([broken]).map(it => it.kind)).toEqual(["not-a-number"]);
  expect(replaceInvalidNumbers(healthy)).toBe(healthy);
});

test("the last line tells what holds and what to do, by whether it held from the start", () => {
  const check = (list: GrpoStep[], line: RegExp) =>
    expect(formatFinalAlarms(findAlarms(list), list)).toMatch(line);
  check(
    steps(6, () => ({ zeroVariance: 0.9 })),
    /^the training ended with an alarm: 90% of the groups .* To do: train on other tasks/,
  );
  check(
    steps(8, i => (i < 1 ? {} : { zeroVariance: 1, cut: 1 })),
    /^the training ended with 2 alarms: .*; .* To do: start a new run with a lower learning rate$/,
  );
});
