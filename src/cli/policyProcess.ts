/**
 * The policy of `serve` in a process of its own, so that its computation does not delay other
 * requests. A process that has ended is started again with the next request.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createForkChannel, type Channel } from "../channel/channel.ts";
import { PolicyFault } from "../policy/policy.ts";
import type { ServedAnswer, ServedPolicy, ServedRequest } from "../policy/servedPolicy.ts";
import type {
  OpenedServedPolicy,
  PolicyChoice,
  PolicyListenerMessages,
  PolicyMessages,
} from "../protocol/policyProcess.ts";

type PolicyChannel = Channel<PolicyListenerMessages, PolicyMessages>;

interface Running extends OpenedServedPolicy {
  readonly channel: PolicyChannel;
}

/** An answer that has not come yet. */
interface Awaited {
  readonly onText: ((text: string) => void) | undefined;
  failure?: string;
}

export class PolicyProcess implements ServedPolicy {
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
