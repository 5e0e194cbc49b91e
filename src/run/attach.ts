/**
 * Whoever watches a training attaches here: the trainer's facts as they are said, and requests to
 * it. A lost connection ends the facts and nothing else; the run's files tell what was missed, and
 * one can attach again.
 */
import { connect, type Socket } from "node:net";
import { UserError } from "../userError.ts";
import type {
  TrainerAsk,
  TrainerEvent,
  TrainerRequest,
  TrainerSays,
  TrainerStatus,
} from "../protocol/trainer.ts";
import { readEnd } from "./folder.ts";
import { onLines } from "./lineSocket.ts";
import { readTrainerLock } from "./trainerLock.ts";

export interface Attachment {
  /**
   * What the trainer says from now on, its status first. Ends when the trainer has gone or `close`
   * was called.
   */
  readonly events: AsyncIterable<TrainerEvent>;
  /**
   * Resolves with the trainer's status once it has taken the request up. Rejects with a `UserError`
   * where it has gone.
   */
  request(ask: TrainerRequest): Promise<TrainerStatus>;
  /** Lets go. The trainer trains on. */
  close(): void;
}

/** Attaches to the trainer of a run folder, or undefined where none is at work there. */
export async function attachTrainer(folder: string): Promise<Attachment | undefined> {
  const lock = readTrainerLock(folder);
  if (!lock) return undefined;
  const socket = connect(lock.address);
  const isOpen = await new Promise<boolean>(resolve => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  return isOpen ? attachmentOn(socket, folder) : undefined;
}

function attachmentOn(socket: Socket, folder: string): Attachment {
  let isOver = false;
  const answers = new Map<
    number,
    { resolve: (status: TrainerStatus) => void; reject: (error: Error) => void }
  >();
  const facts = new Said<TrainerEvent>();
  let asked = 0;
  onLines(socket, line => {
    const said = JSON.parse(line) as TrainerSays;
    if (said.kind === "finished" || said.kind === "failed") isOver = true;
    if (said.kind !== "answer") return facts.push(said);
    answers.get(said.id)?.resolve(said.status);
    answers.delete(said.id);
  });
  const gone = () =>
    new UserError("the trainer has gone", "look into the run folder; the run can be resumed");
  socket.on("close", () => {
    // a trainer that was ending as we came has said its last word to the folder only
    const end = isOver ? undefined : readEnd(folder);
    if (end)
      facts.push(
        end.by === "failed"
          ? { kind: "failed", what: end.what, remedy: end.remedy }
          : { kind: "finished", step: end.step, by: end.by },
      );
    facts.end();
    for (const it of answers.values()) it.reject(gone());
    answers.clear();
  });
  return {
    events: facts,
    request: ask =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(gone());
        answers.set(++asked, { resolve, reject });
        socket.write(`${JSON.stringify({ id: asked, ask } satisfies TrainerAsk)}\n`);
      }),
    close: () => socket.end(),
  };
}

/** A queue read as an async iterable, by one reader. */
class Said<T> implements AsyncIterable<T> {
  readonly #said: T[] = [];
  #wake: (() => void) | undefined;
  #hasEnded = false;

  push(it: T): void {
    this.#said.push(it);
    this.#wake?.();
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      while (this.#said.length > 0) yield this.#said.shift()!;
      if (this.#hasEnded) return;
      await new Promise<void>(resolve => (this.#wake = resolve));
    }
  }
}
