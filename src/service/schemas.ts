/**
 * The bodies of requests and responses. Requests are validated with these schemas, and the OpenAPI
 * document is generated from them.
 */
import { z } from "zod";
import { assistantMessageSchema } from "../policy/endpointFormat.ts";
import { partNames, type PartName } from "../reward/breakdown.ts";
import { defaultProfile, profiles } from "../reward/profiles.ts";
import { splits } from "../trajectory/task.ts";
import { trajectoryLineSchema } from "../trajectory/trajectory.ts";
import { httpErrorCodes } from "./httpError.ts";

const name = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/);
/** Becomes part of a file name, so it must not be a path. */
const fixtureName = z.string().regex(/^[a-z][a-z0-9-]{0,40}(@[1-9]\d{0,5})?(~[1-9]\d{0,5})?$/);
const id = z.string().max(200);
export const printable = z.string().regex(/^[^\p{C}]{1,200}$/u);
const ttl = z.number().min(1).max(86_400).describe("seconds without use").optional();
const owner = z
  .string()
  .regex(/^[^\p{C}]{1,80}$/u)
  .describe("who uses the session, as text for people")
  .optional();
const seq = z.int().min(1).describe("1 for the first call or message, then one more each time");
export const cutOff = z
  .boolean()
  .describe("a token limit cut the message off, which ends the attempt")
  .optional();
const object = z.record(z.string(), z.unknown());

export const openBody = z.strictObject({
  servers: z
    .array(z.union([name, z.strictObject({ name, fixture: fixtureName.optional() })]))
    .min(1)
    .max(50)
    .optional(),
  fixture: fixtureName.optional(),
  seed: z.int().min(0).optional(),
  menu: z.array(name).max(1_000).optional(),
  owner,
  ttl_s: ttl,
});

export const openTaskBody = z.strictObject({
  task_id: printable,
  turn: z
    .int()
    .min(0)
    .max(1_000)
    .describe("attempt this turn only, from 0, after the teacher's calls of the turns before")
    .optional(),
  seed: z.int().min(0).describe("if given, it must be the task's").optional(),
  trajectory_id: printable.describe("the id of the recorded attempt").optional(),
  policy: printable.describe("the name of the policy in the recorded attempt").optional(),
  max_messages: z.int().min(1).max(1_000).optional(),
  owner,
  ttl_s: ttl,
});

export const callBody = z.strictObject({
  seq,
  name: z.string().max(200),
  arguments: z.unknown().optional(),
  parallel: z
    .boolean()
    .describe("in an attempt: the call belongs to the same message as the call before")
    .optional(),
});
export const userBody = z.strictObject({
  seq,
  assistant_text: z.string(),
  cut: cutOff,
});
export const messageBody = z.strictObject({
  seq,
  message: assistantMessageSchema,
  cut: cutOff,
});
export const forkBody = z.strictObject({ session_id: id, owner, ttl_s: ttl });
export const restoreBody = z.strictObject({ state: object });
export const toolsBody = z.strictObject({ add: z.array(name).min(1).max(1_000) });
export const emptyBody = z.strictObject({});

export const profileDescription = `the reward profile; ${defaultProfile.name} if absent`;
export const profileName = z.enum(profiles.map(it => it.name) as [string, ...string[]]);
const scoreOptions = {
  profile: profileName.describe(profileDescription).optional(),
  evidence: z.boolean().describe("add the breakdown with its evidence").optional(),
  prefix: z.int().min(0).describe("score the attempt after this number of calls").optional(),
  prefixes: z.boolean().describe("add the rewards after 0, 1, … calls and at the end").optional(),
  group: z
    .boolean()
    .describe(
      "add what a line of a group file has, other than step, attempt, advantage and clipped tokens",
    )
    .optional(),
};
export const roleMessage = assistantMessageSchema.extend({ role: z.string() });
export const scoreBody = z.strictObject({
  ...scoreOptions,
  messages: z
    .array(roleMessage)
    .max(10_000)
    .describe(
      "score these messages of the policy instead of what the session received; messages of other roles are ignored",
    )
    .optional(),
  cut: z.boolean().describe("a token limit cut off the last of the messages").optional(),
});
export const scoresBody = z.strictObject({
  ...scoreOptions,
  trajectories: z
    .array(z.unknown())
    .max(10_000)
    .describe("attempts in the format of trajectory and group files"),
});

/** The requests that a batch may contain, each with the body of its own route. */
export const batchBody = z.strictObject({
  requests: z
    .array(
      z.strictObject({
        do: z.enum(["open", "call", "user", "message", "score", "delete"]),
        session_id: id,
        body: z.unknown().optional(),
      }),
    )
    .max(10_000),
});

export const tasksQuery = z.strictObject({
  offset: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).optional(),
  split: z.enum(splits).optional(),
});
export const stateQuery = z.strictObject({ server: z.string().optional() });
const digest = z.string();
const functionTool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({ name: z.string(), description: z.string(), parameters: object }),
});
const ended = z.enum(["policy", "limit", "fault"]).nullable();
export const chatMessage = z.looseObject({ role: z.string() });

