/** `serve`: runs the HTTP service, in this process or in several, until it is interrupted. */
import { fork, type ChildProcess } from "node:child_process";
import { resolve } from "node:path";
import { once } from "node:events";
import { formatComputedWith } from "../run/backends.ts";
import { lockJournal, SessionJournal } from "../service/sessions/journal.ts";
import type { SessionTable } from "../service/sessions/sessionTable.ts";
import { Supervisor } from "../service/workers/supervisor.ts";
import { runWorker } from "../service/workers/workerProcess.ts";
import { formatBug, UserError } from "../userError.ts";
import { openTaskStore } from "../service/taskStore.ts";
import { createMetrics } from "../service/metrics.ts";
import { startHttpServer } from "../service/httpServer.ts";
import { readToken } from "../service/requestGuard.ts";
import { defineCommand, flag, option, type CliContext } from "./command.ts";
import { commaList, outputPath, processesOption, wholeNumber } from "./options.ts";
import { createForkChannel, type Channel } from "../channel/channel.ts";
import { PolicyFault } from "../policy/policy.ts";
import type { ServedAnswer, ServedPolicy, ServedRequest } from "../policy/servedPolicy.ts";
import type {
  OpenedServedPolicy,
  PolicyChoice,
  PolicyListenerMessages,
  PolicyMessages,
} from "../protocol/policyProcess.ts";

export const serve = defineCommand({
  name: "serve",
  description:
    "Serve sessions and tasks over HTTP until Ctrl-C: /v1 for trainers, /s/{session}/{server}/mcp for MCP clients. /openapi.json describes the API. The first line on stdout is JSON with the url. A host other than this machine needs a token, from PROVE_TOKEN or --token-file.",
  arguments: [],
  options: {
    port: option("--port <n>", "port to listen on; 0 for any free one", {
      parser: wholeNumber({ max: 65_535 }),
      default: 8970,
    }),
    host: option("--host <address>", "address to listen on", { default: "127.0.0.1" }),
    allowHosts: option(
      "--allow-hosts <names>",
      "other names in the Host header under which clients reach this machine",
      { parser: commaList },
    ),
    capacity: option("--capacity <n>", "sessions that may be open at the same time", {
      parser: wholeNumber({ min: 1, max: 1_000_000 }),
      default: 16_384,
    }),
    tasks: option("--tasks <files>", "tasks files whose tasks sessions can be opened for", {
      parser: commaList,
    }),
    policy: option(
      "--policy <policy>",
      "also answer /v1/chat/completions with a policy: a run or model folder, the name of a shipped student (small), scripted:teacher or scripted:idle",
    ),
    constrain: flag("--constrain", "the policy writes only calls that fit the offered tools"),
    drain: option(
      "--drain <seconds>",
      "on Ctrl-C, wait up to this long for sessions to be closed",
      {
        parser: wholeNumber({ max: 86_400 }),
        default: 0,
      },
    ),
    workers: option(
      "--workers <n>",
      "processes that share the sessions; a session survives the end of its process",
      { parser: wholeNumber({ min: 1, max: 256 }), default: 1 },
    ),
    processes: processesOption,
    journal: option(
      "--journal <folder>",
      "folder in which sessions are kept until they are closed, also while the service does not run (default: none, or with more than one worker a temporary folder)",
      { parser: outputPath("prove/journal") },
    ),
    withParent: flag(
      "--with-parent",
      "end as on Ctrl-C when the process that started this one has ended",
      { isHidden: true },
    ),
    isWorker: flag("--is-worker", "be a worker of a service", { isHidden: true }),
    tokenFile: option("--token-file <file>", "file with the token, which only you can read"),
  },
  examples: [
    "serve",
    "serve --policy small",
    "serve --tasks my.tasks.jsonl --port 0",
    "serve --tasks my.tasks.jsonl --workers 4",
    "serve --host 0.0.0.0 --token-file ~/.prove-token",
  ],
  async run(context, _positionals, options) {
    const { catalog, cwd, printNote, allowLateEnd } = context;
    const signal = options.withParent
      ? AbortSignal.any([context.signal, watchParent()])
      : context.signal;
    const { host, port, capacity, workers, drain } = options;
    if (options.isWorker) context.endWithParent();
    if (drain > 0 || options.isWorker) allowLateEnd();
    const files = (options.tasks ?? []).map(it => resolve(cwd, it));
    // each worker reads the files, too
    const tasks = await openTaskStore(files, options.isWorker ? () => {} : printNote);
    const token = readToken(process.env["PROVE_TOKEN"], options.tokenFile);
    const policy = await startPolicy({ ...options, tasks: files }, context);
    const serviceOptions = {
      catalog,
      tasks,
      policy,
      metrics: createMetrics(),
      host,
      allowedHosts: options.allowHosts ?? [],
      capacity,
      token,
      onBug: (error: unknown) => printNote(formatBug(error)),
    };
    if (options.isWorker) {
      await runWorker(serviceOptions, it => reportBrokenCalls(it, context));
      return 0;
    }
    const journal = options.journal === undefined ? undefined : resolve(cwd, options.journal);
    const releaseJournal = journal === undefined ? undefined : lockJournal(journal);
    try {
      const service =
        workers > 1
          ? await Supervisor.start({
              workers,
              host,
              port,
              token,
              capacity,
              journal,
              startProgram: startWorkerProgram,
              onNote: printNote,
            })
          : await startHttpServer({
              ...serviceOptions,
              port,
              journal: journal === undefined ? undefined : new SessionJournal(journal),
            });
      if ("sessions" in service) reportBrokenCalls(service.sessions, context);
      context.print(JSON.stringify({ url: service.url }));
      // a program that started it shows its own notes
      if (!options.withParent) noteStart(tasks.size, workers, context);
      if (policy?.computedWith)
        printNote(`${policy.model} computes with ${formatComputedWith(policy.computedWith)}`);
      const failed = "failed" in service ? service.failed : new Promise<never>(() => {});
      try {
        await Promise.race([waitForAbort(signal), failed]);
        if (drain > 0) {
          const { size } = "sessions" in service ? service.sessions : { size: undefined };
          if (size !== 0)
            printNote(
              `waiting up to ${drain} s for ${size ?? "the"} open ${size === 1 ? "session" : "sessions"}; Ctrl-C again stops at once`,
            );
          await service.drain(drain * 1_000);
        }
      } finally {
        await service.close();
      }
    } finally {
      releaseJournal?.();
      await policy?.close();
    }
    return 0;
  },
});

