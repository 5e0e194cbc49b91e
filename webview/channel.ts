/**
 * The page's end of the channel: ask the editor, hear what it tells. The reply's type follows from
 * the request's name. Knows no page's content.
 */
import type { EditorMessage, PageContract } from "../src/protocol/pageChannel.ts";

declare function acquireVsCodeApi(): {
  readonly postMessage: (message: unknown) => void;
  getState(): unknown;
  setState(state: unknown): void;
};

export interface Channel<Map extends PageContract> {
  request<Name extends keyof Map["requests"] & string>(
    name: Name,
    params: Map["requests"][Name]["params"],
  ): Promise<Map["requests"][Name]["result"]>;
  on<Name extends keyof Map["events"] & string>(
    name: Name,
    listen: (body: Map["events"][Name]) => void,
  ): void;
  /** Kept by the editor with the tab, and given back when the page is drawn again. */
  saveState(state: unknown): void;
  kept(): unknown;
}

/** An answer that the editor could not give; the editor has shown it already. */
export class RequestFailed extends Error {
  readonly remedy: string;
  constructor(what: string, remedy: string) {
    super(what);
    this.remedy = remedy;
  }
}

/** Opens the channel. Once a page. */
export function openChannel<Map extends PageContract>(): Channel<Map> {
  const editor = acquireVsCodeApi();
  const waiting = new globalThis.Map<
    number,
    { resolve(result: unknown): void; reject(error: Error): void }
  >();
  const listeners = new globalThis.Map<string, (body: never) => void>();
  let asked = 0;
  window.addEventListener("message", (message: MessageEvent<EditorMessage<Map>>) => {
    const heard = message.data;
    switch (heard.kind) {
      case "result":
        waiting.get(heard.id)?.resolve(heard.result);
        return void waiting.delete(heard.id);
      case "failure":
        waiting.get(heard.id)?.reject(new RequestFailed(heard.what, heard.remedy));
        return void waiting.delete(heard.id);
      case "event":
        return listeners.get(heard.name as string)?.(heard.body as never);
      default:
        throw new Error(`the page heard ${JSON.stringify(heard satisfies never)}`);
    }
  });
  return {
    request: (name, params) =>
      new Promise((resolve, reject) => {
        const id = ++asked;
        waiting.set(id, { resolve, reject });
        // the editor's own channel, which has no origins
        // oxlint-disable-next-line unicorn/require-post-message-target-origin
        editor.postMessage({ id, name, params });
      }),
    on: (name, listen) => void listeners.set(name, listen),
    saveState: state => editor.setState(state),
    kept: () => editor.getState(),
  };
}