export const healthResponse = z.strictObject({
  status: z.enum(["healthy", "draining"]),
  sessions: z.int(),
  capacity: z.int(),
  workers: z.int().describe("processes of the service that answer"),
  tasks: z.int(),
  version: z.string(),
  catalog_hash: digest,
});
export const catalogResponse = z.strictObject({
  protocol: z.literal("prove/1"),
  tools: z.array(functionTool),
  servers: z.array(
    z.strictObject({
      name,
      category: z.string(),
      summary: z.string(),
      tools: z.array(z.string()),
      fixtures: z.array(z.string()),
    }),
  ),
  components: z.array(z.enum([...partNames, "answer"])),
  catalog_hash: digest,
});
const taskSummary = z.strictObject({
  task_id: z.string(),
  split: z.enum(splits),
  kind: z.string(),
  servers: z.array(z.string()),
  seed: z.int(),
  turns: z.int(),
  goals: z.int(),
});
export const tasksResponse = z.strictObject({
  tasks: z.array(taskSummary),
  total: z.int(),
  next_offset: z.int().nullable(),
});
export const progress = {
  messages_left: z.int().describe("how many messages the policy may still write"),
  ended: ended.describe("how the attempt ended; null as long as it goes on"),
};
const attempt = z.strictObject({
  task_id: z.string(),
  turn: z.int().nullable(),
  trajectory_id: z.string(),
  messages: z.array(chatMessage).describe("the conversation so far, in OpenAI's format"),
  tools: z.array(functionTool),
  ...progress,
});
export const taskResponse = taskSummary.extend({
  single_turns: z.array(z.int()).describe("the turns that can be attempted on their own"),
  max_messages: z.int(),
  messages: z.array(chatMessage).describe("the conversation at the start, in OpenAI's format"),
  tools: z.array(functionTool),
  changed: z.string().nullable().describe("what has changed since the task was made"),
});
export const openResponse = z.strictObject({
  session_id: z.string(),
  digest,
  mcp: z.record(z.string(), z.string()),
  attempt: attempt.optional(),
});
export const callResponse = z.strictObject({
  is_error: z.boolean(),
  text: z.string().describe("what a model should see"),
  structured: z.unknown().describe("the whole result"),
  digest,
  elapsed_ms: z.number(),
  truncated: z.boolean(),
});
export const userResponse = z.strictObject({
  message: z.string().nullable().describe("what the user says; null if the attempt has ended"),
  answers: z.boolean().describe("the user answers a question, in the same turn of the task"),
  tools: z.array(functionTool).describe("the tools that are on the menu from now on, too"),
  ...progress,
});
export const messageResponse = z.strictObject({
  messages: z
    .array(chatMessage)
    .describe("the results of the calls, or what the user says, in OpenAI's format"),
  tools: z.array(functionTool).describe("the tools that are on the menu from now on, too"),
  digest,
  ...progress,
});
export const stateResponse = z.strictObject({
  session_id: z.string(),
  digest,
  state: z.record(z.string(), object),
});
const components = z.strictObject({
  ...(Object.fromEntries(partNames.map(it => [it, z.number().nullable()])) as Record<
    PartName,
    z.ZodNullable<z.ZodNumber>
  >),
  answer: z.number().nullable().describe("null if nothing was to be told, or it does not count"),
});
export const scoreResponse = z.strictObject({
  task_id: z.string(),
  trajectory_id: z.string(),
  ended: z.enum(["policy", "limit", "fault"]),
  profile: z.string(),
  reward: z.number().nullable().describe("null if the attempt cannot be scored"),
  unscorable: z.string().nullable(),
  rule: z.enum(["tool", "abstain"]).nullable(),
  components: components.describe("the five parts before their weights, and that of the answer"),
  success: z.boolean().nullable(),
  reasons: z.array(z.string()).describe("why the attempt did not succeed, in words"),
  differences: z
    .array(
      z.strictObject({ pointer: z.string(), found: z.unknown(), wanted: z.unknown() }).partial({
        found: true,
        wanted: true,
      }),
    )
    .describe("where the final state differs from the goals', by JSON pointers"),
  notes: z
    .array(z.string())
    .describe("where messages and session, or recorded and replayed results, differ"),
  breakdown: object.optional(),
  prefix_rewards: z.array(z.number()).optional(),
  group: object.optional(),
});
export const errorResponse = z.strictObject({
  error: z.strictObject({
    code: z.enum(httpErrorCodes),
    message: z.string().describe("what happened, to what, and what to do"),
  }),
});
export const scoresResponse = z.strictObject({
  scores: z.array(z.union([scoreResponse, errorResponse])),
});
export const batchResponse = z.strictObject({
  results: z.array(z.strictObject({ status: z.int(), body: z.unknown() })),
});
export const trajectoryResponse = trajectoryLineSchema;
export const emptyResponse = z.strictObject({});