function noteStart(taskCount: number, workers: number, { catalog, printNote }: CliContext): void {
  const offered = taskCount > 0 ? ` and ${taskCount} tasks` : "";
  const processes = workers > 1 ? ` in ${workers} processes` : "";
  printNote(
    `serving ${catalog.servers.size} servers with ${catalog.tools.size} tools${offered}${processes}; Ctrl-C stops`,
  );
}

function reportBrokenCalls(sessions: SessionTable, { printNote }: CliContext): void {
  sessions.onChange(it => {
    if (it.kind === "called" && it.call.outcome.kind === "broken")
      printNote(it.call.outcome.message);
  });
}

/** Starts this program with the same options as a worker. */
const startWorkerProgram = () =>
  fork(process.argv[1]!, [...process.argv.slice(2), "--is-worker"], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });

/** Starts the policy of the options, if there is one. */
async function startPolicy(
  {
    policy,
    constrain,
    tasks,
    workers,
  }: {
    readonly policy: string | undefined;
    readonly constrain: boolean;
    readonly tasks: string[];
    readonly workers: number;
  },
  { program }: CliContext,
): Promise<PolicyProcess | undefined> {
  if (policy === undefined) {
    if (constrain)
      throw new UserError("--constrain is about a policy, and there is none", "add --policy");
    return undefined;
  }
  if (policy.startsWith("endpoint:"))
    throw new UserError(
      `${policy} is served by its endpoint already`,
      "serve a run or model folder, or use the address of the endpoint",
    );
  if (workers > 1)
    throw new UserError(
      "a service of several processes does not answer chat completions",
      "leave out --workers, or start a second service for the policy on another port",
    );
  return await PolicyProcess.start(program, { policy, tasks, isConstrained: constrain });
}

