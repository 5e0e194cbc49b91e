/**
 * Attaches to the trainer of a run folder: receives its events and sends it requests. If the
 * connection is lost, only the events end: the run's files have what was missed, and a client can
 * attach again.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { createSocketChannel, type Channel } from "../channel/channel.ts";
import type {
  TrainerClientMessages,
  TrainerEvent,
  TrainerMessages,
  TrainerRequest,
  TrainerStatus,
} from "../protocol/trainer.ts";
import { UserError } from "../userError.ts";
import { readEnd, type RunEnd } from "./folder.ts";
import { readTrainerLock } from "./locks.ts";

export interface Attachment {
  /** The id of the trainer's process. */
  readonly pid: number;
  /**
   * The trainer's events from now on, its status first. They end when the trainer has exited or
   * `close` was called.
   */
  readonly events: AsyncIterable<TrainerEvent>;
  /**
   * Resolves with the trainer's status once it has accepted the request. Rejects with a `UserError`
   * if the trainer has exited.
   */
  request(request: TrainerRequest): Promise<TrainerStatus>;
  /** Detaches. The trainer keeps running. */
  close(): void;
}

/** Attaches to the trainer of a run folder. The result is undefined if no trainer is running. */
export async function attachTrainer(folder: string): Promise<Attachment | undefined> {
  const lock = readTrainerLock(folder);
  if (!lock) return undefined;
  const socket = connect(lock.address);
  try {
    await once(socket, "connect");
  } catch {
    return undefined; // it is exiting, or its lock is stale
  }
  return createAttachment(createSocketChannel(socket), folder, lock.pid);
}

/** The last event of a run that ended like this. */
export const createEndEvent = (end: RunEnd): TrainerEvent =>
  end.by === "failed"
    ? { kind: "failed", what: end.what, remedy: end.remedy }
    : { kind: "finished", step: end.step, by: end.by };

function createAttachment(
  channel: Channel<TrainerClientMessages, TrainerMessages>,
  folder: string,
  pid: number,
): Attachment {
  const events = new EventQueue<TrainerEvent>();
  let hasLastEvent = false;
  channel.listen("event", event => {
    hasLastEvent ||= event.kind === "finished" || event.kind === "failed";
    events.push(event);
  });
  channel.onClose(() => {
    // a trainer that was about to exit when this client attached has written its end to the folder
    const end = hasLastEvent ? undefined : readEnd(folder);
    if (end) events.push(createEndEvent(end));
    events.end();
  });
  channel.open();
  return {
    pid,
    events,
    async request(request) {
      try {
        return await channel.request(request, {});
      } catch (cause) {
        throw new UserError(
          "the trainer has exited",
          "read trainer.log in the run folder; the run can be resumed",
          { cause },
        );
      }
    },
    close: () => void channel.close(),
  };
}

/** A queue that one reader reads as an async iterable. */
class EventQueue<T> implements AsyncIterable<T> {
  readonly #events: T[] = [];
  #wake: (() => void) | undefined;
  #hasEnded = false;

  push(event: T): void {
    this.#events.push(event);
    this.#wake?.();
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      while (this.#events.length > 0) yield this.#events.shift()!;
      if (this.#hasEnded) return;
      await new Promise<void>(resolve => (this.#wake = resolve));
    }
  }
}
