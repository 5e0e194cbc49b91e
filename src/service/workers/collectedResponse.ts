/** Collects an answer, so that it can be sent to another process as a whole. */
import type { ResponseWriter } from "../../mcp/httpTransport.ts";

export interface CollectedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string | Uint8Array;
}

export class CollectedResponse implements ResponseWriter {
  readonly #onEnd: (answer: CollectedAnswer) => void;
  #status = 0;
  #headers: Record<string, string | number> = {};
  #text = "";

  /** Calls back once the answer is complete. */
  constructor(onEnd: (answer: CollectedAnswer) => void) {
    this.#onEnd = onEnd;
  }

  get headersSent(): boolean {
    return this.#status !== 0;
  }

  setHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }

  writeHead(status: number, headers: Record<string, string | number> = {}): this {
    this.#status = status;
    this.#headers = { ...this.#headers, ...headers };
    return this;
  }

  write(text: string): void {
    this.#text += text;
  }

  end(last: string | Uint8Array = ""): void {
    const body = typeof last === "string" ? this.#text + last : last;
    this.#onEnd({ status: this.#status, headers: this.#headers, body });
  }

  /** What was written so far is not a whole answer. */
  destroy(): void {
    this.#onEnd({ status: 500, headers: {}, body: "" });
  }

  /** The other process does not say when its client has disconnected. */
  once(): void {}
}