/** Aborts when the parent of this process has ended. Windows does not tell. */
function watchParent(): AbortSignal {
  const ended = new AbortController();
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    ended.abort();
  }, 1_000);
  timer.unref();
  return ended.signal;
}

const waitForAbort = (signal: AbortSignal) =>
  new Promise<void>(resolve =>
    signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }),
  );

type PolicyChannel = Channel<PolicyListenerMessages, PolicyMessages>;

interface Running extends OpenedServedPolicy {
  readonly channel: PolicyChannel;
}

/** An answer that has not come yet. */
interface Awaited {
  readonly onText: ((text: string) => void) | undefined;
  failure?: string;
}

class PolicyProcess implements ServedPolicy {
  readonly #program: string;
  readonly #choice: PolicyChoice;
  readonly #awaited = new Map<number, Awaited>();
  #opened: OpenedServedPolicy = { model: "" };
  #running: Promise<Running> | undefined;
  #child: ChildProcess | undefined;
  #count = 0;

  private constructor(program: string, choice: PolicyChoice) {
    this.#program = program;
    this.#choice = choice;
  }

  /** Starts the process. Rejects with the `UserError` for a policy that cannot be opened. */
  static async start(program: string, choice: PolicyChoice): Promise<PolicyProcess> {
    const process = new PolicyProcess(program, choice);
    process.#opened = await process.#open();
    return process;
  }

  get model(): string {
    return this.#opened.model;
  }

  /** What a student computes with. */
  get computedWith(): OpenedServedPolicy["computedWith"] {
    return this.#opened.computedWith;
  }

  async answer(
    request: ServedRequest,
    signal: AbortSignal,
    onText?: (text: string) => void,
  ): Promise<ServedAnswer> {
    const id = this.#count++;
    const awaited: Awaited = { onText };
    this.#awaited.set(id, awaited);
    try {
      const { channel } = await this.#open();
      signal.throwIfAborted();
      return await channel.request("answer", { ...request, id }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (awaited.failure !== undefined) throw new PolicyFault(awaited.failure, { cause: error });
      if (!this.#running)
        throw new PolicyFault(`the process of ${this.model} has ended`, { cause: error });
      throw error;
    } finally {
      this.#awaited.delete(id);
    }
  }

  /** Ends the process at once, because it may be computing; requests in progress fail. */
  async close(): Promise<void> {
    const [running, child] = [this.#running, this.#child];
    this.#running = undefined;
    if (!child || hasEnded(child)) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    // a process that was being opened ends with an error
    await running?.then(
      it => it.channel.close(),
      () => {},
    );
  }

  #open(): Promise<Running> {
    if (this.#running) return this.#running;
    const running = this.#startProcess();
    this.#running = running;
    const forget = () => {
      if (this.#running === running) this.#running = undefined;
    };
    running.then(({ channel }) => channel.onClose(forget), forget);
    return running;
  }

  async #startProcess(): Promise<Running> {
    const child = fork(this.#program, ["policy"], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child = child;
    const kill = () => void child.kill("SIGKILL");
    process.once("exit", kill);
    child.once("exit", () => process.removeListener("exit", kill));
    const channel: PolicyChannel = createForkChannel(child);
    channel.listen("wrote", ({ id, text }) => this.#awaited.get(id)?.onText?.(text));
    channel.listen("failed", ({ id, message }) => {
      const awaited = this.#awaited.get(id);
      if (awaited) awaited.failure = message;
    });
    channel.open();
    try {
      return { channel, ...(await channel.request("open", this.#choice)) };
    } catch (error) {
      await channel.close();
      kill();
      throw error;
    }
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;
