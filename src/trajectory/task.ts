/**
 * A task: a fixture, the tools on offer, what the user says, and the goals, which are the calls
 * that must happen. With its teacher's trajectory it is one line of a tasks file.
 */
import { z } from "zod";
import type { JsonObject } from "../environment/json.ts";
import { trajectorySchema } from "./trajectory.ts";

export const taskFormat = "prove/task@2";

const object = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;

/**
 * A call that must happen. Keys in `mask` are free text: they must be present, their values are not
 * compared.
 */
export const goalCall = z.strictObject({
  name: z.string(),
  arguments: object,
  mask: z.array(z.string()).optional(),
});

/**
 * Goal indices that must be matched before. `explicit`: a value flows along the edge; `via` names
 * it.
 */
export const goalEdge = z.strictObject({
  goal: z.int().min(0),
  kind: z.enum(["explicit", "implicit"]),
  via: z.string().optional(),
});

/**
 * One or more parallel calls, after the goals it follows (a GT step of the paper). Goals are in
 * topological order.
 */
export const goal = z.strictObject({
  calls: z.array(goalCall).min(1),
  after: z.array(goalEdge),
  /** Index of the user turn it answers. */
  turn: z.int().min(0),
});

/** A task's fields, each on its own. */
export const taskFields = z.strictObject({
  format: z.literal(taskFormat),
  id: z.string(),
  /** None where all that is on offer are `tools` of nobody. */
  servers: z.array(z.strictObject({ name: z.string(), fixture: z.string(), digest: z.string() })),
  /** Hash of the tool definitions that the menu resolves against. */
  catalog: z.string(),
  seed: z.int().min(0),
  split: z.enum(["train", "heldout-chain", "heldout-server"]),
  kind: z.enum(["normal", "clarify", "abstain", "irrelevant"]),
  persona: z.string(),
  now: z.string(),
  /** The tools on offer, in order. */
  menu: z.array(z.strictObject({ name: z.string(), enumsStripped: z.literal(true).optional() })),
  /**
   * Tools on the menu that no server stands behind, as an imported task lists them: they can be
   * seen, and calling one is `unknown-tool`.
   */
  tools: z
    .array(z.strictObject({ name: z.string(), description: z.string(), parameters: object }))
    .optional(),
  /** Chain tools that were taken off the menu. */
  hidden: z.array(z.string()),
  turns: z
    .array(z.strictObject({ user: z.string(), goals: z.array(z.int().min(0)), reply: z.string() }))
    .min(1),
  goals: z.array(goal),
  knobs: z.record(z.string(), z.json()),
  info: z.enum(["complete", "missing", "minimal"]),
  /** The tool names of the dependency chain it grew from. */
  chain: z.array(z.string()),
  budget: z.strictObject({
    /** B of the paper's equation (2). */
    calls: z.int().min(0),
    assistantMessages: z.int().min(1),
  }),
  /** `log` is the way through the state machine, a line a user turn. */
  provenance: z.strictObject({ teacher: z.string(), graph: z.string(), log: z.array(z.string()) }),
  /** The teacher's, without patches (replay brings them back). */
  trajectory: trajectorySchema,
});

/** Goals point back, and turns name goals that are there: what the alignment relies on. */
export const withSoundGoals = <
  T extends z.ZodType<Pick<Fields, "goals"> & { turns: { goals: number[] }[] }>,
>(
  fields: T,
): T =>
  fields.superRefine(({ goals, turns }, context) => {
    for (const [g, { after, turn }] of goals.entries()) {
      for (const [i, edge] of after.entries())
        if (edge.goal >= g)
          context.addIssue({
            code: "custom",
            path: ["goals", g, "after", i],
            message: `goal ${g} can only follow goals before it, not ${edge.goal}`,
          });
      if (turn >= turns.length)
        context.addIssue({
          code: "custom",
          path: ["goals", g, "turn"],
          message: `there is no turn ${turn}`,
        });
    }
    for (const [t, turn] of turns.entries())
      for (const it of turn.goals)
        if (it >= goals.length)
          context.addIssue({
            code: "custom",
            path: ["turns", t, "goals"],
            message: `there is no goal ${it}`,
          });
  });

type Fields = z.infer<typeof taskFields>;

export const taskSchema = withSoundGoals(taskFields);

export type Task = z.infer<typeof taskSchema>;
export type Goal = z.infer<typeof goal>;
export type GoalCall = z.infer<typeof goalCall>;

/** B = n + ⌈β·n⌉ with β = 0.5: calls that cost nothing (paper equation (2)). */
export const callBudget = (goals: readonly Goal[]): number => {
  const n = goals.reduce((sum, it) => sum + it.calls.length, 0);
  return n + Math.ceil(0.5 * n);
};
