/**
 * The page's end of the channel to the editor: it sends requests and receives events; the type of a
 * result follows from the name of the request. Answers the keys of text boxes that the editor would
 * answer too late.
 */
import type { EditorMessage, PageContract } from "../src/protocol/pageChannel.ts";
import { element } from "./element.ts";
import { setRewardDecimals } from "./text.ts";

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
class RequestError extends Error {
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
  setRewardDecimals(document.body.dataset["rewardDecimals"]);
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

/** Loads what a page shows and draws it, or says why it cannot be loaded. */
export function loadView<Contract extends PageContract>(
  channel: Channel<Contract>,
  draw: (view: Contract["requests"]["load"]["result"]) => void,
): void {
  const page = document.getElementById("page")!;
  channel.request("load", null).then(draw, (error: Error) => {
    page.setAttribute("aria-busy", "false");
    page.replaceChildren(element("p", { class: "empty", role: "alert" }, `${error.message}.`));
  });
}

/** Answers these keys, for all controls of the page. */
const handleEditingKeys = (): void =>
  document.addEventListener("keydown", event => {
    const command = findCommand(event);
    if (command === undefined) return;
    // the editor listens on the window
    event.stopPropagation();
    event.preventDefault();
    document.execCommand(command);
  });

function findCommand(event: KeyboardEvent): "selectAll" | "undo" | "redo" | undefined {
  const { altKey, ctrlKey, metaKey, shiftKey, keyCode } = event;
  const isMac = navigator.userAgent.includes("Macintosh");
  if (altKey || ctrlKey === isMac || metaKey !== isMac) return undefined;
  // by its code, a key is the same in all keyboard layouts, as it is for the editor
  const letter = String.fromCharCode(keyCode);
  if (letter === "A" && !shiftKey) return "selectAll";
  // outside of text boxes, they undo and redo the last change of the file
  if (!isTextBox(event.target)) return undefined;
  if (letter === "Z") return shiftKey ? "redo" : "undo";
  return letter === "Y" && !shiftKey && !isMac ? "redo" : undefined;
}

const isTextBox = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement && ["text", "search"].includes(target.type);
