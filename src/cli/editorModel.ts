/**
 * One of the editor's language models as a chat model: requests go up the channel of forked work,
 * answers come down it. Knows the channel's messages and no editor.
 */
import type { ChatAnswer, ChatModel, ChatRequest } from "../policy/chatModel.ts";
import { PolicyFault } from "../policy/policy.ts";
import { askedInWords } from "../policy/structured.ts";
import type { WorkAsk, WorkSays } from "../protocol/work.ts";

type Answer = Extract<WorkAsk, { kind: "model-answer" | "model-failed" }>;

export class EditorModel implements ChatModel {
  readonly name: string;
  readonly #say: (said: WorkSays) => void;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #asked = 0;

  constructor(name: string, say: (said: WorkSays) => void) {
    this.name = name;
    this.#say = say;
  }

  /** Takes an answer that came down the channel. What nobody waits for is dropped. */
  take(answer: Answer): void {
    this.#waiting.get(answer.id)?.(answer);
    this.#waiting.delete(answer.id);
  }

  /** The editor's models know no schemas, no temperature and no count of tokens. */
  complete({ messages, tools, schema }: ChatRequest, signal?: AbortSignal): Promise<ChatAnswer> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const id = ++this.#asked;
      const gone = () => {
        this.#waiting.delete(id);
        this.#say({ kind: "model-cancel", id });
        reject(signal!.reason as Error);
      };
      signal?.addEventListener("abort", gone, { once: true });
      this.#waiting.set(id, answer => {
        signal?.removeEventListener("abort", gone);
        if (answer.kind === "model-failed")
          reject(new PolicyFault(`the editor's model ${this.name} gave no answer: ${answer.what}`));
        else resolve({ text: answer.text, calls: answer.calls, tokens: { read: 0, written: 0 } });
      });
      this.#say({
        kind: "model-ask",
        id,
        model: this.name,
        messages: schema ? askedInWords(messages, schema.schema) : messages,
        ...(tools?.length ? { tools } : {}),
      });
    });
  }
}
