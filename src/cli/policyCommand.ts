/**
 * `policy`: opens a policy and answers the chats that `serve`, which forks this program, sends over
 * its channel. Help does not list this command.
 */
import { basename, resolve } from "node:path";
import { createForkChannel, type Channel } from "../channel/channel.ts";
import { PolicyFault, type Conversation } from "../policy/policy.ts";
import { servePolicy, type ServedPolicy } from "../policy/servedPolicy.ts";
import type {
  PolicyChoice,
  PolicyListenerMessages,
  PolicyMessages,
} from "../protocol/policyProcess.ts";
import type { ComputedWith } from "../run/backends.ts";
import { readTasks } from "../trajectory/file.ts";
import type { Task } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";
import { defineCommand, type CliContext } from "./command.ts";

export const policy = defineCommand({
  name: "policy",
  description:
    "Answer chats for the service, which starts this program. Cannot be used in a terminal.",
  arguments: [],
  options: {},
  examples: ["policy"],
  async run(context) {
    if (!process.send)
      throw new UserError(
        "policy needs the service that starts it",
        "run prove-rl serve --policy instead",
      );
    context.endWithParent();
    // Ctrl-C in a terminal also reaches this process; the service decides when it ends
    context.allowLateEnd();
    const channel: Channel<PolicyMessages, PolicyListenerMessages> = createForkChannel(process);
    let served: ServedPolicy | undefined;
    channel.handle("open", async choice => {
      const { policy, computedWith } = await openServedPolicy(choice, context);
      served = policy;
      return { model: served.model, ...(computedWith ? { computedWith } : {}) };
    });
    channel.handle("answer", async ({ id, ...request }, signal) => {
      try {
        return await served!.answer(request, signal, text => channel.notify("wrote", { id, text }));
      } catch (error) {
        if (error instanceof PolicyFault) channel.notify("failed", { id, message: error.message });
        throw error;
      }
    });
    channel.open();
    await new Promise<void>(resolve => channel.onClose(resolve));
    process.exit(0);
  },
});

async function openServedPolicy(
  { policy: spec, tasks: files, isConstrained }: PolicyChoice,
  context: CliContext,
): Promise<{ readonly policy: ServedPolicy; readonly computedWith?: ComputedWith | undefined }> {
  const { openPolicy } = await import("../app/policies.ts");
  const isTeacher = spec === "scripted:teacher";
  const tasks = isTeacher ? await readAllTasks(files, context) : [];
  const opened = await openPolicy(spec, tasks, context, noEndpoint, {
    temperature: 1,
    seed: 0,
    isConstrained,
  });
  const policy = servePolicy(opened.policy, {
    model: spec.includes(":") ? spec : basename(resolve(context.cwd, spec)),
    catalog: context.catalog,
    now: formatNow(new Date()),
    ...(isTeacher ? { findTask: createTaskFinder(tasks) } : {}),
  });
  return { policy, computedWith: opened.computedWith };
}

const noEndpoint = {
  baseUrl: undefined,
  concurrency: 1,
  requestsPerMinute: undefined,
  tokenBudget: undefined,
};

async function readAllTasks(files: readonly string[], { signal }: CliContext): Promise<Task[]> {
  if (files.length === 0)
    throw new UserError(
      "scripted:teacher repeats the teachers of tasks, and there are none",
      "add --tasks",
    );
  const tasks: Task[] = [];
  for (const file of files) for await (const it of readTasks(file, { signal })) tasks.push(it);
  return tasks;
}

/** Finds the task whose user says what the conversation begins with. */
function createTaskFinder(tasks: readonly Task[]): (conversation: Conversation) => string {
  const idByStart = new Map(tasks.map(it => [getStart(it.trajectory.events), it.id]));
  return ({ events }) => {
    const id = idByStart.get(getStart(events));
    if (id !== undefined) return id;
    throw new UserError(
      "no task begins with what the user says",
      "serve the tasks file with --tasks",
    );
  };
}

const getStart = (events: Conversation["events"]): string | undefined =>
  events.find(it => it.kind === "user")?.text;

/** The local time, `YYYY-MM-DDTHH:MM`. */
const formatNow = (date: Date): string =>
  new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
