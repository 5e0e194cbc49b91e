/**
 * The page's end of the channel to the editor: it sends requests and receives events. The type of a
 * result follows from the name of the request.
 */
import { handleEditingKeys } from "./editingKeys.ts";
import type { EditorMessage, PageContract } from "../src/protocol/pageChannel.ts";

declare function acquireVsCodeApi(): {
  readonly postMessage: (message: unknown) => void;
  getState(): unknown;
  setState(state: unknown): void;
};

export interface Channel<Contract extends PageContract> {
  request<Name extends keyof Contract["requests"] & string>(
    name: Name,
    params: Contract["requests"][Name]["params"],
  ): Promise<Contract["requests"][Name]["result"]>;
  on<Name extends keyof Contract["events"] & string>(
    name: Name,
    listen: (body: Contract["events"][Name]) => void,
  ): void;
  /** Saves the state that the page is restored from after a reload. */
  saveState(state: unknown): void;
  loadState(): unknown;
}

/** A request that failed. The editor has already shown the error. */
export class RequestError extends Error {
  readonly remedy: string;
  constructor(what: string, remedy: string) {
    super(what);
    this.remedy = remedy;
  }
}

interface PendingRequest {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Opens the channel; a page may do so only once. */
export function openChannel<Contract extends PageContract>(): Channel<Contract> {
  handleEditingKeys();
  const editor = acquireVsCodeApi();
  const pending = new Map<number, PendingRequest>();
  const listeners = new Map<string, (body: never) => void>();
  let requests = 0;
  window.addEventListener("message", ({ data }: MessageEvent<EditorMessage<Contract>>) => {
    switch (data.kind) {
      case "result":
        pending.get(data.id)?.resolve(data.result);
        return void pending.delete(data.id);
      case "failure":
        pending.get(data.id)?.reject(new RequestError(data.what, data.remedy));
        return void pending.delete(data.id);
      case "event":
        return listeners.get(data.name as string)?.(data.body as never);
      default:
        throw new Error(`unknown message ${JSON.stringify(data satisfies never)}`);
    }
  });
  return {
    request: (name, params) =>
      new Promise((resolve, reject) => {
        const id = ++requests;
        pending.set(id, { resolve, reject });
        // the editor's own channel has no origins
        // oxlint-disable-next-line unicorn/require-post-message-target-origin
        editor.postMessage({ id, name, params });
      }),
    on: (name, listen) => void listeners.set(name, listen),
    saveState: state => editor.setState(state),
    loadState: () => editor.getState(),
  };
}
