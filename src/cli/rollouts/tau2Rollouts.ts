/**
 * The simulations in tau2-bench's result files. Calls that the simulated user makes on its own
 * device are not the agent's and are left out.
 */
import { z } from "zod";
import { parseToolMessages } from "./tau2Messages.ts";
import { numberSchema, type RolloutFormat } from "./rolloutFormat.ts";

const simulationSchema = z.looseObject({
  id: z.string(),
  task_id: z.string(),
  trial: z.int().nullish(),
  termination_reason: z.string(),
  messages: z.array(z.looseObject({ role: z.string() })),
  reward_info: z
    .looseObject({
      reward: numberSchema,
      reward_breakdown: z.record(z.string(), numberSchema).nullish(),
    })
    .nullish(),
});

/** Who ended the conversation, in tau2's words; every other reason is a limit or an error. */
const ownEnds = new Set(["user_stop", "agent_stop"]);
const limits = new Set(["max_steps", "context_window_exceeded"]);

export const tau2: RolloutFormat = {
  name: "tau2",
  noun: "a simulation of tau2-bench",
  writer: "tau2",
  listKey: "simulations",
  parseRow(json, check) {
    const { task_id, trial, termination_reason: reason, ...row } = check(simulationSchema, json);
    const broken = Object.entries(row.reward_info?.reward_breakdown ?? {}).flatMap(([key, it]) =>
      it != null && it < 1 ? [`${key} ${it}`] : [],
    );
    return {
      id: `${task_id}/trial-${trial ?? 0}`,
      prompt: [],
      completion: parseToolMessages(row.messages, check),
      end: ownEnds.has(reason)
        ? { kind: "ended", by: "policy" }
        : limits.has(reason)
          ? { kind: "ended", by: "limit" }
          : { kind: "ended", by: "fault", fault: reason },
      score: row.reward_info?.reward ?? undefined,
      ...(broken.length === 0 ? {} : { why: broken.join(", ") }),
    };
  },
};
