/**
 * Opens a page of webview/ in a document without a browser: answers its requests, sends it events,
 * and finds what a person sees by role and name. Files that use it need the environment
 * `happy-dom`.
 */
import { vi } from "vitest";
import type { PageContract } from "../../src/protocol/pageChannel.ts";

interface Request {
  readonly name: string;
  readonly params: unknown;
}

type Results<Contract extends PageContract> = {
  readonly [Name in keyof Contract["requests"]]?: Contract["requests"][Name]["result"] | Error;
};

const selectors: Readonly<Record<string, string>> = {
  button: "button:not([role]), vscode-button",
  checkbox: "input[type=checkbox]",
  heading: "h1, h2",
  textbox: "input[type=text]",
  searchbox: "input[type=search]",
  combobox: "select",
  row: "tr",
  cell: "td",
  columnheader: "th",
};

export class PageTester<Contract extends PageContract> {
  readonly main: HTMLElement;
  /** What the page has asked for, without `load`. */
  readonly requests: Request[] = [];
  /** What the page would be restored from. */
  state: unknown;

  constructor(results: Results<Contract>, state: unknown) {
    this.main = document.createElement("main");
    this.main.id = "page";
    document.body.replaceChildren(this.main);
    this.state = state;
    const post = ({ id, name, params }: Request & { readonly id: number }) => {
      if (name !== "load") this.requests.push({ name, params });
      const result = results[name];
      this.#send(
        result instanceof Error
          ? { kind: "failure", id, what: result.message, remedy: "" }
          : { kind: "result", id, result: result ?? null },
      );
    };
    vi.stubGlobal("acquireVsCodeApi", () => ({
      postMessage: post,
      getState: () => this.state,
      setState: (it: unknown) => (this.state = it),
    }));
  }

  async sendEvent<Name extends keyof Contract["events"] & string>(
    name: Name,
    body: Contract["events"][Name],
  ): Promise<void> {
    this.#send({ kind: "event", name, body });
    // a page draws at most once a frame
    await new Promise(resolve => requestAnimationFrame(resolve));
  }

  #send(data: unknown): void {
    window.dispatchEvent(new MessageEvent("message", { data }));
  }

  /** The visible elements with a role. */
  list(role: string): HTMLElement[] {
    const selector = [selectors[role], `[role=${role}]`].filter(it => it !== undefined).join(", ");
    return [...this.main.querySelectorAll<HTMLElement>(selector)].filter(
      it => !it.closest("[hidden]"),
    );
  }

  /** The names of the visible elements with a role. */
  listNames(role: string): string[] {
    return this.list(role).map(getName);
  }

  /** The one visible element with a role and a name, or whose name matches. */
  find(role: string, name: string | RegExp): HTMLElement {
    const found = this.list(role).filter(it =>
      typeof name === "string" ? getName(it) === name : name.test(getName(it)),
    );
    if (found.length === 1) return found[0]!;
    throw new Error(
      `${found.length} of role ${role} are named ${String(name)}: ${this.listNames(role).join("; ")}`,
    );
  }

  click(role: string, name: string | RegExp): void {
    this.find(role, name).click();
  }

  /** The texts of the visible cells of a table's rows, without its head. */
  readTable(selector: string): string[][] {
    return [...this.main.querySelectorAll(`${selector} tbody tr`)].map(row =>
      [...row.children].map(it => normalize(it.textContent)),
    );
  }

  /** The text of the page as a person reads it, without hidden parts. */
  get text(): string {
    const copy = this.main.cloneNode(true) as HTMLElement;
    for (const it of copy.querySelectorAll("[hidden]")) it.remove();
    return normalize(copy.textContent);
  }
}

const normalize = (text: string) => text.replaceAll(/\s+/g, " ").trim();

/** What a screen reader calls an element. */
const getName = (it: HTMLElement) => normalize(it.getAttribute("aria-label") ?? it.textContent);

/** Presses a key on the element that has the focus. The result is false if the page handles it. */
export const press = (key: string, options: KeyboardEventInit = {}): boolean =>
  document.activeElement!.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...options }),
  );

/** Types a text into the text box that has the focus. */
export function type(text: string): void {
  const box = document.activeElement as HTMLInputElement;
  box.value = text;
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

/**
 * Opens a page. `results` are the answers to its requests by name, null for the others; `state` is
 * what it is restored from.
 */
export async function openPage<Contract extends PageContract>(
  name: string,
  results: Results<Contract>,
  state?: unknown,
): Promise<PageTester<Contract>> {
  const page = new PageTester<Contract>(results, state);
  vi.resetModules();
  // the controls set styles in ways that need a browser; without them, their elements are plain
  vi.doMock("@vscode/webview-ui-toolkit", () => ({
    provideVSCodeDesignSystem: () => ({ register: () => {} }),
    vsCodeButton: () => {},
    vsCodeProgressRing: () => {},
  }));
  await import(`../../webview/${name}/main.ts`);
  await new Promise(resolve => setTimeout(resolve));
  return page;
}
